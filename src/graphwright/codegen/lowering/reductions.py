"""Lowering of reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    computed,
    convert,
    scalar,
)
from graphwright.codegen.lowering.pointwise import quotient
from graphwright.codegen.lowering.rules import Call, lowering
from graphwright.codegen.lowering.views import reshape
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """The axes named by None (all), an int or a sequence."""
    if dim is None:
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if not ndim:
        return ()
    return tuple(sorted(d % ndim for d in dims))


def fold(
    context: Lowering, hint: str, x: Tensor, axes: Sequence[int], op: str, compute: dtype,
    result: dtype | None = None,
) -> Tensor:
    """The fold of `x`, converted to `compute`, over `axes`."""
    return context.reduction(hint, x.shape, axes, result or compute, op,
                             lambda index: convert(x.at(index), compute))


def finish(context: Lowering, call: Call, x: Tensor) -> Tensor:
    """Cast to the result's dtype and put back the axes that `keepdim` keeps."""
    if x.dtype is not call.dtype:
        source = x
        x = context.pointwise(
            "cast", x.shape, call.dtype, lambda index: convert(source.at(index), call.dtype))
    return reshape(context, call.op.name, x, call.shape)


def _accumulated(dtype: dtype) -> dtype:
    return dtypes.int64 if not dtype.is_floating_point else computed(dtype)


_OF_TRUTHS = {"sum": "any", "prod": "all"}


@lowering("sum", "prod")
def _accumulate(context: Lowering, call: Call, x: Tensor, dim: Any = None, keepdim: bool = False,
                *unused: Any) -> Tensor:
    """In the result's dtype: what becomes a bool is one before it is added."""
    op, compute = call.op.name, _accumulated(call.dtype)
    if call.dtype is dtypes.bool:
        op, compute = _OF_TRUTHS[op], dtypes.bool
    out = fold(context, call.op.name, x, axes_of(dim, x.ndim), op, compute)
    return finish(context, call, out)


@lowering("amax", "amin")
def _extreme(context: Lowering, call: Call, x: Tensor, dim: Any = None, *unused: Any) -> Tensor:
    op = call.op.name[1:]
    axes = axes_of(dim, x.ndim) or tuple(range(x.ndim))
    if x.dtype is dtypes.bool:
        op = "any" if op == "max" else "all"
    out = fold(context, call.op.name, x, axes, op, computed(x.dtype))
    return finish(context, call, out)


@lowering("any", "all")
def _logical(context: Lowering, call: Call, x: Tensor, dim: Any = None, *unused: Any) -> Tensor:
    out = fold(context, call.op.name, x, axes_of(dim, x.ndim), call.op.name, dtypes.bool)
    return finish(context, call, out)


@lowering("argmax", "argmin")
def _position(context: Lowering, call: Call, x: Tensor, dim: Any = None, *unused: Any) -> Tensor:
    compute = dtypes.uint8 if x.dtype is dtypes.bool else computed(x.dtype)
    out = fold(context, call.op.name, x, axes_of(dim, x.ndim), call.op.name, compute,
               dtypes.int64)
    return finish(context, call, out)


def divided(context: Lowering, hint: str, x: Tensor, by: Expr) -> Tensor:
    """x / by, where `by` is a number of elements that may be symbolic."""
    divisor = scalar(by, x.dtype)
    return context.pointwise(
        hint, x.shape, x.dtype, lambda index: quotient(x.at(index), divisor))
