"""The bits of floats: their exponents, powers of two, and integers of the same order."""

from __future__ import annotations

from typing import Any

from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    computed,
    const,
    convert,
)
from graphwright.codegen.lowering.pointwise import emit
from graphwright.codegen.lowering.rules import Call
from graphwright.runtime.record import Record
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype


class Layout(Record):
    """How a float is made of bits; `codes` are integers of the same width."""

    kind: dtype
    codes: dtype
    mantissa: int
    exponent: int

    @property
    def special(self) -> int:
        """The exponent of inf and nan."""
        return (1 << self.exponent) - 1

    @property
    def bias(self) -> int:
        """The exponent of 1."""
        return self.special >> 1

    @property
    def sign(self) -> int:
        """The place of the sign."""
        return self.mantissa + self.exponent

    def code(self, value: Any) -> Any:
        """The bits of a float."""
        return apply("bitcast", convert(value, self.kind), dtype=self.codes)

    def value(self, code: Any) -> Any:
        """The float of bits."""
        return apply("bitcast", code, dtype=self.kind)

    def number(self, value: int) -> Any:
        """An integer beside codes."""
        return const(value, self.codes)

    def exponent_of(self, code: Any) -> Any:
        """The exponent in bits, from 0 to `special`."""
        shifted = apply("shr", code, self.number(self.mantissa))
        return apply("and", shifted, self.number(self.special))

    def turned(self, code: Any) -> Any:
        """Bits as integers that are ordered as the floats, and such integers as bits."""
        negative = apply("shr", code, self.number(self.sign))
        rest = self.number((1 << self.sign) - 1)
        return apply("xor", code, apply("and", negative, rest))


LAYOUTS = {
    dtypes.float16: Layout(dtypes.float16, dtypes.int16, 10, 5),
    dtypes.bfloat16: Layout(dtypes.bfloat16, dtypes.int16, 7, 8),
    dtypes.float32: Layout(dtypes.float32, dtypes.int32, 23, 8),
    dtypes.float64: Layout(dtypes.float64, dtypes.int64, 52, 11),
}


def power_of_two(exponent: Any) -> Any:
    """2**exponent as a float64, of int64 exponents from -1022 to 1023."""
    layout = LAYOUTS[dtypes.float64]
    biased = apply("add", exponent, layout.number(layout.bias))
    return layout.value(apply("shl", biased, layout.number(layout.mantissa)))


def scaled(value: Any, exponent: Any) -> Any:
    """value * 2**exponent in float64, in two steps of which neither is beyond its exponents."""
    half = apply("shr", exponent, const(1, dtypes.int64))
    once = apply("mul", value, power_of_two(half))
    return apply("mul", once, power_of_two(apply("sub", exponent, half)))


def frexp_parts(context: Lowering, call: Call, x: Tensor) -> tuple[Tensor, Tensor]:
    """Mantissas in [0.5, 1) and exponents; 0, inf and nan are their own mantissas."""
    layout = LAYOUTS[computed(x.dtype)]
    kind, up = layout.kind, layout.mantissa + 1

    def parts(index: Any) -> tuple[Any, Any]:
        value = convert(x.at(index), kind)
        below = apply("eq", layout.exponent_of(layout.code(value)), layout.number(0),
                      dtype=dtypes.bool)
        normal = apply("where", below, apply("mul", value, const(2.0**up, kind)), value,
                       dtype=kind)
        code = layout.code(normal)
        exponent = layout.exponent_of(code)
        plain = apply("and", apply("ne", value, const(0, kind), dtype=dtypes.bool),
                      apply("ne", exponent, layout.number(layout.special), dtype=dtypes.bool))
        kept = apply("and", code, layout.number(~(layout.special << layout.mantissa)))
        half = layout.number((layout.bias - 1) << layout.mantissa)
        mantissa = apply("where", plain, layout.value(apply("or", kept, half)), value, dtype=kind)
        shift = apply("where", below, layout.number(layout.bias - 1 + up),
                      layout.number(layout.bias - 1), dtype=layout.codes)
        places = apply("where", plain, apply("sub", exponent, shift), layout.number(0),
                       dtype=layout.codes)
        return mantissa, convert(places, dtypes.int32)
    return (context.pointwise("frexp", x.shape, x.dtype,
                              lambda index: convert(parts(index)[0], x.dtype)),
            context.pointwise("frexp", x.shape, dtypes.int32, lambda index: parts(index)[1]))


def nextafter(context: Lowering, call: Call, a: Any, b: Any) -> Tensor:
    """The next number from each element towards the other: one step of the bits."""
    layout = LAYOUTS[call.dtype]
    wide = computed(layout.kind)

    def truth(op: str, x: Any, y: Any) -> Any:
        return apply(op, x, y, dtype=dtypes.bool)

    def step(x: Any, y: Any) -> Any:
        one, other = convert(x, wide), convert(y, wide)
        zero = const(0, wide)
        code = layout.code(x)
        grows = truth("eq", truth("gt", other, one), truth("gt", one, zero))
        by = apply("where", grows, layout.number(1), layout.number(-1), dtype=layout.codes)
        least = apply("where", truth("gt", other, zero), layout.number(1),
                      layout.number(1 - (1 << layout.sign)), dtype=layout.codes)
        moved = apply("where", truth("eq", one, zero), least, apply("add", code, by),
                      dtype=layout.codes)
        found = apply("where", truth("eq", one, other), y, layout.value(moved), dtype=layout.kind)
        nan = apply("or", apply("isnan", one, dtype=dtypes.bool),
                    apply("isnan", other, dtype=dtypes.bool))
        return apply("where", nan, const(float("nan"), layout.kind), found, dtype=layout.kind)
    return emit(context, call, (a, b), step, layout.kind)
