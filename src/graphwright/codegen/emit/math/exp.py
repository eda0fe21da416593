"""exp, exp2 and expm1."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.rounding import horner
from graphwright.codegen.emit.regs import Reg
from graphwright.runtime.record import Record


class ExpTable(Record):
    """Constants of one precision.

    `tail` approximates (e^r - 1 - r) / r^2 for |r| <= ln(2)/2 (Chebyshev fit). `shift` is
    1.5 * 2^(mantissa bits): adding it rounds to an integer that is then read off the bits.
    """

    log2_e: float
    ln2_high: float
    ln2_low: float
    tail: tuple[float, ...]
    shift: float
    mantissa: int
    bias: int
    low: float
    high: float
    low2: float
    high2: float
    minus_one_below: float


TABLES = {
    "f32": ExpTable(
        log2_e=1.4426950408889634,
        ln2_high=0.693145751953125,
        ln2_low=1.42860682030941723212e-06,
        tail=(0.0013926926614021907, 0.008363773874405574, 0.04166655011030512,
              0.16666573381900845, 0.5),
        shift=12582912.0, mantissa=23, bias=127, low=-105.0, high=89.0, low2=-151.0,
        high2=128.0, minus_one_below=-20.0,
    ),
    "f64": ExpTable(
        log2_e=1.4426950408889634,
        ln2_high=6.93147180369123816490e-01,
        ln2_low=1.90821492927058770002e-10,
        tail=(1.6087177234380782e-10, 2.0918961837795778e-09, 2.5052069594795685e-08,
              2.755726102934377e-07, 2.7557319248633827e-06, 2.4801587338565345e-05,
              0.00019841269841262761, 0.0013888888888878269, 0.008333333333333333,
              0.04166666666666668, 0.16666666666666666, 0.5),
        shift=6755399441055744.0, mantissa=52, bias=1023, low=-746.0, high=710.0,
        low2=-1076.0, high2=1024.0, minus_one_below=-40.0,
    ),
}


LN2 = 0.6931471805599453
_SIXTEENTHS = tuple(2.0 ** (j / 16) for j in range(16))
_SIXTEENTHS_SHIFT = 786432.0
"""1.5 * 2^19: float32 numbers around it have 16 values per integer."""


def exp_nonpositive(b: Builder, x: Reg) -> Reg:
    """e^x for x <= 0 or nan, as `exp`."""
    t = TABLES[x.kind]
    return _exp_of(b, b.select(x < t.low, b.const(t.low, x.kind), x))


def _exp_of(b: Builder, x: Reg) -> Reg:
    """e^x for x between the table's `low` and `high`."""
    if b.can_look_up(x.kind, x.lanes):
        return _exp_by_sixteenths(b, x)
    r, n, i = reduce_by_ln2(b, x)
    return scaled(b, horner(b, r, (*TABLES[x.kind].tail, 1.0, 1.0)), n, i)


def _exp_by_sixteenths(b: Builder, x: Reg) -> Reg:
    """e^x = 2^n 2^(j/16) e^r with |r| <= ln(2)/32: a look-up in place of half the polynomial."""
    t = TABLES["f32"]
    shifted = b.fma(x, t.log2_e, _SIXTEENTHS_SHIFT)
    n = shifted - _SIXTEENTHS_SHIFT
    r = b.fma(n, -t.ln2_low, b.fma(n, -t.ln2_high, x))
    return _from_sixteenth(b, r, n, shifted, (0.16666667, 0.5, 1.0))


def _from_sixteenth(
    b: Builder, r: Reg, n: Reg, shifted: Reg, series: tuple[float, float, float],
) -> Reg:
    """2^n (1 + r series(r)) for n a multiple of 1/16, the last bits of `shifted`."""
    fraction = b.look_up(_SIXTEENTHS, shifted.bits())
    value = b.fma(fraction * r, horner(b, r, series), fraction)
    return b.emit("scale", (value, n), "f32", r.lanes)


def clamp(b: Builder, x: Reg, low: float, high: float) -> Reg:
    """`x` in [low, high]; nan stays."""
    x = b.select(x < low, b.const(low, x.kind), x)
    return b.select(x > high, b.const(high, x.kind), x)


def reduce_by_ln2(b: Builder, x: Reg) -> tuple[Reg, Reg, Reg]:
    """(r, n, i) with x = r + n*ln(2), |r| <= ln(2)/2; i is n as an integer. Cody and Waite."""
    t = TABLES[x.kind]
    shifted = b.fma(x, t.log2_e, t.shift)
    n = shifted - t.shift
    r = b.fma(n, -t.ln2_low, b.fma(n, -t.ln2_high, x))
    return r, n, shifted.bits() - b.const(t.shift, x.kind).bits()


def power_of_two(b: Builder, i: Reg, kind: str) -> Reg:
    """2^i for an integer i within the exponents of normal numbers."""
    t = TABLES[kind]
    return ((i << t.mantissa) + (t.bias << t.mantissa)).floats()


def scaled(b: Builder, x: Reg, n: Reg, i: Reg) -> Reg:
    """x * 2^n, rounded once, also where it is subnormal or inf; n, i: from `reduce_by_ln2`."""
    if b.can_scale(x.kind, x.lanes):
        return b.emit("scale", (x, n), x.kind, x.lanes)
    half = i >> 1
    return x * power_of_two(b, half, x.kind) * power_of_two(b, i - half, x.kind)


def exp(b: Builder, x: Reg) -> Reg:
    """e^x. Largest error: float32 1.1 ulp, float64 1.1 ulp."""
    t = TABLES[x.kind]
    return _exp_of(b, clamp(b, x, t.low, t.high))


def whole(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """The nearest integer to x, small in magnitude, as a float and as an integer."""
    shift = TABLES[x.kind].shift
    shifted = x + shift
    return shifted - shift, shifted.bits() - b.const(shift, x.kind).bits()


def exp2(b: Builder, x: Reg) -> Reg:
    """2^x. Largest error: float32 1.2 ulp, float64 1.2 ulp; exact for integers."""
    t = TABLES[x.kind]
    x = clamp(b, x, t.low2, t.high2)
    if b.can_look_up(x.kind, x.lanes):
        return _exp2_by_sixteenths(b, x)
    n, i = whole(b, x)
    return scaled(b, horner(b, x - n, _powers_of_two(x.kind)), n, i)


def exp2_normal(b: Builder, x: Reg) -> Reg:
    """2^x where it is a normal number, or anything where it is none; nan stays."""
    if b.can_look_up(x.kind, x.lanes):
        return _exp2_by_sixteenths(b, x)
    n, i = whole(b, x)
    return horner(b, x - n, _powers_of_two(x.kind)) * power_of_two(b, i, x.kind)


def _exp2_by_sixteenths(b: Builder, x: Reg) -> Reg:
    shifted = x + _SIXTEENTHS_SHIFT
    n = shifted - _SIXTEENTHS_SHIFT
    return _from_sixteenth(b, x - n, n, shifted, (LN2**3 / 6, LN2**2 / 2, LN2))


def _powers_of_two(kind: str) -> tuple[float, ...]:
    """The polynomial of 2^x for |x| <= 1/2: that of e^(x ln 2)."""
    series = (*TABLES[kind].tail, 1.0, 1.0)
    return tuple(c * LN2**k for k, c in zip(range(len(series) - 1, -1, -1), series, strict=True))


def exp_minus_one_parts(b: Builder, x: Reg, halvings: int = 0) -> tuple[Reg, Reg]:
    """(e^r - 1, 2^(n - halvings)) with e^x = e^r * 2^n, for x without overflow."""
    t = TABLES[x.kind]
    r, n, i = reduce_by_ln2(b, x)
    part = b.fma(r * r, horner(b, r, t.tail), r)
    if b.can_scale(x.kind, x.lanes):
        unit = b.broadcast(b.const(2.0**-halvings, x.kind), x.lanes)
        return part, b.emit("scale", (unit, n), x.kind, x.lanes)
    return part, power_of_two(b, i - halvings, x.kind)


def expm1(b: Builder, x: Reg) -> Reg:
    """e^x - 1. Largest error: float32 1.7 ulp, float64 2.0 ulp."""
    t = TABLES[x.kind]
    bounded = clamp(b, x, t.minus_one_below, t.high)
    part, half_scale = exp_minus_one_parts(b, bounded, halvings=1)
    doubled = b.fma(part, half_scale, half_scale - 0.5)
    return b.select(b.unary("abs", x) < 2.0**-54, x, doubled + doubled)
