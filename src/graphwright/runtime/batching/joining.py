"""Tensors joined, mirrored, filled, padded and written into."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.dimensions import shifted
from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op


@rule("cat")
def cat(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Each example's tensors one behind another; empty vectors fit to all others."""
    tensors, dim = args
    rank = max([tensor.ndim for tensor in tensors])
    kept = [t for t in tensors if t.ndim == rank or tuple(t.shape) != (0,)]
    return ops.cat([whole(t) for t in kept], dim + 1 if dim >= 0 else dim)


@rule("flip")
def flip(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Along dims of the example, counted from either end."""
    input, dims = args
    if not input.ndim:
        return ops.clone(input.value)
    return dispatch(op, (input.value, tuple([dim % input.ndim + 1 for dim in dims])))


@rule("constant_pad", "full_like")
def trailing(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Ops that count dimensions from the last, or none."""
    return dispatch(op, (args[0].value, *args[1:]))


@rule("diagonal_scatter", "select_scatter", "slice_scatter")
def written(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """A part of each example replaced."""
    values = [
        whole(arg) if type(arg) is BatchedTensor else shifted(param.type, arg, 0)
        for param, arg in zip(op.schema.params, args, strict=True)
    ]
    return dispatch(op, tuple(values))
