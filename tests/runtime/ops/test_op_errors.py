"""What every op refuses: the arguments its samples name, and what no op may take.

The type of the exception is PyTorch's, eager and compiled; messages name the op.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.schema import REQUIRED
from graphwright.runtime.ops.table import TABLE, Kind, Op

from ..layouts import build, lay_out, numpy_type
from ..samples import ALL, ERRORS, Bad

CLASSES = [pytest.param(name, bad, id=f"{name}-{i}") for i, (name, bad) in enumerate(ERRORS)]


def _ours(arr: Any, values: Any) -> Any:
    return lay_out(values.astype(numpy_type(arr, gw.float32)), "contiguous")


def _arguments(name: str, bad: Bad) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return build(bad.sample, name, _ours)


def _function(name: str) -> Callable[..., Any]:
    found = getattr(ops, name, None) or getattr(gw.nn.functional, name)
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize(("name", "bad"), CLASSES)
def test_refused(name: str, bad: Bad) -> None:
    args, kwargs = _arguments(name, bad)
    with pytest.raises(bad.error, match=bad.match or None) as caught:
        _function(name)(*args, **kwargs)
    assert type(caught.value) in (bad.error, NotImplementedError)
    if bad.names_op:
        assert name.rstrip("_") in str(caught.value)


@pytest.mark.parametrize(("name", "bad"), CLASSES)
def test_refused_when_compiled(name: str, bad: Bad) -> None:
    args, kwargs = _arguments(name, bad)
    tensors = [a for a in args if isinstance(a, gw.Tensor)]
    others = [a for a in args if not isinstance(a, gw.Tensor)]
    order = [isinstance(a, gw.Tensor) for a in args]
    function = _function(name)

    def call(*given: Any) -> Any:
        first, second = iter(given), iter(others)
        return function(*[next(first) if own else next(second) for own in order], **kwargs)

    with pytest.raises(bad.error):
        gw.compile(call)(*tensors)


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "bad"), [c for c in CLASSES if c.values[1].torch])
def test_torch_refuses_it_alike(name: str, bad: Bad) -> None:
    torch = pytest.importorskip("torch")
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name, None)
    function = function or getattr(torch.Tensor, name, None)

    def theirs(arr: Any, values: Any) -> Any:
        return lay_out(values.astype(numpy_type(arr, gw.float32)), "contiguous", torch)

    args, kwargs = build(bad.sample, name, theirs)
    kwargs = {
        key: getattr(torch, value.name) if isinstance(value, gw.dtype) else value
        for key, value in kwargs.items()
    }
    with pytest.raises(bad.error):
        function(*args, **kwargs)


# -- what holds for every op


def _valid(name: str) -> dict[str, Any] | None:
    """Arguments by name of an op's first sample with an array; None where there is none."""
    op = TABLE[name]
    for sample in ALL[name].samples:
        args, kwargs = build(sample, name, _ours)
        if len(args) <= len(op.names) and any(isinstance(a, gw.Tensor | tuple) for a in args):
            given = dict(zip(op.names, args, strict=False)) | kwargs
            if set(given) <= set(op.names):
                return given
    return None


def _call(name: str, **changed: Any) -> Any:
    """The op on its sample's arguments with some of them replaced."""
    given = {**((_valid(name) or {}) if name in ALL else {}), **changed}
    function = getattr(ops, name)
    parameters = inspect.signature(function).parameters.values()
    spread = [p.name for p in parameters if p.kind is p.VAR_POSITIONAL]
    positional = [given.pop(n) for n in spread if n in given]
    return function(*positional, **given)


def _with_param(*types: str) -> list[Any]:
    return [
        pytest.param(name, param.name, id=f"{name}-{param.name}")
        for name, op in TABLE.items()
        if name in ALL and "internal" not in op.tags and _valid(name) is not None
        for param in op.schema.params
        if param.type in types
    ]


def _kind(value: object) -> str:
    return type(value).__name__


@pytest.mark.parametrize(("name", "parameter"), _with_param("Tensor", "Operand"))
@pytest.mark.parametrize("value", [np.ones(3), "text", [1.0], None], ids=_kind)
def test_no_tensor(name: str, parameter: str, value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        _call(name, **{parameter: value})
    assert name in str(caught.value) and f"'{parameter}'" in str(caught.value)


@pytest.mark.parametrize(("name", "parameter"), _with_param("Tensor[]"))
@pytest.mark.parametrize("value", [3, "text", (1.0, 2.0), None], ids=_kind)
def test_no_tensors(name: str, parameter: str, value: Any) -> None:
    with pytest.raises(TypeError) as caught:
        _call(name, **{parameter: value})
    assert name in str(caught.value)


DIMS = ("Dim", "Dim?", "NewDim", "Dims", "Dims?", "DimsExact", "DimsGiven", "LoneDim")


@pytest.mark.parametrize(("name", "parameter"), _with_param(*DIMS))
@pytest.mark.parametrize("dim", [99, -99])
def test_dim_out_of_range(name: str, parameter: str, dim: int) -> None:
    with pytest.raises(IndexError, match="out of range") as caught:
        _call(name, **{parameter: dim})
    assert name in str(caught.value) and str(dim) in str(caught.value)


@pytest.mark.parametrize(("name", "parameter"), _with_param(*DIMS))
@pytest.mark.parametrize("dim", ["text", 1.5])
def test_dim_is_no_int(name: str, parameter: str, dim: Any) -> None:
    with pytest.raises(TypeError, match=r"dim|must be int"):
        _call(name, **{parameter: dim})


_NOT_READ = """
    argsort-stable convolution-transposed embedding-padding_idx embedding-scale_grad_by_freq
    embedding-sparse gather-sparse_grad histogram-density index_put-accumulate isin-assume_unique
    max-keepdim median-keepdim min-keepdim nanmedian-keepdim nonzero_static-fill_value
    pinverse-rcond put-accumulate segment_reduce-unsafe topk-sorted unique-sorted
"""
NOT_READ = frozenset(_NOT_READ.split())
"""Parameters that change nothing for their op's sample, or only in its gradient."""
NUMERIC = [p for p in _with_param(*DIMS, "int", "bool", "float") if p.id not in NOT_READ]


@pytest.mark.parametrize(("name", "parameter"), NUMERIC)
def test_a_tensor_of_several_elements_is_no_number(name: str, parameter: str) -> None:
    with pytest.raises(TypeError) as caught:
        _call(name, **{parameter: gw.ones(2, 2)})
    assert parameter in str(caught.value) and name in str(caught.value)


@pytest.mark.parametrize(
    ("name", "parameter"), _with_param("Dims", "Dims?", "DimsExact", "DimsGiven")
)
def test_repeated_dims(name: str, parameter: str) -> None:
    with pytest.raises(RuntimeError, match=r"multiple times|twice"):
        _call(name, **{parameter: (0, 0)})


@pytest.mark.parametrize(("name", "parameter"), _with_param("dtype", "dtype?"))
def test_no_dtype(name: str, parameter: str) -> None:
    with pytest.raises(TypeError, match="dtype"):
        _call(name, **{parameter: "nonsense"})


TAKE_DEVICES = [
    n for n, op in TABLE.items() if "device" in op.names and "internal" not in op.tags
]


@pytest.mark.parametrize("name", TAKE_DEVICES)
def test_no_device(name: str) -> None:
    op = TABLE[name]
    required = [p for p in op.schema.params if p.default is REQUIRED and not p.is_tensor]
    given = {p.name: (1,) if p.type.startswith("Size") else 1 for p in required}
    given |= {p.name: gw.ones(2) for p in op.schema.params if p.is_tensor}
    for device, error in (("nonsense", RuntimeError), (3.5, TypeError)):
        with pytest.raises(error):
            _call(name, **{**given, "device": device})


PUBLIC = sorted(n for n in ALL if n in TABLE and "internal" not in TABLE[n].tags)


@pytest.mark.parametrize("name", PUBLIC)
def test_unknown_and_surplus_arguments(name: str) -> None:
    if _valid(name) is None:
        return
    with pytest.raises(TypeError):
        _call(name, no_such_argument=1)
    if not any(p.type == "Size*" for p in TABLE[name].schema.params):
        with pytest.raises(TypeError):
            getattr(ops, name)(*[1] * 40)


BINARY = [
    name
    for name, op in TABLE.items()
    if op.kind is Kind.POINTWISE
    and name in ALL
    and sum(p.type in ("Tensor", "Operand") for p in op.schema.params) > 1
]


@pytest.mark.parametrize("name", BINARY)
def test_shapes_that_do_not_broadcast(name: str) -> None:
    given = _valid(name) or {}
    operands = [p.name for p in TABLE[name].schema.params if p.type in ("Tensor", "Operand")]
    tensors = {
        n: gw.ones(3 + i, dtype=given[n].dtype if isinstance(given.get(n), gw.Tensor) else None)
        for i, n in enumerate(operands)
    }
    with pytest.raises(RuntimeError) as caught:
        _call(name, **tensors)
    text = str(caught.value)
    assert name in text and "3" in text and "4" in text


def _target(op: Op) -> Any:
    """The tensor that stands first in a sample of an in-place op; None where there is none."""
    if op.kind is not Kind.INPLACE or op.functional is None or op.functional.name not in ALL:
        return None
    first = (_valid(op.functional.name) or {}).get(op.names[0])
    return first if isinstance(first, gw.Tensor) else None


INPLACE = [(op, like) for op in TABLE.values() if (like := _target(op)) is not None]
FLOATING = [op for op, like in INPLACE if like.dtype.is_floating_point]
MAY_WRITE_TWICE = frozenset({"fill_", "zero_", "index_put_", "masked_fill_"})
EXPANDABLE = [
    op for op, like in INPLACE if op.name not in MAY_WRITE_TWICE and like.ndim and like.numel() > 1
]


@pytest.mark.parametrize("call", [
    lambda: gw.remainder(2, 1), lambda: gw.eq(2, 1), lambda: gw.pow(2, 1.5),
    lambda: gw.maximum(5, 2), lambda: gw.bitwise_and(5, 2),
])  # fmt: skip
def test_numbers_alone_are_no_operands(call: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"must be (a )?Tensor"):
        call()


def test_most_in_place_ops_are_tried() -> None:
    assert min(len(FLOATING), len(EXPANDABLE)) > 100


def _inplace_call(op: Op, target: Any) -> Any:
    assert op.functional is not None
    given = _valid(op.functional.name)
    assert given is not None
    rest = {n: v for n, v in given.items() if n != op.names[0] and n in op.names}
    like = given[op.names[0]]
    return op(target(like), **rest)


@pytest.mark.parametrize("op", FLOATING, ids=lambda op: op.name)
def test_in_place_on_a_leaf(op: Op) -> None:
    def leaf(like: Any) -> Any:
        return like.clone().requires_grad_()

    with pytest.raises(RuntimeError, match="leaf"):
        _inplace_call(op, leaf)


@pytest.mark.parametrize("op", EXPANDABLE, ids=lambda op: op.name)
def test_in_place_on_an_expanded_view(op: Op) -> None:
    def expanded(like: Any) -> Any:
        return like[:1].expand(like.shape) if like.shape[0] > 1 else like[:, :1].expand(like.shape)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="single memory location"):
            _inplace_call(op, expanded)


LACKING: dict[str, Callable[[], Any]] = {
    "bitwise_and": lambda: FLOATS & FLOATS,
    "bitwise_left_shift": lambda: FLOATS << 1,
    "gcd": lambda: gw.gcd(FLOATS, FLOATS),
    "round": lambda: gw.round(COMPLEX),
    "lt": lambda: COMPLEX < COMPLEX,
    "max": lambda: gw.max(COMPLEX),
    "fmod": lambda: gw.fmod(COMPLEX, COMPLEX),
    "softmax": lambda: gw.softmax(gw.ones(3, dtype=gw.int64), 0),
    "mm": lambda: gw.ones(2, 2, dtype=gw.bool) @ gw.ones(2, 2, dtype=gw.bool),
    "conv": lambda: gw.nn.functional.conv1d(MASKS, MASKS),
    "rand": lambda: gw.rand(2, dtype=gw.int64),
    "bernoulli": lambda: gw.bernoulli(gw.ones(3, dtype=gw.int64)),
    "cholesky": lambda: gw.linalg.cholesky(gw.eye(2).half()),
}
FLOATS, COMPLEX = gw.ones(3), gw.ones(3, dtype=gw.complex64)
MASKS = gw.ones(1, 1, 3, dtype=gw.bool)


@pytest.mark.parametrize("name", LACKING)
def test_dtypes_that_kernels_lack_are_not_implemented(name: str) -> None:
    """NotImplementedError, which is a RuntimeError too, eagerly and in compiled code."""
    for run in (LACKING[name], gw.compile(LACKING[name])):
        with pytest.raises(NotImplementedError):
            run()
