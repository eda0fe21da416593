"""Writing by positions: each result is a new tensor."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value, computed_in
from graphwright.onnx.exporting.ops.indexing import indexed, integers, positions
from graphwright.onnx.exporting.ops.joining import filled
from graphwright.onnx.exporting.ops.views import (
    LAST,
    along,
    reshaped,
    same_size,
    span,
    transposed,
)
from graphwright.onnx.exporting.registry import form, forms
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes


def _wide(dtype: Any, reduction: str | None) -> Any:
    """The dtype to write in: narrow integers and bools in int32, sums of halves in float32."""
    halves = dtype in (dtypes.float16, dtypes.bfloat16)
    return dtypes.float32 if halves and reduction is not None else computed_in(dtype, bools=True)


def _scattered(
    g: Builder, x: Value, dim: int, index: Value, src: Value, reduction: str | None
) -> Value:
    """ScatterElements; of a larger source the part that has positions."""
    if x.ndim == 0:
        flat = [g.op("Reshape", one, [1]) for one in (x, positions(g, index), src)]
        made = g.op("ScatterElements", *flat, axis=0, reduction=reduction)
        return reshaped(g, made, ())
    larger = [place for place, (own, have) in enumerate(
        zip(index.shape, src.shape, strict=True)) if not same_size(own, have)]
    if larger:
        src = g.op("Slice", src, [0] * len(larger), [index.shape[one] for one in larger], larger)
    wide = _wide(x.dtype, reduction)
    made = g.op("ScatterElements", g.cast(x, wide), positions(g, index), g.cast(src, wide),
                axis=dim, reduction=reduction)
    return g.cast(made, x.dtype)


forms({
    "scatter_src": lambda g, out, x, dim, index, src: _scattered(g, x, dim, index, src, None),
    "scatter_add": lambda g, out, x, dim, index, src: _scattered(g, x, dim, index, src, "add"),
    "scatter_value": lambda g, out, x, dim, index, value: _scattered(
        g, x, dim, index, filled(g, value, x.dtype, index.shape), None),
})

_REDUCTIONS = {"amax": "max", "amin": "min", "prod": "mul", "multiply": "mul", "sum": "add",
               "add": "add"}


@form("scatter_combined", accepts=lambda x, dim, index, src, reduce: reduce in (
    "prod", "multiply", "sum", "add"))
@form("scatter_extreme", accepts=lambda x, dim, index, src, reduce, include_self: include_self)
def _scatter_reduced(g: Builder, out: Any, x: Value, dim: int, index: Value, src: Value,
                     reduce: str, include_self: bool = True) -> Value:
    return _scattered(g, x, dim, index, src, _REDUCTIONS[reduce])


@form("index_add")
def _index_add(g: Builder, out: Any, x: Value, dim: int, index: Value, source: Value,
               alpha: Any) -> Value:
    if alpha != 1:
        scaled = g.math("Mul", source, alpha, dtype=source.dtype)
        source = Value(scaled.name, source.dtype, source.shape)
    if x.ndim == 0:
        return g.math("Add", x, reshaped(g, source, ()), dtype=x.dtype)
    places = along(g, positions(g, index), dim, source.shape)
    return _scattered(g, x, dim, places, source, "add")


@form("index_put", accepts=integers)
def _index_put(g: Builder, out: Any, x: Value, indices: Any, values: Value,
               accumulate: bool) -> Value:
    first, order, places, back = indexed(g, x, indices)
    # the values broadcast to what reading at these positions gives, then its order is this one's
    own = [*places.shape[:-1], *first.shape[places.shape[-1]:]]
    spread = g.op("Expand", g.cast(values, x.dtype), g.sizes([own[dim] for dim in back]))
    reduction = "add" if accumulate else None
    wide = _wide(x.dtype, reduction)
    made = g.op("ScatterND", g.cast(first, wide), places,
                g.cast(transposed(g, spread, _inverse(back)), wide), reduction=reduction)
    return transposed(g, g.cast(made, x.dtype), _inverse(order))


def _inverse(order: list[int]) -> list[int]:
    return [order.index(dim) for dim in range(len(order))]


@form("slice_scatter")
def _slice_scatter(g: Builder, out: Any, x: Value, src: Value, dim: int, start: Any, end: Any,
                   step: Any) -> Value:
    """What is before the slice, the source, what is behind; with a step by positions."""
    size, begin = x.shape[dim], 0 if start is None else start
    if type(step) is SymInt or step not in (None, 1):
        places = g.op("Slice", span(g, size), [begin], [LAST if end is None else end], [0], [step])
        return _scattered(g, x, dim, along(g, places, dim, src.shape), src, None)
    if type(begin) is int and begin < 0:
        begin = begin + size
    if type(begin) is int and type(size) is int:
        begin = max(0, min(begin, size))
    stop = begin + src.shape[dim]
    parts = [g.cast(src, x.dtype)]
    if type(begin) is not int or begin:
        parts.insert(0, g.op("Slice", x, [0], [begin], [dim]))
    if type(stop) is not int or type(size) is not int or stop != size:
        parts.append(g.op("Slice", x, [stop], [LAST], [dim]))
    return g.op("Concat", *parts, axis=dim) if len(parts) > 1 else parts[0]
