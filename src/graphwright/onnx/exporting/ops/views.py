"""Views and other changes of shape: ONNX has values alone, so that each is a tensor of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.registry import form, forms
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes

LAST = (1 << 63) - 1
"""The end of a slice that goes on to the last element."""


def same_size(a: Any, b: Any) -> bool:
    """Whether two sizes are the same expression; nothing is assumed of them."""
    return bool(getattr(a, "expr", a) == getattr(b, "expr", b))


def is_static(sizes: Any) -> bool:
    """Whether no size is dynamic."""
    return not any(isinstance(size, SymInt) for size in sizes)


def reshaped(g: Builder, x: Value, shape: Any) -> Value:
    """x in another shape: sizes that stay in place are 0, and one more that is dynamic is -1."""
    shape = tuple(shape)
    before = x.known_shape or ()
    dynamic = [dim for dim, size in enumerate(shape) if isinstance(size, SymInt)]
    kept = [dim for dim in dynamic if dim < len(before) and same_size(before[dim], shape[dim])]
    empty = 0 in [size for size in shape if type(size) is int]
    written: list[Any] = list(shape)
    left = [dim for dim in dynamic if dim not in kept]
    if not left and len(dynamic) == 1:
        left, kept = dynamic, []
    if len(left) <= 1 and not empty:
        for dim in kept:
            written[dim] = 0
        for dim in left:
            written[dim] = -1
    return g.op("Reshape", x, written, shape=shape, allowzero=1 if empty else None)


forms({
    "view reshape _unsafe_view": lambda g, out, x, size: reshaped(g, x, out.shape),
    "unsqueeze": lambda g, out, x, dim: g.op("Unsqueeze", x, [dim]),
    "select": lambda g, out, x, dim, index: g.op("Gather", x, g.scalar(index), axis=dim),
    "select_at": lambda g, out, x, dim, index: g.op(
        "Gather", x, g.op("Reshape", index, g.sizes([])), axis=dim),
})


@form("expand", "broadcast_to")
def _expand(g: Builder, out: Any, x: Value, size: Any) -> Value:
    """Sizes that stay are written as 1, which broadcasts against anything."""
    added = len(out.shape) - x.ndim
    written: list[Any] = []
    for dim, wanted in enumerate(out.shape):
        stays = dim >= added and same_size(x.shape[dim - added], wanted)
        written.append(1 if stays else wanted)
    if not added and all(type(one) is int and one == 1 for one in written):
        return x
    return g.op("Expand", x, written)


def transposed(g: Builder, x: Value, order: list[int]) -> Value:
    """The dims in another order."""
    if order == sorted(order):
        return x
    known = x.known_shape
    shape = None if known is None else tuple([known[dim] for dim in order])
    return g.op("Transpose", x, shape=shape, perm=order)


@form("permute")
def _permute(g: Builder, out: Any, x: Value, dims: Any) -> Value:
    return transposed(g, x, [dim % x.ndim for dim in dims])


@form("transpose")
def _transpose(g: Builder, out: Any, x: Value, dim0: int, dim1: int) -> Value:
    order = list(range(x.ndim))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return transposed(g, x, order)


@form("squeeze")
def _squeeze(g: Builder, out: Any, x: Value, dim: Any) -> Value:
    """The dims that went: those of size 1 among the ones asked for."""
    asked = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    asked = {one % x.ndim for one in asked} if x.ndim else set()
    gone = sorted(one for one in asked if same_size(x.shape[one], 1))
    return g.op("Squeeze", x, gone) if gone else x


@form("slice")
def _slice(g: Builder, out: Any, x: Value, dim: int, start: Any, end: Any, step: Any) -> Value:
    step = 1 if step is None else step
    start = 0 if start is None else start
    if type(start) is int and start == 0 and end is None and type(step) is int and step == 1:
        return x
    return g.op("Slice", x, [start], [LAST if end is None else end], [dim], [step])


@form("flip")
def _flip(g: Builder, out: Any, x: Value, dims: Any) -> Value:
    dims = [dim % x.ndim for dim in dims] if x.ndim else []
    if not dims:
        return x
    return g.op("Slice", x, [-1] * len(dims), [-LAST] * len(dims), dims, [-1] * len(dims))


def span(g: Builder, count: Any) -> Value:
    """0, 1, ... count - 1."""
    if type(count) is int:
        return g.constant(np.arange(count), dtypes.int64)
    return g.op("Range", g.scalar(0), g.scalar(count), g.scalar(1))


def along(g: Builder, places: Value, dim: int, shape: Any) -> Value:
    """A vector of positions along a dim, spread over the others of a shape."""
    sizes = [1] * len(shape)
    sizes[dim] = -1
    return g.op("Expand", g.op("Reshape", places, sizes), g.sizes(shape), shape=tuple(shape))


@form("unfold")
def _unfold(g: Builder, out: Any, x: Value, dim: int, size: int, step: int) -> Value:
    """Windows along a dim, the elements of each in a new last dim."""
    if x.ndim == 0:
        return reshaped(g, x, out.shape)
    begins = g.op("Unsqueeze", g.op("Mul", span(g, out.shape[dim]), step), [1])
    windows = g.op("Gather", x, g.op("Add", begins, span(g, size)), axis=dim)
    order = [one for one in range(x.ndim + 1) if one != dim + 1] + [dim + 1]
    return transposed(g, windows, order)


@form("diagonal")
def _diagonal(g: Builder, out: Any, x: Value, offset: int, dim1: int, dim2: int) -> Value:
    """Of the last two dims, flat: places first, first + columns + 1, and so on."""
    dim1, dim2 = dim1 % x.ndim, dim2 % x.ndim
    rest = [dim for dim in range(x.ndim) if dim not in (dim1, dim2)]
    last = transposed(g, x, [*rest, dim1, dim2])
    rows, columns = x.shape[dim1], x.shape[dim2]
    flat = reshaped(g, last, (*last.shape[:-2], rows * columns))
    first = offset if offset >= 0 else -offset * columns
    places = g.op("Mul", span(g, out.shape[-1]), g.scalar(columns + 1))
    return g.op("Gather", flat, g.op("Add", places, g.scalar(first)), axis=len(rest))


def _has_places(x: Any, size: Any, stride: Any, offset: Any) -> bool:
    return is_static((*x.shape, *size, *stride, offset))


@form("as_strided", accepts=_has_places)
def _as_strided(g: Builder, out: Any, x: Value, size: Any, stride: Any, offset: Any) -> Value:
    """Places in the memory of a tensor in row-major order."""
    places = np.full(tuple(size), offset or 0, np.int64)
    for dim, (count, step) in enumerate(zip(size, stride, strict=True)):
        places += (np.arange(count) * step).reshape((-1,) + (1,) * (len(size) - dim - 1))
    return g.op("Gather", g.op("Reshape", x, [-1]), places, axis=0)
