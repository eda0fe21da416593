"""sin, cos and tan."""

from __future__ import annotations

from functools import lru_cache

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.rounding import horner
from graphwright.codegen.emit.regs import Reg

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = {
    "f32": (1.57079601, 3.13916473e-07, 5.39030253e-15),
    "f64": (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
}
"""pi/2 in three parts for Cody and Waite's reduction with fma."""
_HUGE = {"f32": 65536.0, "f64": 2.0**28}
_SIN = {
    "f32": (2.724378140946123e-06, -0.00019840038872556747, 0.008333331785217696,
            -0.1666666666362283),
    "f64": (-7.585486485235938e-13, 1.6058510875319195e-10, -2.505210610025599e-08,
            2.7557319218954762e-06, -0.00019841269841264567, 0.008333333333333331,
            -0.16666666666666666),
}
"""(sin(r) - r) / r^3 in r^2 for |r| <= pi/4 (Chebyshev fits)."""
_COS = {
    "f32": (-2.7295830827614617e-07, 2.4800560429914505e-05, -0.001388888759732781,
            0.04166666666412721),
    "f64": (4.745198807202876e-14, -1.1470449354466773e-11, 2.0876755717784403e-09,
            -2.75573192211891e-07, 2.4801587301584367e-05, -0.0013888888888888887,
            0.041666666666666664),
}
"""(cos(r) - 1 + r^2/2) / r^4 in r^2 for |r| <= pi/4 (Chebyshev fits)."""


def _reduce(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """(r, q) with x = r + q * pi/2, |r| <= pi/4 (a trifle more); q modulo 4 matters."""
    shift = 12582912.0 if x.kind == "f32" else 6755399441055744.0
    shifted = b.fma(x, _TWO_OVER_PI, shift)
    n = shifted - shift
    r = x
    for part in _HALF_PI[x.kind]:
        r = b.fma(n, -part, r)
    quadrant = shifted.bits()
    huge = b.unary("abs", x) >= _HUGE[x.kind]
    branch = b.open_branch(b.any(huge))
    exact, turns = _reduce_lanes(b, x)
    chosen = [b.select(huge, exact, r), b.select(huge, turns, quadrant)]
    r, quadrant = b.close_branch(branch, chosen, [r, quadrant])
    return r, quadrant


def _reduce_lanes(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """`_reduce` for huge values, lane by lane through memory: rare, so small code counts."""
    if x.lanes == 1:
        r, q = reduce_huge(b, x.to("f64"))
        return r.to(x.kind), q.to(f"i{x.kind[1:]}")
    zero = b.const(0, "i64")
    values = b.local_array("f64", x.lanes)
    turns = b.local_array("i64", x.lanes)
    b.store(values, zero, x.to("f64"), None)
    loop = b.open_loop(zero, b.const(x.lanes, "i64"), 1, [], "lane", never_empty=True)
    r, q = reduce_huge(b, b.load(values, loop.index, 1, None, None, False))
    b.store(values, loop.index, r, None)
    b.store(turns, loop.index, q, None)
    b.close_loop(loop)
    r = b.load(values, zero, x.lanes, None, None, False)
    q = b.load(turns, zero, x.lanes, None, None, False)
    return r.to(x.kind), q.to(f"i{x.kind[1:]}")


@lru_cache(maxsize=1)
def two_over_pi_words() -> tuple[int, ...]:
    """64 zero bits, then 1,280 bits of 2/pi, in 64-bit words; pi by Machin's formula."""
    bits = 1280
    one = 1 << (bits + 64)

    def arctan_inverse(n: int) -> int:
        total = term = one // n
        k = 1
        while term:
            term //= -n * n
            k += 2
            total += term // k
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    fraction = (2 * one << bits) // pi
    words = [(fraction >> (bits - 64 * (i + 1))) & (2**64 - 1) for i in range(bits // 64)]
    return (0, *words)


def reduce_huge(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """(r, q) for scalar float64 |x| >= 2^-8 by exact integers (Payne and Hanek, 1983).

    x = m * 2^e with a 53-bit m. The bits of 2/pi before position e-2 contribute whole turns; m
    times the next 192 bits gives x * 2/pi modulo 4 to 2^-126.
    """
    bits = x.bits()
    m = (bits & ((1 << 52) - 1)) | (1 << 52)
    position = (bits.lshr(52) & 0x7FF) + (64 - 2 - 1075)
    position = b.select((position >= 0) & (position < 1100), position, b.const(0, "i64"))
    words = b.table("two_over_pi", "i64", two_over_pi_words())
    first, rest = position.lshr(6), position & 63
    raw = [b.load(words, first + k, 1, None, None, False) for k in range(4)]
    w0, w1, w2 = (
        (raw[k] << rest) | (raw[k + 1].lshr(1)).lshr(63 - rest) for k in range(3)
    )
    middle = b.binary("umulhi", m, w2) + m * w1
    carry = b.select(_below(b, middle, m * w1), b.const(1, "i64"), b.const(0, "i64"))
    top = m * w0 + b.binary("umulhi", m, w1) + carry
    quadrant = (top + (1 << 61)).lshr(62)
    signed = top - (quadrant << 62)
    turns = b.fma(middle.lshr(1).to("f64"), 2.0**-125, signed.to("f64") * 2.0**-62)
    negative = bits < 0
    r = turns * _HALF_PI["f64"][0]
    r = b.select(negative, -r, r)
    finite = b.unary("abs", x) < b.infinity(x)
    quadrant = b.select(negative, -quadrant, quadrant)
    return b.select(finite, r, b.const(float("nan"), "f64")), quadrant


def _below(b: Builder, x: Reg, y: Reg) -> Reg:
    """x < y as unsigned integers."""
    top = -(1 << 63)
    return (x ^ top) < (y ^ top)


def _sin_cos(b: Builder, r: Reg) -> tuple[Reg, Reg]:
    square = r * r
    sine = b.fma(horner(b, square, _SIN[r.kind]) * square, r, r)
    cosine = b.fma(square * square, horner(b, square, _COS[r.kind]), b.fma(square, -0.5, 1.0))
    return sine, cosine


def _wave(b: Builder, x: Reg, advance: int) -> Reg:
    r, quadrant = _reduce(b, x)
    if advance:
        quadrant = quadrant + advance
    sine, cosine = _sin_cos(b, r)
    value = b.select((quadrant & 1).eq(0), sine, cosine)
    return b.select((quadrant & 2).eq(0), value, -value)


def sin(b: Builder, x: Reg) -> Reg:
    """The sine. Largest error: float32 1.7 ulp, float64 2.5 ulp, for arguments of any size."""
    return b.select(x.eq(0.0), x, _wave(b, x, 0))


def cos(b: Builder, x: Reg) -> Reg:
    """The cosine. Largest error: float32 1.7 ulp, float64 2.5 ulp, for arguments of any size."""
    return _wave(b, x, 1)


def tan(b: Builder, x: Reg) -> Reg:
    """The tangent. Largest error: float32 4.0 ulp, float64 4.5 ulp, for arguments of any size."""
    r, quadrant = _reduce(b, x)
    sine, cosine = _sin_cos(b, r)
    even = (quadrant & 1).eq(0)
    value = b.select(even, sine, -cosine) / b.select(even, cosine, sine)
    return b.select(x.eq(0.0), x, value)
