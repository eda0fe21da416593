"""The scalar operations of the loop grammar over builder operations; one rule each."""

from __future__ import annotations

from collections.abc import Callable

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.casts import cast, is_finite
from graphwright.codegen.emit.math import (
    atan,
    erf,
    exp,
    hyperbolic,
    log,
    normal,
    power,
    remainder,
    trig,
)
from graphwright.codegen.emit.math.rounding import rounded
from graphwright.codegen.emit.regs import BITS, FLOATS, NARROW, Reg

Rule = Callable[..., Reg]


def apply(b: Builder, op: str, args: tuple[Reg, ...], kind: str) -> Reg:
    """The value of `Apply(op, args)` of that kind; narrow floats are computed in float32."""
    if op == "cast":
        return cast(b, args[0], kind)
    if op == "bitcast":
        return b.bitcast(args[0], kind)
    if op == "where":
        return b.select(*args)
    if any(a.kind in NARROW for a in args):
        wide = tuple(cast(b, a, "f32") if a.kind in NARROW else a for a in args)
        return cast(b, _computed(b, op, wide), kind)
    return _computed(b, op, args)


def _computed(b: Builder, op: str, args: tuple[Reg, ...]) -> Reg:
    if op not in b.outlined:
        return RULES[op](b, *args)
    return b.call_outlined(op, args, RULES[op])


def _binary(op: str) -> Rule:
    return lambda b, x, y: b.binary(op, x, y)


def _logical(op: str, on_bool: str) -> Rule:
    return lambda b, x, y: b.binary(on_bool if x.kind == "b" else op, x, y)


def maximum(b: Builder, x: Reg, y: Reg) -> Reg:
    """The greater, `y` of equal ones, which are zeros of two signs; nan if either is nan."""
    return _extreme(b, "gt", x, y)


def minimum(b: Builder, x: Reg, y: Reg) -> Reg:
    """The lesser, `y` of equal ones, which are zeros of two signs; nan if either is nan."""
    return _extreme(b, "lt", x, y)


def _extreme(b: Builder, better: str, x: Reg, y: Reg) -> Reg:
    if x.kind == "b":
        return b.binary("or" if better == "gt" else "and", x, y)
    if x.value is not None and x.value == x.value:
        return b.select(b.binary(better, x, y), x, y)
    if y.value is not None and y.value == y.value:
        return b.select(b.binary("le" if better == "gt" else "ge", x, y), y, x)
    chosen = b.select(b.binary(better, x, y), x, y)
    if x.kind not in FLOATS:
        return chosen
    return b.select(b.binary("uno", x, x), x, chosen)


def _abs(b: Builder, x: Reg) -> Reg:
    if x.kind in ("u8", "b"):
        return x
    return b.unary("abs", x) if x.kind in FLOATS else b.select(x < 0, -x, x)


def _sign(b: Builder, x: Reg) -> Reg:
    """-1, 0 or 1; 0 for nan, as in PyTorch."""
    if x.kind == "b":
        return x
    zero, one = b.const(0, x.kind), b.const(1, x.kind)
    positive = b.select(x > 0, one, zero)
    return positive if x.kind == "u8" else b.select(x < 0, b.const(-1, x.kind), positive)


def _sqrt(b: Builder, x: Reg) -> Reg:
    return b.unary("sqrt", x)


def _rsqrt(b: Builder, x: Reg) -> Reg:
    return 1.0 / b.unary("sqrt", x)


def _reciprocal(b: Builder, x: Reg) -> Reg:
    return 1.0 / x


def _rounding(mode: str) -> Rule:
    return lambda b, x: rounded(b, mode, x) if x.kind in FLOATS else x


def _isnan(b: Builder, x: Reg) -> Reg:
    return b.binary("uno", x, x) if x.kind in FLOATS else b.const(False, "b")


def _isinf(b: Builder, x: Reg) -> Reg:
    if x.kind not in FLOATS:
        return b.const(False, "b")
    return b.unary("abs", x).eq(float("inf"))


def _not(b: Builder, x: Reg) -> Reg:
    return ~x


def _neg(b: Builder, x: Reg) -> Reg:
    return -x


def _shift(op: str) -> Rule:
    """Shifts by at least the width give 0 (or the sign), as shifting one by one would."""

    def rule(b: Builder, x: Reg, count: Reg) -> Reg:
        width = BITS[x.kind]
        if count.value is not None and 0 <= count.value < width:
            return x << count if op == "shl" else x >> count
        fits = (count >= 0) & (count < width)
        safe = b.select(fits, count, b.const(width - 1, count.kind))
        shifted = x << safe if op == "shl" else x >> safe
        return b.select(fits, shifted, b.const(0, x.kind)) if op == "shl" else shifted

    return rule


def _fma(b: Builder, x: Reg, y: Reg, z: Reg) -> Reg:
    return b.fma(x, y, z) if x.kind in FLOATS else x * y + z


RULES: dict[str, Rule] = {
    "add": _logical("add", "or"), "sub": _binary("sub"), "mul": _logical("mul", "and"),
    "div": _binary("div"), "max": maximum, "min": minimum,
    "floordiv": remainder.floordiv, "truncdiv": remainder.truncdiv,
    "remainder": remainder.remainder, "fmod": remainder.fmod,
    "pow": power.power, "atan2": atan.atan2,
    "neg": _neg, "abs": _abs, "sign": _sign, "sqrt": _sqrt, "rsqrt": _rsqrt,
    "reciprocal": _reciprocal,
    "exp": exp.exp, "expm1": exp.expm1, "log": log.log, "log1p": log.log1p, "log2": log.log2,
    "sin": trig.sin, "cos": trig.cos, "tan": trig.tan,
    "tanh": hyperbolic.tanh, "sigmoid": hyperbolic.sigmoid, "erf": erf.erf,
    "normal_cdf": normal.normal_cdf,
    "floor": _rounding("floor"), "ceil": _rounding("ceil"), "round": _rounding("round"),
    "trunc": _rounding("trunc"),
    "isnan": _isnan, "isinf": _isinf,
    "eq": _binary("eq"), "ne": _binary("ne"), "lt": _binary("lt"), "le": _binary("le"),
    "gt": _binary("gt"), "ge": _binary("ge"),
    "and": _binary("and"), "or": _binary("or"), "xor": _binary("xor"), "not": _not,
    "shl": _shift("shl"), "shr": _shift("shr"), "fma": _fma,
}

__all__ = ["RULES", "apply", "is_finite", "maximum", "minimum"]
