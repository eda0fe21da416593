"""`Relation`: a comparison of two integer expressions, as guards record it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, Sym, prove_ge, prove_lt

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class Relation(Record):
    """`lhs op rhs`, where op is one of == != < <= > >=. Prints as Python source."""

    op: str
    lhs: Expr
    rhs: Expr

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it is true where symbol NAME is values[NAME]."""
        return _COMPARE[self.op](self.lhs.evaluate(values), self.rhs.evaluate(values))

    def known(self) -> bool | None:
        """Its truth where the symbols' bounds decide it; None where they do not."""
        if self.lhs is self.rhs:
            return self.op in ("==", "<=", ">=")
        if self.op in ("==", "!="):
            apart = prove_lt(self.lhs, self.rhs) or prove_lt(self.rhs, self.lhs)
            return (self.op == "!=") if apart else None
        small, big = (self.lhs, self.rhs) if self.op[0] == "<" else (self.rhs, self.lhs)
        if len(self.op) == 1:
            return True if prove_lt(small, big) else (False if prove_ge(small, big) else None)
        return True if prove_ge(big, small) else (False if prove_lt(big, small) else None)

    def negated(self) -> Relation:
        """The relation that holds exactly where this one does not."""
        return Relation(_NEGATED[self.op], self.lhs, self.rhs)

    def symbols(self) -> frozenset[Sym]:
        return self.lhs.symbols() | self.rhs.symbols()

    def __str__(self) -> str:
        return f"{self.lhs} {self.op} {self.rhs}"
