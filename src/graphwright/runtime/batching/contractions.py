"""Products of matrices."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import spread
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op


@rule("mm")
def mm(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """[n, k] times [k, m]: the examples' rows below one another where they share the right."""
    left, right = args
    if not right.batched:
        count, rows, inner = left.value.shape
        flat = ops.reshape(left.value, (count * rows, inner))
        return ops.reshape(ops.mm(flat, right.value), (count, rows, right.shape[1]))
    value = left.value if left.batched else spread(left.value, level)
    return ops.bmm(value, right.value)


@rule("bmm")
def bmm(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """[b, n, k] times [b, k, m], one of them perhaps shared by the examples."""
    left, right = args
    batch, rows, inner = left.shape
    columns = right.shape[2]
    if left.batched and right.batched:
        count = left.value.shape[0]
        first = ops.reshape(left.value, (count * batch, rows, inner))
        second = ops.reshape(right.value, (count * batch, inner, columns))
        return ops.reshape(ops.bmm(first, second), (count, batch, rows, columns))
    if left.batched:
        count = left.value.shape[0]
        first = ops.reshape(ops.transpose(left.value, 0, 1), (batch, count * rows, inner))
        out = ops.reshape(ops.bmm(first, right.value), (batch, count, rows, columns))
        return ops.transpose(out, 0, 1)
    count = right.value.shape[0]
    second = ops.reshape(ops.permute(right.value, (1, 2, 0, 3)), (batch, inner, count * columns))
    out = ops.reshape(ops.bmm(left.value, second), (batch, rows, count, columns))
    return ops.permute(out, (2, 0, 1, 3))
