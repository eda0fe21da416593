"""Floats as integers in units of a power of two, whose sums are the same in any order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.codegen.gpu.float_bits import LAYOUTS, power_of_two, scaled
from graphwright.codegen.lowering.context import apply, const, convert
from graphwright.codegen.lowering.nodes import index_value
from graphwright.runtime.symbolic.expr import Expr, as_int
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype

_INT64, _FLOAT64 = dtypes.int64, dtypes.float64
_NEGATIVES = 32
"""The bit from which on a sum of terms that are not finite counts those of -inf."""


def _whole(value: int) -> Any:
    return const(value, _INT64)


def _float(value: float) -> Any:
    return const(value, _FLOAT64)


def _truth(op: str, a: Any, b: Any) -> Any:
    return apply(op, a, b, dtype=dtypes.bool)


def _chosen(mask: Any, one: Any, two: Any) -> Any:
    return apply("where", mask, one, two, dtype=one.dtype)


class FixedPoint:
    """How terms of a dtype (float32 or float64) are added, of which an element has `count` at
    most.

    An element has as its exponent the greatest of its terms'. Finite terms are below 2**(bits + 1)
    in its unit, so that their sum fits in 63 bits. If one is not finite the sum counts inf, nan
    as both, in its low bits, and -inf in its high bits.
    """

    def __init__(self, kind: dtype, count: Expr) -> None:
        self.layout = LAYOUTS[kind]
        self.two = kind is _FLOAT64
        known = as_int(count)
        self.bits = self._bits_of(count) if known is None else _whole(
            61 - max(known - 1, 0).bit_length())

    @staticmethod
    def _bits_of(count: Expr) -> Any:
        """61 - log2 of a symbolic count, rounded down: from its exponent as a float64."""
        layout = LAYOUTS[_FLOAT64]
        exponent = layout.exponent_of(layout.code(convert(index_value(count), _FLOAT64)))
        return apply("sub", _whole(60 + layout.bias), exponent)

    def exponent(self, term: Any) -> Any:
        """The exponent of a term, as it is in its bits: an int32."""
        return convert(self.layout.exponent_of(self.layout.code(term)), dtypes.int32)

    def _unit(self, greatest: Any) -> Any:
        """The exponent of 1 / the unit."""
        return apply("sub", apply("add", self.bits, _whole(self.layout.bias)), greatest)

    def _scaled(self, value: Any, exponent: Any) -> Any:
        """value * 2**exponent; those of float32 are exponents of a float64."""
        return (scaled(value, exponent) if self.two
                else apply("mul", value, power_of_two(exponent)))

    def _is_special(self, greatest: Any) -> Any:
        return _truth("eq", greatest, _whole(self.layout.special))

    def words(self, term: Any, greatest: Any) -> Iterator[Any]:
        """A term as int64 numbers in the unit of an exponent, of float64 in 2**-bits of it."""
        value = convert(convert(term, self.layout.kind), _FLOAT64)
        there = self._is_special(greatest)
        whole = self._scaled(value, self._unit(greatest))
        head = apply("round", whole)
        yield _chosen(there, self._special_code(value), convert(head, _INT64))
        if self.two:
            rest = apply("mul", apply("sub", whole, head), power_of_two(self.bits))
            yield _chosen(there, _whole(0), convert(apply("round", rest), _INT64))

    def _special_code(self, value: Any) -> Any:
        nan = apply("isnan", value, dtype=dtypes.bool)
        up, down = (
            _chosen(apply("or", _truth("eq", value, _float(infinity)), nan), _whole(one),
                    _whole(0))
            for infinity, one in ((float("inf"), 1), (float("-inf"), 1 << _NEGATIVES)))
        return apply("add", up, down)

    def value(self, greatest: Any, words: Sequence[Any]) -> Any:
        """The float64 that sums of words are."""
        head, *rest = words
        total = convert(head, _FLOAT64)
        for word in rest:
            unit = power_of_two(apply("sub", _whole(0), self.bits))
            total = apply("add", total, apply("mul", convert(word, _FLOAT64), unit))
        finite = self._scaled(total, apply("sub", _whole(0), self._unit(greatest)))
        down = _truth("ne", apply("shr", head, _whole(_NEGATIVES)), _whole(0))
        up = _truth("ne", apply("and", head, _whole((1 << _NEGATIVES) - 1)), _whole(0))
        infinity = _chosen(down, _float(float("-inf")), _float(float("inf")))
        special = _chosen(apply("and", up, down), _float(float("nan")), infinity)
        return _chosen(self._is_special(greatest), special, finite)
