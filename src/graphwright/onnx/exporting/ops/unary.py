"""Functions of one tensor, element by element, and activations."""

from __future__ import annotations

import math
from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes


def _register(name: str, kind: str, **attributes: Any) -> None:
    """The op as one ONNX operator, in the dtype of its result."""

    @form(name)
    def write(g: Builder, out: Any, x: Value) -> Value:
        return g.math(kind, x, dtype=out.dtype, **attributes)


for _name, _kind in {
    "exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "tanh": "Tanh", "sigmoid": "Sigmoid", "erf": "Erf", "floor": "Floor", "ceil": "Ceil",
    "reciprocal": "Reciprocal", "acos": "Acos", "acosh": "Acosh", "asin": "Asin",
    "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh", "cosh": "Cosh", "sinh": "Sinh",
    "neg": "Neg", "abs": "Abs",
}.items():
    _register(_name, _kind)
del _name, _kind


def same(g: Builder, out: Any, x: Value, *rest: Any) -> Value:
    """The form of an op that changes neither values nor shape."""
    return x


for _name in ("clone", "contiguous", "alias", "detach", "positive", "conj", "resolve_conj",
              "resolve_neg", "require_values"):
    form(_name)(same)
del _name


def _whole(number: Any) -> bool:
    return not number.dtype.is_floating_point


@form("floor", "ceil", "trunc", accepts=_whole)
def _integer(g: Builder, out: Any, x: Value) -> Value:
    return x


@form("to_dtype")
def _to_dtype(g: Builder, out: Any, x: Value, dtype: Any) -> Value:
    return g.cast(x, out.dtype)


@form("rsqrt")
def _rsqrt(g: Builder, out: Any, x: Value) -> Value:
    root = g.math("Sqrt", x, dtype=out.dtype)
    return g.math("Reciprocal", root, dtype=out.dtype)


@form("log2")
def _log2(g: Builder, out: Any, x: Value) -> Value:
    return _scaled_log(g, out, x, math.log(2.0))


@form("log10")
def _log10(g: Builder, out: Any, x: Value) -> Value:
    return _scaled_log(g, out, x, math.log(10.0))


def _scaled_log(g: Builder, out: Any, x: Value, base: float) -> Value:
    return g.math("Div", g.math("Log", x, dtype=out.dtype), base, dtype=out.dtype)


@form("exp2")
def _exp2(g: Builder, out: Any, x: Value) -> Value:
    return g.math("Pow", g.constant(2.0, out.dtype), x, dtype=out.dtype)


@form("expm1")
def _expm1(g: Builder, out: Any, x: Value) -> Value:
    """2t / (1 - t) with t = tanh(x / 2) where x is small, which cancels nothing."""
    dtype = out.dtype
    x = g.cast(x, dtype)
    half = g.op("Tanh", g.op("Mul", x, 0.5))
    small = g.op("Div", g.op("Mul", half, 2.0), g.op("Sub", g.constant(1.0, dtype), half))
    near = g.op("Less", g.op("Abs", x), 1.0, dtype=dtypes.bool)
    large = g.op("Sub", g.op("Exp", x), 1.0)
    return g.op("Where", near, small, large, dtype=dtype)


@form("log1p")
def _log1p(g: Builder, out: Any, x: Value) -> Value:
    """log(u) * x / (u - 1) with u = 1 + x where x is small: its rounding error cancels."""
    dtype = out.dtype
    x = g.cast(x, dtype)
    u = g.op("Add", x, 1.0)
    log, gap = g.op("Log", u), g.op("Sub", u, 1.0)
    none = g.op("Equal", gap, 0.0, dtype=dtypes.bool)
    divisor = g.op("Where", none, g.constant(1.0, dtype), gap, dtype=dtype)
    small = g.op("Where", none, x, g.op("Div", g.op("Mul", log, x), divisor), dtype=dtype)
    near = g.op("Less", g.op("Abs", x), 0.5, dtype=dtypes.bool)
    return g.op("Where", near, small, log, dtype=dtype)


@form("erfc")
def _erfc(g: Builder, out: Any, x: Value) -> Value:
    return g.math("Sub", g.constant(1.0, out.dtype), g.math("Erf", x, dtype=out.dtype),
                  dtype=out.dtype)


@form("normal_cdf")
def _normal_cdf(g: Builder, out: Any, x: Value) -> Value:
    scaled = g.math("Mul", x, math.sqrt(0.5), dtype=out.dtype)
    return g.math("Mul", g.op("Add", g.op("Erf", scaled), 1.0), 0.5, dtype=out.dtype)


@form("round", accepts=lambda x, decimals: not x.dtype.is_floating_point)
def _round_integer(g: Builder, out: Any, x: Value, decimals: int) -> Value:
    return x


@form("round", accepts=lambda x, decimals: x.dtype.is_floating_point)
def _round(g: Builder, out: Any, x: Value, decimals: int) -> Value:
    if not decimals:
        return g.math("Round", x, dtype=out.dtype)
    scale = 10.0 ** abs(decimals)
    there, back = ("Mul", "Div") if decimals > 0 else ("Div", "Mul")
    return g.op(back, g.op("Round", g.op(there, x, scale)), scale)


@form("trunc", accepts=lambda x: x.dtype.is_floating_point)
def trunc(g: Builder, out: Any, x: Value) -> Value:
    """Towards zero: ONNX has no operator for it."""
    below = g.op("Less", x, 0.0, dtype=dtypes.bool)
    return g.op("Where", below, g.op("Ceil", x), g.op("Floor", x), dtype=out.dtype)


# -- tests


@form("logical_not")
def _logical_not(g: Builder, out: Any, x: Value) -> Value:
    return g.op("Not", g.cast(x, dtypes.bool))


@form("bitwise_not")
def _bitwise_not(g: Builder, out: Any, x: Value) -> Value:
    return g.op("Not" if x.dtype is dtypes.bool else "BitwiseNot", x)


def _never(g: Builder, x: Value) -> Value:
    """False for each element."""
    return g.op("Expand", g.constant(False, dtypes.bool), g.sizes(x.shape or []))


def _always(g: Builder, x: Value) -> Value:
    return g.op("Expand", g.constant(True, dtypes.bool), g.sizes(x.shape or []))


@form("isnan")
def _isnan(g: Builder, out: Any, x: Value) -> Value:
    return g.op("IsNaN", x, dtype=dtypes.bool) if x.dtype.is_floating_point else _never(g, x)


@form("isinf")
def _isinf(g: Builder, out: Any, x: Value) -> Value:
    return _is_infinite(g, x) if x.dtype.is_floating_point else _never(g, x)


def _is_infinite(g: Builder, x: Value, **signs: int) -> Value:
    x = x if x.dtype is dtypes.float64 else g.cast(x, dtypes.float32)
    return g.op("IsInf", x, dtype=dtypes.bool, **signs)


@form("isposinf")
def _isposinf(g: Builder, out: Any, x: Value) -> Value:
    return _is_infinite(g, x, detect_negative=0) if x.dtype.is_floating_point else _never(g, x)


@form("isneginf")
def _isneginf(g: Builder, out: Any, x: Value) -> Value:
    return _is_infinite(g, x, detect_positive=0) if x.dtype.is_floating_point else _never(g, x)


@form("isfinite")
def _isfinite(g: Builder, out: Any, x: Value) -> Value:
    if not x.dtype.is_floating_point:
        return _always(g, x)
    bad = g.op("Or", _is_infinite(g, x), g.op("IsNaN", x, dtype=dtypes.bool))
    return g.op("Not", bad)


@form("signbit")
def _signbit(g: Builder, out: Any, x: Value) -> Value:
    """Less than 0, or a zero whose reciprocal is."""
    below = g.compare("Less", x, 0, dtype=x.dtype)
    if not x.dtype.is_floating_point:
        return below
    inverse = g.op("Less", g.op("Reciprocal", x), 0.0, dtype=dtypes.bool)
    zero = g.op("Equal", x, 0.0, dtype=dtypes.bool)
    return g.op("Or", below, g.op("And", zero, inverse))


# -- activations


@form("relu")
def _relu(g: Builder, out: Any, x: Value) -> Value:
    if out.dtype.is_floating_point:
        return g.op("Relu", x)
    return g.math("Max", x, 0, dtype=out.dtype)


def single(x: Any, *rest: Any) -> bool:
    """Whether ONNX's activations, defined for float32 and float16, serve the tensor."""
    return x.dtype in (dtypes.float32, dtypes.float16)


def _activation(name: str, kind: str, *attributes: str) -> None:
    """The op as one operator whose attributes are the op's further arguments, in order."""

    @form(name, accepts=single)
    def write(g: Builder, out: Any, x: Value, *values: Any) -> Value:
        named: dict[str, Any] = dict(zip(attributes, map(float, values), strict=True))
        return g.op(kind, x, **named)


_activation("elu", "Elu", "alpha")
_activation("leaky_relu", "LeakyRelu", "alpha")
_activation("mish", "Mish")
_activation("hardswish", "HardSwish")


@form("celu", accepts=lambda x, alpha: x.dtype is dtypes.float32)
def _celu(g: Builder, out: Any, x: Value, alpha: float) -> Value:
    return g.op("Celu", x, alpha=float(alpha))


@form("selu", accepts=single)
def _selu(g: Builder, out: Any, x: Value) -> Value:
    return g.op("Selu", x)


@form("hardsigmoid", accepts=single)
def _hardsigmoid(g: Builder, out: Any, x: Value) -> Value:
    return g.op("HardSigmoid", x, alpha=1.0 / 6.0, beta=0.5)


@form("gelu", since=20, accepts=single)
def _gelu(g: Builder, out: Any, x: Value, approximate: str) -> Value:
    return g.op("Gelu", x, approximate=approximate)


@form("softplus", accepts=single)
def softplus(g: Builder, out: Any, x: Value, beta: float, threshold: float) -> Value:
    """log(1 + exp(beta x)) / beta; beyond the threshold, x."""
    scaled = x if beta == 1 else g.op("Mul", x, float(beta))
    soft = g.op("Softplus", scaled)
    soft = soft if beta == 1 else g.op("Div", soft, float(beta))
    if threshold >= 20:         # what it leaves out is less than 3e-9
        return soft
    above = g.op("Greater", scaled, float(threshold), dtype=dtypes.bool)
    return g.op("Where", above, x, soft, dtype=x.dtype)


@form("logsigmoid", accepts=single)
def _logsigmoid(g: Builder, out: Any, x: Value) -> Value:
    return g.op("Neg", g.op("Softplus", g.op("Neg", x)))


@form("hardshrink", accepts=single)
def _hardshrink(g: Builder, out: Any, x: Value, lambd: float) -> Value:
    return g.op("Shrink", x, lambd=float(lambd), bias=0.0)


@form("softshrink", accepts=single)
def _softshrink(g: Builder, out: Any, x: Value, lambd: float) -> Value:
    return g.op("Shrink", x, lambd=float(lambd), bias=float(lambd))


@form("hardtanh")
def _hardtanh(g: Builder, out: Any, x: Value, least: float, greatest: float) -> Value:
    return g.math("Clip", x, least, greatest, dtype=out.dtype)


@form("prelu")
def _prelu(g: Builder, out: Any, x: Value, weight: Value) -> Value:
    """One slope for each channel, the second dim."""
    if x.ndim > 2 and weight.shape != (1,):
        assert weight.shape is not None
        weight = g.op("Reshape", weight, [weight.shape[0], *(1,) * (x.ndim - 2)])
    return g.op("PRelu", x, weight)


@form("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout",
      accepts=lambda x, p, train: not train or p == 0)
def _no_dropout(g: Builder, out: Any, x: Value, p: float, train: bool) -> Value:
    return x


@form("sign", "sgn", accepts=lambda x: not x.dtype.is_complex)
def _sign(g: Builder, out: Any, x: Value) -> Value:
    return x if out.dtype is dtypes.bool else g.math("Sign", x, dtype=out.dtype)
