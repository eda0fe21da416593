"""The distribution function of the normal distribution."""

from __future__ import annotations

import math

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.erf import erf
from graphwright.codegen.emit.math.exp import exp2_normal
from graphwright.codegen.emit.math.rounding import horner
from graphwright.codegen.emit.regs import Reg

_LOG2_OF_TAIL = (
    -2.902381907032847e-08, 8.600847514195209e-07, -1.0939114167191066e-05, 7.6028019635238e-05,
    -0.0002771919846919422, -7.3002121116717475e-06, 0.006958403264544734, -0.05245056724807767,
    -0.45921743657427555, -1.1511045907400175, -1.0,
)
"""log2 of the function at -x for 0 <= x <= 5.65 (fit by least squares, weighted by the tail)."""
_END = 5.65


def normal_cdf(b: Builder, x: Reg) -> Reg:
    """The share of the normal distribution below x, as the eager kernel computes it.

    float32: 1 ulp of 1, 4e-6 of the tail down to x = -5.65, behind which it is 0. float64: by erf.
    """
    if x.kind == "f64":
        return b.fma(erf(b, x * math.sqrt(0.5)), 0.5, 0.5)
    size = b.unary("abs", x)
    tail = exp2_normal(b, horner(b, size, _LOG2_OF_TAIL))
    tail = b.select(size > _END, b.const(0.0, "f32"), tail)
    return b.select(x > 0.0, 1.0 - tail, tail)
