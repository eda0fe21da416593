"""Composite ops: written once in terms of others; their gradients follow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphwright.runtime import dtypes
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.kernels import HALVES, wrap
from graphwright.runtime.ops.normalise import wrap_dim
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.strides import broadcast_shapes, contiguous_strides
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import Tensor

# -- arithmetic

define(
    "square(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: (
        ops.pow(input, 2) if input.dtype is dtypes.bool else ops.mul(input, input)
    ),
)
define(
    "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add(
        input, ops.mul(tensor1, tensor2), alpha=value
    ),
)
define(
    "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add(
        input, ops.div(tensor1, tensor2), alpha=value
    ),
)
define(
    "addcmul_(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add_(
        input, ops.mul(tensor1, tensor2), alpha=value
    ),
    public=False,
)
define(
    "addcdiv_(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add_(
        input, ops.div(tensor1, tensor2), alpha=value
    ),
    public=False,
)
define(
    "lerp(Tensor input, Tensor end, Operand weight)",
    Kind.COMPOSITE,
    decompose=lambda input, end, weight: ops.add(
        input, ops.mul(ops.sub(end, input), weight)
    ),
)
define(
    "lerp_(Tensor input, Tensor end, Operand weight)",
    Kind.COMPOSITE,
    decompose=lambda input, end, weight: ops.copy_(
        input, ops.add(input, ops.mul(ops.sub(end, input), weight))
    ),
    public=False,
)
define(
    "masked_fill(Tensor input, Tensor mask, Operand value)",
    Kind.COMPOSITE,
    decompose=lambda input, mask, value: ops.where(
        mask, _as_type(value, input), input
    ),
)
define(
    "masked_fill_(Tensor input, Tensor mask, Operand value)",
    Kind.INPLACE,
    functional="masked_fill",
    public=False,
)


def _as_type(value: Any, like: Any) -> Any:
    """A value cast to the other's dtype, so that the result keeps it."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        return value if value.dtype is like.dtype else ops.to_dtype(value, like.dtype)
    if like.dtype.is_floating_point:
        return value
    if like.dtype is dtypes.bool:
        return bool(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise RuntimeError(f"value cannot be converted to type {like.dtype.name} without overflow")
    return int(value)


define(
    "clamp_min(Tensor input, Operand min)",
    Kind.COMPOSITE,
    decompose=lambda input, min: ops.clamp(input, min, None),
)
define(
    "clamp_max(Tensor input, Operand max)",
    Kind.COMPOSITE,
    decompose=lambda input, max: ops.clamp(input, None, max),
)
define(
    "floor_divide(Operand input, Operand other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.div(input, other, rounding_mode="floor"),
)


# -- extrema with positions


class ValuesAndIndices(NamedTuple):
    """What `max(dim)`, `min(dim)`, `sort` and `topk` return."""

    values: Any
    indices: Any


def _extremum(pointwise: str, full: str, position: str) -> Any:
    def decompose(input: Any, dim: Any, keepdim: bool) -> Any:
        if dim is None:
            if 0 in input.shape:
                raise RuntimeError(
                    "max() and min() need a dim for an input without elements, "
                    f"got shape {list(input.shape)}"
                )
            return getattr(ops, full)(input)
        if isinstance(dim, Tensor):
            return getattr(ops, pointwise)(input, dim)
        at = wrap_dim(dim, input.ndim)
        indices = getattr(ops, position)(input, at, True)
        values = ops.gather(input, at, indices)
        if not keepdim:
            values, indices = ops.squeeze(values, at), ops.squeeze(indices, at)
        return ValuesAndIndices(values, indices)

    return decompose


define(
    "max(Tensor input, object dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_extremum("maximum", "amax", "argmax"),
)
define(
    "min(Tensor input, object dim=None, bool keepdim=False)",
    Kind.COMPOSITE,
    decompose=_extremum("minimum", "amin", "argmin"),
)


# -- scans and orders


def _cumsum_dtype(input: Any, dtype: Any) -> Any:
    if dtype is not None:
        return dtype
    return input.dtype if input.dtype.is_floating_point else dtypes.int64


def _cumsum_eager(input: Any, dim: int, dtype: Any) -> Tensor:
    target = _cumsum_dtype(input, dtype)
    work = dtypes.float32 if target in HALVES else target
    array = input._nd.astype(work.numpy)
    return wrap(np.cumsum(array, axis=dim) if array.ndim else array, target)


def _contiguous_spec(input: Any, dtype: Any) -> TensorSpec:
    return TensorSpec(input.shape, contiguous_strides(input.shape), dtype, input.device)


define(
    "cumsum(Tensor input, Dim dim, *, dtype? dtype=None)",
    Kind.OTHER,
    meta=lambda input, dim, dtype: _contiguous_spec(input, _cumsum_dtype(input, dtype)),
    vjp=lambda ctx, grad: ops.flip(
        ops.cumsum(ops.flip(grad, (ctx.dim,)), ctx.dim), (ctx.dim,)
    ),
    eager=_cumsum_eager,
)
define(
    "flip(Tensor input, Dims dims)",
    Kind.INDEXING,
    meta=lambda input, dims: _contiguous_spec(input, input.dtype),
    vjp=lambda ctx, grad: ops.flip(grad, ctx.dims),
    eager=lambda input, dims: wrap(
        np.flip(input._nd, dims) if dims else input._nd.copy(), input.dtype
    ),
)


def _argsort_eager(input: Any, dim: int, descending: bool, stable: bool) -> Tensor:
    array = input._nd
    if array.ndim == 0:
        return wrap(np.zeros((), np.int64), dtypes.int64)
    if input.dtype in HALVES:
        array = array.astype(np.float32)
    if not descending:
        return wrap(np.argsort(array, axis=dim, kind="stable"), dtypes.int64)
    reverse = np.argsort(np.flip(array, dim), axis=dim, kind="stable")
    return wrap(array.shape[dim] - 1 - np.flip(reverse, dim), dtypes.int64)


define(
    "argsort(Tensor input, Dim dim=-1, bool descending=False, bool stable=False)",
    Kind.OTHER,
    meta=lambda input, dim, descending, stable: _contiguous_spec(input, dtypes.int64),
    vjp=not_differentiable,
    eager=_argsort_eager,
)


def _sort(input: Any, dim: int, descending: bool, stable: bool) -> ValuesAndIndices:
    indices = ops.argsort(input, dim, descending, stable)
    return ValuesAndIndices(ops.gather(input, dim, indices), indices)


define(
    "sort(Tensor input, Dim dim=-1, bool descending=False, bool stable=False)",
    Kind.COMPOSITE,
    decompose=_sort,
)


def _topk(input: Any, k: int, dim: int, largest: bool, sorted: bool) -> ValuesAndIndices:
    if k < 0 or k > (input.shape[dim] if input.shape else 1):
        raise RuntimeError("selected index k out of range")
    order = ops.argsort(input, dim, largest)
    if not input.shape:
        return ValuesAndIndices(input.clone(), order)
    indices = ops.slice(order, dim, 0, k).contiguous()
    return ValuesAndIndices(ops.gather(input, dim, indices), indices)


define(
    "topk(Tensor input, int k, Dim dim=-1, bool largest=True, bool sorted=True)",
    Kind.COMPOSITE,
    decompose=_topk,
)


# -- triangles


def _triangle(compare: str) -> Any:
    def decompose(input: Any, diagonal: int) -> Any:
        if input.ndim < 2:
            raise RuntimeError("tril and triu need an input with at least 2 dimensions")
        rows = ops.unsqueeze(ops.arange(input.shape[-2], device=input.device), 1)
        columns = ops.arange(input.shape[-1], device=input.device)
        kept = getattr(ops, compare)(ops.sub(columns, rows), diagonal)
        zero = False if input.dtype is dtypes.bool else 0
        return ops.where(kept, input, zero)

    return decompose


define("tril(Tensor input, int diagonal=0)", Kind.COMPOSITE, decompose=_triangle("le"))
define("triu(Tensor input, int diagonal=0)", Kind.COMPOSITE, decompose=_triangle("ge"))


# -- comparison of whole tensors


def _isclose(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = ops.eq(input, other)
    if input.dtype.is_floating_point:
        bound = ops.add(ops.mul(ops.abs(other), rtol), atol)
        distance = ops.abs(ops.sub(input, other))
        near = ops.logical_and(ops.isfinite(distance), ops.le(distance, bound))
        close = ops.logical_or(close, near)
        if equal_nan:
            both = ops.logical_and(ops.isnan(input), ops.isnan(other))
            close = ops.logical_or(close, both)
    elif rtol or atol:
        bound = ops.add(ops.mul(ops.abs(other), rtol), atol)
        close = ops.logical_or(close, ops.le(ops.abs(ops.sub(input, other)), bound))
    return close


define(
    "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, "
    "bool equal_nan=False)",
    Kind.COMPOSITE,
    decompose=_isclose,
)


def _allclose(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> bool:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"allclose: dtypes differ, {input.dtype} and {other.dtype}")
    return bool(ops.all(ops.isclose(input, other, rtol, atol, equal_nan)).item())


define(
    "allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, "
    "bool equal_nan=False)",
    Kind.COMPOSITE,
    decompose=_allclose,
    tags=("data_dependent",),
)


def _equal(input: Any, other: Any) -> bool:
    if input.shape != other.shape:
        return False
    return bool(ops.all(ops.eq(input, other)).item())


define(
    "equal(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=_equal,
    tags=("data_dependent",),
)


# -- others


def _one_hot(input: Any, num_classes: int) -> Any:
    if input.dtype is not dtypes.int64:
        raise RuntimeError(f"one_hot is only applicable to int64 tensors, got {input.dtype}")
    if num_classes == -1:
        num_classes = int(ops.amax(input).item()) + 1
    classes = ops.arange(num_classes, device=input.device)
    return ops.to_dtype(ops.eq(ops.unsqueeze(input, -1), classes), dtypes.int64)


define(
    "one_hot(Tensor input, int num_classes=-1)",
    Kind.COMPOSITE,
    decompose=_one_hot,
    method=False,
    public=False,
)
def _masked_select(input: Any, mask: Any) -> Any:
    shape = broadcast_shapes("masked_select", (input.shape, mask.shape))
    return ops.expand(input, shape)[ops.expand(mask, shape)]


define(
    "masked_select(Tensor input, Tensor mask)",
    Kind.COMPOSITE,
    decompose=_masked_select,
    tags=("data_dependent",),
)


def _repeat(input: Any, repeats: tuple[Any, ...]) -> Any:
    lead = len(repeats) - input.ndim
    if lead < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions "
            "of tensor"
        )
    shape = (*(1 for _ in range(lead)), *input.shape)
    result = ops.reshape(input, tuple(n for size in shape for n in (1, size)))
    wide = tuple(n for r, size in zip(repeats, shape, strict=True) for n in (r, size))
    final = tuple(r * size for r, size in zip(repeats, shape, strict=True))
    return ops.reshape(ops.expand(result, wide), final)


define("repeat(Tensor input, Size* repeats)", Kind.COMPOSITE, decompose=_repeat)


def _roll(input: Any, shifts: int, dim: int) -> Any:
    if not input.shape or input.shape[dim] == 0:
        return input.clone()
    size = input.shape[dim]
    shift = shifts % size
    parts = (
        ops.slice(input, dim, size - shift, size),
        ops.slice(input, dim, 0, size - shift),
    )
    return ops.cat(parts, dim)


define("roll(Tensor input, int shifts, Dim dim)", Kind.COMPOSITE, decompose=_roll)
