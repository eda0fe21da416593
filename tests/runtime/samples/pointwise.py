"""Samples of pointwise ops."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

import graphwright as gw

from .sample import Arr, OpSamples, S

TENSOR_FIRST = frozenset({"add", "mul", "fmod", "eq", "ne", "lt", "le", "gt", "ge"})


def _unary(
    name: str, reference: Any, low: float = -2.0, high: float = 2.0, **options: Any
) -> OpSamples:
    shapes = ((3, 4), (2, 3, 4), (0, 3), (), (5,), (2, 1, 3))
    samples = tuple(S(Arr(shape, low, high)) for shape in shapes)
    options.setdefault("halves", True)
    return OpSamples(name, samples, reference, **options)


def _binary(
    name: str,
    reference: Any,
    a: tuple[float, float] = (-2.0, 2.0),
    b: tuple[float, float] = (-2.0, 2.0),
    scalar: Any = 1.5,
    **options: Any,
) -> OpSamples:
    pairs = (
        ((3, 4), (3, 4)),
        ((2, 3, 4), (4,)),
        ((3, 1), (1, 4)),
        ((2, 3, 4), (3, 1)),
        ((), (2, 3)),
        ((), ()),
        ((0, 3), (3,)),
    )
    samples = [S(Arr(left, *a), Arr(right, *b)) for left, right in pairs]
    samples.append(S(Arr((3, 4), *a), scalar))
    if name not in TENSOR_FIRST:
        samples.append(S(abs(scalar), Arr((3, 4), *b)))
    options.setdefault("halves", True)
    return OpSamples(name, tuple(samples), reference, **options)


def _tensors(name: str, reference: Any, *bounds: tuple[float, float], **options: Any) -> OpSamples:
    """An op of two tensors; numbers are refused."""
    a, b = bounds or ((-2.0, 2.0), (-2.0, 2.0))
    pairs = (((3, 4), (3, 4)), ((2, 3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((0, 3), (3,)))
    samples = tuple(S(Arr(left, *a), Arr(right, *b)) for left, right in pairs)
    return OpSamples(name, samples, reference, **options)


def _numpy_div(a: Any, b: Any, rounding_mode: str | None = None) -> Any:
    quotient = a / b
    return {None: lambda q: q, "floor": np.floor, "trunc": np.trunc}[rounding_mode](quotient)


_INTS = Arr((3, 4), -4, 4, "int")
_MORE_INTS = Arr((3, 4), 1, 5, "int")


def _integers(name: str, reference: Any) -> OpSamples:
    samples = (
        S(_INTS, _MORE_INTS),
        S(_INTS, 3),
        S(Arr((2, 3), kind="bool"), Arr((3,), kind="bool")),
    )
    return OpSamples(name, samples, reference, grad=False)


POINTWISE = (
    _unary("neg", np.negative),
    _unary("abs", np.abs),
    _unary("sign", np.sign),
    _unary("exp", np.exp),
    _unary("expm1", np.expm1),
    _unary("log", np.log, 0.1, 4.0),
    _unary("log1p", np.log1p, -0.8, 4.0),
    _unary("log2", np.log2, 0.1, 4.0),
    _unary("sqrt", np.sqrt, 0.1, 4.0),
    _unary("rsqrt", lambda x: 1 / np.sqrt(x), 0.1, 4.0),
    _unary("reciprocal", lambda x: 1 / x, 0.3, 4.0),
    _unary("sin", np.sin),
    _unary("cos", np.cos),
    _unary("tan", np.tan, -1.2, 1.2),
    _unary("tanh", np.tanh),
    _unary("sigmoid", special.expit),
    _unary("erf", special.erf),
    _unary("normal_cdf", special.ndtr, torch=""),
    _unary("relu", lambda x: np.maximum(x, 0)),
    _unary("floor", np.floor),
    _unary("ceil", np.ceil),
    OpSamples(
        "round",
        (S(Arr((3, 4))), S(Arr((2, 1, 3))), S(Arr((3, 4)), decimals=1), S(Arr(()))),
        lambda x, decimals=0: np.round(x, decimals),
    ),
    _unary("trunc", np.trunc),
    _unary("clone", lambda x: x),
    _unary("square", np.square),
    _unary("logical_not", np.logical_not, grad=False),
    _unary("isnan", np.isnan, grad=False),
    _unary("isinf", np.isinf, grad=False),
    _unary("isfinite", np.isfinite, grad=False),
    _binary("add", lambda a, b, alpha=1: a + alpha * b),
    _binary("sub", lambda a, b, alpha=1: a - alpha * b),
    _binary("mul", np.multiply),
    _binary("div", _numpy_div, b=(0.4, 2.0)),
    _binary("pow", np.power, a=(0.2, 2.0)),
    _tensors("maximum", np.maximum),
    _tensors("minimum", np.minimum),
    _binary("fmod", np.fmod, b=(0.6, 2.0), halves=False),
    _binary("remainder", np.remainder, b=(0.6, 2.0), halves=False),
    _tensors("atan2", np.arctan2),
    _binary("eq", np.equal, grad=False),
    _binary("ne", np.not_equal, grad=False),
    _binary("lt", np.less, grad=False),
    _binary("le", np.less_equal, grad=False),
    _binary("gt", np.greater, grad=False),
    _binary("ge", np.greater_equal, grad=False),
    _tensors("logical_and", np.logical_and, grad=False),
    _tensors("logical_or", np.logical_or, grad=False),
    _tensors("logical_xor", np.logical_xor, grad=False),
    _binary("floor_divide", lambda a, b: np.floor(a / b), b=(0.6, 2.0), halves=False, grad=False,
            torch=""),
    _integers("bitwise_and", np.bitwise_and),
    _integers("bitwise_or", np.bitwise_or),
    _integers("bitwise_xor", np.bitwise_xor),
    OpSamples("bitwise_not", (S(_INTS), S(Arr((2, 3), kind="bool"))), np.invert, grad=False),
    OpSamples(
        "where",
        (
            S(Arr((3, 4), kind="bool"), Arr((3, 4)), Arr((3, 4))),
            S(Arr((2, 1, 4), kind="bool"), Arr((3, 1)), Arr((4,))),
            S(Arr((3, 4), kind="bool"), Arr((3, 4)), 0.5),
            S(Arr((), kind="bool"), 1.0, Arr((3,))),
        ),
        np.where,
    ),
    OpSamples(
        "clamp",
        (
            S(Arr((3, 4)), -0.5, 0.7),
            S(Arr((3, 4)), None, 0.7),
            S(Arr((3, 4)), min=-0.5),
            S(Arr((3, 4)), Arr((4,), -1.5, -0.2), Arr((3, 1), 0.2, 1.5)),
            S(Arr(()), -0.1, 0.1),
        ),
        lambda x, min=None, max=None: np.clip(x, min, max),
        halves=True,
    ),
    OpSamples("clamp_min", (S(Arr((3, 4)), 0.1), S(Arr((3, 4)), Arr((4,)))), np.maximum),
    OpSamples("clamp_max", (S(Arr((3, 4)), 0.1), S(Arr((3, 4)), Arr((4,)))), np.minimum),
    OpSamples(
        "addcmul",
        (
            S(Arr((3, 4)), Arr((3, 1)), Arr((4,)), value=0.5),
            S(*[Arr(shape, kind="int") for shape in ((3, 4), (3, 1), (4,))], value=-2.5),
        ),
        lambda x, a, b, value=1: x + (int(value) if x.dtype.kind == "i" else value) * a * b,
    ),
    OpSamples(
        "addcdiv",
        (S(Arr((3, 4)), Arr((3, 1)), Arr((4,), 0.5, 2.0), value=0.5),),
        lambda x, a, b, value=1: x + value * a / b,
    ),
    OpSamples(
        "lerp",
        (S(Arr((3, 4)), Arr((3, 4)), 0.3), S(Arr((3,)), Arr((3,)), Arr((3,)))),
        lambda a, b, w: a + (b - a) * w,
    ),
    OpSamples(
        "masked_fill",
        (
            S(Arr((3, 4)), Arr((4,), kind="bool"), 0.5),
            S(Arr((3, 4)), Arr((3, 4), kind="bool"), Arr(())),
        ),
        lambda x, mask, value: np.where(mask, value, x),
        torch="masked_fill",
    ),
    OpSamples(
        "copy",
        (S(Arr((3, 4)), Arr((4,))), S(Arr(()), Arr(()))),
        lambda x, src: np.broadcast_to(src, x.shape),
        torch="",
    ),
    OpSamples(
        "fill",
        (S(Arr((3, 4)), 2.5), S(Arr((3, 4)), Arr(()))),
        lambda x, value: np.broadcast_to(value, x.shape),
        torch="",
    ),
    OpSamples(
        "to_dtype",
        (S(Arr((3, 4)), gw.float64), S(Arr((3, 4)), gw.int32), S(Arr((3, 4)), gw.bool)),
        lambda x, dtype: x.astype(dtype.numpy),
        grad=False,
        torch="",
    ),
    OpSamples("contiguous", (S(Arr((3, 4))), S(Arr((2, 3, 4)))), lambda x: x, torch=""),
    OpSamples(
        "isclose",
        (S(Arr((3, 4)), Arr((3, 4))), S(Arr((3,)), Arr((1,)), 0.5)),
        lambda a, b, rtol=1e-5: np.isclose(a, b, rtol),
        grad=False,
    ),
)
