"""Reading and writing elements by index, and finding places of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op, plain, sizes_rule
from graphwright.onnx.importing.tensors import from_array
from graphwright.onnx.importing.values import Sizes


def non_negative(index: Tensor, length: int) -> Tensor:
    """Indices as int64, the negative ones counted from the end."""
    index = index.to(gw.int64)
    return gw.where(index < 0, index + length, index)


@op("Gather", moves=True)
def gather(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Slices of x at indices along an axis, whose dim the indices' dims replace."""
    axis = axis % x.dim()
    index = non_negative(indices, x.shape[axis])
    found = gw.index_select(x, axis, index.reshape([-1]))
    return found.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])


@op("GatherElements", moves=True)
def gather_elements(x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """Of each place in `indices` the element of x there, but at the index along the axis."""
    return gw.gather(x, axis, non_negative(indices, x.shape[axis]))


@op("GatherND", moves=True)
def gather_nd(x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """Slices of x at the places that rows of `indices` name, behind `batch_dims` common dims."""
    depth = indices.shape[-1]
    batch = list(x.shape[:batch_dims])
    places = list(indices.shape[batch_dims:-1])
    index: list[Tensor] = []
    for dim, n in enumerate(batch):
        order = gw.arange(n).reshape([-1, *[1] * (batch_dims - 1 - dim), *[1] * len(places)])
        index.append(order)
    for position in range(depth):
        column = indices.select(-1, position)
        index.append(non_negative(column, x.shape[batch_dims + position]))
    return x[tuple(index)]


@op("Slice", moves=True)
def slice_(
    x: Tensor, starts: list[int], ends: list[int], axes: list[int] | None = None,
    steps: list[int] | None = None,
) -> Tensor:  # fmt: skip
    """Every `step`-th element from `start` to before `end`, along each axis."""
    for i, axis in enumerate(axes if axes is not None else range(len(starts))):
        axis = axis % x.dim()
        x = _sliced(x, axis, starts[i], ends[i], steps[i] if steps else 1)
    return x


def _sliced(x: Tensor, axis: int, start: int, end: int, step: int) -> Tensor:
    length = x.shape[axis]
    if step > 0:
        if type(end) is int and end >= 2**31 - 1:
            end = length
        return x[(*[slice(None)] * axis, slice(start, end, step))]
    if step == 0:
        raise ValueError("Slice: a step is 0")
    first, last, _ = slice(start, end, step).indices(length)
    return gw.index_select(x, axis, gw.arange(first, last, step))


@op("Compress", moves=True)
def compress(x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """Slices of x along an axis, or elements, where the condition holds."""
    if axis is None:
        x, axis = x.reshape([-1]), 0
    places = gw.nonzero(condition.to(gw.bool)).reshape([-1])
    return gw.index_select(x, axis, places)


plain("NonZero", lambda x: gw.nonzero(x).t())


@op("OneHot")
def one_hot(indices: Tensor, depth: int, values: Tensor, *, axis: int = -1) -> Tensor:
    """A new dim of size `depth` with values[1] at the index and values[0] elsewhere."""
    rank = indices.dim() + 1
    axis = axis % rank
    index = gw.where(indices < 0, indices + depth, indices)
    order = gw.arange(depth).reshape([-1, *[1] * (rank - 1 - axis)])
    hot = index.unsqueeze(axis).to(gw.int64) == order
    return gw.where(hot, values[1], values[0])


@op("TopK")
def top_k(
    x: Tensor, k: int, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along an axis, and where they were; first ones first."""
    values, places = gw.sort(x, dim=axis, descending=bool(largest), stable=True)
    return values.narrow(axis, 0, k), places.narrow(axis, 0, k)


@op("Unique")
def unique(
    x: Tensor | np.ndarray, *, axis: int | None = None, sorted: int = 1, n_outputs: int = 1
) -> Any:
    """The different elements, or slices along an axis; where each is first; which; how often."""
    array = x if isinstance(x, np.ndarray) else x.numpy()
    values, first, inverse, counts = np.unique(
        array, axis=axis, return_index=True, return_inverse=True, return_counts=True
    )
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(first)
        values = np.take(values, order, axis=axis or 0)
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    places = [from_array(part.astype(np.int64)) for part in (first, inverse, counts)]
    return (from_array(values), *places)[: max(n_outputs, 1)]


@sizes_rule("Gather")
def _gathered(x: Sizes, indices: Sizes, axis: int = 0) -> Sizes | None:
    if x.scalar:
        return None
    return x.like([x.values[i] for i in indices.values], indices.scalar)


@sizes_rule("Slice")
def _cut(
    x: Sizes, starts: Any, ends: Any = None, axes: Any = None, steps: Any = None
) -> Sizes | None:
    def first(value: Any) -> Any:
        return value.values[0] if isinstance(value, Sizes) else value[0]

    if x.scalar or ends is None:
        return None
    return x.like(x.values[first(starts) : first(ends) : None if steps is None else first(steps)])


_REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


@op("ScatterElements", "Scatter")
def scatter_elements(
    x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """x with the updates written, or combined, at indices along an axis."""
    index = non_negative(indices, x.shape[axis])
    if reduction == "none":
        return gw.scatter(x, axis, index, updates)
    return gw.scatter_reduce(x, axis, index, updates, _REDUCTIONS[reduction], include_self=True)


@op("ScatterND")
def scatter_nd(
    x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none"
) -> Tensor:
    """x with slices written, or combined, at the places that rows of `indices` name."""
    depth = indices.shape[-1]
    columns = [non_negative(indices.select(-1, i), x.shape[i]) for i in range(depth)]
    if reduction in ("none", "add"):
        return gw.index_put(x, tuple(columns), updates, accumulate=reduction == "add")
    flat = gw.zeros_like(columns[0])
    for i, column in enumerate(columns):
        flat = flat * x.shape[i] + column
    tail = x.shape[depth:].numel()
    count = x.shape[:depth].numel()
    rows = x.reshape([count, tail])
    index = flat.reshape([-1, 1]).expand([flat.numel(), tail])
    written = gw.scatter_reduce(
        rows, 0, index, updates.reshape([-1, tail]), _REDUCTIONS[reduction], include_self=True
    )
    return written.reshape(x.shape)


@op("TensorScatter")
def tensor_scatter(
    past_cache: Tensor, update: Tensor, write_indices: Tensor | None = None, *, axis: int = -2,
    mode: str = "linear",
) -> Tensor:  # fmt: skip
    """A cache with an update written from a place of each batch entry, perhaps around the end."""
    axis = axis % past_cache.dim()
    batch, length = past_cache.shape[0], past_cache.shape[axis]
    if write_indices is None:
        write_indices = gw.zeros([batch], dtype=gw.int64)
    place = write_indices.to(gw.int64).reshape([-1, 1]) + gw.arange(update.shape[axis])
    if mode == "circular":
        place = gw.remainder(place, length)
    sizes = [1] * past_cache.dim()
    sizes[0], sizes[axis] = batch, update.shape[axis]
    return gw.scatter(past_cache, axis, place.reshape(sizes).expand(update.shape), update)
