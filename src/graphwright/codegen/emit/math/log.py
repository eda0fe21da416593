"""log, log1p and log2."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.rounding import horner
from graphwright.codegen.emit.regs import Reg

LN2 = 0.6931471805599453
_LOG2_E = 1.4426950408889634
_LOG2_E_LOW = {"f32": 1.9259629911266175e-08, "f64": 2.0355273740931033e-17}
_TAIL32 = (
    -0.12125580650711652, 0.13425749011418575, -0.1234619024512849, 0.1411830990265524,
    -0.16670140691401691, 0.20003780322455603, -0.24999987901255855, 0.33333320168349617,
)
"""(log(1+f) - f + f^2/2) / f^3 for |f| <= 1/3 (Chebyshev fit)."""
_LG = (
    1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
    2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
    6.666666666666735130e-01,
)
"""fdlibm's coefficients of log's remainder in s^2, s = f/(2+f)."""
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


def split(b: Builder, x: Reg) -> tuple[Reg, Reg]:
    """(m - 1, e) with x = m * 2^e for positive x, m between 2/3 and 4/3 (float64: around 1)."""
    wide = x.kind == "f64"
    mantissa, tiny = (52, 2.0**-1022) if wide else (23, 2.0**-126)
    small = x < tiny
    bits = b.select(small, x * 2.0**(mantissa + 1), x).bits()
    pivot = 0x3FE6A09E667F3BCD if wide else 0x3F2AAAAB
    exponent = (bits - pivot) >> mantissa
    m = (bits - (exponent << mantissa)).floats()
    e = exponent.to(x.kind)
    return m - 1.0, b.select(small, e - float(mantissa + 1), e)


def _log_of(b: Builder, x: Reg) -> Reg:
    """log(x) for positive finite x."""
    f, e = split(b, x)
    if x.kind == "f32":
        tail = horner(b, f, _TAIL32)
        square = f * f
        series = b.fma(square, b.fma(tail, f, -0.5), f)
        return b.fma(e, LN2, series)
    correction, half_square = _series64(b, f)
    inner = half_square - b.fma(e, _LN2_LOW, correction)
    return b.fma(e, _LN2_HIGH, f - inner)


def _series64(b: Builder, f: Reg) -> tuple[Reg, Reg]:
    """(c, f^2/2) with log(1+f) = f - (f^2/2 - c); fdlibm's e_log.c."""
    s = f / (f + 2.0)
    square = s * s
    half_square = f * f * 0.5
    return s * (half_square + square * horner(b, square, _LG)), half_square


def _specials(b: Builder, x: Reg, result: Reg) -> Reg:
    """The values at 0, infinity, nan and below 0."""
    infinite = b.infinity(x)
    result = b.select(x < infinite, result, x)
    result = b.select(x.eq(0.0), b.const(float("-inf"), x.kind), result)
    return b.select(x < 0.0, b.const(float("nan"), x.kind), result)


def log(b: Builder, x: Reg) -> Reg:
    """The natural logarithm. Largest error: float32 1.0 ulp, float64 1.0 ulp."""
    return _specials(b, x, _log_of(b, x))


def log2(b: Builder, x: Reg) -> Reg:
    """The logarithm to base 2. Largest error: float32 2.0 ulp, float64 2.0 ulp; exact for 2^n."""
    f, e = split(b, x)
    if x.kind == "f32":
        series = b.fma(f * f, b.fma(horner(b, f, _TAIL32), f, -0.5), f)
    else:
        correction, half_square = _series64(b, f)
        series = f - (half_square - correction)
    low = series * _LOG2_E_LOW[x.kind]
    return _specials(b, x, b.fma(series, _LOG2_E, low + e))


def log1p(b: Builder, x: Reg) -> Reg:
    """log(1 + x). Largest error: float32 2.0 ulp, float64 2.0 ulp.

    The rounding error of 1 + x is put back to first order (fdlibm's s_log1p.c).
    """
    u = x + 1.0
    lost = b.select(x >= 1.0, 1.0 - (u - x), x - (u - 1.0))
    result = _log_of(b, u) + lost / u
    return b.select(x.eq(0.0), x, _specials(b, u, result))
