"""Functions of two and three tensors, element by element: arithmetic, comparisons, choices."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value, computed_in
from graphwright.onnx.exporting.ops.unary import is_negative, trunc
from graphwright.onnx.exporting.registry import form, forms
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import result_dtype


def common_dtype(*operands: Any) -> Any:
    """The dtype in which operands meet: ranks count, values of numbers do not."""
    return result_dtype(tuple([0 if isinstance(one, SymInt) else one for one in operands]))


def _scaled(g: Builder, other: Any, alpha: Any, dtype: Any) -> Any:
    if alpha == 1:
        return other
    return g.math("Mul", other, alpha, dtype=dtype) if isinstance(other, Value) else other * alpha


@form("add")
def _add(g: Builder, out: Any, a: Any, b: Any, alpha: Any) -> Value:
    if out.dtype is dtypes.bool:
        return g.math("Or", a, b, dtype=out.dtype)
    return g.math("Add", a, _scaled(g, b, alpha, out.dtype), dtype=out.dtype)


forms({
    "sub": lambda g, out, a, b, alpha: g.math("Sub", a, _scaled(g, b, alpha, out.dtype),
                                              dtype=out.dtype),
    "fmod": lambda g, out, a, b: g.math("Mod", a, b, dtype=out.dtype, fmod=1),
    "floor_divide": lambda g, out, a, b: _div(g, out, a, b, "floor"),
    "ne": lambda g, out, a, b: g.op("Not", _compared("Equal", g, out, a, b)),
    "bitwise_left_shift": lambda g, out, a, b: g.math(
        "Mul", a, _power_of_two(g, b, out.dtype), dtype=out.dtype),
    "masked_fill": lambda g, out, x, mask, value: _where(g, out, mask, value, x),
})


def _or_logical(kind: str, logical: str, g: Builder, out: Any, a: Any, b: Any) -> Value:
    """One operator, of bools another."""
    return g.math(logical if out.dtype is dtypes.bool else kind, a, b, dtype=out.dtype)


form("mul")(partial(_or_logical, "Mul", "And"))
form("maximum")(partial(_or_logical, "Max", "Or"))
form("minimum")(partial(_or_logical, "Min", "And"))


@form("div")
def _div(g: Builder, out: Any, a: Any, b: Any, rounding_mode: str | None) -> Value:
    dtype = out.dtype
    if rounding_mode == "floor" and not dtype.is_floating_point:
        return _floor_quotient(g, a, b, dtype)
    quotient = g.math("Div", a, b, dtype=dtype)
    if rounding_mode is None or not dtype.is_floating_point:
        return quotient
    return trunc(g, out, quotient) if rounding_mode == "trunc" else g.op("Floor", quotient)


def _floor_quotient(g: Builder, a: Any, b: Any, dtype: Any) -> Value:
    """(a - a mod b) / b of integers, which is exact."""
    rest = g.math("Mod", a, b, dtype=dtype)
    return g.math("Div", g.math("Sub", a, rest, dtype=dtype), b, dtype=dtype)


@form("remainder")
def _remainder(g: Builder, out: Any, a: Any, b: Any) -> Value:
    """With the sign of the divisor."""
    if not out.dtype.is_floating_point:
        return g.math("Mod", a, b, dtype=out.dtype)
    b = g.operand(b, out.dtype)
    rest = g.math("Mod", a, b, dtype=out.dtype, fmod=1)
    other = g.op("Xor", g.test("Less", rest, 0.0), g.test("Less", b, 0.0))
    some = g.op("Not", g.test("Equal", rest, 0.0))
    return g.op("Where", g.op("And", other, some), g.op("Add", rest, b), rest, dtype=out.dtype)


@form("pow")
def _pow(g: Builder, out: Any, a: Any, b: Any) -> Value:
    if isinstance(b, int | float) and not isinstance(b, bool):
        if b == 2:
            a = g.operand(a, out.dtype)
            return g.math("Mul", a, a, dtype=out.dtype)
        if b == 0.5:
            return g.math("Sqrt", a, dtype=out.dtype)
    return g.math("Pow", a, b, dtype=out.dtype)


@form("clamp")
def _clamp(g: Builder, out: Any, x: Value, least: Any, greatest: Any) -> Value:
    bounds = (least, greatest)
    if not isinstance(least, Value) and not isinstance(greatest, Value):
        wide = computed_in(out.dtype)
        limits = [None if one is None else g.operand(one, wide) for one in bounds]
        return g.cast(g.op("Clip", g.operand(x, wide), *limits), out.dtype)
    kinds = ("Or", "And") if out.dtype is dtypes.bool else ("Max", "Min")
    for kind, bound in zip(kinds, bounds, strict=True):
        x = x if bound is None else g.math(kind, x, bound, dtype=out.dtype)
    return g.cast(x, out.dtype)


def _compared(kind: str, g: Builder, out: Any, a: Any, b: Any) -> Value:
    return g.compare(kind, a, b, dtype=common_dtype(a, b))


for _name, _kind in {
    "eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual",
}.items():  # fmt: skip
    form(_name)(partial(_compared, _kind))


def _logical(kind: str, g: Builder, out: Any, a: Any, b: Any) -> Value:
    return g.math(kind, a, b, dtype=dtypes.bool)


def _bitwise(kind: str, g: Builder, out: Any, a: Any, b: Any) -> Value:
    own = kind if out.dtype is dtypes.bool else f"Bitwise{kind}"
    return g.op(own, g.operand(a, out.dtype), g.operand(b, out.dtype))


for _name in ("and", "or", "xor"):
    form(f"logical_{_name}")(partial(_logical, _name.capitalize()))
    form(f"bitwise_{_name}")(partial(_bitwise, _name.capitalize()))


@form("bitwise_right_shift")
def _right_shift(g: Builder, out: Any, a: Any, b: Any) -> Value:
    """Floors, as the sign bit moves in."""
    wide = g.operand(a, dtypes.int64)
    quotient = _floor_quotient(g, wide, _power_of_two(g, b, dtypes.int64), dtypes.int64)
    return g.cast(quotient, out.dtype)


def _power_of_two(g: Builder, exponent: Any, dtype: Any) -> Value:
    return g.math("Pow", g.constant(2, dtype), exponent, dtype=dtype)


@form("where")
def _where(g: Builder, out: Any, condition: Value, a: Any, b: Any) -> Value:
    wide = computed_in(out.dtype, bools=True)
    a, b = (g.cast(g.operand(one, out.dtype), wide) for one in (a, b))
    return g.cast(g.op("Where", g.cast(condition, dtypes.bool), a, b, dtype=wide), out.dtype)


@form("atan2")
def _atan2(g: Builder, out: Any, y: Value, x: Value) -> Value:
    """atan(y / x), turned by pi where x is negative; signs of zeros count, as they do in C."""
    dtype = out.dtype
    y, x = g.cast(y, dtype), g.cast(x, dtype)
    infinite = g.op("And", *[g.test("IsInf", one) for one in (x, y)])
    negative = [is_negative(g, out, one) for one in (x, y)]
    signs = [g.op("Where", one, g.constant(-1.0, dtype), g.constant(1.0, dtype), dtype=dtype)
             for one in negative]
    zero = g.op("And", *[g.test("Equal", one, 0.0) for one in (x, y)])
    # where both are infinite, or zero, the quotient is that of their signs, or zero
    quotient = g.op("Where", infinite, g.op("Mul", *signs), g.op("Div", y, x), dtype=dtype)
    quotient = g.op("Where", zero, g.op("Mul", y, signs[0]), quotient, dtype=dtype)
    turn = g.op("Where", negative[0], g.op("Mul", signs[1], math.pi),
                g.constant(0.0, dtype), dtype=dtype)
    return g.op("Add", g.op("Atan", quotient), turn)


@form("isin", accepts=lambda elements, tests, unique, invert: hasattr(tests, "dtype"))
def _isin(g: Builder, out: Any, elements: Any, tests: Value, unique: bool, invert: bool) -> Value:
    """Whether an element equals any of the others, laid along a further dim."""
    dtype = common_dtype(elements, tests)
    others = g.op("Reshape", tests, [-1])
    column = g.op("Unsqueeze", g.operand(elements, dtype), [-1])
    equal = g.cast(g.compare("Equal", column, others, dtype=dtype), dtypes.int32)
    some = g.cast(g.op("ReduceMax", equal, [-1], keepdims=0), dtypes.bool)
    return g.op("Not", some) if invert else some
