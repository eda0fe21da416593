"""Eager functions of one argument over the whole range of floats, against higher precision.

Every exponent with several mantissas, subnormal numbers, zeros, infinities and NaN of float32
(against float64) and float64 (against long doubles); of the half types all 65,536 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.special as special

import graphwright as gw
from graphwright.runtime.ops import functions as ops

from ...codegen.test_math import float32_samples, float64_samples, largest_error

Array = np.ndarray[Any, Any]


def _logistic(x: Array) -> Array:
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, 1) / (1 + e)


def _soft(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _positive(x: Array, negative: Array) -> Array:
    return np.where(x > 0, x, negative)


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin,
    "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh, "ceil": np.ceil, "cos": np.cos,
    "cosh": np.cosh, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "floor": np.floor,
    "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "neg": np.negative,
    "reciprocal": np.reciprocal, "round": np.round, "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "square": np.square, "tan": np.tan,
    "tanh": np.tanh, "trunc": np.trunc, "sigmoid": _logistic, "silu": lambda x: x * _logistic(x),
    "softplus": lambda x: np.where(x > 20, x, _soft(x)),
    "logsigmoid": lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))),
    "mish": lambda x: x * np.tanh(_soft(x)),
    "elu": lambda x: _positive(x, np.expm1(x)), "celu": lambda x: _positive(x, np.expm1(x)),
    "selu": lambda x: _positive(x, x.dtype.type(1.6732632423543772848) * np.expm1(x))
    * x.dtype.type(1.0507009873554804934),
}
OF_SCIPY: dict[str, Callable[[Array], Array]] = {
    "erf": special.erf, "erfc": special.erfc, "erfinv": special.erfinv, "i0": special.i0,
    "digamma": lambda x: np.where(x == 0, -np.copysign(np.inf, x), special.digamma(x)),
    "lgamma": lambda x: np.where(x == -np.inf, np.inf, special.gammaln(x)),
    "special_entr": special.entr, "special_erfcx": special.erfcx, "special_i0e": special.i0e,
    "special_i1": special.i1, "special_i1e": special.i1e,
    "special_log_ndtr": special.log_ndtr, "special_ndtri": special.ndtri,
    "special_ndtr": special.ndtr, "special_modified_bessel_k0": special.k0,
    "special_modified_bessel_k1": special.k1, "special_scaled_modified_bessel_k0": special.k0e,
    "special_scaled_modified_bessel_k1": special.k1e,
    "special_spherical_bessel_j0": lambda x: special.spherical_jn(0, np.abs(x)),
}
"""Against float64 alone."""
ULPS = {"mish": 4.0, "silu": 3.0, "selu": 3.0, "tanh": 2.5, "tan": 2.5}
"""The greatest errors; of the others 2."""
UNSIGNED = ("erfinv", "logsigmoid", "special_i1", "special_i1e")
"""Their zeros have the sign that PyTorch's have, another than the references'."""
HALVES = {gw.float16: np.float16, gw.bfloat16: ml_dtypes.bfloat16}


def _run(name: str, x: Array) -> Array:
    return getattr(ops, name)(gw.from_numpy(x)).numpy()  # type: ignore[no-any-return]


def _all_exponents(real: str, bits: int) -> Array:
    """Both signs, each exponent, the ends and the middle of its numbers and some others."""
    whole = f"u{real[1]}"
    last = (1 << bits) - 1
    few = [0, 1, 2, last, last - 1, last >> 1, (last >> 1) + 1]
    some = np.random.default_rng(0).integers(0, last, 25)
    exponents = np.arange(1 << (8 * int(real[1]) - 1 - bits), dtype=whole) << bits
    positive = (exponents[:, None] | np.array([*few, *some], whole)).ravel().view(real)
    return np.concatenate([positive, -positive])


def _compare(name: str, x: Array, exact: Array) -> None:
    found = _run(name, x)
    if name in UNSIGNED:
        with np.errstate(all="ignore"):
            zero = exact.astype(x.dtype) == 0
        assert not found[zero].any()
        found, exact = found[~zero], exact[~zero]
    assert largest_error(found, exact) <= ULPS.get(name, 2.0)


@pytest.mark.parametrize("name", [*FUNCTIONS, *OF_SCIPY])
def test_float32(name: str) -> None:
    x = np.concatenate([_all_exponents("f4", 23), float32_samples()])
    with np.errstate(all="ignore"):
        exact = (FUNCTIONS | OF_SCIPY)[name](x.astype("f8"))
    _compare(name, x, exact)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64(name: str) -> None:
    x = np.concatenate([_all_exponents("f8", 52), float64_samples()])
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype(np.longdouble))
    _compare(name, x, exact)


def _rounded(name: str, x: Array, half: Any) -> Array:
    with np.errstate(all="ignore"):
        return (FUNCTIONS | OF_SCIPY)[name](x.astype("f8")).astype(half)  # type: ignore[no-any-return]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_all_values_of_half_types(dtype: gw.dtype) -> None:
    """Each result is the rounded one, or its neighbour."""
    bits = np.arange(1 << 16, dtype="u2")
    given = gw.from_numpy(bits.view("i2")).view(dtype)
    x, taken = bits.view(HALVES[dtype]), 0
    for name in [*FUNCTIONS, *OF_SCIPY]:
        try:
            found = getattr(ops, name)(given).view(gw.int16).numpy()
        except NotImplementedError:
            continue
        taken += 1
        best = _rounded(name, x, x.dtype)
        lines = [np.where(i < 0, -(i & 0x7FFF), i) for i in (
            found.astype(np.int32), best.view("i2").astype(np.int32))]
        nan = np.isnan(best.astype("f4"))
        assert np.isnan(found.view(x.dtype).astype("f4"))[nan].all(), name
        compared = ~nan
        if name == "special_ndtr" and dtype is gw.bfloat16:     # whose tail ends there
            compared &= x.astype("f4") > -12.8
        distance = np.abs(lines[0] - lines[1])[compared]
        assert distance.max() <= 1, (name, x[compared][distance.argmax()])
    assert taken > 40


def test_functions_that_are_defined_by_what_is_rounded() -> None:
    """sinc of the product with pi, logit of the odds, hardswish of the product with 6."""
    x = float32_samples()
    with np.errstate(all="ignore"):
        product, odds = x * np.float32(np.pi), x / (1 - x)
        swish = x * np.clip(x + 3, np.float32(0), np.float32(6)) / np.float32(6)
        sinc = np.where(x == 0, 1, np.sin(product.astype("f8")) / product)
        logit = np.log(odds.astype("f8"))
    assert largest_error(_run("sinc", x), sinc) <= 2
    assert largest_error(_run("logit", x), logit) <= 2
    assert largest_error(_run("hardswish", x), swish) <= 1


@pytest.mark.parametrize("name", ["log1p", "sigmoid", "silu", "mish"])
def test_compiled_functions_agree_beyond_the_normal_numbers(name: str) -> None:
    x = gw.tensor([2.0**53, -87.5, -88.8, -95.0, -103.0, -104.5, -1e30])
    found = gw.compile(getattr(ops, name))(x).numpy()
    np.testing.assert_allclose(_run(name, x.numpy()), found, rtol=1e-5, atol=2e-43)
