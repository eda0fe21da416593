"""cvt: between integers, floating-point types, packed halves and float8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import floats
from .decode import Decoder, Form, form
from .rounding import flush, narrow, relu, to_bfloat16, to_half, to_single
from .text import Operand
from .threads import Step, Threads
from .values import TYPES, Array, Type, UnknownForm

INTEGRAL: dict[str, Callable[[Array], Array]] = {
    "rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
FLOAT8 = {"e4m3x2": TYPES["e4m3"], "e5m2x2": TYPES["e5m2"]}


def to_integer(values: Array, kind: Type) -> Array:
    """Integral numbers to the type: values outside its range become its ends, NaN zero."""
    info = np.iinfo(kind.dtype)
    values = np.where(np.isnan(values), 0, values)
    low, high = float(info.min), float(info.max)  # of 64 bits: the power of two above the end
    inside = np.clip(values.astype(np.float64), low, np.nextafter(high, 0) if kind.size == 8
                     else high)
    result = inside.astype(kind.dtype)
    return np.where(values >= high, info.max, result).astype(kind.dtype)


def float8(values: Array, kind: Type) -> Array:
    """float32 to float8 bit patterns; beyond the largest the largest, NaN stays."""
    largest = 448.0 if kind.name == "e4m3" else 57344.0
    clipped = np.clip(values, np.float32(-largest), np.float32(largest))
    result = clipped.astype(kind.dtype).view(np.uint8)
    return np.where(np.isnan(values), np.uint8(0x7F), result)


def pairs(d: Decoder, a: tuple[Operand, ...], convert: Callable[[Array], Array],
          width: int) -> Step:
    """Two float32 to packed ones: the first operand goes to the upper half."""
    upper, lower = d.read(a[1], TYPES["f32"]), d.read(a[2], TYPES["f32"])
    put, dtype = d.write(a[0]), np.dtype(f"u{width // 4}")
    by = dtype.type(width)

    def step(t: Threads) -> None:
        high, low = (convert(one(t)).astype(dtype) for one in (upper, lower))
        put(t, (high << by) | low)
    return step


@form("cvt")
def cvt(d: Decoder, f: Form, a: tuple[Operand, ...]) -> Step:
    source = f.type()
    kind = f.type()
    ftz, sat, positive = f.flag("ftz"), f.flag("sat"), f.flag("relu")
    finite = f.flag("satfinite")
    mode = f.choice("rn", "rz", "rm", "rp", "rna", *INTEGRAL, default="rn")
    if kind.name in FLOAT8:
        if not finite or mode != "rn":
            raise UnknownForm("float8 without .rn.satfinite")
        if source.name == "f32":
            return pairs(d, a, lambda v: float8(v, FLOAT8[kind.name]), 8)
        return from_packed(d, a, source, FLOAT8[kind.name])
    if source.name in FLOAT8:
        return to_packed(d, a, FLOAT8[source.name], kind)
    if kind.name in ("f16x2", "bf16x2"):
        narrowed: Callable[[Array], Array] = (
            (lambda v: to_half(v, mode).view(np.uint16)) if kind.name == "f16x2"
            else lambda v: to_bfloat16(v, mode))
        return pairs(d, a, (lambda v: narrowed(relu(v))) if positive else narrowed, 16)
    if kind.name == "tf32":
        return to_tf32(d, a, mode)
    if source.kind != "f":
        return from_integer(d, a, source, kind, mode, sat)
    x = floats.read(d, a[1], source, ftz)
    if kind.kind != "f":
        put = d.write(a[0])
        integral = INTEGRAL.get(mode)
        if integral is None:
            raise UnknownForm("to an integer without .rni, .rzi, .rmi or .rpi")
        return lambda t: put(t, to_integer(integral(x(t)), kind))
    return between_floats(d, a, (x, kind), mode, (ftz, sat, positive))


def between_floats(d: Decoder, a: tuple[Operand, ...], source: tuple[Callable, Type],
                   mode: str, flags: tuple[bool, bool, bool]) -> Step:
    """From one floating-point type to another, or to integral numbers of the same."""
    (x, kind), (ftz, sat, positive) = source, flags
    if mode in INTEGRAL:
        function = INTEGRAL[mode]
    elif kind.name == "f16":
        function = lambda v: to_half(v, mode)  # noqa: E731
    elif kind.name == "bf16":
        function = lambda v: to_bfloat16(v, mode)  # noqa: E731
    elif kind.name == "f32":
        function = lambda v: to_single(  # noqa: E731
            v, mode) if v.dtype == np.float64 else v.astype(np.float32)
    else:
        function = lambda v: v.astype(np.float64)  # noqa: E731
    if positive:
        plain = function
        function = lambda v: plain(relu(v))  # noqa: E731
    put = d.write(a[0])
    if sat:
        return lambda t: put(t, floats.saturate(function(x(t))))
    if ftz:
        return lambda t: put(t, flush(function(x(t))))
    return lambda t: put(t, function(x(t)))


def from_integer(d: Decoder, a: tuple[Operand, ...], source: Type, kind: Type, mode: str,
                 sat: bool) -> Step:
    """From integers. A source register may be wider than its type, the destination too."""
    x, put = d.read(a[1], source), d.write(a[0])
    if kind.kind == "f":
        if mode != "rn":
            raise UnknownForm(f"integers to .{kind.name} with .{mode}")
        if kind.name == "bf16":
            return lambda t: put(t, narrow(x(t).astype(np.float32)))
        return lambda t: put(t, x(t).astype(kind.dtype))
    if sat:
        info = np.iinfo(kind.dtype)
        low = max(info.min, np.iinfo(source.dtype).min)
        high = min(info.max, np.iinfo(source.dtype).max)
        return lambda t: put(t, np.clip(x(t), low, high).astype(kind.dtype))
    return lambda t: put(t, x(t).astype(kind.dtype))


def to_tf32(d: Decoder, a: tuple[Operand, ...], mode: str) -> Step:
    """float32 to the 19 bits of tf32: to nearest, ties away from zero (.rna) or to even."""
    x, put = d.read(a[1], TYPES["b32"]), d.write(a[0])
    if mode not in ("rna", "rn"):
        raise UnknownForm(f"to tf32 with .{mode}")

    def step(t: Threads) -> None:
        bits = x(t)
        bias = np.uint32(0x1000) if mode == "rna" else (
            np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1)))
        special = (bits & np.uint32(0x7F80_0000)) == np.uint32(0x7F80_0000)
        put(t, np.where(special, bits, (bits + bias) & np.uint32(0xFFFF_E000)))
    return step


def from_packed(d: Decoder, a: tuple[Operand, ...], source: Type, target: Type) -> Step:
    """Packed halves to packed float8."""
    x, put = floats.read(d, a[1], source), d.write(a[0])

    def step(t: Threads) -> None:
        low, high = float8(x(t).astype(np.float32), target).astype(np.uint16)
        put(t, low | (high << np.uint16(8)))
    return step


def to_packed(d: Decoder, a: tuple[Operand, ...], source: Type, kind: Type) -> Step:
    """Packed float8 to packed halves."""
    if kind.name != "f16x2":
        raise UnknownForm(f"float8 to .{kind.name}")
    x, put = d.read(a[1], TYPES["b16"]), floats.write(d, a[0], kind)

    def step(t: Threads) -> None:
        both = x(t)
        rows = np.stack([both, both >> np.uint16(8)]).astype(np.uint8)
        put(t, rows.view(source.dtype).astype(np.float32).astype(np.float16))
    return step
