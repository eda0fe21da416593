"""Sorting, order statistics, positions in sorted sequences."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value, computed_in
from graphwright.onnx.exporting.ops.elementwise import common_dtype
from graphwright.onnx.exporting.ops.views import LAST
from graphwright.onnx.exporting.registry import form, forms
from graphwright.runtime.tensor import dtypes


def _top(
    g: Builder, x: Value, count: Any, dim: int, largest: bool, is_sorted: bool = True
) -> tuple[Value, Value]:
    """The first elements along a dim, in order, and their positions; the lower one of two equal
    elements is first."""
    wide = computed_in(x.dtype, bools=True)
    values, places = g.several(2, "TopK", g.cast(x, wide), [count], axis=dim,
                               largest=int(largest), sorted=int(is_sorted))
    return g.cast(values, x.dtype), Value(places.name, dtypes.int64)


def _has_dims(x: Any, *rest: Any) -> bool:
    return len(x.shape) > 0


forms({
    "topk": lambda g, out, x, k, dim, largest, is_sorted: _top(g, x, k, dim, largest, is_sorted),
    "topk_positions": lambda g, out, x, k, dim, largest: _top(g, x, k, dim, largest)[1],
    "sort": lambda g, out, x, dim, descending, stable: _top(g, x, x.shape[dim], dim, descending),
    "argsort": lambda g, out, x, dim, descending, stable: _top(
        g, x, x.shape[dim], dim, descending)[1],
}, accepts=_has_dims)


@form("kth_position", accepts=_has_dims)
def _kth_position(g: Builder, out: Any, x: Value, k: Any, dim: int) -> Value:
    """The position of the k-th smallest element; the dim has size 1 or is gone, as in the
    result."""
    place = g.op("Slice", _top(g, x, k, dim, False)[1], [-1], [LAST], [dim])
    return place if len(out.shape) == x.ndim else g.op("Squeeze", place, [dim])


@form("median_position", accepts=lambda x, dim, skip_nan: not skip_nan and len(x.shape) > 0)
def _median_position(g: Builder, out: Any, x: Value, dim: int, skip_nan: bool) -> Value:
    """Of an even number the lower of the two in the middle."""
    return _kth_position(g, out, x, (x.shape[dim] - 1) // 2 + 1, dim)


@form("search_positions", accepts=lambda sequence, values, small, right, sorter: sorter is None)
def _search_positions(g: Builder, out: Any, sequence: Value, values: Any, small: bool,
                      right: bool, sorter: None) -> Value:
    """How many elements of the sequence are less than each value, or not greater."""
    dtype = common_dtype(sequence, values)
    row = g.cast(sequence, dtype)
    if sequence.ndim > 1:
        row = g.op("Unsqueeze", row, [-2])
    column = g.op("Unsqueeze", g.operand(values, dtype), [-1])
    below = g.compare("LessOrEqual" if right else "Less", row, column, dtype=dtype)
    counted = g.op("ReduceSum", g.cast(below, dtypes.int64), [-1], keepdims=0)
    return g.cast(counted, out.dtype)
