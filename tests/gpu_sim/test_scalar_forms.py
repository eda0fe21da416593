"""Each arithmetic form that Triton emits, against exact arithmetic, on special and random values.

A form without a reference, or one that the interpreter does not know, fails by its name.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from . import reference as ref
from .assembled import elementwise
from .forms import forms_of
from .ptx.values import BITS, TYPES, Array, UnknownForm

CASES = [form for form in forms_of(
    "abs", "add", "and", "bfe", "bfi", "bfind", "brev", "clz", "copysign", "cos", "cvt", "div",
    "ex2", "fma", "lg2", "lop3", "mad", "max", "min", "mov", "mul", "neg", "not", "or", "popc",
    "prmt", "rcp", "rem", "rsqrt", "selp", "set", "setp", "shf", "shl", "shr", "sin", "sqrt",
    "sub", "tanh", "xor") if ".cc" not in form and form != "mov.pred"]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, math.inf, -math.inf, math.nan, 1e-40,
          -1e-40, 2.0**-126, 65504.0, 65520.0, -65520.0, 448.0, 464.0, 3.4028234663852886e38,
          2147483647.0, 2147483648.0, -2147483649.0, 9.223372036854775e18, 0.49999997, 6e-8, 1e300,
          -1e300, 5e-324, 33554433.0]
INTEGERS = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, -1, -2, -7, -128, 127, 255, 2**31 - 1, -2**31,
            2**63 - 1, -2**63]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ex2": np.exp2, "lg2": np.log2, "sqrt": np.sqrt, "rcp": lambda v: 1 / v,
    "rsqrt": lambda v: 1 / np.sqrt(v), "sin": np.sin, "cos": np.cos, "tanh": np.tanh}


class Case(NamedTuple):
    """What an instruction computes, the types of its operands and of its result."""

    compute: Callable[..., Any]
    inputs: tuple[str, ...]
    output: str
    tolerance: float = 0.0
    last: str = ""  # an operand after the others
    target: str = "%d"


def specials(kind: str, generator: np.random.Generator, length: int) -> Array:
    """Bit patterns: special values, random bits and moderate numbers, in random order."""
    about = TYPES[kind]
    if about.half is not None:
        pair = np.stack([specials(about.half.name, generator, length) for _ in range(2)], 1)
        return np.ascontiguousarray(pair).view(BITS[about.size])[:, 0]
    bits = BITS[about.size]
    anything = generator.integers(0, np.iinfo(bits).max, length, dtype=bits, endpoint=True)
    if kind == "pred":
        return anything & bits.type(1)
    with np.errstate(over="ignore", invalid="ignore"):
        if about.kind == "f":
            moderate = (generator.standard_normal(length) * 4).astype(about.dtype)
            chosen = np.array(FLOATS).astype(about.dtype)
        else:
            moderate = generator.integers(0, 100, length).astype(bits)
            chosen = np.array(INTEGERS).astype(bits)
    result = np.where(generator.random(length) < 0.5, anything, moderate.view(bits))
    picks = generator.random(length) < 0.6
    return np.where(picks, generator.choice(chosen.view(bits), length), result)


def case_of(form: str) -> Case:
    """The case of a form: its last modifiers are types, the others change what it computes."""
    opcode, *modifiers = form.split(".")
    kind = modifiers[-1]
    if opcode == "cvt":
        return conversion(modifiers, kind)
    half, tolerance = TYPES[kind].half, 0.0
    single = half.name if half is not None else kind
    compute: Callable[..., Any]
    if opcode in ("set", "setp"):
        compute = ref.comparison(modifiers[0])
    elif TYPES[kind].kind == "f":
        compute, tolerance = float_function(opcode, modifiers, single)
    else:
        compute = integer_function(opcode, modifiers, single)
    wide = f"{kind[0]}{16 * TYPES[kind].size}" if "wide" in modifiers else kind
    count = 1 if opcode in UNARY else 3 if opcode in ("fma", "shf", "prmt", "lop3") else 2
    inputs = {"shl": (kind, "u32"), "shr": (kind, "u32"), "bfe": (kind, "u32", "u32"),
              "bfi": (kind, kind, "u32", "u32"), "mad": (kind, kind, wide),
              "selp": (kind, kind, "pred")}.get(opcode, (kind,) * count)
    output = {"setp": "pred", "set": modifiers[-2:][0], "clz": "u32", "popc": "u32",
              "bfind": "u32"}.get(opcode, wide)
    return Case(halves(compute) if half is not None else compute, inputs, output, tolerance,
                ", 0x1D" if opcode == "lop3" else "",
                "%d|%q" if opcode == "setp" and half is not None else "%d")


UNARY = {"abs", "neg", "not", "brev", "clz", "popc", "bfind", "mov", "rcp", *FUNCTIONS}


def halves(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Of each half of packed values."""
    return lambda *values: tuple(compute(*one) for one in zip(*values, strict=True))


def mode_of(modifiers: list[str]) -> str:
    """The letter of the rounding, and i where it is to integral numbers."""
    return next((m[1:] for m in modifiers if m in (
        "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi")), "n")


def float_function(opcode: str, modifiers: list[str],
                   kind: str) -> tuple[Callable[..., Any], float]:
    """Of floats: the function and its tolerance."""
    ftz, approximate = "ftz" in modifiers, "approx" in modifiers
    mode, tolerance = mode_of(modifiers), 2.0**-22 if {"approx", "full"} & set(modifiers) else 0.0
    upper = kind == "f64" and approximate and ftz  # of the upper halves of normal numbers
    if opcode == "sqrt" and mode != "n":
        compute: Callable[..., Any] = ref.square_root(kind, mode)
    elif opcode in FUNCTIONS and (approximate or opcode != "rcp"):
        compute = partial(approximated, FUNCTIONS[opcode], kind, upper)
    elif opcode in ("min", "max"):
        compute = ref.extremum(opcode, "NaN" in modifiers)
    elif opcode in SIGNS:
        compute = SIGNS[opcode]
    else:
        compute = ref.arithmetic(opcode, kind, mode)
    if ftz and kind == "f32":
        return (lambda *v: ref.flushed(compute(*(ref.flushed(x) for x in v)))), tolerance
    if "sat" in modifiers:
        return (lambda *v: ref.saturated(compute(*v))), tolerance
    return compute, 2.0**-20 if upper else tolerance


SIGNS: dict[str, Callable[..., Any]] = {
    "neg": lambda x: -x, "abs": abs, "copysign": lambda x, y: math.copysign(y, x),
    "selp": lambda x, y, p: x if p else y}


def approximated(function: Callable[..., Any], kind: str, upper: bool, x: float) -> float:
    small = upper and abs(x) < 2.0**-1022
    return ref.to_float(ref.special(function, math.copysign(0.0, x) if small else x), kind)


def integer_function(opcode: str, modifiers: list[str], kind: str) -> Callable[..., int]:
    """Of integers, modulo the type."""
    width = 8 * TYPES[kind].size
    above = width if "hi" in modifiers else 0

    def leading(x: int) -> int:
        x = ~x if x < 0 else x
        return -1 if x == 0 else width - x.bit_length() if "shiftamt" in modifiers else (
            x.bit_length() - 1)

    def funnel(low: int, high: int, n: int) -> int:
        n = n % 32 if "wrap" in modifiers else min(n, 32)
        both = high << 32 | low
        return (both << n) >> 32 if "l" in modifiers else both >> n

    def table(x: int, y: int, z: int) -> int:
        return sum((0x1D >> ((x >> n & 1) << 2 | (y >> n & 1) << 1 | (z >> n & 1)) & 1) << n
                   for n in range(32))

    return {
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "min": min, "max": max,
        "and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y,
        "not": lambda x: ~x, "neg": lambda x: -x, "abs": abs, "mov": lambda x: x,
        "div": lambda x, y: ref.divide(x, y) if y else -1,
        "rem": lambda x, y: x - ref.divide(x, y) * y if y else x,
        "mul": lambda x, y: x * y >> above, "mad": lambda x, y, z: (x * y >> above) + z,
        "shl": lambda x, n: x << min(n, width), "shr": lambda x, n: x >> min(n, width),
        "shf": funnel, "lop3": table, "prmt": ref.permute, "bfi": ref.inserted,
        "bfe": lambda x, start, length: ref.field(x, start, length, kind),
        "brev": lambda x: int(f"{x:0{width}b}"[::-1], 2), "clz": lambda x: width - x.bit_length(),
        "popc": lambda x: x.bit_count(), "bfind": leading, "selp": SIGNS["selp"],
    }[opcode]


def conversion(modifiers: list[str], source: str) -> Case:
    """cvt."""
    target, mode = modifiers[-2], mode_of(modifiers)
    half = target.removesuffix("x2")

    def number(x: Any) -> float:
        """Before it is rounded to the type."""
        x = ref.flushed(x) if "ftz" in modifiers else 0.0 if "relu" in modifiers and x <= 0 else x
        if mode.endswith("i") and math.isfinite(x):
            x = math.copysign(float(ref.integral(ref.Fraction(x), mode[0])), x)
        return ref.saturated(x) if "sat" in modifiers else x

    def to_half(x: Any) -> float:
        x = ref.to_float(number(x), half, "n" if mode.endswith("i") else mode[-1])
        return ref.flushed(x) if "ftz" in modifiers else x

    if target.endswith("x2"):
        pair = source == "f32"
        return Case((lambda x, y: (to_half(y), to_half(x))) if pair else halves(to_half),
                    ("f32", "f32") if pair else (source,), target)
    if TYPES[target].kind == "f":
        return Case(to_half, (source,), target)
    if TYPES[source].kind == "f":
        return Case(lambda x: ref.to_integer(ref.flushed(x) if "ftz" in modifiers else x, target,
                                             mode[0]), (source,), target)
    return Case(lambda x: x, (source,), target)


@pytest.mark.parametrize("form", CASES)
def test_form(form: str) -> None:
    case = case_of(form)
    generator = np.random.default_rng(zlib.crc32(form.encode()))
    inputs = [(kind, specials(kind, generator, 512)) for kind in case.inputs]
    names = "".join(f", %{letter}" for letter in "abce"[:len(inputs)])
    targets = case.target.split("|")
    outputs = elementwise(
        f"{form} {case.target}{names}{case.last};", inputs, [case.output] * len(targets))
    got = [ref.decode(bits, case.output) for bits in outputs]
    operands = list(zip(*(ref.decode(bits, kind) for kind, bits in inputs), strict=True))
    for values, found in zip(operands, got[0] if len(got) == 1 else zip(*got, strict=True),
                             strict=True):
        want = case.compute(*values)
        assert ref.same(found, want, case.output, case.tolerance), (
            f"{form} of {values}: {found}, not {want}")


def test_a_form_that_is_not_known_is_named() -> None:
    with pytest.raises(UnknownForm, match=r"k, line \d+: add\.noisy\.f32 %d, %a, %a;?: .*noisy"):
        elementwise("add.noisy.f32 %d, %a, %a;", [("f32", np.zeros(1, np.uint32))], ["f32"])
