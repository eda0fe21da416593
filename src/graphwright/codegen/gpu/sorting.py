"""Sorting of rows: blocks by rank, which are merged four at a time.

In a block element i goes to the place that says how many elements come before it::

    rank[i] = sum over j of the block of (x[j] comes before x[i])
    order[rank[i]] = i

In the merge of neighbouring runs the place is the one in the element's own run and how many
elements of the others come before it, which binary searches find. Of equal elements the one that
was first stays first.
"""

from __future__ import annotations

from typing import Any

from graphwright.codegen.gpu.searching import comes_before, lookup, truth
from graphwright.codegen.loops import Check, Let, Local
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    both,
    computed,
    const,
    convert,
    within,
)
from graphwright.codegen.lowering.nodes import (
    Assembly,
    Body,
    Index,
    Lookup,
    Part,
    Pointwise,
    axis_symbols,
    index_value,
)
from graphwright.codegen.lowering.rules import Call
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, as_int, maximum, minimum
from graphwright.runtime.tensor import dtypes

Steps = list[Let | Check]
BLOCK = 512
"""Elements that are sorted by rank: the work grows as the square."""
WAYS = 4
"""Runs that are merged at once."""
LONGEST = 1 << 29
"""The most elements of rows of symbolic length: the passes are those that so many need."""
TOO_LONG = "rows of symbolic length have fewer than {bound} elements to be sorted, got {value}"


class _Rows:
    """The rows of a tensor along an axis, and the orders that they get."""

    def __init__(self, context: Lowering, x: Tensor, axis: int, descending: bool) -> None:
        self.context, self.x, self.axis, self.descending = context, x, axis, descending
        self.length = x.shape[axis]
        self.compute = dtypes.uint8 if x.dtype is dtypes.bool else computed(x.dtype)

    def key(self, at: Index, place: Expr, mask: Any = None) -> Any:
        """The element at a place of the row that `at` is in."""
        other = None if mask is None else const(0, self.x.dtype)
        index = (*at[:self.axis], place, *at[self.axis + 1:])
        return convert(self.x.at(index, mask, other), self.compute)

    def placed(self, name: str, place: Any, steps: Steps, value: Any) -> Tensor:
        """The order in which `value` is at `place` of its row."""
        at = axis_symbols(self.x.shape)
        local = Let(self.context.local(), convert(place, dtypes.int64))
        target = Sym(local.name, 0, self.length - 1)
        part = Part(self.x.shape, (*at[:self.axis], target, *at[self.axis + 1:]),
                    Body(value, (*steps, local)))
        return self.context.add(
            Assembly(self.context.unique(name), self.x.shape, dtypes.int64, (part,)))

    def blocks(self) -> Tensor:
        """The order of each block."""
        size = minimum(self.length, BLOCK) if as_int(self.length) is not None else Int(BLOCK)
        domain = (*self.x.shape, size)

        def earlier(index: Index) -> Any:
            *at, other = index
            own = at[self.axis]
            there = own // size * size + other
            mask = within(there, self.length)
            mine, its = self.key(tuple(at), own), self.key(tuple(at), there, mask)
            tie = truth("lt", index_value(there), index_value(own))
            behind = truth("and", truth("not", comes_before(mine, its, self.descending)), tie)
            first = both(truth("or", comes_before(its, mine, self.descending), behind), mask)
            return apply("where", first, const(1, dtypes.int32), const(0, dtypes.int32),
                         dtype=dtypes.int32)
        ranks = self.context.reduction(
            "ranks", domain, (len(domain) - 1,), dtypes.int32, "sum", earlier)
        at = axis_symbols(self.x.shape)
        start = index_value(at[self.axis] // size * size)
        place = apply("add", convert(ranks.at(at), dtypes.int64), start)
        return self.placed("order", place, self._checks(), index_value(at[self.axis]))

    def _checks(self) -> Steps:
        """The check of the length, where it may be too great."""
        most = self.length.range()[1]
        if as_int(self.length) is not None or (most is not None and most <= LONGEST):
            return []
        length = index_value(self.length)
        return self.context.check(length, Int(LONGEST + 1), TOO_LONG)[1]

    def merged(self, order: Tensor, width: int) -> Tensor:
        """The order of runs of WAYS * width elements, from that of runs of `width`."""
        at = axis_symbols(self.x.shape)
        own = at[self.axis]
        keys = self._ordered(order)
        mine = Let(self.context.local(), convert(order.at(at), dtypes.int64))
        element = Let(self.context.local(), convert(keys.at(at), keys.dtype))
        run, begin = own // width, own // (WAYS * width) * (WAYS * width)
        steps: Steps = [mine, element]
        place: Any = index_value(begin + own % width)
        for other in range(1, WAYS):
            earlier = truth("ge", index_value(run % WAYS), const(WAYS - other, dtypes.int64))
            start = begin + (run + other) % WAYS * width
            found = self._ahead(keys, start, width, earlier, Local(element.name, keys.dtype))
            steps.append(found)
            place = apply("add", place, Local(found.name, dtypes.int64))
        return self.placed("order", place, steps, Local(mine.name, dtypes.int64))

    def _ordered(self, order: Tensor) -> Tensor:
        """The elements in an order."""
        at = axis_symbols(self.x.shape)
        named = Let(self.context.local(), convert(order.at(at), dtypes.int64))
        body = Body(self.key(at, Sym(named.name, 0, self.length - 1)), (named,))
        return self.context.add(Pointwise(
            self.context.unique("keys"), self.x.shape, self.compute, body, "keys"))

    def _ahead(
        self, keys: Tensor, start: Expr, width: int, earlier: Any, value: Local
    ) -> Lookup:
        """How many elements of the run from `start` come before a value, which is behind equal
        ones of an `earlier` run."""
        at = axis_symbols(self.x.shape)
        length = maximum(0, minimum(width, self.length - start))

        def before(its: Local) -> Any:
            behind = truth("not", comes_before(value, its, self.descending))
            return truth("where", earlier, behind, comes_before(its, value, self.descending))
        return lookup(self.context, keys,
                      lambda place: (*at[:self.axis], start + place, *at[self.axis + 1:]),
                      length, before)


def order(context: Lowering, x: Tensor, dim: int, descending: bool) -> Tensor:
    """The positions that sort `x` along `dim`, equal elements in their order."""
    zero = const(0, dtypes.int64)
    if not x.ndim or any(e == 0 for e in x.shape) or x.shape[dim % x.ndim] == 1:
        return context.pointwise("order", x.shape, dtypes.int64, lambda index: zero)
    rows = _Rows(context, x, dim % x.ndim, descending)
    found, width = rows.blocks(), BLOCK
    most = as_int(rows.length) or min(rows.length.range()[1] or LONGEST, LONGEST)
    while width < most:
        found = rows.merged(found, width)
        width *= WAYS
    return found


def argsort(
    context: Lowering, call: Call, x: Tensor, dim: int = -1, descending: bool = False,
    stable: bool = False,
) -> Tensor:
    """The positions that sort each row."""
    return order(context, x, dim, bool(descending))


def topk_positions(
    context: Lowering, call: Call, x: Tensor, k: Any, dim: int, largest: bool
) -> Tensor:
    """The first `k` positions in order."""
    return context.view(call.op.name, order(context, x, dim, bool(largest)), call.shape,
                        lambda index: index)


def kth_position(context: Lowering, call: Call, x: Tensor, k: int, dim: int) -> Tensor:
    """The position of the element of rank k - 1."""
    found = order(context, x, dim, False)
    axis = dim % x.ndim if x.ndim else 0
    rank = k - 1 if x.ndim and x.shape[axis] != 1 else 0
    return context.view(call.op.name, found, call.shape, lambda index: tuple(
        i + rank if d == axis else i for d, i in enumerate(index)))
