"""The sizes for which a recorded graph holds."""

from __future__ import annotations

from typing import Any

from graphwright.export.dynamic_shapes import LEAST, DerivedDim, Dim
from graphwright.export.errors import ExportError
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Int, Mul, Sym
from graphwright.runtime.symbolic.relation import Relation
from graphwright.runtime.symbolic.rules import product_of


class ValueRanges(Record):
    """The integers from `lower` to `upper`; None: without a bound."""

    lower: int
    upper: int | None

    def __str__(self) -> str:
        return f"[{self.lower}, {'inf' if self.upper is None else self.upper}]"


class RangeConstraints(Record):
    """The range of each size symbol, and relations between sizes that are checked in each call."""

    ranges: dict[str, ValueRanges]
    relations: tuple[Relation, ...]

    def imply(self, fact: Relation) -> bool:
        """Whether a relation is one of these, or holds for all sizes in the ranges."""
        return fact in self.relations or _follows(fact, self.ranges)


Dims = dict[str, tuple[Any, str, int]]
"""Symbol -> what was said of it, and which dim of which input it is."""
_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "==": (0, 0), ">=": (0, None), ">": (1, None), "<=": (None, 0), "<": (None, -1)}
"""How far the least and the greatest value of a size are from the number it is compared with."""
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def constraints_of(env: Any, dims: Dims) -> RangeConstraints:
    """What the recording assumed of sizes. Raises ExportError where that is more than was said."""
    ranges = {name: _declared(said) for name, (said, _, _) in dims.items()}
    relations = []
    for guard in env.guards:
        if _follows(guard, ranges):
            continue
        where = env.lines.get(guard)
        because = f", because of {where}" if where else ""
        bound = _bound(guard)
        if bound is None:
            relations.append(guard)
            _refuse_relation(guard, dims, because)
            continue
        name, lower, upper = bound
        said, label, dim = dims[name]
        own = ranges[name]
        new = ValueRanges(
            own.lower if lower is None else max(own.lower, lower),
            own.upper if upper is None else upper if own.upper is None else min(own.upper, upper))
        if new != own and said is not Dim.AUTO and (
            isinstance(said, Dim | DerivedDim) or new.lower == new.upper
        ):
            holds, way_out = (
                (f"for {new.lower} alone", "leave it static, or change that line")
                if new.lower == new.upper else
                (f"only from {new.lower} to {new.upper or 'any size'}", "give the Dim that range"))
            raise ExportError(f"dim {dim} of '{label}' is said to be {said!r}, and the program "
                              f"holds {holds}{because}: {way_out}")
        ranges[name] = new
    return RangeConstraints(ranges, tuple(relations))


def _declared(said: Any) -> ValueRanges:
    if isinstance(said, Dim | DerivedDim):
        root, most = said.root, said.root.max
        return ValueRanges(root.min * said.factor + said.term,
                           None if most is None else most * said.factor + said.term)
    return ValueRanges(LEAST, None)


def _follows(guard: Relation, ranges: dict[str, ValueRanges]) -> bool:
    """Whether a relation holds for all sizes in these ranges, equalities that were said put in."""
    known = {symbol: Sym(symbol.name, ranges[symbol.name].lower, ranges[symbol.name].upper)
             for symbol in guard.symbols() if symbol.name in ranges}
    lhs, rhs = _without_common(guard.lhs.subs(known), guard.rhs.subs(known))
    return Relation(guard.op, lhs, rhs).known() is True


def _without_common(lhs: Expr, rhs: Expr) -> tuple[Expr, Expr]:
    """Two products without the sizes that are factors of both, which are positive."""
    left, right = _factors(lhs), _factors(rhs)
    for factor in list(left):
        if isinstance(factor, Sym) and factor in right:
            left.remove(factor)
            right.remove(factor)
    return product_of((Int(1), *left)), product_of((Int(1), *right))


def _factors(expr: Expr) -> list[Expr]:
    return list(expr.factors) if isinstance(expr, Mul) else [expr]


def _bound(guard: Relation) -> tuple[str, int | None, int | None] | None:
    """Symbol, least and greatest value, where the relation compares a symbol with a number."""
    lhs, op, rhs = guard.lhs, guard.op, guard.rhs
    if isinstance(lhs, Int):
        lhs, op, rhs = rhs, _TURNED.get(op, op), lhs
    if not (isinstance(lhs, Sym) and isinstance(rhs, Int) and op in _BOUNDS):
        return None
    lower, upper = (None if step is None else rhs.value + step for step in _BOUNDS[op])
    return lhs.name, lower, upper


def _refuse_relation(guard: Relation, dims: Dims, because: str) -> None:
    """Raise ExportError for a relation between sizes that were said to be independent."""
    said = {symbol.name: dims[symbol.name] for symbol in guard.symbols() if symbol.name in dims}
    kinds = [one for one, _, _ in said.values()]
    if guard.op == "==" and len(kinds) == 2 and (
        kinds[0] is kinds[1] or any(isinstance(one, DerivedDim) for one in kinds)
    ):
        return
    if any(isinstance(one, Dim | DerivedDim) for one in kinds):
        sizes = ", ".join(f"{name} is dim {dim} of '{label}'"
                          for name, (_, label, dim) in said.items())
        raise ExportError(
            f"the program holds only where {guard} ({sizes}){because}: give sizes that are equal "
            "one Dim, a size that follows from another as 2 * Dim, or say Dim.DYNAMIC to have the "
            "relation checked in each call")
