"""The scalar operations of the loop grammar as Triton expressions.

What neither Triton nor libdevice has is a call of one of `functions.FUNCTIONS`.
"""

from __future__ import annotations

import math


def spelled_number(value: bool | int | float) -> str:
    """A number in Python; a bool as 0 or 1, for Triton's integers."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


FORMATS_OF_ALL = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}",
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}",
    "ge": "{} >= {}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}",
    "where": "tl.where({}, {}, {})",
}
"""Operations that are spelled alike for all dtypes. A literal may be one of the operands."""

FLOAT_FORMATS = {
    "div": "gw_divide({}, {})", "neg": "-1.0 * {}", "abs": "tl.abs({})", "sqrt": "gw_sqrt({})",
    "rsqrt": "gw_divide({1}, gw_sqrt({0}))", "reciprocal": "gw_divide({1}, {0})",
    "exp": "libdevice.exp({})", "expm1": "libdevice.expm1({})", "log": "libdevice.log({})",
    "log1p": "libdevice.log1p({})", "log2": "libdevice.log2({})", "sin": "libdevice.sin({})",
    "cos": "libdevice.cos({})", "tan": "libdevice.tan({})", "tanh": "libdevice.tanh({})",
    "sigmoid": "gw_sigmoid({})", "erf": "libdevice.erf({})",
    "normal_cdf": "libdevice.normcdf({})", "atan2": "libdevice.atan2({}, {})",
    "pow": "libdevice.pow({}, {})", "floor": "tl.floor({})", "ceil": "tl.ceil({})",
    "round": "libdevice.rint({})", "trunc": "libdevice.trunc({})",
    "truncdiv": "libdevice.trunc(gw_divide({}, {}))", "floordiv": "gw_float_floordiv({}, {})",
    "remainder": "gw_float_remainder({}, {})", "fmod": "libdevice.fmod({}, {})",
    "isnan": "{0} != {0}", "isinf": 'tl.abs({}) == float("inf")', "sign": "gw_sign({})",
    "erfc": "libdevice.erfc({})", "erfinv": "libdevice.erfinv({})",
    "erfcx": "libdevice.erfcx({})", "normal_quantile": "libdevice.normcdfinv({})",
    "lgamma": "libdevice.lgamma({})", "bessel_i0": "libdevice.cyl_bessel_i0({})",
    "bessel_i1": "libdevice.cyl_bessel_i1({})", "bessel_j0": "libdevice.j0({})",
    "bessel_j1": "libdevice.j1({})", "bessel_y0": "libdevice.y0({})",
    "bessel_y1": "libdevice.y1({})",
    "logaddexp": "gw_log_add_exp({}, {})",
    "copysign": "libdevice.copysign({}, {})",
    "sinh": "libdevice.sinh({})", "cosh": "libdevice.cosh({})", "acos": "libdevice.acos({})",
    "acosh": "libdevice.acosh({})", "isfinite": 'tl.abs({}) < float("inf")',
    "max": "gw_greater({}, {})", "min": "gw_lesser({}, {})", "fma": "tl.fma({}, {}, {})",
}
"""Operations on floating point tensors, by the dtype of the first operand; `{1}` of an operation
with one operand is the tensor 1. Triton 3.6 subtracts from 0 for `-x`, where 0 loses its sign."""

INTEGER_FORMATS = {
    "neg": "-{}", "abs": "tl.abs({})", "sign": "gw_sign({})", "not": "~{}",
    "max": "tl.maximum({}, {})", "min": "tl.minimum({}, {})", "fma": "{} * {} + {}",
    "floor": "{}", "ceil": "{}", "round": "{}", "trunc": "{}",
    "floordiv": "gw_floor_quotient({}, {}, {least})", "truncdiv": "gw_quotient({}, {}, {least})",
    "remainder": "gw_floor_rest({}, {}, {least})", "fmod": "gw_rest({}, {}, {least})",
    "shl": "gw_shl({}, {}, {bits})", "shr": "gw_shr({}, {}, {bits})",
    "pow": "gw_integer_power({}, {}, {bits})",
    "gcd": "gw_gcd({}, {}, {bits})", "lcm": "gw_lcm({}, {}, {bits})",
}
"""Operations on integer tensors: `{least}` and `{bits}` are the dtype's."""

BOOL_FORMATS = {
    "not": "{} == 0", "max": "{} | {}", "min": "{} & {}", "add": "{} | {}", "mul": "{} & {}",
    "abs": "{}", "sign": "{}",
    "lt": "({} == 0) & {}", "gt": "{} & ({} == 0)",
    "le": "({} == 0) | {}", "ge": "{} | ({} == 0)",
}
