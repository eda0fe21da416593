"""Floating-point arithmetic, comparison, the approximate functions, and conversions.

bfloat16 is computed in float32 and rounded; two packed halves are an array of two rows. What a
device only approximates (`.approx`, `.full`) is computed in float64 and rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce

import numpy as np

from .decode import Form, combined, form
from .rounding import (
    EXACT,
    LARGEST,
    decode,
    directed,
    encode,
    flush,
    fma32,
    fma64,
    odd_sum,
    relu,
    saturate,
)
from .text import Operand
from .threads import Reader, Step, Threads, Writer
from .values import PRED, TYPES, UFUNCS, Array, Type, UnknownForm, halves, joined

MODES = ("rn", "rz", "rm", "rp")


def raw(kind: Type) -> Type:
    """The type as bit patterns."""
    return TYPES[f"b{8 * kind.size}"]


def read(f: Form, which: int | Operand, kind: Type, ftz: bool = False) -> Reader:
    """Reads an operand as numbers: float32 for bfloat16, two rows for packed halves."""
    if kind.kind == "f" and (kind.half is not None or kind.name == "bf16"):
        bits, half = f.read(which, raw(kind)), kind.half
        return (lambda t: decode(bits(t), kind)) if half is None else (
            lambda t: decode(halves(bits(t)), half))
    plain = f.read(which, kind)
    return (lambda t: flush(plain(t))) if ftz else plain


def write(f: Form, which: int | Operand, kind: Type, ftz: bool = False,
          mode: str = "rn") -> Writer:
    """Writes numbers as `read` has them, or exact ones in float64."""
    put, half = f.write(which), kind.half
    if half is not None:
        return lambda t, values: put(t, joined(encode(values, half, mode)))
    if ftz:
        return lambda t, values: put(t, flush(encode(values, kind, mode)))
    return lambda t, values: put(t, encode(values, kind, mode))


def arithmetic(f: Form, kind: Type) -> Step:
    """add, sub, mul, div, sqrt, min, max, and fma, which mad is too, of floats."""
    ftz, sat, positive = f.flag("ftz"), f.flag("sat"), f.flag("relu")
    f.flag("noftz", *(("full", "approx") if f.opcode in ("div", "sqrt") else ()))
    function = operation(f, kind)
    after = saturate if sat else relu if positive else None
    sources = [read(f, at, kind, ftz) for at in range(1, len(f.operands))]
    put = write(f, 0, kind, ftz)
    if after is None:
        return combined(function, sources, put)
    return combined(lambda *values: after(function(*values)), sources, put)


def operation(f: Form, kind: Type) -> Callable[..., Array]:
    if f.opcode in ("min", "max"):
        return extremum(f.opcode == "min", f.flag("NaN"))
    name, mode = f.opcode, f.choice(*MODES, default="rn")
    if mode != "rn" and (kind.name not in ("f32", "f64") or (name, kind.name) == ("fma", "f64")):
        raise UnknownForm(f"{name} of .{kind.name} with .{mode}")
    if name in EXACT:
        return EXACT[name] if mode == "rn" else partial(directed, name, mode)
    if kind.name == "f32":
        return partial(fma32, mode=mode)
    return fma64 if kind.name == "f64" else lambda p, q, r: odd_sum(
        p.astype(np.float64) * q, r.astype(np.float64))


@form("sqrt", "fma")
def typed_arithmetic(f: Form) -> Step:
    return arithmetic(f, f.type())


def extremum(smallest: bool, propagate: bool) -> Callable[..., Array]:
    """min or max: NaN loses, or wins; -0 is below +0."""
    function = (np.minimum if smallest else np.maximum) if propagate else (
        np.fmin if smallest else np.fmax)

    def compute(x: Array, y: Array) -> Array:
        result = function(x, y)
        zero = (x == 0) & (y == 0)
        if zero.any():
            sign = np.signbit(x) | np.signbit(y) if smallest else np.signbit(x) & np.signbit(y)
            signed = np.where(sign, result.dtype.type(-0.0), result.dtype.type(0.0))
            result = np.where(zero, signed, result)
        return result
    return lambda *values: reduce(compute, values)


def sign_change(f: Form, kind: Type) -> Step:
    """neg and abs of floating-point numbers: of their bits."""
    sign = kind.bits.type(0x8000_8000 if kind.half is not None else 1 << (8 * kind.size - 1))
    after = flush if f.flag("ftz") else lambda values: values
    if f.opcode == "neg":
        return f.apply(lambda bits: after((bits ^ sign).view(kind.dtype)), raw(kind))
    return f.apply(lambda bits: after((bits & ~sign).view(kind.dtype)), raw(kind))


@form("copysign")
def copysign(f: Form) -> Step:
    kind = f.type()
    return f.apply(lambda sign, size: np.copysign(size, sign), kind, kind)


APPROXIMATE: dict[str, Callable[[Array], Array]] = {
    "ex2": np.exp2, "lg2": np.log2, "rsqrt": lambda x: 1 / np.sqrt(x), "rcp": np.reciprocal,
    "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
}


@form(*APPROXIMATE)
def approximate(f: Form) -> Step:
    kind, ftz, function = f.type(), f.flag("ftz"), APPROXIMATE[f.opcode]
    mode = f.choice("approx", *MODES)
    if kind.name == "f64" and mode == "approx" and ftz:
        return f.apply(lambda x: upper_half(function(upper_half(x))), kind)
    x = read(f, 1, kind, ftz)
    put = write(f, 0, kind, ftz, "rn" if mode == "approx" else mode)
    return lambda t: put(t, function(x(t).astype(np.float64)))


def upper_half(x: Array) -> Array:
    """rcp.approx.ftz.f64 and its like take and give the upper 32 bits of normal numbers."""
    cut = (x.view(np.uint64) & ~np.uint64(0xFFFF_FFFF)).view(np.float64)
    cut = np.where(np.abs(cut) < 2.0**-1022, np.copysign(0.0, x), cut)
    return np.where(np.isnan(x), x, cut)


ORDERED = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
           "gt": np.greater, "ge": np.greater_equal}
INTEGER = ORDERED | {"lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}


def unordered(x: Array, y: Array) -> Array:
    return np.isnan(x) | np.isnan(y)


def comparison(f: Form, kind: Type) -> Callable[[Array, Array], Array]:
    """The comparison that the form names, for numbers of the type."""
    if kind.kind != "f":
        return f.table(INTEGER)
    name = f.choice(*ORDERED, *(f"{name}u" for name in ORDERED), "num", "nan")
    if name in ("num", "nan"):
        return unordered if name == "nan" else lambda x, y: ~unordered(x, y)
    if name == "ne":
        return lambda x, y: (x != y) & ~unordered(x, y)
    if name in ORDERED:
        return ORDERED[name]
    return lambda x, y: ORDERED[name[:-1]](x, y) | unordered(x, y)


@form("setp")
def setp(f: Form) -> Step:
    kind, ftz = f.type(), f.flag("ftz")
    compare = comparison(f, kind)
    x, y, targets = read(f, 1, kind, ftz), read(f, 2, kind, ftz), f.writes(0)
    combines = any(one in UFUNCS for one in f.rest)
    combine, other = (f.table(UFUNCS), f.read(3, PRED)) if combines else (None, None)

    def step(t: Threads) -> None:
        found = compare(x(t), y(t))
        values = found if kind.half is not None else (found, ~found)[:len(targets)]
        for put, value in zip(targets, values, strict=True):
            put(t, value if combine is None else combine(value, other(t)))
    return step


@form("set")
def set_value(f: Form) -> Step:
    """Where the comparison holds, 1.0, or all bits for an integer destination."""
    source, kind, ftz = f.type(), f.type(), f.flag("ftz")
    compare, integer = comparison(f, source), kind.kind != "f"
    put = f.write(0) if integer else write(f, 0, kind)
    yes, no = (kind.bits.type(np.iinfo(kind.bits).max), kind.bits.type(0)) if integer else (
        np.float32(1), np.float32(0))
    return combined(lambda x, y: np.where(compare(x, y), yes, no),
                    [read(f, at, source, ftz) for at in (1, 2)], put)


# ---- conversions

INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
# Of types that have not all of them.
ROUNDINGS = {"tf32": ("rn", "rna"), "bf16": ("rn", "rz"), "e4m3": ("rn",), "e5m2": ("rn",)}


@form("cvt")
def cvt(f: Form) -> Step:
    source, kind = f.type(), f.type()
    if source.kind != "f":
        return from_integer(f, source, kind)
    ftz = f.flag("ftz")
    if kind.kind != "f":
        integral, x, put = f.table(INTEGRAL), read(f, 1, source, ftz), f.write(0)
        return lambda t: put(t, to_integer(integral(x(t)), kind))
    name = (kind.half or kind).name
    mode = f.choice(*ROUNDINGS.get(name, (*MODES, *INTEGRAL)), default="rn")
    if name in LARGEST:
        f.need("satfinite")
    before = [change for change, wanted in (
        (relu, f.flag("relu")), (INTEGRAL.get(mode), mode in INTEGRAL),
        (saturate, f.flag("sat"))) if wanted and change is not None]
    pair = kind.half is not None and source.name == "f32"
    x = two(f) if pair else read(f, 1, source, ftz)
    put = write(f, 0, kind, ftz, "rn" if mode in INTEGRAL else mode)

    def step(t: Threads) -> None:
        values = x(t)
        for change in before:
            values = change(values)
        put(t, values)
    return step


def two(f: Form) -> Reader:
    """Two float32 that are packed: the first operand goes to the upper half."""
    upper, lower = f.read(1, TYPES["f32"]), f.read(2, TYPES["f32"])
    return lambda t: np.stack(np.broadcast_arrays(lower(t), upper(t)))


def to_integer(values: Array, kind: Type) -> Array:
    """Integral numbers to the type: values outside its range become its ends, NaN zero."""
    info = np.iinfo(kind.dtype)
    low, high = float(info.min), float(info.max)  # of 64 bits: the power of two above the end
    values = np.where(np.isnan(values), 0, values).astype(np.float64)
    inside = np.clip(values, low, np.nextafter(high, 0) if kind.size == 8 else high)
    return np.where(values >= high, info.max, inside.astype(kind.dtype)).astype(kind.dtype)


def from_integer(f: Form, source: Type, kind: Type) -> Step:
    """To integers, or floats; registers may be wider than the types."""
    if kind.kind == "f":
        f.need("rn")
        x, put = f.read(1, source), write(f, 0, kind)
        wide = kind.dtype if source.size == 8 and kind.size >= 4 else np.dtype(np.float64)
        return lambda t: put(t, x(t).astype(wide))
    if not f.flag("sat"):
        return f.apply(lambda values: values.astype(kind.dtype), source)
    info, limits = np.iinfo(kind.dtype), np.iinfo(source.dtype)
    low, high = max(info.min, limits.min), min(info.max, limits.max)
    return f.apply(lambda values: np.clip(values, low, high).astype(kind.dtype), source)
