"""Ops that pick, scatter and join elements by position."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core, dtypes
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.kernels import HALVES, copy_into, wrap
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.promotion import result_dtype
from graphwright.runtime.tensor import Tensor

_INDEX_TYPES = frozenset({dtypes.int64, dtypes.int32})


def _spec(input: Any, shape: tuple[Any, ...], dtype: Any = None) -> TensorSpec:
    return TensorSpec(shape, contiguous_strides(shape), dtype or input.dtype, input.device)


def _check_index(name: str, index: Any) -> None:
    if index.dtype not in _INDEX_TYPES:
        raise RuntimeError(
            f"{name}(): expected index of dtype int32 or int64, got {describe(index)}"
        )


def _positions(name: str, index: Any, size: int) -> Any:
    """The index array, checked to lie in 0..size-1."""
    array = index._nd
    if array.size and (array.min() < 0 or array.max() >= size):
        bad = array[(array < 0) | (array >= size)].flat[0]
        raise IndexError(f"{name}: index {bad} is out of bounds for a dimension of size {size}")
    return array


# -- cat


def _cat_parts(tensors: tuple[Any, ...]) -> list[Any]:
    """Operands that count: legacy empty 1-d tensors are skipped."""
    if not tensors:
        raise RuntimeError("cat: expected a non-empty list of Tensors")
    parts = [t for t in tensors if not (len(t.shape) == 1 and t.shape[0] == 0)]
    return parts or [tensors[0]]


def _cat_meta(tensors: tuple[Any, ...], dim: int) -> TensorSpec:
    parts = _cat_parts(tensors)
    first = parts[0].shape
    if not first:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    total: Any = 0
    for i, part in enumerate(parts):
        shape = part.shape
        if len(shape) != len(first) or any(
            a != b for d, (a, b) in enumerate(zip(shape, first, strict=True)) if d != dim
        ):
            raise RuntimeError(
                f"cat: Sizes of tensors must match except in dimension {dim}. Expected "
                f"{list(first)} but got {list(shape)} for tensor number {i} in the list."
            )
        total = total + shape[dim]
    dtype = result_dtype(tuple(tensors))
    return _spec(parts[0], (*first[:dim], total, *first[dim + 1 :]), dtype)


def _cat_eager(tensors: tuple[Any, ...], dim: int) -> Tensor:
    spec = _cat_meta(tensors, dim)
    out = _core.empty(Tensor, spec.shape, spec.dtype)
    np.concatenate(
        [t._nd for t in _cat_parts(tensors)], dim, out=out._nd, casting="unsafe"
    )
    return out


def _cat_vjp(ctx: Any, grad: Any) -> tuple[list[Any]]:
    grads: list[Any] = []
    start: Any = 0
    for part, needed in zip(ctx.tensors, ctx.needs["tensors"], strict=True):
        if len(part.shape) == 1 and part.shape[0] == 0 and grad.ndim != 1:
            grads.append(ops.zeros(part.shape, dtype=grad.dtype) if needed else None)
            continue
        end = start + part.shape[ctx.dim]
        grads.append(ops.slice(grad, ctx.dim, start, end) if needed else None)
        start = end
    return (grads,)


define(
    "cat(Tensor[] tensors, Dim dim=0)",
    Kind.INDEXING,
    meta=_cat_meta,
    vjp=_cat_vjp,
    eager=_cat_eager,
    method=False,
)


def _stack(tensors: tuple[Any, ...], dim: int) -> Any:
    shapes = {tuple(t.shape) for t in tensors}
    if len(shapes) > 1:
        raise RuntimeError(
            "stack expects each tensor to be equal size, but got shapes "
            f"{', '.join(str(list(t.shape)) for t in tensors)}"
        )
    return ops.cat(tuple(ops.unsqueeze(t, dim) for t in tensors), dim)


define(
    "stack(Tensor[] tensors, NewDim dim=0)", Kind.COMPOSITE, decompose=_stack, method=False
)


# -- index_select, index_add


def _index_select_meta(input: Any, dim: int, index: Any) -> TensorSpec:
    _check_index("index_select", index)
    if len(index.shape) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not input.shape:
        if index.shape not in ((), (1,)):
            raise RuntimeError(
                f"index_select(): Index to scalar can have only 1 value, got {index.shape[0]}"
            )
        return _spec(input, ())
    length = index.shape[0] if index.shape else 1
    return _spec(input, (*input.shape[:dim], length, *input.shape[dim + 1 :]))


def _index_select_eager(input: Any, dim: int, index: Any) -> Tensor:
    spec = _index_select_meta(input, dim, index)
    out = _core.empty(Tensor, spec.shape, spec.dtype)
    if not input.shape:
        _positions("index_select", index, 1)
        copy_into(out, input)
        return out
    places = _positions("index_select", index, input.shape[dim]).reshape(-1)
    if input.shape[dim]:
        np.take(input._nd, places, axis=dim, out=out._nd, mode="wrap")
    return out


def _index_select_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    zeros = ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device)
    if not ctx.input.shape:
        return grad, None
    return ops.index_add(zeros, ctx.dim, ctx.index, grad), None


define(
    "index_select(Tensor input, Dim dim, Tensor index)",
    Kind.INDEXING,
    meta=_index_select_meta,
    vjp=_index_select_vjp,
    saves=("index",),
    eager=_index_select_eager,
)


def _index_add_meta(input: Any, dim: int, index: Any, source: Any, alpha: Any) -> TensorSpec:
    _check_index("index_add", index)
    if input.dtype is not source.dtype:
        raise RuntimeError(
            "index_add(): self and source expected to have the same dtype, but got (self) "
            f"{input.dtype} and (source) {source.dtype}"
        )
    return _spec(input, input.shape)


def _wide(array: Any, dtype: Any) -> Any:
    return array.astype(np.float32) if dtype in HALVES else array


def _add_rows(target: Any, places: Any, rows: Any) -> None:
    """target[places] += rows along the first axis, repeated places included."""
    if places.size < 2 or np.unique(places).size == places.size:
        target[places] += rows
        return
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    target[ordered[starts]] += np.add.reduceat(rows[order], starts, axis=0)


def _index_add_eager(input: Any, dim: int, index: Any, source: Any, alpha: Any) -> Tensor:
    _index_add_meta(input, dim, index, source, alpha)
    places = _positions("index_add", index, input.shape[dim] if input.shape else 1).reshape(-1)
    result = np.array(_wide(input._nd, input.dtype), order="C", ndmin=1)
    rows = _wide(source._nd, input.dtype)
    if rows.ndim == 0:
        rows = rows.reshape(1)
    if rows.shape != (*result.shape[:dim], places.size, *result.shape[dim + 1 :]):
        raise RuntimeError(
            f"index_add(): source {describe(source)} does not match input {describe(input)} "
            f"with {places.size} indices along dim {dim}"
        )
    if alpha != 1:
        rows = rows * rows.dtype.type(alpha)
    if rows.size:
        _add_rows(np.moveaxis(result, dim, 0), places, np.moveaxis(rows, dim, 0))
    return wrap(result.reshape(input.shape), input.dtype)


def _index_add_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    picked = None
    if ctx.needs["source"]:
        picked = ops.index_select(grad, ctx.dim, ctx.index)
        picked = ops.reshape(picked, ctx.source.shape)
        picked = picked if ctx.alpha == 1 else ops.mul(picked, ctx.alpha)
    return grad, None, picked


define(
    "index_add(Tensor input, Dim dim, Tensor index, Tensor source, *, Scalar alpha=1)",
    Kind.INDEXING,
    meta=_index_add_meta,
    vjp=_index_add_vjp,
    saves=("index",),
    eager=_index_add_eager,
)
define(
    "index_add_(Tensor input, Dim dim, Tensor index, Tensor source, *, Scalar alpha=1)",
    Kind.INPLACE,
    functional="index_add",
    public=False,
)


# -- gather, scatter


def _check_gather(name: str, input: Any, index: Any) -> None:
    _check_index(name, index)
    if len(input.shape) != len(index.shape) and len(input.shape) * len(index.shape) != 0:
        raise RuntimeError(
            f"{name}(): Index tensor must have the same number of dimensions as input tensor, "
            f"got {describe(index)} and {describe(input)}"
        )


def _gather_meta(input: Any, dim: int, index: Any) -> TensorSpec:
    _check_gather("gather", input, index)
    for d, (n, m) in enumerate(zip(index.shape, input.shape, strict=False)):
        if d != dim and n > m:
            raise RuntimeError(
                f"gather(): Size does not match at dimension {d}: index {describe(index)} "
                f"must not exceed {describe(input)} apart from dimension {dim}"
            )
    return _spec(input, index.shape)


def _places_along(shape: tuple[int, ...], dim: int, places: Any) -> tuple[Any, ...]:
    """Open-grid index that walks `shape` and uses `places` along `dim`."""
    grid: list[Any] = [
        np.arange(n).reshape([-1 if i == d else 1 for i in range(len(shape))])
        for d, n in enumerate(shape)
    ]
    grid[dim] = places
    return tuple(grid)


def _gather_eager(input: Any, dim: int, index: Any) -> Tensor:
    _gather_meta(input, dim, index)
    source = np.atleast_1d(input._nd)
    places = np.atleast_1d(_positions("gather", index, source.shape[dim]))
    picked = source[_places_along(places.shape, dim, places)]
    return wrap(picked.reshape(index.shape), input.dtype)


define(
    "gather(Tensor input, Dim dim, Tensor index)",
    Kind.INDEXING,
    meta=_gather_meta,
    vjp=lambda ctx, grad: (
        ops.scatter_add(
            ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device),
            ctx.dim,
            ctx.index,
            grad,
        ),
        None,
    ),
    saves=("index",),
    eager=_gather_eager,
)


def _scatter_meta(name: str) -> Any:
    def meta(input: Any, dim: int, index: Any, src: Any) -> TensorSpec:
        _check_gather(name, input, index)
        if hasattr(src, "dtype") and src.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}(): Expected self.dtype to be equal to src.dtype, "
                f"got {input.dtype} and {src.dtype}"
            )
        return _spec(input, input.shape)

    return meta


def _scatter_kernel(name: str, accumulate: bool) -> Any:
    meta = _scatter_meta(name)

    def eager(input: Any, dim: int, index: Any, src: Any) -> Tensor:
        meta(input, dim, index, src)
        result = np.array(_wide(input._nd, input.dtype), order="C", ndmin=1)
        places = np.atleast_1d(_positions(name, index, result.shape[dim]))
        where = _places_along(places.shape, dim, places)
        values: Any = src
        if isinstance(src, Tensor):
            values = np.atleast_1d(_wide(src._nd, input.dtype))
            values = values[tuple(slice(n) for n in places.shape)]
        if accumulate:
            np.add.at(result, where, values)
        else:
            result[where] = values
        return wrap(result.reshape(input.shape), input.dtype)

    return eager


def _scatter_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    kept = ops.scatter(grad, ctx.dim, ctx.index, 0.0) if ctx.needs["input"] else None
    return kept, None, _picked(ctx, grad)


def _picked(ctx: Any, grad: Any) -> Any:
    if not ctx.needs["src"]:
        return None
    picked = ops.gather(grad, ctx.dim, ctx.index)
    if picked.shape == ctx.src.shape:
        return picked
    pads: list[Any] = []
    for have, want in zip(reversed(picked.shape), reversed(ctx.src.shape), strict=True):
        pads += [0, want - have]
    return ops.constant_pad(picked, tuple(pads), 0.0)


define(
    "scatter_add(Tensor input, Dim dim, Tensor index, Tensor src)",
    Kind.INDEXING,
    meta=_scatter_meta("scatter_add"),
    vjp=lambda ctx, grad: (grad, None, _picked(ctx, grad)),
    saves=("index",),
    eager=_scatter_kernel("scatter_add", True),
)
define(
    "scatter(Tensor input, Dim dim, Tensor index, Operand src)",
    Kind.INDEXING,
    meta=_scatter_meta("scatter"),
    vjp=_scatter_vjp,
    saves=("index",),
    eager=_scatter_kernel("scatter", False),
)
define(
    "scatter_add_(Tensor input, Dim dim, Tensor index, Tensor src)",
    Kind.INPLACE,
    functional="scatter_add",
    public=False,
)
define(
    "scatter_(Tensor input, Dim dim, Tensor index, Operand src)",
    Kind.INPLACE,
    functional="scatter",
    public=False,
)


# -- padding


def _pad_meta(input: Any, pad: tuple[Any, ...], value: Any) -> TensorSpec:
    ndim = len(input.shape)
    if len(pad) % 2 or len(pad) > 2 * ndim:
        raise RuntimeError(
            f"constant_pad: pad {list(pad)} must have even length of at most {2 * ndim}"
        )
    shape = list(input.shape)
    for i in range(len(pad) // 2):
        at = ndim - 1 - i
        shape[at] = shape[at] + pad[2 * i] + pad[2 * i + 1]
        if shape[at] < 0:
            raise RuntimeError(
                f"constant_pad: pad {list(pad)} gives a negative size for {describe(input)}"
            )
    return _spec(input, tuple(shape))


def _pad_eager(input: Any, pad: tuple[int, ...], value: Any) -> Tensor:
    spec = _pad_meta(input, pad, value)
    out = _core.empty(Tensor, spec.shape, spec.dtype)
    target, source = out._nd, input._nd
    target.fill(value)
    to, of = [slice(None)] * source.ndim, [slice(None)] * source.ndim
    for i in range(len(pad) // 2):
        at, (before, after) = source.ndim - 1 - i, pad[2 * i : 2 * i + 2]
        to[at] = slice(max(before, 0), target.shape[at] - max(after, 0))
        of[at] = slice(max(-before, 0), source.shape[at] - max(-after, 0))
    target[tuple(to)] = source[tuple(of)]
    return out


define(
    "constant_pad(Tensor input, Size pad, Scalar value=0)",
    Kind.INDEXING,
    meta=_pad_meta,
    vjp=lambda ctx, grad: ops.constant_pad(grad, tuple(-p for p in ctx.pad), 0.0),
    eager=_pad_eager,
    method=False,
    public=False,
)
