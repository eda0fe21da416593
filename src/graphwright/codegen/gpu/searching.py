"""Binary search in sorted rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.codegen.loops import Let, Local
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    computed,
    convert,
)
from graphwright.codegen.lowering.nodes import (
    Body,
    Index,
    Lookup,
    Pointwise,
    axis_symbols,
)
from graphwright.codegen.lowering.pointwise import operand
from graphwright.codegen.lowering.rules import Call
from graphwright.runtime.symbolic.expr import Expr, Sym
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import result_dtype

SORTER = "searchsorted(): sorter index out of range: {value} is not in [0, {bound})"


def truth(op: str, *args: Any) -> Any:
    """A bool."""
    return apply(op, *args, dtype=dtypes.bool)


def comes_before(one: Any, two: Any, descending: bool = False) -> Any:
    """Whether `one` sorts before `two`; nan counts as the greatest."""
    low, high = (two, one) if descending else (one, two)
    less = truth("lt", low, high)
    if not one.dtype.is_floating_point:
        return less
    real = truth("not", truth("isnan", low))
    return truth("or", less, truth("and", real, truth("isnan", high)))


def lookup(
    context: Lowering, rows: Tensor, index: Callable[[Expr], Index], length: Expr,
    before: Callable[[Local], Any],
) -> Lookup:
    """The position behind the elements rows[index(k)], k < length, that come before something."""
    place, element = Sym(context.local(), 0, length - 1), Local(context.local(), rows.dtype)
    return Lookup(context.local(), before(element), rows.name, index(place), place, length,
                  element)


def search_positions(
    context: Lowering, call: Call, sequence: Tensor, values: Any, out_int32: bool, right: bool,
    sorter: Tensor | None,
) -> Tensor:
    """Where each value would go into a sorted row."""
    common = computed(result_dtype((sequence, values)))
    at = axis_symbols(call.shape)
    value = operand(values, at, call, common)
    row: Index = () if sequence.ndim == 1 else at[:-1]
    rows = sequence if sorter is None else _sorted(context, sequence, sorter)

    def before(element: Local) -> Any:
        its = convert(element, common)
        return truth("not", comes_before(wanted, its)) if right else comes_before(its, wanted)
    let = Let(context.local(), value)
    wanted = Local(let.name, common)
    found = lookup(context, rows, lambda place: (*row, place), sequence.shape[-1], before)
    return context.pointwise(
        call.op.name, call.shape, call.dtype,
        lambda index: convert(Local(found.name, dtypes.int64), call.dtype), [let, found])


def _sorted(context: Lowering, sequence: Tensor, sorter: Tensor) -> Tensor:
    at = axis_symbols(sequence.shape)
    named = convert(sorter.at(at), dtypes.int64)
    picked, checks = context.check(named, sequence.shape[-1], SORTER)
    body = Body(sequence.at((*at[:-1], picked)), tuple(checks))
    return context.add(
        Pointwise(context.unique("sorted"), sequence.shape, sequence.dtype, body, "sorted"))
