"""Elementwise arithmetic, comparisons, logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add, eq, ge, gt, le, lt, mul, sub
from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op, plain, sizes_rule
from graphwright.onnx.importing.values import Sizes

for _name, _function in {
    "Abs": gw.abs, "Acos": gw.acos, "Acosh": gw.acosh, "Asin": gw.asin, "Asinh": gw.asinh,
    "Atan": gw.atan, "Atanh": gw.atanh, "BitwiseNot": gw.bitwise_not, "Ceil": gw.ceil,
    "Cos": gw.cos, "Cosh": gw.cosh, "Erf": gw.erf, "Exp": gw.exp, "Floor": gw.floor,
    "IsNaN": gw.isnan, "Log": gw.log, "Neg": gw.neg, "Not": gw.logical_not,
    "Reciprocal": gw.reciprocal, "Round": gw.round, "Sigmoid": gw.sigmoid, "Sign": gw.sign,
    "Sin": gw.sin, "Sinh": gw.sinh, "Sqrt": gw.sqrt, "Tan": gw.tan, "Tanh": gw.tanh,
}.items():  # fmt: skip
    plain(_name, _function)


def is_float(x: Tensor) -> bool:
    """Whether the elements are real floating-point numbers."""
    return isinstance(x, Tensor) and bool(x.dtype.is_floating_point)


def _aligned(b: Any, a: Any, broadcast: int, axis: int | None) -> Any:
    """`b` with dims of size 1 behind, as versions before 7 align it with `a` at `axis`."""
    if not broadcast or axis is None:
        return b
    axis = axis % a.dim()
    return b.reshape([*b.shape, *[1] * (a.dim() - axis - b.dim())])


def _binary(function: Callable[[Any, Any], Tensor]) -> Callable[..., Tensor]:
    """An operator of two tensors, with the attributes of versions before 7."""
    def compute(
        a: Tensor | np.ndarray, b: Tensor | np.ndarray, *, broadcast: int = 1,
        axis: int | None = None,
    ) -> Tensor:  # fmt: skip
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


def _equal(a: Any, b: Any) -> Tensor:
    """Whether elements, which may be strings, are equal."""
    if isinstance(a, Tensor):
        return gw.eq(a, b)
    return gw.from_numpy(np.asarray(a == b, dtype=bool))


_BINARY: dict[str, Callable[[Any, Any], Tensor]] = {
    "Add": gw.add, "Sub": gw.sub, "Mul": gw.mul, "Div": divide, "Pow": _power,
    "And": gw.logical_and, "Or": gw.logical_or, "Xor": gw.logical_xor, "Equal": _equal,
    "Greater": gw.gt, "GreaterOrEqual": gw.ge, "Less": gw.lt, "LessOrEqual": gw.le,
    "BitwiseAnd": gw.bitwise_and, "BitwiseOr": gw.bitwise_or, "BitwiseXor": gw.bitwise_xor,
}  # fmt: skip
for _name, _binary_function in _BINARY.items():
    op(_name)(_binary(_binary_function))
    if _name != "Equal":
        plain(_name, _binary_function, inputs=2, since=7)


plain("Mod", lambda a, b, fmod: gw.fmod(a, b) if fmod else gw.remainder(a, b), "fmod", inputs=2)
plain("Where", gw.where, inputs=3)


@op("BitShift")
def bit_shift(a: Tensor, b: Tensor, *, direction: str) -> Tensor:
    """Bits of `a` shifted by `b` places, "LEFT" or "RIGHT"."""
    shift = gw.bitwise_left_shift if direction == "LEFT" else gw.bitwise_right_shift
    return shift(a, b)


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


@op("Clip")
def clip(x: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """Elements at least `min` and, above all, at most `max`."""
    for bound, limit in ((min, gw.maximum), (max, gw.minimum)):
        if bound is not None:
            x = limit(x, bound if isinstance(bound, Tensor) else gw.tensor(bound, dtype=x.dtype))
    return x


def _pairs(a: Sizes, b: Sizes) -> list[tuple[int, int]] | None:
    """Numbers with those of the other, of which one may be for all; None where they do not fit."""
    x, y = a.values, b.values
    if len(x) != len(y):
        if len(x) == 1:
            x = x * len(y)
        elif len(y) == 1:
            y = y * len(x)
        else:
            return None
    return list(zip(x, y, strict=True))


def _on_pairs(
    function: Callable[[int, int], Any], dtype: gw.dtype | None = None
) -> Callable[..., Sizes | None]:
    """A rule on sizes for a function of two numbers, by default in the dtype of the first."""
    def compute(a: Sizes, b: Sizes, **_: Any) -> Sizes | None:
        pairs = _pairs(a, b)
        if pairs is None:
            return None
        return Sizes([function(m, n) for m, n in pairs], a.scalar and b.scalar, dtype or a.dtype)

    return compute


def _compared(function: Callable[[int, int], Any]) -> Callable[..., Sizes | None]:
    return _on_pairs(lambda m, n: bool(function(m, n)), gw.bool)


def _toward_zero(a: int, b: int) -> int:
    if type(a) is int and type(b) is int:
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a // b  # sizes are not negative


_divided = _on_pairs(_toward_zero)

for _name, _rule in {
    "Add": _on_pairs(add), "Sub": _on_pairs(sub), "Mul": _on_pairs(mul), "Max": _on_pairs(max),
    "Min": _on_pairs(min), "Equal": _compared(eq), "Greater": _compared(gt),
    "Less": _compared(lt), "GreaterOrEqual": _compared(ge), "LessOrEqual": _compared(le),
}.items():  # fmt: skip
    sizes_rule(_name)(_rule)


@sizes_rule("Div")
def _quotient(a: Sizes, b: Sizes, **_: Any) -> Sizes | None:
    return None if a.dtype.is_floating_point or 0 in b.values else _divided(a, b)


@sizes_rule("Neg")
def _negative(a: Sizes) -> Sizes:
    return a.like([-n for n in a.values], a.scalar)


@sizes_rule("Floor", "Ceil", "Abs")
def _whole(a: Sizes) -> Sizes | None:
    return a if a.dtype.is_floating_point else None


@sizes_rule("Not")
def _opposite(a: Sizes) -> Sizes:
    return a.like([not n for n in a.values], a.scalar)


@sizes_rule("Where")
def _chosen(condition: Sizes, x: Sizes, y: Sizes) -> Sizes | None:
    pairs = _pairs(x, y)
    if pairs is None:
        return None
    choices = condition.values * len(pairs) if len(condition.values) == 1 else condition.values
    if len(choices) != len(pairs):
        return None
    chosen = [a if choice else b for choice, (a, b) in zip(choices, pairs, strict=True)]
    return x.like(chosen, condition.scalar and x.scalar and y.scalar)
