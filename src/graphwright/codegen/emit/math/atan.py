"""atan2."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.rounding import copysign, horner
from graphwright.codegen.emit.regs import Reg

_PI, _HALF_PI, _QUARTER_PI = 3.141592653589793, 1.5707963267948966, 0.7853981633974483
_TAN_PI_8 = 0.41421356237309503
_ATAN32 = (
    -0.002386997316724113, 0.013507771427020535, -0.03587153898204336, 0.06250169444749563,
    -0.08656880430154522, 0.11033764115313455, -0.14278568748210602, 0.1999973932983558,
    -0.3333333173306352,
)
_ATAN64 = (
    -0.013908703447288225, 0.030626287828475894, -0.04104029750501821, 0.04719294405473837,
    -0.052580257920073425, 0.05881923626133301, -0.06666641908302051, 0.07692306730961795,
    -0.09090909066866446, 0.11111111110752325, -0.14285714285711498, 0.19999999999999993,
    -0.3333333333333333,
)
"""(atan(t) - t) / t^3 in t^2, for |t| <= 1 and |t| <= tan(pi/8) (Chebyshev fits)."""


def _atan_unit(b: Builder, t: Reg) -> Reg:
    """atan(t) for 0 <= t <= 1."""
    if t.kind == "f32":
        square = t * t
        return b.fma(horner(b, square, _ATAN32) * square, t, t)
    upper = t > _TAN_PI_8
    u = b.select(upper, (t - 1.0) / (t + 1.0), t)
    square = u * u
    angle = b.fma(horner(b, square, _ATAN64) * square, u, u)
    return b.select(upper, angle + _QUARTER_PI, angle)


def atan2(b: Builder, y: Reg, x: Reg) -> Reg:
    """The angle of (x, y). Largest error: float32 2.5 ulp, float64 3.0 ulp."""
    width, height = b.unary("abs", x), b.unary("abs", y)
    steep = height > width
    large, small = b.select(steep, height, width), b.select(steep, width, height)
    ratio = small / b.select(large.eq(0.0), b.const(1.0, x.kind), large)
    ratio = b.select(small.eq(large) & large.ne(0.0), b.const(1.0, x.kind), ratio)
    angle = _atan_unit(b, ratio)
    angle = b.select(steep, _HALF_PI - angle, angle)
    angle = b.select(x.bits() < 0, _PI - angle, angle)
    angle = copysign(b, angle, y)
    return b.select(b.binary("uno", x, y), x + y, angle)
