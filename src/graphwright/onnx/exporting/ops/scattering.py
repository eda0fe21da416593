"""Writing by positions: each result is a new tensor."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.element_types import NARROW
from graphwright.onnx.exporting.ops.indexing import indexed_first, integers, positions, stacked
from graphwright.onnx.exporting.ops.views import LAST, reshaped, same_size, span, transposed
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes


def _wide(dtype: Any, reduction: str | None) -> Any:
    """The dtype to write in: narrow integers and bools in int32, sums of halves in float32."""
    if dtype in NARROW or dtype is dtypes.bool:
        return dtypes.int32
    halves = dtype in (dtypes.float16, dtypes.bfloat16)
    return dtypes.float32 if halves and reduction is not None else dtype


def _scattered(
    g: Builder, x: Value, dim: int, index: Value, src: Value, reduction: str | None
) -> Value:
    """ScatterElements; of a larger source the part that has positions."""
    if x.ndim == 0:
        flat = [g.op("Reshape", one, [1]) for one in (x, positions(g, index), src)]
        made = g.op("ScatterElements", *flat, axis=0, reduction=reduction)
        return reshaped(g, made, ())
    assert index.shape is not None and src.shape is not None
    given: Value = src
    larger = [place for place, (own, have) in enumerate(
        zip(index.shape, src.shape, strict=True)) if not same_size(own, have)]
    if larger:
        given = g.op("Slice", src, [0] * len(larger), [index.shape[one] for one in larger], larger)
    wide = _wide(x.dtype, reduction)
    made = g.op("ScatterElements", g.cast(x, wide), positions(g, index), g.cast(given, wide),
                axis=dim, reduction=reduction)
    return g.cast(made, x.dtype)


@form("scatter_src")
def _scatter_src(g: Builder, out: Any, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _scattered(g, x, dim, index, src, None)


@form("scatter_value")
def _scatter_value(g: Builder, out: Any, x: Value, dim: int, index: Value, value: Any) -> Value:
    number = g.operand(value, x.dtype)
    src = g.op("Expand", number, g.sizes(index.shape or []))
    return _scattered(g, x, dim, index, Value(src.name, x.dtype, index.shape), None)


@form("scatter_add")
def _scatter_add(g: Builder, out: Any, x: Value, dim: int, index: Value, src: Value) -> Value:
    return _scattered(g, x, dim, index, src, "add")


_EXTREMES = {"amax": "max", "amin": "min", "prod": "mul"}
_COMBINED = {"prod": "mul", "multiply": "mul", "sum": "add", "add": "add"}


@form("scatter_extreme",
      accepts=lambda x, dim, index, src, reduce, include_self: include_self)
def _scatter_extreme(g: Builder, out: Any, x: Value, dim: int, index: Value, src: Value,
                     reduce: str, include_self: bool) -> Value:
    return _scattered(g, x, dim, index, src, _EXTREMES[reduce])


@form("scatter_combined", accepts=lambda x, dim, index, src, reduce: reduce in _COMBINED)
def _scatter_combined(g: Builder, out: Any, x: Value, dim: int, index: Value, src: Value,
                      reduce: str) -> Value:
    return _scattered(g, x, dim, index, src, _COMBINED[reduce])


@form("index_add")
def _index_add(g: Builder, out: Any, x: Value, dim: int, index: Value, source: Value,
               alpha: Any) -> Value:
    """The positions along the dim, spread over the others."""
    if alpha != 1:
        scaled = g.math("Mul", source, alpha, dtype=source.dtype)
        source = Value(scaled.name, source.dtype, source.shape)
    if x.ndim == 0:
        return g.math("Add", x, reshaped(g, source, ()), dtype=x.dtype)
    shape = [1] * x.ndim
    shape[dim] = -1
    column = g.op("Reshape", positions(g, index), shape)
    places = g.op("Expand", column, g.sizes(source.shape or []))
    return _scattered(g, x, dim, Value(places.name, dtypes.int64, source.shape), source, "add")


@form("index_put", accepts=integers)
def _index_put(g: Builder, out: Any, x: Value, indices: Any, values: Value,
               accumulate: bool) -> Value:
    dims = [dim for dim, one in enumerate(indices) if one is not None]
    assert x.shape is not None
    first, order = indexed_first(g, x, dims)
    places = stacked(g, [indices[dim] for dim in dims])
    lead = (places.shape or ())[:-1]
    rest = [x.shape[dim] for dim in order[len(dims):]]
    side_by_side = dims == list(range(dims[0], dims[-1] + 1))
    before = dims[0] if side_by_side else 0
    # the values broadcast to what reading at these positions gives, then its order is this one's
    wanted = [*rest[:before], *lead, *rest[before:]]
    spread = g.op("Expand", g.cast(values, x.dtype), g.sizes(wanted))
    if before:
        inner = list(range(before, before + len(lead)))
        outer = [dim for dim in range(len(wanted)) if dim not in inner]
        spread = transposed(g, spread, [*inner, *outer])
    reduction = "add" if accumulate else None
    wide = _wide(x.dtype, reduction)
    made = g.op("ScatterND", g.cast(first, wide), places, g.cast(spread, wide),
                reduction=reduction)
    return transposed(g, g.cast(made, x.dtype), [order.index(dim) for dim in range(x.ndim)])


@form("slice_scatter")
def _slice_scatter(g: Builder, out: Any, x: Value, src: Value, dim: int, start: Any, end: Any,
                   step: Any) -> Value:
    """What is before the slice, the source, what is behind; with a step by positions."""
    assert x.shape is not None and src.shape is not None
    size, count = x.shape[dim], src.shape[dim]
    if step in (None, 1) and type(step) is not SymInt:
        begin = 0 if start is None else start
        if type(begin) is int and begin < 0:
            begin = begin + size
        if type(begin) is int and type(size) is int:
            begin = max(0, min(begin, size))
        given = g.cast(src, x.dtype)
        parts = [g.op("Slice", x, [0], [begin], [dim]), given,
                 g.op("Slice", x, [begin + count], [LAST], [dim])]
        kept = [parts[0]] if type(begin) is not int or begin else []
        last = type(begin) is int and type(size) is int and type(count) is int
        rest = [] if last and begin + count == size else [parts[2]]
        made = g.op("Concat", *kept, given, *rest, axis=dim) if kept or rest else given
        return made
    places = g.op("Slice", span(g, size), [0 if start is None else start],
                  [LAST if end is None else end], [0], [step])
    shape = [1] * x.ndim
    shape[dim] = -1
    column = g.op("Reshape", places, shape)
    spread = g.op("Expand", column, g.sizes(src.shape))
    return _scattered(g, x, dim, Value(spread.name, dtypes.int64, src.shape), src, None)
