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


_AT_LEAST = {">=": 0, ">": 1}
_AT_MOST = {"<=": 0, "<": -1}


def constraints_of(env: Any, dims: dict[str, tuple[Any, str, int]]) -> RangeConstraints:
    """What the recording assumed of sizes.

    dims: symbol -> what was said of it, and which dim of which input it is.
    Raises: ExportError where it assumed more than was said.
    """
    ranges = {name: _declared(said) for name, (said, _, _) in dims.items()}
    relations = []
    for guard in env.guards:
        if _follows(guard, ranges):
            continue
        bound = _bound(guard)
        if bound is None:
            relations.append(guard)
            _refuse_relation(guard, env, dims)
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
            raise ExportError(_too_narrow(said, label, dim, new, env.lines.get(guard, "")))
        ranges[name] = new
    return RangeConstraints(ranges, tuple(relations))


def _declared(said: Any) -> ValueRanges:
    if isinstance(said, Dim):
        return ValueRanges(said.min, said.max)
    if isinstance(said, DerivedDim):
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
        lhs, rhs = rhs, lhs
        op = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(op, op)
    if not (isinstance(lhs, Sym) and isinstance(rhs, Int)):
        return None
    if op == "==":
        return lhs.name, rhs.value, rhs.value
    if op in _AT_LEAST:
        return lhs.name, rhs.value + _AT_LEAST[op], None
    if op in _AT_MOST:
        return lhs.name, None, rhs.value + _AT_MOST[op]
    return None


def _refuse_relation(
    guard: Relation, env: Any, dims: dict[str, tuple[Any, str, int]]
) -> None:
    """Raise ExportError for a relation between sizes that were said to be independent."""
    said = {symbol.name: dims[symbol.name] for symbol in guard.symbols() if symbol.name in dims}
    kinds = [one for one, _, _ in said.values()]
    if guard.op == "==" and len(kinds) == 2 and (
        kinds[0] is kinds[1] or any(isinstance(one, DerivedDim) for one in kinds)
    ):
        return
    if not any(isinstance(one, Dim | DerivedDim) for one in kinds):
        return
    where = env.lines.get(guard, "")
    sizes = ", ".join(f"{name} is dim {dim} of '{label}'"
                      for name, (_, label, dim) in said.items())
    raise ExportError(
        f"the program holds only where {guard} ({sizes}){f', because of {where}' if where else ''}"
        ": give sizes that are equal one Dim, a size that follows from another as 2 * Dim, or say "
        "Dim.DYNAMIC to have the relation checked in each call")


def _too_narrow(said: Any, label: str, dim: int, new: ValueRanges, where: str) -> str:
    because = f", because of {where}" if where else ""
    if new.lower == new.upper:
        return (f"dim {dim} of '{label}' is said to be {said!r}, and the program holds for "
                f"{new.lower} alone{because}: leave it static, or change that line")
    return (f"dim {dim} of '{label}' is said to be {said!r}, and the program holds only from "
            f"{new.lower} to {new.upper or 'any size'}{because}: give the Dim that range")
