"""Views: those of the batch that show of every example what the op shows of one."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.dimensions import shifted
from graphwright.runtime.batching.fallback import loop
from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.table import Op


@rule("alias", "detach", "view_as_complex", "view_as_real", "view_dtype")
def whole_view(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Views that name no dimension."""
    if op.name == "view_dtype" and not args[0].ndim:
        return loop(op, args, level)
    return dispatch(op, (args[0].value, *args[1:]))


@rule("diagonal", "select", "slice", "transpose", "unfold", "unsqueeze")
def view_along(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Views that name dimensions."""
    value, rank = args[0].value, args[0].ndim
    if not rank and op.name != "unsqueeze":
        if op.name == "transpose":
            return ops.alias(value)
        value = ops.unsqueeze(value, 1)
    others = [
        shifted(param.type, arg, rank)
        for param, arg in zip(op.schema.params[1:], args[1:], strict=True)
    ]
    out = dispatch(op, (value, *others))
    return ops.select(out, 1, 0) if not rank and op.name == "unfold" else out


@rule("permute")
def permute(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The batch stays first."""
    return dispatch(op, (args[0].value, (0, *[dim + 1 for dim in args[1]])))


@rule("view")
def view(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Other sizes of each example."""
    value = args[0].value
    return dispatch(op, (value, (value.shape[0], *args[1])))


@rule("_unsafe_view")
def unsafe_view(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The same, copied where the examples do not lie one after the other."""
    value = args[0].value
    return ops.reshape(value, (value.shape[0], *args[1]))


@rule("expand")
def expand(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """New dimensions come between the batch and those of the example."""
    input, size = args
    value = input.value
    missing = len(size) - input.ndim
    if missing > 0:
        value = ops.reshape(value, (value.shape[0], *(1,) * missing, *input.shape))
    return dispatch(op, (value, (value.shape[0], *size)))


@rule("squeeze")
def squeeze(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """Dimensions of size one, never the batch."""
    input, dim = args
    rank = input.ndim
    if dim is None:
        dims = tuple([d for d in range(rank) if input.shape[d] == 1])
    elif isinstance(dim, tuple | list):
        dims = tuple([wrap_dim(d, rank) for d in dim])
    else:
        dims = (wrap_dim(dim, rank),)
    kept = tuple([d + 1 for d in dims if d < rank])
    return dispatch(op, (input.value, kept)) if kept else ops.alias(input.value)


@rule("as_strided")
def as_strided(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The strides of an example beside that of the batch."""
    input, size, stride, storage_offset = args
    value = input.value
    offset = None
    if storage_offset is not None:
        offset = value.storage_offset() + storage_offset - input.storage_offset()
    return ops.as_strided(
        value, (value.shape[0], *size), (value.stride()[0], *stride), offset
    )


@rule("as_strided_scatter")
def as_strided_scatter(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """A strided part replaced in examples that lie without gaps; other ones in a loop."""
    input, src, size, stride, storage_offset = args
    if not input.is_contiguous():
        return loop(op, args, level)
    value = ops.contiguous(whole(input))
    offset = 0 if storage_offset is None else storage_offset - input.storage_offset()
    return ops.as_strided_scatter(
        value, whole(src), (value.shape[0], *size), (value.stride()[0], *stride), offset
    )
