"""Pointwise ops: the examples' dimensions are aligned at the right, the batch is the first."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.op_errors import complete
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import result_dtype


def aligned(tensor: BatchedTensor, rank: int) -> Any:
    """What a tensor holds, with room for `rank` dimensions of an example."""
    value = tensor.value
    missing = rank - tensor.ndim
    if not tensor.batched or not missing:
        return value
    return ops.reshape(value, (value.shape[0], *(1,) * missing, *tensor.shape))


@rule("add", "copy_", "frexp_parts", "require_values", "standard_gamma_grad")
def pointwise(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The op on all examples at once."""
    tensors = [arg for arg in args if type(arg) is BatchedTensor]
    rank = max([tensor.ndim for tensor in tensors])
    values = [aligned(arg, rank) if type(arg) is BatchedTensor else arg for arg in args]
    if len(tensors) > 1 and len({tensor.dtype for tensor in tensors}) > 1:
        _keep_promotion(args, values, rank)
    return dispatch(op, tuple(values))


@rule("where")
def where(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """A choice of all examples. RuntimeError for the places where a condition of each holds."""
    if args[1] is None and args[2] is None:
        raise complete(RuntimeError(
            "vmap: We do not support batching operators that can output dynamic shape. "
            "Attempted to vmap over where of a condition alone"
        ))
    return pointwise(op, args, level)


def _keep_promotion(args: tuple[Any, ...], values: list[Any], rank: int) -> None:
    """Let examples without dimensions count as such in type promotion, which the batch is not.

    Beside tensors with dimensions they take the result's dtype first; among themselves all get a
    dimension.
    """
    tensors = [arg for arg in args if type(arg) is BatchedTensor]
    target = result_dtype(tuple(tensors))
    for place, arg in enumerate(args):
        if type(arg) is not BatchedTensor or arg.ndim or arg.dtype is dtypes.bool:
            continue
        if not rank and not arg.batched:
            values[place] = ops.unsqueeze(values[place], 0)
        elif rank and arg.batched:
            values[place] = ops.to_dtype(values[place], target)


def _differs(value: Any) -> bool:
    return type(value) is BatchedTensor and value.batched


@rule("masked_fill")
def masked_fill(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """One value, or one for each example, where a mask holds."""
    input, mask, value = args
    if not _differs(value):
        return pointwise(op, args, level)
    rank = max(input.ndim, mask.ndim)
    given = ops.to_dtype(aligned(value, rank), input.dtype)
    return ops.where(aligned(mask, rank), given, aligned(input, rank))


@rule("copy", "fill")
def copy(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The second tensor in the first one's shape and dtype."""
    input, other = args
    if not _differs(other):
        return pointwise(op, args, level)
    return ops.copy(whole(input), aligned(other, input.ndim))


@rule("fill_", "masked_fill_")
def fill_in_place(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The same in place."""
    if not _differs(args[-1]):
        return pointwise(op, args, level)
    function: Any = masked_fill if op.name == "masked_fill_" else copy
    return ops.copy_(args[0].value, function(op, args, level))
