"""Strides of index expressions: what an index adds per step of an axis."""

from __future__ import annotations

from graphwright.runtime.symbolic.expr import Add, Expr, Int, Mul, Sym, mul

HINT = 128
"""What a symbolic size is taken to be where only a preference depends on it."""


def coefficient(expr: Expr, symbol: Sym) -> Expr | None:
    """How much `expr` grows per step of `symbol`; None where that is not constant."""
    total: Expr = Int(0)
    for term in expr.terms if isinstance(expr, Add) else (expr,):
        if symbol not in term.symbols():
            continue
        if term is symbol:
            total = total + 1
            continue
        if not isinstance(term, Mul) or term.factors.count(symbol) != 1:
            return None
        rest = [f for f in term.factors if f is not symbol]
        if any(symbol in f.symbols() for f in rest):
            return None
        total = total + mul(1, *rest)
    return total


def estimate(expr: Expr) -> int:
    """A number for `expr`, for preferences: symbolic sizes count as `HINT`.

    Where that makes a divisor zero (4 features shared among `HINT` heads), they count as less.
    """
    if isinstance(expr, Int):
        return expr.value
    symbols = expr.symbols()
    for hint in (HINT, 2, 1):
        try:
            return expr.evaluate({s.name: hint for s in symbols})
        except ZeroDivisionError:
            continue
    return HINT


def volume(extents: tuple[Expr, ...] | list[Expr]) -> int:
    """The estimated number of elements."""
    total = 1
    for extent in extents:
        total *= estimate(extent)
    return total
