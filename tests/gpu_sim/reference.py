"""What an instruction computes, one element at a time, in Python's integers and fractions.

Floating-point values are Python floats, which hold float16, bfloat16, float32 and float64 exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from .ptx.values import BITS, TYPES, Array

Number = Any  # an int, a float, a bool, or a tuple of them for packed values


class Format(NamedTuple):
    """Bits of the significand, exponents of the smallest and largest normal numbers."""

    precision: int
    smallest: int
    largest: int


FORMATS = {"f16": Format(11, -14, 15), "bf16": Format(8, -126, 127), "f32": Format(24, -126, 127),
           "f64": Format(53, -1022, 1023), "e4m3": Format(4, -6, 8), "e5m2": Format(3, -14, 15)}
LIMITS = {"e4m3": 448.0, "e5m2": 57344.0}
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
          "tf32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def integral(x: Fraction, mode: str) -> int:
    """x rounded to an integer: n to nearest even, a to nearest away, z to zero, m down, p up."""
    down = math.floor(x)
    rest = x - down
    if mode == "z":
        return down + (x < 0 and rest > 0)
    if mode in "mp":
        return down + (mode == "p" and rest > 0)
    half = Fraction(1, 2)
    tie = (down % 2 == 1) if mode == "n" else x > 0
    return down + (rest > half or (rest == half and tie))


def rounded(x: Fraction, kind: str, mode: str = "n", zero: float = 0.0) -> float:
    """x in a format; `zero` is the result where x is zero."""
    if x == 0:
        return zero
    precision, smallest, largest = FORMATS[kind]
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, smallest)
    quantum = Fraction(2) ** (exponent - precision + 1)
    value = integral(x / quantum, mode) * quantum
    sign = 1 if x > 0 else -1
    if abs(value) >= Fraction(2) ** (largest + 1):
        inwards = mode == "z" or (mode == "m" and x > 0) or (mode == "p" and x < 0)
        top = (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** largest
        return sign * (float(top) if inwards else math.inf)
    return float(value) if value else sign * 0.0


def decode(bits: Array, kind: str) -> list[Number]:
    """Python values of bit patterns."""
    if kind.endswith("x2"):
        half = kind.removesuffix("x2")
        size = TYPES[kind].size // 2
        pair = bits.view(BITS[size]).reshape(-1, 2)
        return list(zip(decode(np.ascontiguousarray(pair[:, 0]), half),
                        decode(np.ascontiguousarray(pair[:, 1]), half), strict=True))
    if kind in DTYPES:
        with np.errstate(invalid="ignore"):
            return bits.view(DTYPES[kind]).astype(np.float64).tolist()
    if kind == "pred":
        return (bits != 0).tolist()
    return bits.view(TYPES[kind].dtype).tolist()


def wrapped(value: int, kind: str) -> int:
    """An integer modulo its type."""
    size = 8 * TYPES[kind].size
    value &= (1 << size) - 1
    return value - (1 << size) if TYPES[kind].kind == "s" and value >> (size - 1) else value


def flushed(x: float) -> float:
    """A subnormal float32 as zero."""
    return math.copysign(0.0, x) if abs(x) < 2.0**-126 else x


def same(got: Number, want: Number, tolerance: float = 0.0) -> bool:
    """Equal, NaN like NaN and zeros with their signs; or, with a tolerance, close."""
    if isinstance(want, tuple):
        return all(same(g, w, tolerance) for g, w in zip(got, want, strict=True))
    if isinstance(want, float):
        if math.isnan(want):
            return math.isnan(got)
        if tolerance and math.isfinite(want) and math.isfinite(got):
            return abs(got - want) <= tolerance * abs(want) + 2.0**-126
        return got == want and math.copysign(1, got) == math.copysign(1, want)
    return bool(got == want)


# ---- floating point ----

def finite(*values: float) -> bool:
    return all(math.isfinite(x) for x in values)


def arithmetic(name: str, kind: str, mode: str) -> Callable[..., float]:
    """add, sub, mul, fma, div, rcp of floats in a format."""
    def special(*values: float) -> float:
        with np.errstate(all="ignore"):
            x = [np.float64(v) for v in values]
            found = {"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1],
                     "mul": lambda: x[0] * x[1], "div": lambda: x[0] / x[1],
                     "fma": lambda: x[0] * x[1] + x[2], "rcp": lambda: 1 / x[0]}[name]()
        return float(found)

    def compute(*values: float) -> float:
        divisor = {"div": values[-1], "rcp": values[0]}.get(name, 1.0)
        if not finite(*values) or divisor == 0:
            return special(*values)
        x = [Fraction(v) for v in values]
        exact = {"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1],
                 "mul": lambda: x[0] * x[1], "div": lambda: x[0] / x[1],
                 "fma": lambda: x[0] * x[1] + x[2], "rcp": lambda: 1 / x[0]}[name]()
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


def extremum(name: str, propagate: bool) -> Callable[[float, float], float]:
    def compute(x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y):
            return math.nan if propagate else (y if math.isnan(x) else x)
        ordered = sorted((x, y), key=lambda v: (v, math.copysign(1, v)))
        return ordered[0 if name == "min" else 1]
    return compute


def approximate(name: str) -> Callable[[float], float]:
    """The functions that devices approximate."""
    functions: dict[str, Callable[[np.float64], np.float64]] = {
        "ex2": np.exp2, "lg2": np.log2, "sqrt": np.sqrt, "rcp": lambda v: 1 / v,
        "rsqrt": lambda v: 1 / np.sqrt(v), "sin": np.sin, "cos": np.cos, "tanh": np.tanh}

    def compute(x: float) -> float:
        with np.errstate(all="ignore"):
            return float(functions[name](np.float64(x)))
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
        if unordered:
            return name.endswith("u")
        return COMPARISONS[name.removesuffix("u") if name not in COMPARISONS else name](x, y)
    return compute


# ---- integers ----

def divide(x: int, y: int) -> int:
    """Towards zero."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def shift_left(x: int, n: int, width: int) -> int:
    return x << n if n < width else 0


def shift_right(x: int, n: int, width: int) -> int:
    return x >> min(n, width)


def field(x: int, start: int, length: int, kind: str) -> int:
    """bfe."""
    width, start, length = 8 * TYPES[kind].size, start & 255, length & 255
    bits = x & ((1 << width) - 1)
    found = [bits >> at & 1 if at < width else 0 for at in range(start, start + length)][:width]
    value = sum(bit << at for at, bit in enumerate(found))
    if TYPES[kind].kind == "s" and length:
        sign = bits >> min(start + length - 1, width - 1) & 1
        for at in range(width):
            if start + at >= width or at >= length:
                value = value & ~(1 << at) | sign << at
    return value


def permute(x: int, y: int, selectors: int) -> int:
    """prmt."""
    source = [*x.to_bytes(4, "little"), *y.to_bytes(4, "little")]
    result = []
    for at in range(4):
        one = selectors >> 4 * at & 15
        byte = source[one & 7]
        result.append((255 if byte & 128 else 0) if one & 8 else byte)
    return int.from_bytes(bytes(result), "little")


def to_integer(x: float, kind: str, mode: str) -> int:
    """A float as an integer of the type: clamped, NaN zero."""
    info = np.iinfo(TYPES[kind].dtype)
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return int(info.max if x > 0 else info.min)
    return min(max(integral(Fraction(x), mode), int(info.min)), int(info.max))


def to_float(x: Number, kind: str, mode: str = "n") -> float:
    """A number in a format; float8 saturates."""
    if isinstance(x, float) and not math.isfinite(x):
        if kind in LIMITS and math.isinf(x):
            return math.copysign(LIMITS[kind], x)
        return x
    value = rounded(Fraction(x), kind, mode, math.copysign(0.0, x))
    if kind in LIMITS and abs(value) > LIMITS[kind]:
        return math.copysign(LIMITS[kind], value)
    return value


def to_tf32(x: float) -> float:
    """float32 with 10 bits of fraction, ties away from zero."""
    if not math.isfinite(x) or x == 0:
        return x
    exponent = max(math.frexp(x)[1] - 1, -126)
    quantum = Fraction(2) ** (exponent - 10)
    value = float(integral(Fraction(x) / quantum, "a") * quantum)
    return math.copysign(math.inf, x) if abs(value) >= 2.0**128 else value
