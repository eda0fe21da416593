"""Recurrent layers: where the examples share the weights, the batch goes into N."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.convolutions import into_first, out_of_first
from graphwright.runtime.batching.fallback import loop
from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, spread, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op

_WEIGHTS = ("weight", "bias", "input_weight", "input_bias")


@rule("recurrence", "recurrence_backward")
def recurrence(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """All steps [T, N, ...] from states [N, ...]; with weights of each example's own in a loop."""
    names = dict(zip(op.names, args, strict=True))
    if any([names[name] is not None and names[name].batched for name in _WEIGHTS]):
        return loop(op, args, level)
    values = [
        arg.value if name in _WEIGHTS and arg is not None else _merged(arg)
        for name, arg in names.items()
    ]
    return tuple([_apart(item, level) for item in dispatch(op, tuple(values))])


def _merged(value: Any) -> Any:
    """The batch beside N; an empty vector stands for what a kind does not have."""
    if type(value) is not BatchedTensor:
        return value
    if value.ndim == 1:
        return ops.select(whole(value), 0, 0)
    if value.ndim == 2:
        return into_first(whole(value))
    turned = ops.transpose(whole(value), 0, 1)
    steps, batch, count = turned.shape[:3]
    return ops.reshape(turned, (steps, batch * count, turned.shape[3]))


def _apart(value: Any, level: Level) -> Any:
    """The inverse."""
    if value.ndim == 1:
        return spread(value, level)
    if value.ndim == 2:
        return out_of_first(value, level.size)
    steps, rows, size = value.shape
    apart = ops.reshape(value, (steps, level.size, rows // level.size, size))
    return ops.transpose(apart, 0, 1)
