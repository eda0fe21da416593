"""Functions of one tensor, element by element, and activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.joining import filled
from graphwright.onnx.exporting.registry import OLDEST, form, forms
from graphwright.runtime.tensor import dtypes


def is_float(x: Any, *rest: Any) -> bool:
    """Whether the elements of an op's first tensor are real floating-point numbers."""
    return bool(x.dtype.is_floating_point)


def _is_whole(x: Any, *rest: Any) -> bool:
    return not x.dtype.is_floating_point


def single(x: Any, *rest: Any) -> bool:
    """Whether ONNX's activations, defined for float32 and float16, serve the tensor."""
    return x.dtype in (dtypes.float32, dtypes.float16)


def _register(
    name: str, kind: str, *named: str, accepts: Any = None, since: int = OLDEST, **fixed: float
) -> None:
    """The op as one ONNX operator, in the dtype of its result.

    named: the attributes that the op's further arguments are, in order. fixed: others.
    """

    @form(name, since=since, accepts=accepts)
    def write(g: Builder, out: Any, x: Value, *values: Any) -> Value:
        given = {key: value if isinstance(value, str) else float(value)
                 for key, value in zip(named, values, strict=True)}
        return g.math(kind, x, dtype=out.dtype, **fixed, **given)


for _name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "sigmoid", "erf", "floor", "ceil",
              "reciprocal", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh",
              "neg", "abs"):
    _register(_name, _name.capitalize())

_register("elu", "Elu", "alpha", accepts=single)
_register("leaky_relu", "LeakyRelu", "alpha", accepts=single)
_register("mish", "Mish", accepts=single)
_register("hardswish", "HardSwish", accepts=single)
_register("celu", "Celu", "alpha", accepts=lambda x, alpha: x.dtype is dtypes.float32)
_register("selu", "Selu", accepts=single)
_register("hardsigmoid", "HardSigmoid", accepts=single, alpha=1.0 / 6.0, beta=0.5)
_register("gelu", "Gelu", "approximate", accepts=single, since=20)
_register("hardshrink", "Shrink", "lambd", accepts=single, bias=0.0)


@form("clone", "contiguous", "alias", "detach", "positive", "conj", "resolve_conj", "resolve_neg",
      "require_values")
@form("floor", "ceil", "trunc", "round", accepts=_is_whole)
@form("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout",
      accepts=lambda x, p, train: not train or p == 0)
def _same(g: Builder, out: Any, x: Value, *rest: Any) -> Value:
    """Neither values nor shape change."""
    return x


forms({
    "to_dtype": lambda g, out, x, dtype: g.cast(x, out.dtype),
    "rsqrt": lambda g, out, x: g.op("Reciprocal", g.math("Sqrt", x, dtype=out.dtype)),
    "log2": lambda g, out, x: g.op("Div", g.math("Log", x, dtype=out.dtype), math.log(2.0)),
    "log10": lambda g, out, x: g.op("Div", g.math("Log", x, dtype=out.dtype), math.log(10.0)),
    "exp2": lambda g, out, x: g.math("Pow", 2.0, x, dtype=out.dtype),
    "erfc": lambda g, out, x: g.math("Sub", 1.0, g.math("Erf", x, dtype=out.dtype),
                                     dtype=out.dtype),
    "relu": lambda g, out, x: (
        g.op("Relu", x) if is_float(x) else g.math("Max", x, 0, dtype=out.dtype)),
    "hardtanh": lambda g, out, x, least, greatest: g.math("Clip", x, least, greatest,
                                                          dtype=out.dtype),
    "logical_not": lambda g, out, x: g.op("Not", g.cast(x, dtypes.bool)),
    "bitwise_not": lambda g, out, x: g.op(
        "Not" if x.dtype is dtypes.bool else "BitwiseNot", x),
})
forms({
    "logsigmoid": lambda g, out, x: g.op("Neg", g.op("Softplus", g.op("Neg", x))),
    "softshrink": lambda g, out, x, lambd: g.op("Shrink", x, lambd=float(lambd),
                                                bias=float(lambd)),
}, accepts=single)
forms({
    "sign sgn": lambda g, out, x: (
        x if out.dtype is dtypes.bool else g.math("Sign", x, dtype=out.dtype)),
}, accepts=lambda x: not x.dtype.is_complex)


@form("expm1")
def _expm1(g: Builder, out: Any, x: Value) -> Value:
    """2t / (1 - t) with t = tanh(x / 2) where x is small, which cancels nothing."""
    x = g.cast(x, out.dtype)
    half = g.op("Tanh", g.op("Mul", x, 0.5))
    small = g.op("Div", g.op("Mul", half, 2.0), g.op("Sub", g.constant(1.0, out.dtype), half))
    near = g.test("Less", g.op("Abs", x), 1.0)
    large = g.op("Sub", g.op("Exp", x), 1.0)
    return g.op("Where", near, small, large, dtype=out.dtype)


@form("log1p")
def _log1p(g: Builder, out: Any, x: Value) -> Value:
    """log(u) * x / (u - 1) with u = 1 + x where x is small: its rounding error cancels."""
    dtype = out.dtype
    x = g.cast(x, dtype)
    u = g.op("Add", x, 1.0)
    log, gap = g.op("Log", u), g.op("Sub", u, 1.0)
    none = g.test("Equal", gap, 0.0)
    divisor = g.op("Where", none, g.constant(1.0, dtype), gap, dtype=dtype)
    small = g.op("Where", none, x, g.op("Div", g.op("Mul", log, x), divisor), dtype=dtype)
    near = g.test("Less", g.op("Abs", x), 0.5)
    return g.op("Where", near, small, log, dtype=dtype)


@form("normal_cdf")
def _normal_cdf(g: Builder, out: Any, x: Value) -> Value:
    scaled = g.math("Mul", x, math.sqrt(0.5), dtype=out.dtype)
    return g.math("Mul", g.op("Add", g.op("Erf", scaled), 1.0), 0.5, dtype=out.dtype)


@form("round", accepts=is_float)
def _round(g: Builder, out: Any, x: Value, decimals: int) -> Value:
    if not decimals:
        return g.op("Round", x)
    scale = 10.0 ** abs(decimals)
    there, back = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    return g.op(back, g.op("Round", g.op(there, x, scale)), scale)


@form("trunc", accepts=is_float)
def trunc(g: Builder, out: Any, x: Value) -> Value:
    """Towards zero: ONNX has no operator for it."""
    return g.op("Where", g.test("Less", x, 0.0), g.op("Ceil", x), g.op("Floor", x),
                dtype=out.dtype)


# -- tests


def _test(name: str, of_float: Callable[[Builder, Value], Value], of_whole: bool = False) -> None:
    """A test of floating-point numbers, and what it says of whole ones."""

    @form(name)
    def write(g: Builder, out: Any, x: Value) -> Value:
        return of_float(g, x) if is_float(x) else filled(g, of_whole, dtypes.bool, x.shape)


def _is_infinite(g: Builder, x: Value, **signs: int) -> Value:
    return g.test("IsInf", x if x.dtype is dtypes.float64 else g.cast(x, dtypes.float32), **signs)


_test("isnan", lambda g, x: g.test("IsNaN", x))
_test("isinf", _is_infinite)
_test("isposinf", partial(_is_infinite, detect_negative=0))
_test("isneginf", partial(_is_infinite, detect_positive=0))
_test("isfinite", lambda g, x: g.op("Not", g.op("Or", _is_infinite(g, x), g.test("IsNaN", x))),
      of_whole=True)


@form("signbit")
def is_negative(g: Builder, out: Any, x: Value) -> Value:
    """Less than 0, or a zero whose reciprocal is."""
    below = g.compare("Less", x, 0, dtype=x.dtype)
    if not x.dtype.is_floating_point:
        return below
    inverse = g.test("Less", g.op("Reciprocal", x), 0.0)
    return g.op("Or", below, g.op("And", g.test("Equal", x, 0.0), inverse))


# -- activations


@form("softplus", accepts=single)
def softplus(g: Builder, out: Any, x: Value, beta: float, threshold: float) -> Value:
    """log(1 + exp(beta x)) / beta; beyond the threshold, x."""
    scaled = x if beta == 1 else g.op("Mul", x, float(beta))
    soft = g.op("Softplus", scaled)
    soft = soft if beta == 1 else g.op("Div", soft, float(beta))
    if threshold >= 20:         # what it leaves out is less than 3e-9
        return soft
    return g.op("Where", g.test("Greater", scaled, float(threshold)), x, soft, dtype=x.dtype)


@form("prelu")
def _prelu(g: Builder, out: Any, x: Value, weight: Value) -> Value:
    """One slope for each channel, the second dim."""
    if x.ndim > 2 and weight.shape != (1,):
        weight = g.op("Reshape", weight, [weight.shape[0], *(1,) * (x.ndim - 2)])
    return g.op("PRelu", x, weight)
