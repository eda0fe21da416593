"""tanh and sigmoid."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.math.exp import exp_minus_one_parts, exp_nonpositive
from graphwright.codegen.emit.math.rounding import copysign
from graphwright.codegen.emit.regs import Reg

_TANH_IS_ONE = {"f32": 9.5, "f64": 20.0}


def tanh(b: Builder, x: Reg) -> Reg:
    """The hyperbolic tangent. Largest error: float32 2.5 ulp, float64 2.5 ulp.

    tanh|x| = z / (z + 2) with z = e^(2|x|) - 1.
    """
    limit = _TANH_IS_ONE[x.kind]
    size = b.unary("abs", x)
    size = b.select(size > limit, b.const(limit, x.kind), size)
    part, scale = exp_minus_one_parts(b, size + size)
    z = b.fma(part, scale, scale - 1.0)
    return copysign(b, z / (z + 2.0), x)


def sigmoid(b: Builder, x: Reg) -> Reg:
    """1 / (1 + e^-x). Largest error: float32 3.0 ulp, float64 2.5 ulp."""
    z = exp_nonpositive(b, -b.unary("abs", x))
    return b.select(x < 0.0, z, b.const(1.0, x.kind)) / (z + 1.0)
