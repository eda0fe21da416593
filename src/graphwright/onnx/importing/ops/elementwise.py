"""Elementwise arithmetic, comparisons, logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op, sizes_rule, unary
from graphwright.onnx.importing.values import Sizes

for _name, _function in {
    "Abs": gw.abs, "Acos": gw.acos, "Acosh": gw.acosh, "Asin": gw.asin, "Asinh": gw.asinh,
    "Atan": gw.atan, "Atanh": gw.atanh, "BitwiseNot": gw.bitwise_not, "Ceil": gw.ceil,
    "Cos": gw.cos, "Cosh": gw.cosh, "Erf": gw.erf, "Exp": gw.exp, "Floor": gw.floor,
    "IsNaN": gw.isnan, "Log": gw.log, "Neg": gw.neg, "Not": gw.logical_not,
    "Reciprocal": gw.reciprocal, "Round": gw.round, "Sigmoid": gw.sigmoid, "Sign": gw.sign,
    "Sin": gw.sin, "Sinh": gw.sinh, "Sqrt": gw.sqrt, "Tan": gw.tan, "Tanh": gw.tanh,
}.items():  # fmt: skip
    unary(_name, _function)


def is_float(x: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return bool(x.dtype.is_floating_point)


def _aligned(b: Tensor, a: Tensor, broadcast: int, axis: int | None) -> Tensor:
    """`b` with dims of size 1 behind, as versions before 7 align it with `a` at `axis`."""
    if not broadcast or axis is None:
        return b
    axis = axis % a.dim()
    return b.reshape([*b.shape, *[1] * (a.dim() - axis - b.dim())])


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """An operator of two tensors, with the attributes of versions before 7."""
    def compute(
        a: Tensor, b: Tensor, *, broadcast: int = 1, axis: int | None = None
    ) -> Tensor:
        return function(a, _aligned(b, a, broadcast, axis))

    return compute


def divide(a: Tensor, b: Tensor) -> Tensor:
    """The quotient, of integers rounded toward zero."""
    return gw.div(a, b) if is_float(a) else gw.div(a, b, rounding_mode="trunc")


def _power(a: Tensor, b: Tensor) -> Tensor:
    """a to the power of b, in a's dtype."""
    if is_float(a) == is_float(b):
        return gw.pow(a, b.to(a.dtype))
    wide = gw.float64 if gw.float64 in (a.dtype, b.dtype) else gw.float32
    return gw.pow(a.to(wide), b.to(wide)).to(a.dtype)


for _name, _binary_function in {
    "Add": gw.add, "Sub": gw.sub, "Mul": gw.mul, "Div": divide, "Pow": _power,
    "And": gw.logical_and, "Or": gw.logical_or, "Xor": gw.logical_xor, "Equal": gw.eq,
    "Greater": gw.gt, "GreaterOrEqual": gw.ge, "Less": gw.lt, "LessOrEqual": gw.le,
    "BitwiseAnd": gw.bitwise_and, "BitwiseOr": gw.bitwise_or, "BitwiseXor": gw.bitwise_xor,
}.items():  # fmt: skip
    op(_name)(_binary(_binary_function))


@op("Mod")
def mod(a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    """The remainder, with the divisor's sign, or with the dividend's where `fmod`."""
    return gw.fmod(a, b) if fmod else gw.remainder(a, b)


_WIDTHS = {gw.uint8: 8, gw.int8: 8, gw.uint16: 16, gw.int16: 16, gw.uint32: 32, gw.int32: 32}


@op("BitShift")
def bit_shift(a: Tensor, b: Tensor, *, direction: str) -> Tensor:
    """Bits of `a` shifted by `b` places, "LEFT" or "RIGHT"; by its width or more gives no bits."""
    shifted = gw.bitwise_left_shift(a, b) if direction == "LEFT" else gw.bitwise_right_shift(a, b)
    return shifted


def _folded(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    def compute(*tensors: Tensor) -> Tensor:
        return reduce(function, tensors)

    compute.__annotations__["tensors"] = Tensor
    return compute


op("Sum")(_folded(gw.add))
op("Max")(_folded(gw.maximum))
op("Min")(_folded(gw.minimum))


@op("Mean")
def mean(*tensors: Tensor) -> Tensor:
    """The mean of tensors, element by element."""
    return reduce(gw.add, tensors) / len(tensors)


@op("IsInf")
def is_inf(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    """Whether elements are infinite, of the signs that are asked for."""
    if detect_negative and detect_positive:
        return gw.isinf(x)
    wide = x if x.dtype in (gw.float32, gw.float64) else x.float()
    if detect_positive:
        return gw.isposinf(wide)
    return gw.isneginf(wide) if detect_negative else gw.zeros_like(wide, dtype=gw.bool)


@op("Where")
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Elements of x where the condition holds, of y elsewhere."""
    return gw.where(condition, x, y)


@op("Clip")
def clip(x: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """Elements at least `min` and, above all, at most `max`."""
    if min is not None:
        x = gw.maximum(x, _bound(min, x))
    if max is not None:
        x = gw.minimum(x, _bound(max, x))
    return x


def _bound(value: Any, x: Tensor) -> Tensor:
    return value if isinstance(value, Tensor) else gw.tensor(value, dtype=x.dtype)


def _arithmetic(function: Callable[[int, int], int]) -> Callable[..., Sizes | None]:
    """A rule on sizes for a function of two numbers, one of which may be one for all others."""
    def compute(a: Sizes, b: Sizes, **_: Any) -> Sizes | None:
        x, y = a.values, b.values
        if len(x) != len(y):
            if len(x) == 1:
                x = x * len(y)
            elif len(y) == 1:
                y = y * len(x)
            else:
                return None
        return Sizes([function(m, n) for m, n in zip(x, y, strict=True)], a.scalar and b.scalar)

    return compute


def _toward_zero(a: int, b: int) -> int:
    if type(a) is int and type(b) is int:
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a // b  # sizes are not negative


for _name, _number_function in {
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b, "Mul": lambda a, b: a * b,
    "Div": _toward_zero,
}.items():  # fmt: skip
    sizes_rule(_name)(_arithmetic(_number_function))


@sizes_rule("Neg")
def _negative(a: Sizes) -> Sizes:
    return Sizes([-n for n in a.values], a.scalar)
