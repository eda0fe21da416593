"""Every op on tensors of a GPU, its kernels being the CPU's: where results and helper tensors are.

With kernels, what is tested is who is given to a kernel; decomposed, that the parts of an op make
no tensor on the CPU.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from tests.runtime.cuda import host_kernels
from tests.runtime.layouts import build, numpy_type, tensors_in
from tests.runtime.samples import ALL

import graphwright as gw
from graphwright.runtime.cuda.kernels import register_kernel_provider
from graphwright.runtime.ops import functions as ops

pytestmark = pytest.mark.usefixtures("gpu")
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided"}


def result(name: str, sample: Any, device: str) -> tuple[bool, tuple[Any, ...]]:
    """Whether there are tensors among the arguments, which are on a device; and the results."""
    def tensor(arr: Any, values: Any) -> Any:
        return gw.tensor(values.astype(numpy_type(arr, gw.float32))).to(device)

    gw.manual_seed(3)
    args, kwargs = build(sample, name, tensor)
    found = getattr(ops, name)(*args, **kwargs)
    given = [one for one in tensors_in((args, kwargs)) if isinstance(one, gw.Tensor)]
    results = found if isinstance(found, tuple | list) else (found,)
    return bool(given), tuple(one for one in results if isinstance(one, gw.Tensor))


def difference(name: str, sample: Any) -> str:
    """What is not as on the CPU; empty where all is."""
    _, expected = result(name, sample, "cpu")
    given, found = result(name, sample, "cuda")
    for want, got in zip(expected, found, strict=True):
        if given and not got.is_cuda:
            return f"a result on {got.device}"
        if (got.dtype, got.shape) != (want.dtype, want.shape):
            return f"{got.dtype} of {tuple(got.shape)}, not {want.dtype} of {tuple(want.shape)}"
        values = [one.detach().cpu().resolve_conj().numpy() for one in (want, got)]
        if name not in UNINITIALISED and not np.allclose(
                *values, rtol=1e-4, atol=1e-4, equal_nan=True):
            return "other values"
    return ""


@pytest.mark.parametrize("decomposed", [False, True], ids=["kernels", "decomposed"])
def test_every_op(decomposed: bool) -> None:
    def provider(op: Any, args: tuple[Any, ...]) -> Any:
        skips = decomposed and op.decompose is not None
        return NotImplemented if skips else host_kernels.run(op, args)

    wrong = {}
    before = register_kernel_provider(provider)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, entry in ALL.items():
                for number, sample in enumerate(entry.samples):
                    try:
                        found = difference(name, sample)
                    except RuntimeError as error:
                        found = str(error)
                    if found:
                        wrong[f"{name}, sample {number}"] = found
    finally:
        register_kernel_provider(before)
    assert wrong == {}
