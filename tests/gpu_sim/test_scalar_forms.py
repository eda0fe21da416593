"""Each arithmetic form that Triton emits, against exact arithmetic, on special and random values.

`forms.txt` lists the forms of some two thousand kernels of Triton 3.6 and 3.9, for sm_80 and
sm_90. A form without a reference, or one that the interpreter does not know, fails by its name.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from . import reference as ref
from .assembled import elementwise
from .ptx.values import BITS, TYPES, Array

FORMS = (Path(__file__).parent / "forms.txt").read_text().split()
ELEMENTWISE = {
    "abs", "add", "and", "bfe", "bfind", "brev", "clz", "copysign", "cvt", "div", "ex2", "fma",
    "lg2", "lop3", "mad", "max", "min", "mul", "neg", "not", "or", "popc", "prmt", "rcp", "rsqrt",
    "selp", "set", "setp", "shf", "shl", "shr", "sqrt", "sub", "xor", "mov",
}
# More than Triton emits now, and likely next.
MORE = [
    "rem.s32", "rem.u32", "rem.s64", "rem.u64", "bfi.b32", "bfe.s64", "bfe.u64", "bfind.s32",
    "shf.r.wrap.b32", "shf.r.clamp.b32", "mul.wide.s16", "mul.wide.u16", "mul.hi.s16",
    "sin.approx.f32", "cos.approx.f32", "tanh.approx.f32", "add.rm.f32", "add.rp.f32",
    "mul.rm.f64", "mul.rp.f64", "mul.rz.f32", "sub.rz.f32", "sqrt.rz.f32", "sqrt.rp.f64",
    "div.rm.f32", "div.rp.f64", "fma.rp.f32", "cvt.rz.f32.f64", "cvt.rm.f32.f64", "cvt.rp.f16.f32",
    "cvt.rz.bf16.f32", "cvt.rmi.f32.f32", "cvt.rzi.ftz.s32.f32", "add.sat.f32", "fma.rn.sat.f32",
    "cvt.rn.relu.bf16x2.f32", "min.NaN.f16", "max.NaN.bf16x2", "neg.f16", "abs.bf16x2",
    "mul.f16", "mul.f16x2",
]
CASES = [form for form in FORMS if form.split(".")[0] in ELEMENTWISE
         and ".cc" not in form and form != "mov.pred"] + MORE
PACKED = ("f16x2", "bf16x2", "s16x2", "u16x2")
APPROXIMATE = {"ex2", "lg2", "rsqrt", "sin", "cos", "tanh"}
SPECIAL: dict[str, list[Any]] = {
    "f": [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, math.inf, -math.inf, math.nan, 1e-40,
          -1e-40, 2.0**-126, 65504.0, 65520.0, -65520.0, 448.0, 464.0, 3.4028234663852886e38,
          2147483647.0, 2147483648.0, -2147483649.0, 9.223372036854775e18, 0.49999997, 6e-8, 1e300,
          -1e300, 5e-324, 33554433.0],
    "i": [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, -1, -2, -7, -128, 127, 255, 2**31 - 1, -2**31,
          2**63 - 1, -2**63],
}


class Case(NamedTuple):
    """An instruction with operands, their types and the result's, and what it computes."""

    text: str
    inputs: tuple[str, ...]
    output: str
    compute: Callable[..., Any]
    tolerance: float = 0.0


def specials(kind: str, generator: np.random.Generator, length: int) -> Array:
    """Bit patterns: special values, random bits and moderate numbers, in random order."""
    if kind in PACKED or kind.endswith("x2"):
        half = kind.removesuffix("x2")
        size = TYPES[kind].size // 2
        pair = np.stack([specials(half, generator, length) for _ in range(2)], 1)
        return np.ascontiguousarray(pair.astype(BITS[size])).view(BITS[2 * size])[:, 0]
    bits = BITS[TYPES[kind].size]
    anything = generator.integers(0, np.iinfo(bits).max, length, dtype=bits, endpoint=True)
    if kind == "pred":
        return anything & bits.type(1)
    with np.errstate(over="ignore", invalid="ignore"):
        if kind in ref.DTYPES:
            moderate = (generator.standard_normal(length) * 4).astype(ref.DTYPES[kind])
            chosen = np.array(SPECIAL["f"]).astype(ref.DTYPES[kind])
        else:
            mask = (1 << 8 * bits.itemsize) - 1
            moderate = generator.integers(0, 100, length).astype(bits)
            chosen = np.array([n & mask for n in SPECIAL["i"]], np.uint64).astype(bits)
    result = np.where(generator.random(length) < 0.5, anything, moderate.view(bits))
    picks = generator.random(length) < 0.6
    return np.where(picks, generator.choice(chosen.view(bits), length), result)


def halves(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Of each half of packed values."""
    return lambda *values: tuple(compute(*one) for one in zip(*values, strict=True))


def case_of(form: str) -> Case:
    """The case of a form: its last modifiers are types, the others change what it computes."""
    opcode, *modifiers = form.split(".")
    kinds = [one for one in modifiers if one in TYPES]
    kind = kinds[-1]
    maker = MAKERS.get(opcode)
    if maker is not None:
        return maker(form, modifiers, kind)
    packed = kind in PACKED
    single = kind.removesuffix("x2")
    floating = TYPES[single].kind == "f"
    mode = next((m[1] for m in modifiers if m in ("rn", "rz", "rm", "rp")), "n")
    compute, count, tolerance = (float_function if floating else integer_function)(
        opcode, modifiers, single, mode)
    if "ftz" in modifiers and single == "f32":
        plain = compute
        compute = lambda *v: ref.flushed(plain(*(ref.flushed(x) for x in v)))  # noqa: E731
    names = "".join(f", %{letter}" for letter in "abc"[:count])
    return Case(f"{form} %d{names};", (kind,) * count, kind,
                halves(compute) if packed else compute, tolerance)


def float_function(opcode: str, modifiers: list[str], kind: str,
                   mode: str) -> tuple[Callable[..., Any], int, float]:
    """Of floats: the function, how many operands, the tolerance."""
    if opcode in APPROXIMATE or (opcode == "sqrt" or (opcode == "rcp" and "approx" in modifiers)):
        exact = ref.approximate(opcode)
        if opcode == "sqrt" and "approx" not in modifiers and mode != "n":
            return directed_sqrt(kind, mode), 1, 0.0
        loose = 2.0**-20 if kind == "f64" and "ftz" in modifiers else 2.0**-22
        if "approx" not in modifiers:
            return (lambda x: ref.to_float(exact(x), kind)), 1, 0.0
        if kind == "f64" and "ftz" in modifiers:
            return upper(exact), 1, loose
        return (lambda x: ref.to_float(exact(x), kind)), 1, loose
    if opcode in ("min", "max"):
        return ref.extremum(opcode, "NaN" in modifiers), 2, 0.0
    if opcode in ("neg", "abs"):
        return {"neg": lambda x: -x, "abs": abs}[opcode], 1, 0.0
    if opcode == "copysign":
        return (lambda x, y: math.copysign(y, x)), 2, 0.0
    compute = ref.arithmetic(opcode, kind, mode)
    if "sat" in modifiers:
        plain = compute
        compute = lambda *v: (  # noqa: E731
            0.0 if math.isnan(x := plain(*v)) or x <= 0 else min(x, 1.0))
    count = {"fma": 3, "rcp": 1}.get(opcode, 2)
    return compute, count, 2.0**-22 if "approx" in modifiers or "full" in modifiers else 0.0


def directed_sqrt(kind: str, mode: str) -> Callable[[float], float]:
    """The root, by the integer root of a scaled fraction."""
    def compute(x: float) -> float:
        if not x > 0 or math.isinf(x):
            return ref.approximate("sqrt")(x)
        scaled = ref.Fraction(x) * 2 ** 2200
        root = math.isqrt(scaled.numerator // scaled.denominator)
        exact = root * root * scaled.denominator == scaled.numerator
        return ref.rounded(ref.Fraction(2 * root + (not exact), 2**1101), kind, mode)
    return compute


def upper(exact: Callable[[float], float]) -> Callable[[float], float]:
    """rcp and rsqrt of the upper half of a float64."""
    return lambda x: exact(math.copysign(0.0, x) if abs(x) < 2.0**-1022 else x)


def integer_function(opcode: str, modifiers: list[str], kind: str,
                     mode: str) -> tuple[Callable[..., Any], int, float]:
    """Of integers, modulo the type."""
    width = 8 * TYPES[kind].size
    ones = -1 if TYPES[kind].kind == "s" else (1 << width) - 1
    table: dict[str, tuple[int, Callable[..., int]]] = {
        "add": (2, lambda x, y: x + y), "sub": (2, lambda x, y: x - y), "min": (2, min),
        "max": (2, max), "and": (2, lambda x, y: x & y), "or": (2, lambda x, y: x | y),
        "xor": (2, lambda x, y: x ^ y), "not": (1, lambda x: ~x), "neg": (1, lambda x: -x),
        "abs": (1, abs), "div": (2, lambda x, y: ref.divide(x, y) if y else ones),
        "rem": (2, lambda x, y: x - ref.divide(x, y) * y if y else x),
        "brev": (1, lambda x: int(f"{x:0{width}b}"[::-1], 2)),
        "prmt": (3, ref.permute), "mov": (1, lambda x: x),
    }
    count, compute = table[opcode]
    if kind == "pred":
        return (lambda *v: bool(compute(*v) & 1)), count, 0.0
    return (lambda *v: ref.wrapped(compute(*v), kind)), count, 0.0


# ---- forms whose operands have types of their own ----

def setp(form: str, modifiers: list[str], kind: str) -> Case:
    return Case(f"{form} %d, %a, %b;", (kind, kind), "pred", ref.comparison(modifiers[0]))


def set_value(form: str, modifiers: list[str], kind: str) -> Case:
    compare = ref.comparison(modifiers[0])
    return Case(f"{form} %d, %a, %b;", (kind, kind), modifiers[1],
                halves(lambda x, y: float(compare(x, y))))


def selp(form: str, modifiers: list[str], kind: str) -> Case:
    return Case(f"{form} %d, %a, %b, %c;", (kind, kind, "pred"), kind,
                lambda x, y, p: x if p else y)


def multiply(form: str, modifiers: list[str], kind: str) -> Case:
    """mul and mad; of floats mul alone."""
    if TYPES[kind].kind == "f":
        del MAKERS["mul"]
        try:
            return case_of(form)
        finally:
            MAKERS["mul"] = multiply
    adds, width = form.startswith("mad"), 8 * TYPES[kind].size
    result = f"{kind[0]}{2 * width}" if "wide" in modifiers else kind
    shift = width if "hi" in modifiers else 0
    return Case(f"{form} %d, %a, %b{', %c' if adds else ''};",
                (kind, kind, result) if adds else (kind, kind), result,
                lambda x, y, z=0: ref.wrapped((x * y >> shift) + z, result))


def shift(form: str, modifiers: list[str], kind: str) -> Case:
    width = 8 * TYPES[kind].size
    move = ref.shift_left if form.startswith("shl") else ref.shift_right
    return Case(f"{form} %d, %a, %b;", (kind, "u32"), kind,
                lambda x, n: ref.wrapped(move(x, n, width), kind))


def funnel(form: str, modifiers: list[str], kind: str) -> Case:
    def compute(low: int, high: int, n: int) -> int:
        n = n % 32 if "wrap" in modifiers else min(n, 32)
        both = high << 32 | low
        return ((both << n) >> 32 if "l" in modifiers else both >> n) & 0xFFFF_FFFF
    return Case(f"{form} %d, %a, %b, %c;", ("b32", "b32", "u32"), "b32", compute)


def extract(form: str, modifiers: list[str], kind: str) -> Case:
    return Case(f"{form} %d, %a, %b, %c;", (kind, "u32", "u32"), kind,
                lambda x, start, length: ref.wrapped(ref.field(x, start, length, kind), kind))


def insert(form: str, modifiers: list[str], kind: str) -> Case:
    def compute(x: int, base: int, start: int, length: int) -> int:
        for at in range(length & 255):
            if (start & 255) + at < 32:
                bit = 1 << (start & 255) + at
                base = base & ~bit | (bit if x >> at & 1 else 0)
        return base
    return Case(f"{form} %d, %a, %b, %c, %e;", (kind, kind, "u32", "u32"), kind, compute)


def count_bits(form: str, modifiers: list[str], kind: str) -> Case:
    width = 8 * TYPES[kind].size

    def leading(x: int) -> int:
        x = ~x if x < 0 and TYPES[kind].kind == "s" else x
        if x == 0:
            return 0xFFFF_FFFF
        return width - x.bit_length() if "shiftamt" in modifiers else x.bit_length() - 1
    compute = {"clz": lambda x: width - x.bit_length(), "popc": lambda x: x.bit_count(),
               "bfind": leading}[form.split(".", maxsplit=1)[0]]
    return Case(f"{form} %d, %a;", (kind,), "u32", compute)


def lop3(form: str, modifiers: list[str], kind: str) -> Case:
    def compute(x: int, y: int, z: int) -> int:
        return sum((0x1D >> ((x >> n & 1) << 2 | (y >> n & 1) << 1 | (z >> n & 1)) & 1) << n
                   for n in range(32))
    return Case(f"{form} %d, %a, %b, %c, 0x1D;", (kind,) * 3, kind, compute)


def convert(form: str, modifiers: list[str], source: str) -> Case:
    target = next(one for one in modifiers if one in TYPES)
    mode = next((m for m in modifiers if m[0] == "r" and m in (
        "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi")), "rn")
    ftz = ref.flushed if "ftz" in modifiers else lambda x: x
    if target.endswith("x2"):
        half = target.removesuffix("x2")
        one: Callable[[float], float] = lambda x: ref.to_float(  # noqa: E731
            0.0 if "relu" in modifiers and x <= 0 else x, half, mode[1])
        if source == "f32":
            return Case(f"{form} %d, %a, %b;", ("f32", "f32"), target,
                        lambda x, y: (one(y), one(x)))
        return Case(f"{form} %d, %a;", (source,), target, halves(one))
    if target == "tf32":
        return Case(f"{form} %d, %a;", ("f32",), "f32", ref.to_tf32)
    if TYPES[target].kind != "f":
        if TYPES[source].kind != "f":
            return Case(f"{form} %d, %a;", (source,), target,
                        lambda x: ref.wrapped(x, target))
        return Case(f"{form} %d, %a;", (source,), target,
                    lambda x: ref.to_integer(ftz(x), target, mode[1]))

    def compute(x: Any) -> float:
        x = ftz(x) if TYPES[source].kind == "f" else x
        if len(mode) == 3 and math.isfinite(x):
            x = math.copysign(float(ref.integral(ref.Fraction(x), mode[1])), x)
        x = ftz(ref.to_float(x, target, mode[1] if len(mode) == 2 else "n"))
        if "sat" in modifiers:
            return 0.0 if math.isnan(x) or x <= 0 else min(x, 1.0)
        return x
    return Case(f"{form} %d, %a;", (source,), target, compute)


MAKERS: dict[str, Callable[[str, list[str], str], Case]] = {
    "setp": setp, "set": set_value, "selp": selp, "mul": multiply, "mad": multiply, "shl": shift,
    "shr": shift, "shf": funnel, "bfe": extract, "bfi": insert, "clz": count_bits,
    "popc": count_bits, "bfind": count_bits, "lop3": lop3, "cvt": convert,
}


@pytest.mark.parametrize("form", CASES)
def test_form(form: str) -> None:
    case = case_of(form)
    generator = np.random.default_rng(zlib.crc32(form.encode()))
    inputs = [(kind, specials(kind, generator, 512)) for kind in case.inputs]
    got, = elementwise(case.text, inputs, [case.output])
    operands = list(zip(*(ref.decode(bits, kind) for kind, bits in inputs), strict=True))
    for values, found in zip(operands, ref.decode(got, case.output), strict=True):
        want = case.compute(*values)
        assert ref.same(found, want, case.tolerance), f"{form} of {values}: {found}, not {want}"


def test_a_form_that_is_not_known_is_named() -> None:
    from .ptx.values import UnknownForm

    with pytest.raises(UnknownForm, match=r"k, line \d+: add\.noisy\.f32 %d, %a, %a;?: .*noisy"):
        elementwise("add.noisy.f32 %d, %a, %a;", [("f32", np.zeros(1, np.uint32))], ["f32"])
