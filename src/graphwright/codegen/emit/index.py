"""Index expressions as code, and how they step along a SIMD axis."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.regs import Reg
from graphwright.runtime.symbolic.expr import (
    Add,
    Expr,
    FloorDiv,
    Int,
    Max,
    Min,
    Mod,
    Mul,
    Sym,
    product,
)

Env = dict[str, Reg]
MOST_TERMS = 8
"""Longer sums are hidden from LLVM: its loop strength reduction tries every way to split them,
which takes minutes for the offsets within a concatenation of a hundred tensors."""


def emit_expr(b: Builder, expr: Expr, env: Env) -> Reg:
    """`expr` as an int64 value, its symbols read from `env` (scalars or SIMD vectors)."""
    if isinstance(expr, Int):
        return b.const(expr.value, "i64")
    if isinstance(expr, Sym):
        return env[expr.name]
    return _RULES[type(expr)](b, expr, env)


def _sum(b: Builder, expr: Expr, env: Env) -> Reg:
    """Scalar terms are added first, once for all lanes; then those that differ between lanes."""
    terms = sorted((emit_expr(b, t, env) for t in expr.args), key=_order)
    known_first = [t for t in terms if _order(t) == _order(terms[0])]
    if len(known_first) > MOST_TERMS:
        terms[: len(known_first)] = [b.opaque(reduce(operator.add, known_first))]
    return reduce(operator.add, terms)


def _product(b: Builder, expr: Expr, env: Env) -> Reg:
    factors = sorted((emit_expr(b, f, env) for f in expr.args), key=_order)
    return reduce(lambda x, y: x * y, factors)


def _order(reg: Reg) -> tuple[int, int]:
    return (reg.lanes, -1 if reg.block is None else reg.block.depth)


def _divisor(b: Builder, expr: Expr, env: Env) -> Reg:
    """The denominator; 1 in place of the 0 of an empty dimension, where nothing is computed."""
    value = emit_expr(b, expr, env)
    low = expr.range()[0]
    if low is not None and low >= 1:
        return value
    return b.select(value.eq(0), b.const(1, "i64"), value)


def _floordiv(b: Builder, expr: Expr, env: Env) -> Reg:
    assert isinstance(expr, FloorDiv)
    value, divisor = emit_expr(b, expr.a, env), _divisor(b, expr.b, env)
    if _nonnegative(expr.a, expr.b):
        return b.binary("udiv", value, divisor)
    quotient = b.binary("sdiv", value, divisor)
    rest = value - quotient * divisor
    inexact = rest.ne(0) & ((rest ^ divisor) < 0)
    return b.select(inexact, quotient - 1, quotient)


def _mod(b: Builder, expr: Expr, env: Env) -> Reg:
    assert isinstance(expr, Mod)
    value, divisor = emit_expr(b, expr.a, env), _divisor(b, expr.b, env)
    if _nonnegative(expr.a, expr.b):
        return b.binary("urem", value, divisor)
    rest = b.binary("srem", value, divisor)
    return b.select(rest.ne(0) & ((rest ^ divisor) < 0), rest + divisor, rest)


def _nonnegative(*exprs: Expr) -> bool:
    return all((low := e.range()[0]) is not None and low >= 0 for e in exprs)


def _extreme(op: str) -> Callable[[Builder, Expr, Env], Reg]:
    def rule(b: Builder, expr: Expr, env: Env) -> Reg:
        def pick(x: Reg, y: Reg) -> Reg:
            return b.select(b.binary(op, x, y), x, y)

        return reduce(pick, (emit_expr(b, a, env) for a in expr.args))

    return rule


_RULES: dict[type[Expr], Callable[[Builder, Expr, Env], Reg]] = {
    Add: _sum, Mul: _product, FloorDiv: _floordiv, Mod: _mod,
    Min: _extreme("lt"), Max: _extreme("gt"),
}


def mentions(expr: Expr, name: str) -> bool:
    """Whether the symbol of that name occurs in `expr`."""
    return any(s.name == name for s in expr.symbols())


def step_along(expr: Expr, axis: str) -> Expr | None:
    """By how much `expr` grows when symbol `axis` grows by one; None where that is not constant.

    ::

        4*i + j + 3 along i    4
        s0*i along i           s0
        i//2 along i           None
    """
    if not mentions(expr, axis):
        return Int(0)
    if isinstance(expr, Sym):
        return Int(1)
    if isinstance(expr, Add):
        total: Expr = Int(0)
        for term in expr.args:
            step = step_along(term, axis)
            if step is None:
                return None
            total = total + step
        return total
    if isinstance(expr, Mul):
        bound = [f for f in expr.args if mentions(f, axis)]
        rest = [f for f in expr.args if not mentions(f, axis)]
        if len(bound) == 1 and isinstance(bound[0], Sym):
            return product([*rest])
    return None


def is_multiple(expr: Expr, number: int) -> bool:
    """Whether `expr` is known to be a multiple of `number` for all values of its symbols.

    ::

        min(64, 672 - 64*p)    of 32
        min(64, 650 - 64*p)    of 2, not of 4
    """
    if number == 1:
        return True
    if isinstance(expr, Int):
        return expr.value % number == 0
    if isinstance(expr, (Add, Min, Max)):
        return all(is_multiple(a, number) for a in expr.args)
    return isinstance(expr, Mul) and any(is_multiple(f, number) for f in expr.args)
