"""Products, maxima and minima at indices that repeat, the same in any order.

Maxima are those of integers that are ordered as the elements. Products are made in the order of
the terms: these are sorted by where they go, and each run of the sorted terms is scanned by
doubling steps::

    value[i] *= value[i - step], where terms i - step and i go to one place     (step 1, 2, 4 ...)
"""

from __future__ import annotations

from typing import Any

from graphwright.codegen.gpu.float_bits import LAYOUTS
from graphwright.codegen.gpu.searching import lookup, truth
from graphwright.codegen.gpu.sorting import LONGEST, order
from graphwright.codegen.loops import Let, Local
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    computed,
    const,
    convert,
    identity,
)
from graphwright.codegen.lowering.indexing import Prologue, target_of
from graphwright.codegen.lowering.nodes import (
    Assembly,
    Body,
    Index,
    Part,
    Pointwise,
    axis_symbols,
    index_value,
    linear,
    row_major,
)
from graphwright.codegen.lowering.rules import Call
from graphwright.codegen.lowering.views import unflatten
from graphwright.runtime.symbolic.expr import Expr, Sym, as_int, product
from graphwright.runtime.tensor import dtypes

_INT64 = dtypes.int64


def scatter_extreme(
    context: Lowering, call: Call, x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str,
    include_self: bool = True,
) -> Tensor:
    """A copy of `x` folded with `src` at the places that `index` names along `dim`."""
    if any(e == 0 for e in (*index.shape, *x.shape)):
        return context.pointwise(call.op.name, x.shape, call.dtype, x.at)
    target, prologue = target_of(context, x, dim, index)
    value = src.at(axis_symbols(index.shape))
    fold = _product if reduce == "prod" else _Extreme(x.dtype, reduce == "amin").folded
    return fold(context, call, x, index, target, prologue, value, include_self)


class _Extreme:
    """Elements as integers of which the greatest wins, nan before all."""

    def __init__(self, kind: Any, least: bool) -> None:
        self.kind, self.least = kind, least
        self.layout = LAYOUTS[computed(kind)] if kind.is_floating_point else None
        wide = kind is _INT64 or kind is dtypes.float64
        self.codes = _INT64 if wide else dtypes.int32
        self.nan = (1 << (8 * self.codes.itemsize - 1)) - 1

    def code(self, value: Any) -> Any:
        """The integer of an element."""
        if self.layout is None:
            code = convert(value, self.codes)
            return apply("not", code) if self.least else code
        wide = convert(value, self.layout.kind)
        code = self.layout.turned(self.layout.code(wide))
        code = apply("not", code) if self.least else code
        return apply("where", truth("isnan", wide), const(self.nan, self.codes), code,
                     dtype=self.codes)

    def element(self, code: Any) -> Any:
        """The element of an integer."""
        own = apply("not", code) if self.least else code
        if self.layout is None:
            return convert(own, self.kind)
        value = self.layout.value(self.layout.turned(own))
        nan = const(float("nan"), value.dtype)
        missing = truth("eq", code, const(self.nan, self.codes))
        return convert(apply("where", missing, nan, value, dtype=value.dtype), self.kind)

    def folded(
        self, context: Lowering, call: Call, x: Tensor, index: Tensor, target: Index,
        prologue: Prologue, value: Any, include_self: bool,
    ) -> Tensor:
        """The result of the op."""
        def greatest(name: str, kind: Any, start: Any, term: Any) -> Tensor:
            at = axis_symbols(x.shape)
            parts = (Part(x.shape, at, Body(start)),
                     Part(index.shape, target, Body(term, tuple(prologue)), True,
                          tuple(range(index.ndim)), "max"))
            return context.add(Assembly(context.unique(name), x.shape, kind, parts))
        start = self.code(x.at(axis_symbols(x.shape)))
        if not include_self:
            one, zero = const(1, dtypes.int32), const(0, dtypes.int32)
            reached = greatest("reached", dtypes.int32, zero, one)
            there = truth("ne", reached.at(axis_symbols(x.shape)), zero)
            start = apply("where", there, identity("max", self.codes), start, dtype=self.codes)
        codes = greatest("extreme", self.codes, start, self.code(value))
        return context.pointwise(call.op.name, x.shape, call.dtype,
                                 lambda at: self.element(codes.at(at)))


def _product(
    context: Lowering, call: Call, x: Tensor, index: Tensor, target: Index, prologue: Prologue,
    value: Any, include_self: bool,
) -> Tensor:
    """The result of the op."""
    compute, count = computed(x.dtype), product(list(index.shape))
    places = context.add(Pointwise(
        context.unique("places"), index.shape, _INT64,
        Body(index_value(linear(target, row_major(x.shape))), tuple(prologue)), "places"))
    (i,) = axis_symbols((count,))

    def flat(name: str, source: Tensor, kind: Any, at: Expr, lets: Any = ()) -> Tensor:
        element = convert(source.at(tuple(unflatten(at, source.shape))), kind)
        return context.add(Pointwise(
            context.unique(name), (count,), kind, Body(element, tuple(lets)), name))
    rows = flat("places", places, _INT64, i)
    sorted_by = order(context, rows, 0, False)
    named = Let(context.local(), convert(sorted_by.at((i,)), _INT64))
    of_term = Sym(named.name, 0, count - 1)
    rows = flat("places", rows, _INT64, of_term, [named])
    values = context.pointwise("values", index.shape, compute,
                               lambda at: convert(value, compute))
    terms = flat("values", values, compute, of_term, [named])
    step = 1
    while step < (as_int(count) or LONGEST):
        terms = _doubled(context, rows, terms, step)
        step *= 2
    return _placed(context, call, x, rows, terms, include_self)


def _doubled(context: Lowering, rows: Tensor, terms: Tensor, step: int) -> Tensor:
    """Each term times the one `step` before it, if that goes to the same place."""
    def value(index: Index) -> Any:
        (i,) = index
        inside = truth("ge", index_value(i), const(step, _INT64))
        before = rows.at((i - step,), inside, const(-1, _INT64))
        same = truth("eq", before, rows.at(index))
        one = const(1, terms.dtype)
        factor = apply("where", same, terms.at((i - step,), inside, one), one, dtype=one.dtype)
        return apply("mul", factor, terms.at(index))
    return context.pointwise("values", terms.shape, terms.dtype, value)


def _placed(
    context: Lowering, call: Call, x: Tensor, rows: Tensor, terms: Tensor, include_self: bool
) -> Tensor:
    """Each element with the last of its run's products, if it has a run."""
    at = axis_symbols(x.shape)
    here = index_value(linear(at, row_major(x.shape)))
    found = lookup(context, rows, lambda place: (place,), rows.shape[0],
                   lambda its: truth("le", its, here))
    some = truth("gt", Local(found.name, _INT64), const(0, _INT64))
    last = Sym(found.name, 0, rows.shape[0]) - 1
    its = truth("eq", rows.at((last,), some, const(-1, _INT64)), here)
    own = convert(x.at(at), terms.dtype)
    factor = terms.at((last,), some, const(1, terms.dtype))
    whole = apply("mul", own, factor) if include_self else factor
    result = apply("where", its, whole, own, dtype=terms.dtype)
    return context.pointwise(call.op.name, x.shape, call.dtype,
                             lambda index: convert(result, call.dtype), [found])
