"""Ops whose gradient for real numbers gives that for complex ones by conjugation."""

_NAMES = """
    acos acosh add addcdiv addcmul asin asinh atan atanh cos cosh div exp exp2 expm1 float_power
    lerp log log10 log1p log2 mul pow reciprocal rsqrt sigmoid sin sinc sinh sqrt square sub
    tan tanh
"""

HOLOMORPHIC = frozenset(_NAMES.split())
