"""Integer expressions as numbers of a `CudaProgram`: ints, scalars, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from graphwright.runtime.symbolic.expr import Add, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sym

if TYPE_CHECKING:
    from graphwright.runtime._core import CudaCount, CudaDerived

_FOLDS = {Add: "add", Mul: "mul", Min: "min", Max: "max"}


class Counts:
    """Numbers the expressions that a launch needs; equal ones are computed once.

    The program has `scalars` scalars, of which the first are the values of `symbols`.
    `derived` are the rules for what comes after them.
    """

    def __init__(self, symbols: Sequence[str], scalars: int) -> None:
        self.scalars = {name: number for number, name in enumerate(symbols)}
        self.first = scalars
        self.derived: list[CudaDerived] = []
        self._known: dict[CudaDerived, CudaCount] = {}

    def of(self, expr: Expr) -> CudaCount:
        """The number of an expression."""
        if isinstance(expr, Int):
            return expr.value
        if isinstance(expr, Sym):
            return ("scalar", self.scalars[expr.name])
        if isinstance(expr, FloorDiv):
            return self._derive("floordiv", self.of(expr.a), self.of(expr.b))
        if isinstance(expr, Mod):
            a, b = self.of(expr.a), self.of(expr.b)
            whole = self._derive("mul", self._derive("floordiv", a, b), b)
            return self._derive("sub", a, whole)
        fold = _FOLDS[type(expr)]
        return reduce(lambda a, b: self._derive(fold, a, b), map(self.of, expr.args))

    def _derive(self, op: str, a: CudaCount, b: CudaCount) -> CudaCount:
        rule: CudaDerived = (op, a, b)  # type: ignore[assignment]
        if rule not in self._known:
            self._known[rule] = ("scalar", self.first + len(self.derived))
            self.derived.append(rule)
        return self._known[rule]
