"""Casts between dtypes, narrow floats by bit operations where the CPU has none."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.regs import FLOATS, NARROW, Reg
from graphwright.runtime.tensor.float8 import FORMATS


def cast(b: Builder, x: Reg, kind: str) -> Reg:
    """`x` as `kind`: to integers truncating, to narrower floats rounding to nearest even."""
    if x.kind == kind:
        return x
    if x.kind in NARROW:
        return cast(b, _widened(b, x), kind)
    if kind in FORMATS:
        return f32_to_float8(b, b.convert(x, "f32"), kind)
    if kind in NARROW:
        single = _round_to_odd(b, x) if x.kind == "f64" else b.convert(x, "f32")
        return f32_to_f16(b, single) if kind == "f16" else f32_to_bf16(b, single)
    return b.convert(x, kind)


def _widened(b: Builder, x: Reg) -> Reg:
    """A narrow float as float32, which has all of their values."""
    if x.kind in FORMATS:
        return float8_to_f32(b, x)
    return f16_to_f32(b, x) if x.kind == "f16" else bf16_to_f32(b, x)


def _as(b: Builder, bits: Reg, kind: str) -> Reg:
    """Integers relabelled as bit patterns of a narrow float, or back."""
    return b.emit("relabel", (bits,), kind, bits.lanes)


def float8_to_f32(b: Builder, x: Reg) -> Reg:
    """Exact; see `runtime.tensor.float8`."""
    form = FORMATS[x.kind]
    code = _as(b, x, "u8").to("i32")
    body = code & 0x7F if form.signed else code
    shift = 23 - form.mantissa
    bits = (body << shift) + ((127 - form.bias) << 23)
    if form.mantissa:
        step = 2.0 ** (1 - form.bias - form.mantissa)
        small = (body.to("f32") * step).bits()
        bits = b.select(body < form.least_normal, small, bits)
    else:
        bits = b.select(body.eq(0), b.const(1 << 22, "i32"), bits)
    nan = code.eq(form.nan) if form.nan == 0x80 else body > form.largest
    special = b.const(0x7FC00000, "i32")
    if form.has_infinity:
        infinite = b.const(0x7F800000, "i32")
        special = b.select(body.eq(form.overflow), infinite, special)
    bits = b.select(nan, special, bits)
    return (bits | ((code & 0x80) << 24) if form.signed else bits).floats()


def f32_to_float8(b: Builder, x: Reg, kind: str) -> Reg:
    """Rounded to the nearest code; see `runtime.tensor.float8`."""
    form = FORMATS[kind]
    whole = x.bits()
    bits = whole & 0x7FFFFFFF
    shift, rebias = 23 - form.mantissa, (127 - form.bias) << 23
    if form.mantissa:
        odd = bits.lshr(shift) & 1
    else:
        odd = b.select(bits < 1 << 23, b.const(0, "i32"), b.const(1, "i32"))
    code = (bits + ((1 << (shift - 1)) - 1 - rebias) + odd).lshr(shift)
    if form.mantissa:
        adder = rebias + ((shift + 1) << 23)        # whose last bit is the least code
        small = (bits.floats() + b.const(adder, "i32").floats()).bits() - adder
        code = b.select(bits < rebias + (1 << 23), small, code)
    code = b.select(code > form.largest, b.const(form.overflow, "i32"), code)
    code = b.select(bits > 0x7F800000, b.const(form.nan, "i32"), code)
    if form.signed:
        sign = whole.lshr(24) & 0x80
        if form.nan == 0x80:
            sign = b.select(code.eq(0), b.const(0, "i32"), sign)
        code = code | sign
    return _as(b, code.to("u8"), kind)


def bf16_to_f32(b: Builder, x: Reg) -> Reg:
    return (_as(b, x, "i16").to("i32") << 16).floats()


def f32_to_bf16(b: Builder, x: Reg) -> Reg:
    bits = x.bits()
    rounded = bits + 0x7FFF + (bits.lshr(16) & 1)
    quiet = bits | 0x400000
    chosen = b.select(b.binary("uno", x, x), quiet, rounded)
    return _as(b, chosen.lshr(16).to("i16"), "bf16")


def f16_to_f32(b: Builder, x: Reg) -> Reg:
    bits16 = _as(b, x, "i16")
    if b.has_half:
        return b.emit("half_to_f32", (bits16,), "f32", x.lanes)
    bits = bits16.to("i32")
    sign = (bits & 0x8000) << 16
    body = (bits & 0x7FFF) << 13
    magnitude = body.floats() * b.const(2.0**112, "f32")
    special = (body | 0x7F800000).floats()
    value = b.select(body >= (0x7C00 << 13), special, magnitude)
    return (value.bits() | sign).floats()


def f32_to_f16(b: Builder, x: Reg) -> Reg:
    if b.has_half:
        return _as(b, b.emit("f32_to_half", (x,), "i16", x.lanes), "f16")
    bits = x.bits()
    sign, body = bits.lshr(16) & 0x8000, bits & 0x7FFFFFFF
    normal = (body + 0xFFF + (body.lshr(13) & 1) - (112 << 23)).lshr(13)
    small = (body.floats() + 0.5).bits() - b.const(0.5, "f32").bits()
    finite = b.select(body < (113 << 23), small, normal)
    clipped = b.select(body >= 0x477FF000, b.const(0x7C00, "i32"), finite)
    nan = (body.lshr(13) & 0x3FF) | 0x7E00
    result = b.select(body > 0x7F800000, nan, clipped) | sign
    return _as(b, result.to("i16"), "f16")


def _round_to_odd(b: Builder, x: Reg) -> Reg:
    """float64 to float32, inexact results made odd: rounding once more then rounds only once.

    Boldo and Melquiond, "When double rounding is odd" (2005).
    """
    near = b.convert(x, "f32")
    back = b.convert(near, "f64")
    bits = near.bits()
    even = (bits & 1).eq(0)
    outward = b.unary("abs", back) > b.unary("abs", x)
    step = b.select(outward, b.const(-1, "i32"), b.const(1, "i32"))
    wrong = back.ne(x) & x.eq(x) & even & is_finite(b, near)
    return b.select(wrong, bits + step, bits).floats()


def is_finite(b: Builder, x: Reg) -> Reg:
    assert x.kind in FLOATS
    return b.unary("abs", x) < b.infinity(x)
