"""Floats as integers in units of a power of two, whose sums are the same in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.codegen.lowering.context import apply, const, convert
from graphwright.codegen.lowering.nodes import index_value
from graphwright.runtime.symbolic.expr import Expr, as_int
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype

_INT64, _FLOAT64 = dtypes.int64, dtypes.float64
_LAYOUT = {"float32": (dtypes.int32, 23, 8), "float64": (dtypes.int64, 52, 11)}
"""Integers of the same width, and the bits of mantissa and exponent."""
_NEGATIVES = 32
"""The bit from which on a sum of terms that are not finite counts those of -inf."""


def _integer(value: Any) -> Any:
    return value if hasattr(value, "dtype") else const(value, _INT64)


def _add(a: Any, b: Any) -> Any:
    return apply("add", _integer(a), _integer(b), dtype=_INT64)


def _sub(a: Any, b: Any) -> Any:
    return apply("sub", _integer(a), _integer(b), dtype=_INT64)


def _power(exponent: Any) -> Any:
    """2**exponent as a float64, of exponents from -1022 to 1023."""
    bits = apply("shl", _add(exponent, 1023), const(52, _INT64))
    return apply("bitcast", bits, dtype=_FLOAT64)


def _scaled(value: Any, exponent: Any) -> Any:
    """value * 2**exponent in two steps, neither of which is beyond the range of exponents."""
    half = apply("shr", exponent, const(1, _INT64))
    once = apply("mul", value, _power(half))
    return apply("mul", once, _power(_sub(exponent, half)))


def _equals(a: Any, number: int) -> Any:
    return apply("eq", a, const(number, a.dtype), dtype=dtypes.bool)


class FixedPoint:
    """How terms of a dtype (float32 or float64) are added, of which an element has `count` at
    most.

    An element has as its exponent the greatest of its terms'. Finite terms are below 2**(bits + 1)
    in its unit, so that their sum fits in 63 bits. If one is not finite the sum counts inf, nan
    as both, in its low bits, and -inf in its high bits.
    """

    def __init__(self, kind: dtype, count: Expr) -> None:
        self.kind = kind
        self.codes, self.mantissa, exponent = _LAYOUT[kind.name]
        self.special = (1 << exponent) - 1
        self.bias = self.special >> 1
        self.two = kind is dtypes.float64
        known = as_int(count)
        self.bits = self._bits_of(count) if known is None else const(
            61 - max(known - 1, 0).bit_length(), _INT64)

    @staticmethod
    def _bits_of(count: Expr) -> Any:
        """61 - log2 of a symbolic count, rounded down: from its exponent as a float64."""
        code = apply("bitcast", convert(index_value(count), _FLOAT64), dtype=_INT64)
        return _sub(61 + 1022, apply("shr", code, const(52, _INT64)))

    def exponent(self, term: Any) -> Any:
        """The exponent of a term, as it is in its bits: an int32."""
        code = apply("bitcast", convert(term, self.kind), dtype=self.codes)
        shifted = apply("shr", code, const(self.mantissa, self.codes))
        return convert(apply("and", shifted, const(self.special, self.codes)), dtypes.int32)

    def _unit(self, greatest: Any) -> Any:
        """The exponent of 1 / the unit."""
        return _sub(_add(self.bits, self.bias), greatest)

    def words(self, term: Any, greatest: Any) -> Iterator[Any]:
        """A term as int64 numbers, in the unit of an exponent; of float64 in 2**-bits of it."""
        value = convert(convert(term, self.kind), _FLOAT64)
        there = _equals(greatest, self.special)
        whole = _scaled(value, self._unit(greatest))
        head = apply("round", whole)
        yield apply("where", there, self._special_code(value), convert(head, _INT64),
                    dtype=_INT64)
        if self.two:
            rest = apply("round", apply("mul", apply("sub", whole, head), _power(self.bits)))
            yield apply("where", there, const(0, _INT64), convert(rest, _INT64), dtype=_INT64)

    def _special_code(self, value: Any) -> Any:
        infinite = {sign: apply("eq", value, const(sign * float("inf"), _FLOAT64),
                                dtype=dtypes.bool) for sign in (1, -1)}
        nan = apply("isnan", value, dtype=dtypes.bool)
        up, down = (
            apply("where", apply("or", infinite[sign], nan), const(one, _INT64),
                  const(0, _INT64), dtype=_INT64) for sign, one in ((1, 1), (-1, 1 << _NEGATIVES)))
        return _add(up, down)

    def value(self, greatest: Any, words: Sequence[Any]) -> Any:
        """The float64 that sums of words are."""
        head, *rest = words
        total = convert(head, _FLOAT64)
        for word in rest:
            scaled = apply("mul", convert(word, _FLOAT64), _power(_sub(0, self.bits)))
            total = apply("add", total, scaled)
        finite = _scaled(total, _sub(0, self._unit(greatest)))
        none = const(0, _INT64)
        down = apply("ne", apply("shr", head, const(_NEGATIVES, _INT64)), none, dtype=dtypes.bool)
        up = apply("ne", apply("and", head, const((1 << _NEGATIVES) - 1, _INT64)), none,
                   dtype=dtypes.bool)
        def number(value: float) -> Any:
            return const(value, _FLOAT64)
        below = apply("where", down, number(float("-inf")), number(float("inf")), dtype=_FLOAT64)
        special = apply("where", apply("and", up, down), number(float("nan")), below,
                        dtype=_FLOAT64)
        return apply("where", _equals(greatest, self.special), special, finite, dtype=_FLOAT64)
