"""Result dtypes under autocast against PyTorch's, over the samples of PyTorch's own tests."""

from __future__ import annotations

from typing import Any

import pytest
from tests.runtime import torch_suite

import graphwright as gw
from graphwright.amp import policy

pytestmark = pytest.mark.oracle

DELIBERATE = {
    "linalg.pinv": "float32 as the other decompositions; PyTorch's last product is rounded",
    "linalg.pinv.hermitian": "as linalg.pinv",
    "matrix_exp": "16 bits are refused as without autocast",
    "linalg.det": "as matrix_exp",
    "inner": "a tensordot of matrices, which PyTorch computes as a sum of products in some cases",
    "tensordot": "as inner",
}


def _infos() -> dict[str, Any]:
    try:
        _, database = torch_suite.torch_database()
    except ImportError:
        return {}
    known = {torch_suite.full_name(info): info for info in database if torch_suite.ours(info)}
    return {name: info for name, info in known.items() if name not in DELIBERATE}


INFOS = _infos()
LISTED = (
    policy.CPU.lower | policy.CPU.float32 | policy.CPU.widest | policy.CPU.as_given)


def _cases() -> list[Any]:
    """Ops of the lists, and those with a name like theirs, every day; the others are slow."""
    daily = {name: name.split(".")[-1] in LISTED or "linalg" in name for name in INFOS}
    return [
        pytest.param(name, marks=() if often else pytest.mark.slow)
        for name, often in daily.items()
    ]


def _dtypes(result: Any) -> list[str]:
    parts = result if isinstance(result, tuple | list) else (result,)
    return [str(part.dtype).rpartition(".")[2] for part in parts if hasattr(part, "dtype")]


def _converted(value: Any, torch: Any) -> Any:
    if isinstance(value, torch.Tensor):
        narrow = value.dtype is torch.bfloat16
        array = (value.float() if narrow else value).detach().numpy().copy()
        return gw.tensor(array).to(gw.bfloat16) if narrow else gw.tensor(array)
    if isinstance(value, torch.dtype):
        return getattr(gw, str(value).removeprefix("torch."))
    if isinstance(value, list | tuple):
        return type(value)([_converted(item, torch) for item in value])
    if isinstance(value, dict):
        return {key: _converted(item, torch) for key, item in value.items()}
    return value


def _samples(info: Any, dtype: Any, torch: Any) -> list[Any]:
    """Two samples whose floating tensors have the dtype, also without a kernel for it."""

    def narrow(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype is torch.float32:
            return value.to(dtype)
        return value

    made = dtype if info.supports_dtype(dtype, "cpu") else torch.float32
    samples = list(info.sample_inputs("cpu", made))[:2]
    return [sample.transform(narrow) for sample in samples]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", _cases())
def test_dtypes_of_results(name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    info, wanted = INFOS[name], getattr(torch, dtype)
    if not info.supports_dtype(torch.float32, "cpu"):
        return
    for sample in _samples(info, wanted, torch):
        try:
            with torch.autocast("cpu"):
                theirs = _dtypes(info.op(sample.input, *sample.args, **sample.kwargs))
        except (RuntimeError, NotImplementedError, TypeError):
            continue
        ours = _result(info, sample, torch)
        assert ours == theirs or not ours, (ours, theirs)


def _result(info: Any, sample: Any, torch: Any) -> list[str]:
    """Our dtypes; none where the sample has options that we do not take (memory formats)."""
    function = torch_suite.ours(info)
    args = _converted((sample.input, *sample.args), torch)
    try:
        with gw.autocast("cpu"):
            return _dtypes(function(*args, **_converted(sample.kwargs, torch)))
    except TypeError as error:
        assert any(word in str(error) for word in ("memory_format", "layout", "x1")), error
        return []
