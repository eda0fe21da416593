"""Division with remainder: floor and truncation, of floats and of integers.

Integer division never traps: a zero divisor gives 0, and the least integer divided by -1 wraps.
"""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.rounding import copysign, rounded
from graphwright.codegen.emit.regs import BITS, FLOATS, Reg

_NEAR = {"f32": 2.0**22, "f64": 2.0**51}
_SIGN = {"f32": -(1 << 31), "f64": -(1 << 63)}


def truncdiv(b: Builder, x: Reg, y: Reg) -> Reg:
    """x / y rounded towards zero."""
    if x.kind in FLOATS:
        return rounded(b, "trunc", x / y)
    return _divide(b, x, y)[0]


def fmod(b: Builder, x: Reg, y: Reg) -> Reg:
    """What remains of x after taking y away while it can, with the sign of x. Exact."""
    if x.kind not in FLOATS:
        return _divide(b, x, y)[1]
    x, y = b.uniform(x, y)
    if not b.has_fma:
        return _any_fmod(b, x, y)
    _, rest, hard = _near(b, x, y)
    branch = b.open_branch(b.any(hard))
    return b.close_branch(branch, [_any_fmod(b, x, y)], [rest])[0]


def floordiv(b: Builder, x: Reg, y: Reg) -> Reg:
    """x / y rounded down, as NumPy computes it for floats."""
    if x.kind in FLOATS:
        return _floor_quotient(b, *b.uniform(x, y))
    quotient, rest = _divide(b, x, y)
    if x.kind == "u8":
        return quotient
    return b.select(rest.ne(0) & ((rest ^ y) < 0), quotient - 1, quotient)


def _floor_quotient(b: Builder, x: Reg, y: Reg) -> Reg:
    """`floordiv` of floats: of near ones, the quotient of x less its remainder is whole."""
    if not b.has_fma:
        return _floored(b, x, y, _any_fmod(b, x, y))
    quotient, rest, hard = _near(b, x, y)
    whole = b.select(_opposite(rest, y), quotient - 1.0, quotient)
    whole = b.select(whole.eq(0.0), copysign(b, whole, x / y), whole)
    branch = b.open_branch(b.any(hard))
    return b.close_branch(branch, [_floored(b, x, y, _any_fmod(b, x, y))], [whole])[0]


def _floored(b: Builder, x: Reg, y: Reg, rest: Reg) -> Reg:
    quotient = (x - rest) / y
    quotient = b.select(_opposite(rest, y), quotient - 1.0, quotient)
    whole = rounded(b, "floor", quotient)
    whole = b.select(quotient - whole > 0.5, whole + 1.0, whole)
    whole = b.select(quotient.eq(0.0), copysign(b, b.const(0.0, x.kind), x / y), whole)
    return b.select(y.eq(0.0), x / y, whole)


def _opposite(rest: Reg, y: Reg) -> Reg:
    """Whether a remainder is not 0 and has the other sign than the divisor."""
    return rest.ne(0.0) & ((rest < 0.0) ^ (y < 0.0))


def remainder(b: Builder, x: Reg, y: Reg) -> Reg:
    """x - y * floor(x / y): the sign of y, and that of x if 0. Exact but for the last addition."""
    rest = fmod(b, x, y)
    if x.kind in FLOATS:
        return b.select(_opposite(rest, y), rest + y, rest)
    if x.kind == "u8":
        return rest
    return b.select(rest.ne(0) & ((rest ^ y) < 0), rest + y, rest)


def _divide(b: Builder, x: Reg, y: Reg) -> tuple[Reg, Reg]:
    """Truncated quotient and remainder; (0, 0) for a zero divisor."""
    x, y = b.uniform(x, y)
    zero, one = b.const(0, x.kind), b.const(1, x.kind)
    by_zero = y.eq(0)
    if x.kind == "u8":
        safe = b.select(by_zero, one, y)
        quotient = b.binary("udiv", x, safe)
    else:
        least = -(1 << (BITS[x.kind] - 1))
        overflows = x.eq(least) & y.eq(-1)
        safe = b.select(by_zero | overflows, one, y)
        quotient = b.binary("sdiv", x, safe)
    rest = x - quotient * safe
    return b.select(by_zero, zero, quotient), b.select(by_zero, zero, rest)


def _near(b: Builder, x: Reg, y: Reg) -> tuple[Reg, Reg, Reg]:
    """(x / y towards zero, its remainder, where they are wrong: far apart, 0, inf or nan).

    The rounded quotient is at most one too great, and where it is small enough the product with
    it is exact in one fused operation.
    """
    ratio = x / y
    quotient = rounded(b, "trunc", ratio)
    near = (b.unary("abs", ratio) < _NEAR[x.kind]) & (b.unary("abs", y) < b.infinity(y))
    sign = x.bits() & _SIGN[x.kind]
    size = (b.fma(-quotient, y, x).bits() ^ sign).floats()
    beyond = size < 0.0
    size = b.select(beyond, size + b.unary("abs", y), size)
    less = b.unary("abs", quotient) - 1.0
    quotient = b.select(beyond, copysign(b, less, quotient), quotient)
    return quotient, copysign(b, size, x), ~near


def _any_fmod(b: Builder, x: Reg, y: Reg) -> Reg:
    if x.kind == "f32":
        return _fmod64(b, x.to("f64"), y.to("f64")).to("f32")
    return _fmod64(b, x, y)


def _fmod64(b: Builder, x: Reg, y: Reg) -> Reg:
    """Exact, by quotient digits of up to 52 bits at a time.

    With q = x/y rounded, x - q*y fits in one float64 where fma computes it without rounding in
    between; 45 such steps take any pair apart (a pair of float32s needs no more than 6).
    """
    x, y = b.uniform(x, y)
    size, divisor = b.unary("abs", x), b.unary("abs", y)
    usable = (divisor > 0.0) & (size < b.infinity(x)) & (divisor < b.infinity(x))
    size = b.select(usable, size, b.const(0.0, "f64"))
    divisor = b.select(usable, divisor, b.const(1.0, "f64"))
    steps = b.select(b.any(size / divisor >= 2.0**51), b.const(45, "i64"), b.const(1, "i64"))
    loop = b.open_loop(b.const(0, "i64"), steps, 1, [size], "digit", never_empty=True)
    rest = _digit(b, loop.carried[0], divisor)
    size = b.close_loop(loop, [rest])[0]
    invalid = b.select(b.unary("abs", y).eq(float("inf")) & (b.unary("abs", x) < b.infinity(x)),
                       x, b.const(float("nan"), "f64"))
    invalid = b.select(b.binary("uno", x, y), x + y, invalid)
    return b.select(usable, copysign(b, size, x), invalid)


def _digit(b: Builder, size: Reg, divisor: Reg) -> Reg:
    """size modulo divisor, or something smaller than size that is equal to it modulo divisor."""
    ratio = size / divisor
    far = ratio > 2.0**1000
    divisor = b.select(far, divisor * 2.0**600, divisor)
    ratio = b.select(far, size / divisor, ratio)
    large = ratio >= 2.0**51
    exponent = (ratio.bits().lshr(52) - 51) << 52
    unit = b.select(large, exponent.floats(), b.const(1.0, "f64"))
    digit = rounded(b, "round", ratio / unit) * unit
    rest = b.fma(-digit, divisor, size)
    return b.select(rest < 0.0, b.fma(unit, divisor, rest), rest)
