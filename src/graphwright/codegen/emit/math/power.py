"""pow, of floats and of integers."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.exp import TABLES, clamp, exp2, reduce_by_ln2, scaled, whole
from graphwright.codegen.emit.math.log import split
from graphwright.codegen.emit.math.rounding import horner, rounded
from graphwright.codegen.emit.regs import FLOATS, Reg

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_THIRD = (0.6666666666666666, 3.700743415417188e-17)
_ATANH_TAIL = (
    0.12913880605099742, 0.1328593615878165, 0.1538557543667697, 0.18181808238755748,
    0.2222222227115619, 0.28571428571338386, 0.40000000000000024,
)
_LOG2_32 = (
    0.34841608193298534, 0.4112051585828654, 0.577092356569623, 0.9617966217881468,
    2.885390081835821,
)
"""2 atanh(s) / (s ln 2) in s^2 for |s| <= 1/5, to 2^-35 (Chebyshev fit)."""
_EXP2_32 = (
    1.529737104708718e-05, 0.0001546144590337623, 0.0013333502238967467, 0.009618056675512809,
    0.055504108840193675, 0.24022650922302874, 0.693147180559934, 1.0,
)
"""2^r for |r| <= 1/2, to 2^-33 (Chebyshev fit)."""


def power(b: Builder, x: Reg, y: Reg) -> Reg:
    """x^y. Largest error: float32 0.6 ulp, float64 2.0 ulp; integers wrap around.

    Small literal exponents are multiplied out, as NumPy does for squares; the literal base 2 takes
    `exp2`, with its errors.
    """
    if x.kind not in FLOATS:
        return _integer_power(b, x, y)
    simple = _literal_power(b, x, y)
    if simple is not None:
        return simple
    x, y = b.uniform(x, y)
    magnitude = _magnitude32(b, x, y) if x.kind == "f32" else _magnitude64(b, x, y)
    infinity = b.infinity(x)
    plain = (x > 0.0) & (x < infinity) & (b.unary("abs", y) < infinity)
    branch = b.open_branch(b.any(~plain))
    return b.close_branch(branch, [_special_powers(b, x, y, magnitude)], [magnitude])[0]


def _literal_power(b: Builder, x: Reg, y: Reg) -> Reg | None:
    if x.value == 2:
        return exp2(b, y)
    exponent = y.value
    if exponent == 2:
        return x * x
    if exponent == 1:
        return x
    if exponent == 3:
        return x * x * x
    if exponent == -1:
        return 1.0 / x
    if exponent == 0:
        return b.const(1.0, x.kind)
    return None


def _two_sum(x: Reg, y: Reg) -> tuple[Reg, Reg]:
    """(s, e) with s + e = x + y exactly (Knuth)."""
    s = x + y
    t = s - x
    return s, (x - (s - t)) + (y - t)


def _log_parts(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """log(x) of a positive float64 as an unevaluated sum of two.

    log(m) = 2 atanh(s), s = f/(2+f): s and its cube's term carry their rounding errors.
    """
    f, e = split(b, x)
    base = f + 2.0
    base_low = f - (base - 2.0)
    s = f / base
    s_low = b.fma(-s, base_low, b.fma(-s, base, f)) / base
    square = s * s
    square_low = b.fma(s + s, s_low, b.fma(s, s, -square))
    tail = horner(b, square, _ATANH_TAIL) * square
    third, third_low = _two_sum(b.const(_THIRD[0], "f64"), tail)
    third_low = third_low + _THIRD[1]
    cube = square * third
    cube_low = b.fma(square, third_low, b.fma(square_low, third, b.fma(square, third, -cube)))
    term = cube * s
    term_low = b.fma(cube, s_low, b.fma(cube_low, s, b.fma(cube, s, -term)))
    total, low = _two_sum(e * _LN2_HIGH, s + s)
    total, more = _two_sum(total, term)
    low = low + more + b.fma(e, _LN2_LOW, (s_low + s_low) + term_low)
    return _two_sum(total, low)


def _magnitude32(b: Builder, x: Reg, y: Reg) -> Reg:
    """|x|^y of finite float32 but 0, through float64, which need not be exact to the last bit."""
    f, e = split(b, b.unary("abs", x))
    f, e, y = f.to("f64"), e.to("f64"), y.to("f64")
    s = f / (f + 2.0)
    exponent = clamp(b, y * b.fma(s, horner(b, s * s, _LOG2_32), e), -160.0, 160.0)
    n, i = whole(b, exponent)
    return scaled(b, horner(b, exponent - n, _EXP2_32), n, i).to("f32")


def _magnitude64(b: Builder, x: Reg, y: Reg) -> Reg:
    """|x|^y of finite float64, the product of y and log|x| carried to twice the precision."""
    size = b.unary("abs", x)
    high, low = _log_parts(b, b.select(size.eq(0.0), b.const(1.0, "f64"), size))
    t = TABLES["f64"]
    product = y * high
    product_low = b.fma(y, low, b.fma(y, high, -product))
    bounded = clamp(b, product, t.low, t.high)
    r, n, i = reduce_by_ln2(b, bounded)
    r = r + b.select(bounded.eq(product), product_low, b.const(0.0, "f64"))
    return scaled(b, b.fma(r * r, horner(b, r, t.tail), r) + 1.0, n, i)


def _special_powers(b: Builder, x: Reg, y: Reg, magnitude: Reg) -> Reg:
    """Zeros, infinities, negative bases and nan, by C99's Annex F."""
    size = b.unary("abs", x)
    zero, one = b.const(0.0, x.kind), b.const(1.0, x.kind)
    infinity, nan = b.infinity(x), b.const(float("nan"), x.kind)
    integral = rounded(b, "trunc", y).eq(y)
    half = y * 0.5
    odd = integral & rounded(b, "trunc", half).ne(half)
    grows = b.select(size > 1.0, y > 0.0, y < 0.0)
    extreme = b.select(grows, infinity, zero)
    unbounded = b.unary("abs", y).eq(float("inf")) | size.eq(float("inf")) | size.eq(0.0)
    result = b.select(unbounded, extreme, magnitude)
    result = b.select(size.eq(1.0), one, result)
    negative = x.bits() < 0
    result = b.select(negative & odd, -result, result)
    invalid = (x < 0.0) & size.ne(float("inf")) & ~integral
    result = b.select(invalid, nan, result)
    result = b.select(b.binary("uno", x, y), nan, result)
    return b.select(y.eq(0.0) | x.eq(1.0), one, result)


def _integer_power(b: Builder, x: Reg, y: Reg) -> Reg:
    """Square and multiply; negative exponents as in PyTorch: 0 unless |x| is 1."""
    x, y = b.uniform(x, y)
    kind, lanes = x.kind, x.lanes
    one, zero = b.broadcast(b.const(1, kind), lanes), b.broadcast(b.const(0, kind), lanes)
    size = y if kind == "u8" else b.select(y < 0, zero, y)
    loop = b.open_loop(b.const(0, "i64"), _bit_length(b, size), 1, [one, x, size], "bit")
    result, square, rest = loop.carried
    result = b.select((rest & 1).ne(0), result * square, result)
    result, _, _ = b.close_loop(loop, [result, square * square, rest.lshr(1)])
    if kind == "u8":
        return result
    sign = b.select((y & 1).eq(0), one, x)
    inverse = b.select(x.eq(1), one, b.select(x.eq(-1), sign, zero))
    return b.select(y < 0, inverse, result)


def _bit_length(b: Builder, x: Reg) -> Reg:
    """At least the bits of the largest lane of non-negative integers, and at most one more."""
    every = b.fold_halves(x, lambda low, high: low | high).to("i64")
    return b.select(every.eq(0), b.const(0, "i64"), every.to("f64").bits().lshr(52) - 1022)
