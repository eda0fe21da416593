"""Writing elements by index."""

from __future__ import annotations

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.ops.indexing import non_negative
from graphwright.onnx.importing.opsets import op

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
