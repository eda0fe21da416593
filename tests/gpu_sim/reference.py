"""What an instruction computes, one element at a time, in Python's integers and fractions.

Floating-point values are Python floats, which hold float16, bfloat16, float32 and float64 exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from .ptx.values import BITS, TYPES, Array

Number = Any  # an int, a float, a bool, or a tuple of them for packed values
# Bits of the significand, exponents of the smallest and largest normal numbers.
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127),
           "f64": (53, -1022, 1023), "e4m3": (4, -6, 8), "e5m2": (3, -14, 15),
           "tf32": (11, -126, 127)}
LIMITS = {"e4m3": 448.0, "e5m2": 57344.0}


def integral(x: Fraction, mode: str) -> int:
    """x rounded to an integer: n to nearest even, a to nearest away, z to zero, m down, p up."""
    down = math.floor(x)
    rest = x - down
    if mode in "zmp":
        return down + (rest > 0 and (mode == "p" or (mode == "z" and x < 0)))
    tie = (down % 2 == 1) if mode == "n" else x > 0
    return down + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and tie))


def rounded(x: Fraction, kind: str, mode: str = "n", zero: float = 0.0) -> float:
    """x in a format; `zero` is the result where x is zero."""
    if x == 0:
        return zero
    precision, smallest, largest = FORMATS[kind]
    size, sign = abs(x), 1 if x > 0 else -1
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent = max(exponent - (size < Fraction(2) ** exponent), smallest)
    quantum = Fraction(2) ** (exponent - precision + 1)
    value = integral(x / quantum, mode) * quantum
    if abs(value) < Fraction(2) ** (largest + 1):
        return float(value) if value else sign * 0.0
    if mode == "z" or mode == ("m" if x > 0 else "p"):
        return sign * float((2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** largest)
    return sign * math.inf


def to_float(x: Number, kind: str, mode: str = "n") -> float:
    """A number in a format; float8 saturates."""
    if math.isfinite(x):
        x = rounded(Fraction(x), kind, mode, math.copysign(0.0, x))
    if kind in LIMITS and abs(x) > LIMITS[kind]:
        return math.copysign(LIMITS[kind], x)
    return x


def to_integer(x: float, kind: str, mode: str) -> int:
    """A float as an integer of the type: clamped, NaN zero."""
    info = np.iinfo(TYPES[kind].dtype)
    if not math.isfinite(x):
        return 0 if math.isnan(x) else int(info.max if x > 0 else info.min)
    return min(max(integral(Fraction(x), mode), int(info.min)), int(info.max))


def decode(bits: Array, kind: str) -> list[Number]:
    """Python values of bit patterns."""
    half = TYPES[kind].half
    if half is not None:
        pair = bits.view(BITS[half.size]).reshape(-1, 2)
        return list(zip(*(decode(np.ascontiguousarray(one), half.name) for one in pair.T),
                        strict=True))
    if kind == "pred":
        return (bits != 0).tolist()
    values = bits.view(TYPES[kind].dtype)
    with np.errstate(invalid="ignore"):
        return (values.astype(np.float64) if TYPES[kind].kind == "f" else values).tolist()


def wrapped(value: int, kind: str) -> int:
    """An integer modulo its type."""
    size = 8 * TYPES[kind].size
    value &= (1 << size) - 1
    return value - (1 << size) if TYPES[kind].kind == "s" and value >> (size - 1) else value


def flushed(x: float) -> float:
    """A subnormal float32 as zero."""
    return math.copysign(0.0, x) if abs(x) < 2.0**-126 else x


def saturated(x: float) -> float:
    return 0.0 if math.isnan(x) or x <= 0 else min(x, 1.0)


def same(got: Number, want: Number, kind: str, tolerance: float = 0.0) -> bool:
    """Equal, NaN like NaN and zeros with their signs; or, with a tolerance, close."""
    if isinstance(want, tuple):
        half = kind.removesuffix("x2")
        return all(same(g, w, half, tolerance) for g, w in zip(got, want, strict=True))
    if kind == "pred":
        return got == bool(want & 1)
    if TYPES[kind].kind != "f":
        return got == wrapped(want, kind)
    if math.isnan(want):
        return math.isnan(got)
    if tolerance and math.isfinite(want) and math.isfinite(got):
        return abs(got - want) <= tolerance * abs(want) + 2.0**-126
    return got == want and math.copysign(1, got) == math.copysign(1, want)


# ---- floating point

EXACT: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "fma": lambda x, y, z: x * y + z, "rcp": lambda x: 1 / x}


def special(function: Callable[..., Any], *values: float) -> float:
    """Of infinities, NaN and divisors of zero, as NumPy has them."""
    with np.errstate(all="ignore"):
        return float(function(*(np.float64(v) for v in values)))


def arithmetic(name: str, kind: str, mode: str) -> Callable[..., float]:
    """add, sub, mul, fma, div, rcp of floats in a format."""
    def compute(*values: float) -> float:
        divisor = {"div": values[-1], "rcp": values[0]}.get(name, 1.0)
        if divisor == 0 or not all(math.isfinite(x) for x in values):
            return special(EXACT[name], *values)
        exact = EXACT[name](*(Fraction(v) for v in values))
        return rounded(exact, kind, mode, zero_sum(name, values, mode))
    return compute


def zero_sum(name: str, values: tuple[float, ...], mode: str) -> float:
    """The zero that an exact zero is: of the signs' agreement, else +0 (-0 rounding down)."""
    signs = [math.copysign(1, v) for v in values]
    if name in ("mul", "div", "rcp"):
        return math.copysign(0.0, math.prod(signs))
    first = signs[0] * signs[1] if name == "fma" else signs[0]
    second = signs[2] if name == "fma" else signs[1] * (-1 if name == "sub" else 1)
    exact_zero = values[0] == 0 or (name == "fma" and values[1] == 0)
    if first == second and exact_zero:
        return math.copysign(0.0, first)
    return -0.0 if mode == "m" else 0.0


def square_root(kind: str, mode: str) -> Callable[[float], float]:
    """The root, by the integer root of a scaled fraction."""
    def compute(x: float) -> float:
        if not x > 0 or math.isinf(x):
            return special(np.sqrt, x)
        scaled = Fraction(x) * 2 ** 2200
        root = math.isqrt(scaled.numerator // scaled.denominator)
        exact = root * root * scaled.denominator == scaled.numerator
        return rounded(Fraction(2 * root + (not exact), 2**1101), kind, mode)
    return compute


def extremum(name: str, propagate: bool) -> Callable[[float, float], float]:
    def compute(x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y):
            return math.nan if propagate else (y if math.isnan(x) else x)
        return sorted((x, y), key=lambda v: (v, math.copysign(1, v)))[name == "max"]
    return compute


COMPARISONS: dict[str, Callable[[Number, Number], bool]] = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}


def comparison(name: str) -> Callable[[Number, Number], bool]:
    """eq, ltu and so on: the ordered ones are false of a NaN, the others true."""
    def compute(x: Number, y: Number) -> bool:
        unordered = x != x or y != y
        if name in ("num", "nan"):
            return unordered == (name == "nan")
        return name.endswith("u") if unordered else COMPARISONS[name[:2]](x, y)
    return compute


# ---- integers

def divide(x: int, y: int) -> int:
    """Towards zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def field(x: int, start: int, length: int, kind: str) -> int:
    """bfe."""
    width, start, length = 8 * TYPES[kind].size, start & 255, length & 255
    bits = x & ((1 << width) - 1)
    value = (bits >> start) & ((1 << min(length, width)) - 1)
    if TYPES[kind].kind == "s" and length and bits >> min(start + length - 1, width - 1) & 1:
        value |= -1 << max(min(length, width - start), 0)
    return value


def inserted(x: int, base: int, start: int, length: int) -> int:
    """bfi of 32 bits."""
    mask = ((1 << (length & 255)) - 1) << (start & 255)
    return base & ~mask | (x << (start & 255)) & mask


def permute(x: int, y: int, selectors: int) -> int:
    """prmt."""
    source = [*x.to_bytes(4, "little"), *y.to_bytes(4, "little")]
    chosen = [(source[selectors >> at & 7], selectors >> at & 8) for at in (0, 4, 8, 12)]
    return int.from_bytes(bytes((255 if byte & 128 else 0) if sign else byte
                                for byte, sign in chosen), "little")
