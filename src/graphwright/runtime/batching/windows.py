"""Poolings, windows and resampling: the batch goes into the first dimension of the example."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.convolutions import into_first, out_of_first
from graphwright.runtime.batching.fallback import loop
from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.table import Op

_SIZES = {
    "adaptive_avg_pool_backward": 1, "avg_pool_backward": 1, "max_pool_backward": 2,
    "scatter_planes": 2,
}  # fmt: skip
"""The argument that is the result's whole size, with its leading dimensions."""


@rule(
    "adaptive_avg_pool", "adaptive_max_pool", "avg_pool", "col2im", "im2col",
    "max_pool_with_indices", "max_unpool", *_SIZES,
)  # fmt: skip
def over_planes(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Ops on the last dimensions of tensors, whose leading ones count planes."""
    values = [into_first(whole(arg)) if type(arg) is BatchedTensor else arg for arg in args]
    place = _SIZES.get(op.name)
    if place is not None:
        first, *rest = args[place]
        values[place] = (first * level.size, *rest)
    out = dispatch(op, tuple(values))
    if isinstance(out, tuple):
        return tuple([out_of_first(item, level.size) for item in out])
    return out_of_first(out, level.size)


@rule("resample", "resample_backward")
def resample(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Along one dim, by tables that the examples share."""
    input, dim, index, weight, *rest = args
    if index.batched or weight.batched:
        return loop(op, args, level)
    return dispatch(op, (input.value, dim + 1, index.value, weight.value, *rest))
