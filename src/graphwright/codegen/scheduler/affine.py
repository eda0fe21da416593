"""Strides of index expressions: what an index adds per step of an axis, and where it never is."""

from __future__ import annotations

from collections.abc import Collection
from math import gcd

from graphwright.runtime.symbolic.expr import Add, Expr, Int, Mul, Sym, as_int, mul, prove_lt
from graphwright.runtime.symbolic.remembered import remembered

HINT = 128
"""What a symbolic size is taken to be where only a preference depends on it."""


@remembered
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


def apart(
    one: tuple[Expr, ...], two: tuple[Expr, ...], axes: Collection[Sym], unknown: Collection[str]
) -> bool:
    """Whether two indices are never of the same element, in whichever iterations.

    `axes` number the iterations; `unknown` names symbols whose values differ between these.
    """
    found = {s for place in (*one, *two) for s in place.symbols()}
    if any(s.name in unknown for s in found):
        return False
    twins: dict[str, Expr] = {
        s.name: Sym(f"{s.name}.other", s.lower, s.upper) for s in axes}
    return any(_never_equal(a, b.subs(twins), [*axes, *twins.values()])
               for a, b in zip(one, two, strict=True))


def _never_equal(one: Expr, two: Expr, axes: Collection[Expr]) -> bool:
    if prove_lt(one, two) or prove_lt(two, one):
        return True
    step, rest = 0, one - two
    for axis in axes:
        assert isinstance(axis, Sym)
        factor = coefficient(rest, axis)
        grown = None if factor is None else as_int(factor)
        if grown is None:
            return False
        step = gcd(step, grown)
        rest = rest - axis * grown
    offset = as_int(rest)
    return offset is not None and step > 1 and offset % step != 0
