"""Exactly rounded arithmetic on arrays: formats, fused multiply-add, directed rounding.

A value that is rounded to odd (its last bit set where it is inexact) in a format with two bits
more than the next rounds there as the exact value would (Boldo and Melquiond, "Emulation of FMA
and correctly rounded sums", 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from .values import BITS, Array, Type

NAN_BF16 = np.uint16(0x7FFF)
TF32_MASK = np.uint32(0xFFFF_E000)
OVERFLOW = 2**1024 - 2**970  # what float64 rounds to infinity from
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}


# ---- formats: numbers are held as float64 or float32, or as float16 where they are that

def decode(bits: Array, kind: Type) -> Array:
    """The numbers that bit patterns are."""
    if kind.name == "bf16":
        return widen(bits)
    if kind.name == "tf32":
        return (bits.view(np.uint32) & TF32_MASK).view(np.float32)
    values = bits.view(kind.dtype)
    return values.astype(np.float32) if kind.size == 1 else values


def encode(values: Array, kind: Type, mode: str = "rn") -> Array:
    """Numbers, exact or rounded to odd, in a format: bit patterns, or as NumPy has the type."""
    if values.dtype == kind.dtype and kind.name != "tf32":
        return values
    if kind.name == "bf16":
        return to_bfloat16(values, mode)
    if kind.name == "tf32":
        return to_tf32(values, mode)
    if kind.size == 1:
        return to_float8(values, kind)
    if mode == "rn" or kind.size == 8:
        return values.astype(kind.dtype)
    return to_nearby(values, kind.dtype, mode)


def widen(bits: Array) -> Array:
    """bfloat16 bit patterns as float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def to_nearby(values: Array, dtype: np.dtype, mode: str) -> Array:
    """float32 or float64 to a narrower type, rounded as `mode` says."""
    result = values.astype(dtype)
    if mode == "rn":
        return result
    return adjust(result, np.where(np.isnan(values), 0, np.sign(values - result)), mode)


def to_bfloat16(values: Array, mode: str = "rn") -> Array:
    """Bit patterns; NaN becomes 0x7fff."""
    bits = values.astype(np.float32).view(np.uint32)
    if values.dtype == np.float64:
        cut = to_nearby(values, np.dtype(np.float32), "rz")
        inexact = (cut.astype(np.float64) != values) & np.isfinite(cut)
        bits = cut.view(np.uint32) | inexact.astype(np.uint32)
    if mode == "rn":
        bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return np.where(np.isnan(values), NAN_BF16, (bits >> np.uint32(16)).astype(np.uint16))


def to_tf32(values: Array, mode: str) -> Array:
    """The upper 19 bits of float32: to nearest, ties away from zero (.rna) or to even."""
    bits = values.view(np.uint32)
    bias = np.uint32(0x1000) if mode == "rna" else (
        np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1)))
    return np.where(np.isfinite(values), (bits + bias) & TF32_MASK, bits)


def to_float8(values: Array, kind: Type) -> Array:
    """Bit patterns; numbers beyond the largest become it, NaN stays."""
    largest = np.float32(LARGEST[kind.name])
    bits = np.clip(values.astype(np.float32), -largest, largest).astype(kind.dtype).view(np.uint8)
    return np.where(np.isnan(values), np.uint8(0x7F), bits)


# ---- what instructions do before and after

def flush(values: Array) -> Array:
    """Subnormal float32 numbers become zeros of their sign; other types are as they were."""
    if values.dtype != np.float32:
        return values
    small = np.abs(values) < np.float32(2.0**-126)
    return np.where(small, np.copysign(np.float32(0), values), values) if small.any() else values


def saturate(values: Array) -> Array:
    """Clamp to [0, 1]; NaN becomes 0."""
    one = values.dtype.type(1)
    return np.where(values > 0, np.minimum(values, one), values.dtype.type(0))


def relu(values: Array) -> Array:
    """Negative numbers as zero; NaN stays."""
    return np.where(values <= 0, values.dtype.type(0), values)


# ---- directed rounding

def adjust(values: Array, error: Array, mode: str) -> Array:
    """Values rounded to nearest, rounded as `mode` says; `error` has the sign of exact - value."""
    bits, one = values.view(BITS[values.itemsize]), BITS[values.itemsize].type(1)
    positive = ~np.signbit(values)
    inwards, outwards = (bits - one).view(values.dtype), (bits + one).view(values.dtype)
    if mode == "rz":
        return np.where(np.where(positive, error < 0, error > 0), inwards, values)
    down = mode == "rm"
    wrong = error < 0 if down else error > 0
    least = np.array([1 | (down << (8 * values.itemsize - 1))], bits.dtype).view(values.dtype)
    moved = np.where(values == 0, least, np.where(positive == down, inwards, outwards))
    return np.where(wrong, moved, values)


def zero_of_sum(a: Array, b: Array, total: Array, mode: str) -> Array:
    """The sum with the sign that a sum of zero has: negative rounding down, but of +0 and +0."""
    if mode != "rm":
        return total
    sign = np.where(np.signbit(a) | np.signbit(b), -0.0, 0.0)
    return np.where(total == 0, sign, total)


EXACT: dict[str, Callable[..., Array]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}


def directed(name: str, mode: str, *values: Array) -> Array:
    """add, sub, mul, div or sqrt of float32 or float64."""
    if name == "sub":
        return directed("add", mode, values[0], -values[1])
    if values[0].dtype == np.float32:
        wide = [v.astype(np.float64) for v in values]
        total = zero_of_sum(*wide, odd_sum(*wide), mode) if name == "add" else EXACT[name](*wide)
        return to_nearby(total, np.dtype(np.float32), mode)
    result, a, b = EXACT[name](*values), values[0], values[-1]
    error = {"add": lambda: sum_error(a, b, result), "mul": lambda: fma_sign(a, b, -result),
             "div": lambda: fma_sign(-result, b, a) * np.sign(b),
             "sqrt": lambda: fma_sign(-result, result, a)}[name]()
    overflow = np.isinf(result) & np.isfinite(a) & np.isfinite(b) & (b != 0)
    error = np.where(overflow, -np.sign(result), np.where(np.isfinite(result), error, 0))
    result = adjust(result, error, mode)
    return zero_of_sum(a, b, result, mode) if name == "add" else result


# ---- sums and products that are rounded once

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


def fma32(a: Array, b: Array, c: Array, mode: str = "rn") -> Array:
    """a * b + c of float32, rounded once."""
    product = a.astype(np.float64) * b
    if mode != "rn":
        other = c.astype(np.float64)
        return to_nearby(zero_of_sum(product, other, odd_sum(product, other), mode), a.dtype, mode)
    total = product + c
    result = total.astype(np.float32)
    # Rounding twice differs only where the first result lies halfway between two float32.
    if ((total.view(np.int64) & 0x1FFF_FFFF) == 0x1000_0000).any() or (
            (np.abs(result) < np.float32(2.0**-125)) & (total != 0)).any():
        result = odd_sum(product, c.astype(np.float64)).astype(np.float32)
    return result


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
    low = product_error(a, b, product)
    middle = c + low
    rest = sum_error(c, low, middle)
    result = product + middle
    result = result + odd_sum(sum_error(product, middle, result), rest)
    special = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    result = np.where(special, product + c, result)
    size, sizes = np.abs(product), [np.abs(x) < 2.0**990 for x in (a, b, c)]
    usual = (size > 2.0**-900) & (size < 2.0**990) & sizes[0] & sizes[1] & sizes[2] & (
        (np.abs(c) > 2.0**-900) | (c == 0))
    for at in np.nonzero(~(usual | special))[0]:
        exact = exact_fma(a[at], b[at], c[at])
        result[at] = float(exact) if abs(exact) < OVERFLOW else np.inf * (1 if exact > 0 else -1)
    return result


def fma_sign(a: Array, b: Array, c: Array) -> Array:
    """The sign of a * b + c of float64, exactly: -1, 0 or 1."""
    a, b, c = np.broadcast_arrays(a, b, c)
    sign = np.sign(fma64(a, b, c))
    for at in np.nonzero((sign == 0) & (a != 0) & (b != 0) & (np.abs(a * b) < 2.0**-900))[0]:
        exact = exact_fma(a[at], b[at], c[at])
        sign[at] = (exact > 0) - (exact < 0)
    return sign


def exact_fma(a: np.float64, b: np.float64, c: np.float64) -> Fraction:
    return Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
