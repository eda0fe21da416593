"""Elementary functions for generated Triton kernels, as Triton source.

They use only what Triton's interpreter computes faithfully (libdevice it does not), so that the
same source is tested without a GPU. Errors are a few ulp of float32.
"""

from __future__ import annotations

HEADER = "import triton\nimport triton.language as tl\n"

FUNCTIONS: dict[str, str] = {
    "gw_nan_max": """
@triton.jit
def gw_nan_max(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
""",
    "gw_nan_min": """
@triton.jit
def gw_nan_min(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
""",
    "gw_product": """
@triton.jit
def gw_product(a, b):
    return a * b
""",
    "gw_either": """
@triton.jit
def gw_either(a, b):
    return a | b
""",
    "gw_both": """
@triton.jit
def gw_both(a, b):
    return a & b
""",
    "gw_tanh": """
@triton.jit
def gw_tanh(x):
    size = tl.minimum(tl.abs(x), 20.0)
    z = tl.exp(size + size)
    large = 1.0 - 2.0 / (z + 1.0)
    s = x * x
    small = size + size * s * (-0.33333334 + s * (0.13333334 + s * (-0.053968254
            + s * (0.021869488 + s * (-0.008863236 + s * 0.003592128)))))
    value = tl.where(size < 0.35, small, large)
    return tl.where(x == x, tl.where(x < 0, -value, value), x)
""",
    "gw_sigmoid": """
@triton.jit
def gw_sigmoid(x):
    z = tl.exp(-tl.abs(x))
    return tl.where(x < 0, z, 1.0) / (1.0 + z)
""",
    "gw_expm1": """
@triton.jit
def gw_expm1(x):
    u = tl.exp(x)
    safe = tl.where(u == 1.0, 2.0, u)
    close = (safe - 1.0) * (x / tl.log(safe))
    return tl.where(u == 1.0, x, tl.where(tl.abs(x) < 1.0, close, u - 1.0))
""",
    "gw_log1p": """
@triton.jit
def gw_log1p(x):
    u = 1.0 + x
    safe = tl.where(u == 1.0, 2.0, u)
    close = tl.log(safe) * (x / (safe - 1.0))
    return tl.where(u == 1.0, x, tl.where(tl.abs(x) < 1.0, close, tl.log(u)))
""",
    "gw_truncate": """
@triton.jit
def gw_truncate(x):
    return tl.where(x < 0, tl.ceil(x), tl.floor(x))
""",
    "gw_round_even": """
@triton.jit
def gw_round_even(x):
    low = tl.floor(x)
    rest = x - low
    odd = low - 2.0 * tl.floor(low * 0.5)
    return tl.where((rest > 0.5) | ((rest == 0.5) & (odd == 1.0)), low + 1.0, low)
""",
    "gw_sign": """
@triton.jit
def gw_sign(x):
    return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)
""",
    "gw_power": """
@triton.jit
def gw_power(x, y):
    size = tl.exp(y * tl.log(tl.abs(x)))
    whole = tl.floor(y) == y
    odd = tl.floor(y * 0.5) * 2.0 != y
    signed = tl.where((x < 0) & odd, -size, size)
    value = tl.where((x < 0) & (whole == 0), float("nan"), signed)
    return tl.where(y == 0.0, 1.0, value)
""",
    "gw_philox_uniform": """
@triton.jit
def gw_philox_uniform(seed, offset, i):
    block = i >> 2
    low = (block & 0xFFFFFFFF).to(tl.uint32)
    high = (block >> 32).to(tl.uint32)
    zero = low * 0
    c2 = zero + (offset & 0xFFFFFFFF).to(tl.uint32)
    c3 = zero + (offset >> 32).to(tl.uint32)
    w0, w1, w2, w3 = tl.philox(seed, low, high, c2, c3)
    which = i & 3
    word = tl.where(which < 2, tl.where(which == 0, w0, w1), tl.where(which == 2, w2, w3))
    return (word >> 8).to(tl.float32) * 5.9604644775390625e-08
""",
}

CALLS = {
    "tanh": "gw_tanh", "sigmoid": "gw_sigmoid", "expm1": "gw_expm1", "log1p": "gw_log1p",
    "trunc": "gw_truncate", "round": "gw_round_even", "sign": "gw_sign", "pow": "gw_power",
    "max": "gw_nan_max", "min": "gw_nan_min",
}
"""Scalar operations that call one of `FUNCTIONS`."""

FORMATS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}",
    "neg": "-{}", "abs": "tl.abs({})", "sqrt": "tl.sqrt_rn({})", "rsqrt": "1.0 / tl.sqrt_rn({})",
    "reciprocal": "1.0 / {}", "exp": "tl.exp({})", "log": "tl.log({})", "log2": "tl.log2({})",
    "sin": "tl.sin({})", "cos": "tl.cos({})", "tan": "tl.sin({0}) / tl.cos({0})",
    "erf": "tl.erf({})", "normal_cdf": "0.5 * tl.erf({} * 0.7071067811865476) + 0.5",
    "floor": "tl.floor({})", "ceil": "tl.ceil({})",
    "isnan": "{0} != {0}", "isinf": 'tl.abs({}) == float("inf")',
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}",
    "ge": "{} >= {}", "and": "{} & {}", "or": "{} | {}", "xor": "{} ^ {}",
    "shl": "{} << {}", "shr": "{} >> {}", "where": "tl.where({}, {}, {})",
    "fma": "tl.fma({}, {}, {})", "truncdiv": "{} // {}",
}
"""Scalar operations that Triton spells itself."""

DOUBLE_FORMATS = {"sqrt": "tl.sqrt({})", "rsqrt": "1.0 / tl.sqrt({})"}
"""The float64 form of operations whose float32 form takes float32 only."""
