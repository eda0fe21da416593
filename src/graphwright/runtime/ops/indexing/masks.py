"""Ops that pick by truth: masked_select, masked_scatter."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.indexing.gather_layouts import check_same_dtype, fresh_copy
from graphwright.runtime.ops.strides import broadcast_shapes, contiguous_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _check_mask(name: str, mask: Any) -> None:
    if mask.dtype is not dtypes.bool:
        raise RuntimeError(
            f"{name}(): the mask must be a bool tensor, got {describe(mask)}"
        )


def _masked_select(input: Any, mask: Any) -> Any:
    _check_mask("masked_select", mask)
    shape = broadcast_shapes("masked_select", (input.shape, mask.shape))
    if not shape:
        return ops.index(ops.reshape(input, (1,)), (ops.reshape(mask, (1,)),))
    return ops.index(ops.expand(input, shape), (ops.expand(mask, shape),))


define(
    "masked_select(Tensor input, Tensor mask)",
    Kind.COMPOSITE,
    decompose=_masked_select,
    tags=("data_dependent",),
    doc="""Vector of the elements where a mask is true, in row-major order.

    Args:
        input: a tensor of any shape.
        mask: a bool tensor that broadcasts with it.

    Returns: a new vector of the dtype of `input`; its length depends on values.

    Raises:
        RuntimeError: `mask` is not bool, or does not broadcast.

    Example:
        >>> gw.masked_select(gw.tensor([1, 2, 3]), gw.tensor([True, False, True]))
        tensor([1, 3])
    """,
)


# -- masked_scatter: the n-th true element takes the n-th element of the source


def _shape_of(input: Any, mask: Any, source: Any) -> tuple[Any, ...]:
    _check_mask("masked_scatter", mask)
    check_same_dtype("masked_scatter", "source", input, source)
    return broadcast_shapes("masked_scatter", (input.shape, mask.shape))


def _masked_scatter_meta(input: Any, mask: Any, source: Any) -> TensorSpec:
    shape = _shape_of(input, mask, source)
    return TensorSpec(shape, contiguous_strides(shape), input.dtype, input.device)


def _masked_scatter_eager(input: Any, mask: Any, source: Any) -> Tensor:
    shape = _shape_of(input, mask, source)
    out = fresh_copy(ops.expand(input.detach(), shape))
    where = np.broadcast_to(mask._nd.copy(), shape)  # counted and read: others may write the mask
    count = int(np.count_nonzero(where))
    if count > source.numel():
        raise RuntimeError(
            f"masked_scatter: the source {describe(source)} has fewer elements than the mask "
            f"has ones ({count})"
        )
    out._nd[where] = source._nd.reshape(-1)[:count]
    return out


def _masked_scatter_by_count(input: Any, mask: Any, source: Any) -> Any:
    shape = _shape_of(input, mask, source)
    where, into = ops.expand(mask, shape), ops.expand(input, shape)
    if 0 in shape or 0 in source.shape:
        return ops.where(checked(where, ops.logical_not(where), _TOO_FEW), 0, into)
    counts = ops.cumsum(ops.to_dtype(ops.reshape(where, (-1,)), dtypes.int64), 0)
    total = source.numel()
    counts = checked(counts, ops.le(ops.select(counts, 0, -1), total), _TOO_FEW)
    places = ops.clamp(ops.sub(counts, 1), 0, total - 1)
    given = ops.index_select(ops.reshape(source, (-1,)), 0, places)
    return ops.where(where, ops.reshape(given, shape), into)


_TOO_FEW = "masked_scatter: the source has fewer elements than the mask has ones"


def _masked_scatter_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    mask = ops.expand(ctx.mask, grad.shape)
    kept = ops.sum_to_size(ops.masked_fill(grad, mask, 0), ctx.input.shape)
    if not ctx.needs["source"]:
        return kept, None, None
    flat = ops.reshape(mask, (-1,))
    number = ops.clamp(ops.sub(ops.cumsum(ops.to_dtype(flat, dtypes.int64), 0), 1), 0)
    given = ops.where(flat, ops.reshape(grad, (-1,)), 0)
    total = ctx.source.numel()
    zeros = ops.zeros((total,), dtype=grad.dtype, device=grad.device)
    if type(total) is int and total == 0:
        return kept, None, ops.reshape(zeros, ctx.source.shape)
    into = ops.scatter_add(zeros, 0, ops.clamp(number, None, total - 1), given)
    return kept, None, ops.reshape(into, ctx.source.shape)


define(
    "masked_scatter(Tensor input, Tensor mask, Tensor source)",
    Kind.INDEXING,
    meta=_masked_scatter_meta,
    vjp=_masked_scatter_vjp,
    saves=("mask",),
    decompose=_masked_scatter_by_count,
    eager=_masked_scatter_eager,
    tags=("whole",),
    doc="""Copy in which the n-th element where a mask is true is the n-th element of `source`.

    Args:
        input: a tensor of any shape.
        mask: a bool tensor that broadcasts with it.
        source: a tensor of the same dtype, with at least as many elements as are true.

    Returns: a new tensor of the broadcast shape of `input` and `mask`.

    Raises:
        RuntimeError: `mask` is not bool or does not broadcast, or `source` has another dtype
            or too few elements.

    Example:
        >>> mask = gw.tensor([True, False, True])
        >>> gw.masked_scatter(gw.zeros(3), mask, gw.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """,
)
define(
    "masked_scatter_(Tensor input, Tensor mask, Tensor source)",
    Kind.INPLACE,
    functional="masked_scatter",
    public=False,
)
