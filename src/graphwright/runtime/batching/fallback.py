"""Ops without a rule: once for each example, the results stacked."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.tensor import BatchedTensor
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.op_errors import complete
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op


def loop(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """`op` of every example. Warns that this is slow; raises RuntimeError for an empty batch."""
    count = int(level.size)
    if count == 0:
        message = f"vmap: {op.name} of a batch without examples is not supported"
        raise complete(RuntimeError(message))
    warnings.warn(
        f"There is a performance drop because we have not yet implemented the batching rule for "
        f"{op.name}; it runs once for each example.",
        stacklevel=2,
    )
    rows = [dispatch(op, _example(args, index)) for index in range(count)]
    if isinstance(rows[0], tuple | list):
        return tuple([ops.stack(column) for column in zip(*rows, strict=True)])
    return ops.stack(rows)


def _example(value: Any, index: int) -> Any:
    if type(value) is tuple:
        return tuple([_example(item, index) for item in value])
    if type(value) is not BatchedTensor:
        return value
    return ops.select(value.value, 0, index) if value.batched else value.value
