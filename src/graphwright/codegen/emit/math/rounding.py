"""Rounding to integers, also for CPUs without an instruction for it."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.regs import Operand, Reg

_LARGE = {"f32": 2.0**23, "f64": 2.0**52}


def rounded(b: Builder, mode: str, x: Reg) -> Reg:
    """`x` rounded by "floor", "ceil", "trunc" or "round" (halves to even). Exact."""
    if b.has_rounding:
        return b.unary(mode, x)
    large, size = _LARGE[x.kind], b.unary("abs", x)
    near = (size + large) - large
    if mode == "trunc":
        near = b.select(near > size, near - 1.0, near)
    result = copysign(b, near, x)
    if mode == "floor":
        result = b.select(result > x, result - 1.0, result)
    elif mode == "ceil":
        result = copysign(b, b.select(result < x, result + 1.0, result), x)
    return b.select(size < large, result, x)


def copysign(b: Builder, size: Reg, sign: Reg) -> Reg:
    """`size` with the sign bit of `sign`."""
    top = -(1 << 31) if size.kind == "f32" else -(1 << 63)
    return ((size.bits() & ~top) | (sign.bits() & top)).floats()


def horner(b: Builder, x: Reg, coefficients: tuple[float, ...]) -> Reg:
    """The polynomial with these coefficients, the highest power first."""
    total: Operand = coefficients[0]
    for coefficient in coefficients[1:]:
        total = b.fma(total, x, coefficient)
    assert isinstance(total, Reg)
    return total
