"""The error function."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.exp import exp
from graphwright.codegen.emit.math.rounding import copysign, horner
from graphwright.codegen.emit.regs import Reg

_SMALL32 = (
    -5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1,
)
"""erf(x)/x - 1 in x^2 for |x| < 475/512."""
_LARGE32 = (
    -1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1, -6.34846687e-1,
    -1.28717512e-1,
)
"""log(erfc(x))/x + 1 in x up to where erf(x) is 1."""
_SMALL64 = (
    -4.230945824295338e-12, 8.709045129053106e-11, -1.216456005728345e-09,
    1.4792401209404813e-08, -1.6364642158167616e-07, 1.6462045441468418e-06,
    -1.4925647567519332e-05, 0.00012055332902888736, -0.000854832702193483,
    0.0052239776254232985, -0.02686617064512984, 0.1128379167095512, -0.37612638903183754,
    0.1283791670955126,
)
"""erf(x)/x - 1 in x^2 for |x| < 1 (Chebyshev fit)."""
_ERFCX64 = (
    -574656.0591928752, 4234.790466471097, 110706.6530450925, -7767.326147466117,
    -20465.008227451206, 1592.908076197768, 4338.2671872350575, 96.3886064799395,
    -1025.037214566465, -306.8672428878629, 175.63310338914033, 204.73636799658007,
    106.036470435407, 37.72498650435314, 10.242397946199057, 2.2113854643084956,
    0.20675157614059253,
)
"""e^(x^2) erfc(x) in 1/(x+3) - 0.18 for 1 <= x <= 6 (Chebyshev fit)."""


def erf(b: Builder, x: Reg) -> Reg:
    """The error function. Largest error: float32 1.1 ulp, float64 3.5 ulp."""
    return _erf32(b, x) if x.kind == "f32" else _erf64(b, x)


def _erf32(b: Builder, x: Reg) -> Reg:
    """Two polynomials, after N. Juffa (public domain, 2016)."""
    size = b.unary("abs", x)
    square = x * x
    small = b.fma(horner(b, square, _SMALL32), x, x)
    exponent = b.fma(horner(b, size, _LARGE32), size, -size)
    large = copysign(b, 1.0 - exp(b, exponent), x)
    return b.select(size > 0.927734375, large, small)


def _erf64(b: Builder, x: Reg) -> Reg:
    """A polynomial below 1; above, 1 - exp(-x^2) * erfcx(x) with erfcx in 1/(x+3)."""
    size = b.unary("abs", x)
    small = b.fma(horner(b, x * x, _SMALL64), x, x)
    bounded = b.select(size > 6.0, b.const(6.0, "f64"), size)
    scaled = horner(b, 1.0 / (bounded + 3.0) - 0.18, _ERFCX64)
    large = b.fma(-exp(b, -(bounded * bounded)), scaled, 1.0)
    large = b.select(b.binary("uno", x, x), x, copysign(b, large, x))
    return b.select(size > 1.0, large, small)
