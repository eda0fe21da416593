"""Exactly rounded arithmetic on arrays: fused multiply-add, bfloat16, directed rounding.

A value that is rounded to odd (its last bit set where it is inexact) in a format with two bits
more than the next rounds there as the exact value would (Boldo and Melquiond, "Emulation of FMA
and correctly rounded sums", 2008).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .values import Array

ONE = {2: np.uint16(1), 4: np.uint32(1), 8: np.uint64(1)}
NAN_BF16 = np.uint16(0x7FFF)
SMALLEST_NORMAL = np.float32(2.0**-126)


def flush(values: Array) -> Array:
    """Subnormal float32 numbers become zeros of their sign; other types are as they were."""
    if values.dtype != np.float32:
        return values
    small = np.abs(values) < SMALLEST_NORMAL
    return np.where(small, np.copysign(np.float32(0), values), values) if small.any() else values


def widen(bits: Array) -> Array:
    """bfloat16 bit patterns as float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow(values: Array) -> Array:
    """float32 to bfloat16 bit patterns, to nearest even; NaN becomes 0x7fff."""
    bits = values.view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    rounded = ((bits + np.uint32(0x7FFF) + odd) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(values), NAN_BF16, rounded)


def toward_zero(values: Array) -> Array:
    """The next floating-point number of smaller magnitude."""
    bits = values.view(f"u{values.itemsize}")
    return (bits - ONE[values.itemsize]).view(values.dtype)


def away_from_zero(values: Array) -> Array:
    """The next floating-point number of larger magnitude."""
    bits = values.view(f"u{values.itemsize}")
    return (bits + ONE[values.itemsize]).view(values.dtype)


def adjust(values: Array, error: Array, mode: str) -> Array:
    """Values rounded to nearest, rounded as `mode` says; `error` has the sign of exact - value."""
    positive = ~np.signbit(values)
    if mode == "rz":
        wrong = np.where(positive, error < 0, error > 0)
        return np.where(wrong, toward_zero(values), values)
    down = mode == "rm"
    wrong = error < 0 if down else error > 0
    inwards = positive == down
    moved = np.where(inwards, toward_zero(values), away_from_zero(values))
    zero = wrong & (values == 0)
    least = np.array([1 | (down << (8 * values.itemsize - 1))],
                     f"u{values.itemsize}").view(values.dtype)
    return np.where(zero, least, np.where(wrong, moved, values))


def sum_error(a: Array, b: Array, total: Array) -> Array:
    """a + b - total, exactly (Knuth)."""
    part = total - a
    return (a - (total - part)) + (b - part)


def odd_sum(a: Array, b: Array) -> Array:
    """a + b in float64, rounded to odd."""
    total = a + b
    error = sum_error(a, b, total)
    bits = total.view(np.int64)
    inexact = (error != 0) & np.isfinite(error) & ((bits & 1) == 0)
    if not inexact.any():
        return total
    outwards = (error > 0) == (total > 0)
    return np.where(inexact, bits + np.where(outwards, 1, -1), bits).view(np.float64)


def zero_of_sum(a: Array, b: Array, total: Array, mode: str) -> Array:
    """The sum with the sign that a sum of zero has: negative rounding down, but of +0 and +0."""
    if mode != "rm":
        return total
    sign = np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0)
    return np.where(total == 0, sign, total)


def relu(values: Array) -> Array:
    """Negative numbers as zero; NaN stays."""
    return np.where(values <= 0, values.dtype.type(0), values)


def to_single(values: Array, mode: str = "rn") -> Array:
    """float64, exact or rounded to odd, to float32."""
    result = values.astype(np.float32)
    if mode == "rn":
        return result
    back = result.astype(np.float64)
    return adjust(result, np.where(np.isnan(values), 0, np.sign(values - back)), mode)


def to_half(values: Array, mode: str = "rn") -> Array:
    """float32 or float64 to float16."""
    result = values.astype(np.float16)
    if mode == "rn":
        return result
    return adjust(result, np.where(np.isnan(values), 0, np.sign(values - result)), mode)


def to_bfloat16(values: Array, mode: str = "rn") -> Array:
    """float16, float32 or float64 (exact or rounded to odd) to bfloat16 bit patterns."""
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    if mode == "rz":
        bits = to_single(values, "rz") if values.dtype == np.float64 else values
        cut = (bits.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return np.where(np.isnan(values), NAN_BF16, cut)
    if values.dtype == np.float64:
        cut = to_single(values, "rz")
        inexact = cut.astype(np.float64) != values
        values = (cut.view(np.uint32) | (inexact & np.isfinite(cut))).view(np.float32)
    return narrow(values)


def fma32(a: Array, b: Array, c: Array, mode: str = "rn") -> Array:
    """a * b + c of float32, rounded once."""
    product = a.astype(np.float64) * b
    total = product + c
    if mode != "rn":
        other = c.astype(np.float64)
        return to_single(zero_of_sum(product, other, odd_sum(product, other), mode), mode)
    # Rounding twice differs only where the first result lies halfway between two float32.
    halfway = (total.view(np.int64) & 0x1FFF_FFFF) == 0x1000_0000
    risky = halfway | (np.abs(total) < 2.0**-125)
    if risky.any():
        total = odd_sum(product, c.astype(np.float64))
    return total.astype(np.float32)


def product_error(a: Array, b: Array, product: Array) -> Array:
    """a * b - product, exactly (Dekker, Veltkamp), where nothing over- or underflows."""
    def split(x: Array) -> tuple[Array, Array]:
        high = x * 134217729.0
        high = high - (high - x)
        return high, x - high

    (a1, a2), (b1, b2) = split(a), split(b)
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def fma64(a: Array, b: Array, c: Array) -> Array:
    """a * b + c of float64, rounded once."""
    a, b, c = np.broadcast_arrays(a, b, c)
    product = a * b
    high, low = product, product_error(a, b, product)
    middle = c + low
    rest = sum_error(c, low, middle)
    result = high + middle
    result = result + odd_sum(sum_error(high, middle, result), rest)
    size = np.abs(product)
    exact = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    result = np.where(exact, product + c, result)
    usual = (size > 2.0**-900) & (size < 2.0**990) & (np.abs(a) < 2.0**990) & (
        np.abs(b) < 2.0**990) & (np.abs(c) < 2.0**1000) & ((np.abs(c) > 2.0**-900) | (c == 0))
    rare = ~(usual | exact)
    if rare.any():
        for at in np.nonzero(rare)[0]:
            result[at] = _exact_fma(float(a[at]), float(b[at]), float(c[at]))
    return result


def fma_sign(a: Array, b: Array, c: Array) -> Array:
    """The sign of a * b + c of float64, exactly: -1, 0 or 1."""
    a, b, c = np.broadcast_arrays(a, b, c)
    sign = np.sign(fma64(a, b, c))
    for at in np.nonzero((sign == 0) & (a != 0) & (b != 0) & (np.abs(a * b) < 2.0**-900))[0]:
        exact = Fraction(float(a[at])) * Fraction(float(b[at])) + Fraction(float(c[at]))
        sign[at] = (exact > 0) - (exact < 0)
    return sign


def _exact_fma(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return 0.0
    try:
        return float(exact) or (-0.0 if exact < 0 else 0.0)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
