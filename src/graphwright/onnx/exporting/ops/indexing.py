"""Reading by positions."""

from __future__ import annotations

from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.views import transposed
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.tensor import dtypes


def positions(g: Builder, index: Value) -> Value:
    """Positions in a dtype that ONNX takes."""
    return g.cast(index, dtypes.int64)


@form("index_select")
def _index_select(g: Builder, out: Any, x: Value, dim: int, index: Value) -> Value:
    places = positions(g, index)
    if x.ndim == 0:
        return x
    return g.op("Gather", x, places if index.ndim else g.op("Unsqueeze", places, [0]), axis=dim)


@form("embedding")
def _embedding(g: Builder, out: Any, weight: Value, indices: Value, *rest: Any) -> Value:
    return g.op("Gather", weight, positions(g, indices), axis=0)


@form("gather")
def _gather(g: Builder, out: Any, x: Value, dim: int, index: Value, *rest: Any) -> Value:
    if x.ndim == 0:
        return x
    return g.op("GatherElements", x, positions(g, index), axis=dim)


def integers(x: Any, indices: Any, *rest: Any) -> bool:
    """Whether each index is a tensor of positions, not a mask."""
    return all(one is None or one.dtype is not dtypes.bool for one in indices)


def indexed(g: Builder, x: Value, indices: Any) -> tuple[Value, list[int], Value, list[int]]:
    """A tensor and positions of some of its dims, as ONNX reads and writes them.

    Returns: x with the indexed dims first; that order of its dims; the positions; and the order
        that the dims of what is read, those of the positions first, have in the op: indexed dims
        that lie side by side are replaced where they are.
    """
    dims = [dim for dim, one in enumerate(indices) if one is not None]
    order = [*dims, *[dim for dim in range(x.ndim) if dim not in dims]]
    places = _stacked(g, [indices[dim] for dim in dims])
    lead = places.ndim - 1
    others = list(range(lead, lead + x.ndim - len(dims)))
    before = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0
    return (transposed(g, x, order), order, places,
            [*others[:before], *range(lead), *others[before:]])


def _stacked(g: Builder, indices: list[Value]) -> Value:
    """Positions of several dims, broadcast, as one tensor whose last dim counts the dims."""
    shape = tuple(broadcast_shapes("index", [one.shape for one in indices]))
    parts = []
    for one in indices:
        given = positions(g, one)
        if one.shape != shape:
            given = g.op("Expand", given, g.sizes(shape))
        parts.append(g.op("Unsqueeze", given, [-1], shape=(*shape, 1)))
    if len(parts) == 1:
        return parts[0]
    return g.op("Concat", *parts, shape=(*shape, len(indices)), axis=-1)


@form("index", accepts=integers)
def _index(g: Builder, out: Any, x: Value, indices: Any) -> Value:
    given = [(dim, one) for dim, one in enumerate(indices) if one is not None]
    if len(given) == 1:
        return g.op("Gather", x, positions(g, given[0][1]), axis=given[0][0])
    first, _, places, back = indexed(g, x, indices)
    return transposed(g, g.op("GatherND", first, places), back)
