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
    return index if index.dtype is dtypes.int64 else Value(
        g.cast(index, dtypes.int64).name, dtypes.int64, index.shape)


@form("index_select")
def _index_select(g: Builder, out: Any, x: Value, dim: int, index: Value) -> Value:
    places: Any = positions(g, index)
    if x.ndim == 0:
        return x
    if index.ndim == 0:
        places = g.op("Unsqueeze", places, [0])
    return g.op("Gather", x, places, axis=dim)


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


def stacked(g: Builder, indices: list[Value]) -> Value:
    """Positions of several dims, broadcast, as one tensor whose last dim counts the dims."""
    shape = broadcast_shapes("index", [tuple(one.shape or ()) for one in indices])
    parts = []
    for one in indices:
        given: Any = positions(g, one)
        if tuple(one.shape or ()) != tuple(shape):
            given = g.op("Expand", given, g.sizes(shape))
        parts.append(g.op("Unsqueeze", given, [-1]))
    made = parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=-1)
    return Value(made.name, dtypes.int64, (*shape, len(indices)))


def indexed_first(g: Builder, x: Value, dims: list[int]) -> tuple[Value, list[int]]:
    """x with the indexed dims first, and the order of its dims then."""
    order = [*dims, *[dim for dim in range(x.ndim) if dim not in dims]]
    return transposed(g, x, order), order


@form("index", accepts=integers)
def _index(g: Builder, out: Any, x: Value, indices: Any) -> Value:
    """Indexed dims that lie side by side are replaced where they are, others come first."""
    dims = [dim for dim, one in enumerate(indices) if one is not None]
    given = [indices[dim] for dim in dims]
    if len(dims) == 1:
        return g.op("Gather", x, positions(g, given[0]), axis=dims[0])
    first, _ = indexed_first(g, x, dims)
    places = stacked(g, given)
    found = g.op("GatherND", first, places)
    ndim = places.ndim - 1
    side_by_side = dims == list(range(dims[0], dims[-1] + 1))
    if side_by_side and dims[0]:
        rest = list(range(ndim, ndim + x.ndim - len(dims)))
        order = [*rest[: dims[0]], *range(ndim), *rest[dims[0]:]]
        return transposed(g, found, order)
    return found
