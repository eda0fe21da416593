"""Special functions as ops; their numbers come from `special_gamma`, `_error` and `_bessel`.

Compiled code runs those without a decomposition as eager steps between its kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.kernels import elementwise
from graphwright.runtime.ops.pointwise.arithmetic import (
    define_binary,
    float_result,
    pointwise_spec,
    require_dtype,
    restricted,
    widened,
)
from graphwright.runtime.ops.pointwise.unary import define_unary, times
from graphwright.runtime.ops.special import bessel, error, gamma
from graphwright.runtime.ops.special.numeric import kernel
from graphwright.runtime.ops.special.polynomials import POLYNOMIALS
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import to_float
from graphwright.runtime.tensor.tensor import Tensor

_SQRT_PI = math.sqrt(math.pi)
_SQRT2 = math.sqrt(2.0)


def _gauss(x: Any, scale: float) -> Any:
    """scale * exp(-x^2)."""
    return ops.mul(ops.exp(ops.neg(ops.mul(x, x))), scale)


def _bessel_slope(scaled: bool) -> Callable[[Any], Any]:
    """The derivative of i1 or i1e, which is 1/2 at 0."""

    def slope(ctx: Any) -> Any:
        zero = ops.eq(ctx.input, 0)
        x = ops.where(zero, 1.0, ctx.input)
        inverse = ops.reciprocal(x)
        if scaled:
            inverse = ops.add(inverse, ops.sign(x))
        lower = ops.special_i0e(x) if scaled else ops.i0(x)
        value = ops.special_i1e(x) if scaled else ops.special_i1(x)
        return ops.where(zero, 0.5, ops.sub(lower, ops.mul(value, inverse)))

    return slope


# name, function, derivative, what it needs
_FUNCTIONS: tuple[tuple[str, Any, Callable[[Any], Any], tuple[str, ...]], ...] = (
    ("erfc", error.erfc, lambda c: _gauss(c.input, -2.0 / _SQRT_PI), ("input",)),
    (
        "erfinv",
        error.erfinv,
        lambda c: ops.mul(ops.exp(ops.mul(c.out, c.out)), 0.5 * _SQRT_PI),
        ("out",),
    ),
    ("lgamma", gamma.lgamma, lambda c: ops.digamma(c.input), ("input",)),
    ("digamma", gamma.digamma, lambda c: ops.polygamma(1, c.input), ("input",)),
    ("i0", bessel.i0, lambda c: ops.special_i1(c.input), ("input",)),
)
for _name, _function, _slope, _saves in _FUNCTIONS:
    define_unary(
        _name, kernel(_function), times(_slope), _saves, floats_only=True, complex=False
    )

_NAMESPACE: tuple[tuple[str, Any, Callable[[Any], Any], tuple[str, ...]], ...] = (
    (
        "special_erfcx",
        error.erfcx,
        lambda c: ops.sub(ops.mul(ops.mul(c.input, c.out), 2.0), 2.0 / _SQRT_PI),
        ("input", "out"),
    ),
    (
        "special_ndtri",
        error.ndtri,
        lambda c: ops.mul(
            ops.exp(ops.mul(ops.mul(c.out, c.out), 0.5)), math.sqrt(2.0 * math.pi)
        ),
        ("out",),
    ),
    (
        "special_log_ndtr",
        error.log_ndtr,
        lambda c: ops.div(
            math.sqrt(2.0 / math.pi), ops.special_erfcx(ops.mul(c.input, -1.0 / _SQRT2))
        ),
        ("input",),
    ),
    (
        "special_i0e",
        bessel.i0e,
        lambda c: ops.sub(ops.special_i1e(c.input), ops.mul(ops.sign(c.input), c.out)),
        ("input", "out"),
    ),
    ("special_i1", bessel.i1, _bessel_slope(False), ("input",)),
    ("special_i1e", bessel.i1e, _bessel_slope(True), ("input",)),
)
_HALVES = {"special_i0e", "special_i1", "special_i1e"}
"""Of these ops, those that also take half types."""

for _name, _function, _slope, _saves in _NAMESPACE:
    define_unary(
        _name,
        kernel(_function),
        times(_slope),
        _saves,
        floats_only=True,
        public=False,
        complex=False,
        halves=_name in _HALVES,
    )

_CONSTANT: dict[str, Any] = {
    "special_airy_ai": bessel.airy_ai,
    "special_bessel_j0": bessel.j0,
    "special_bessel_j1": bessel.j1,
    "special_bessel_y0": bessel.y0,
    "special_bessel_y1": bessel.y1,
    "special_modified_bessel_i0": bessel.i0,
    "special_modified_bessel_i1": bessel.i1,
    "special_modified_bessel_k0": bessel.k0,
    "special_modified_bessel_k1": bessel.k1,
    "special_scaled_modified_bessel_k0": bessel.k0e,
    "special_scaled_modified_bessel_k1": bessel.k1e,
    "special_spherical_bessel_j0": bessel.spherical_j0,
}
for _name, _function in _CONSTANT.items():
    define_unary(
        _name,
        kernel(_function),
        not_differentiable,
        floats_only=True,
        public=False,
        complex=False,
        halves=False,
    )


# -- entropy and the normal distribution


def _entr(x: Any) -> Any:
    inside = ops.gt(x, 0)
    positive = ops.mul(ops.neg(x), ops.log(ops.where(inside, x, 1.0)))
    value = ops.where(ops.lt(x, 0), -math.inf, ops.where(inside, positive, 0.0))
    return ops.where(ops.isnan(x), x, value)


def _entr_kernel(a: Any, out: Any) -> None:
    np.multiply(-a, np.log(a), out)
    np.copyto(out, 0, where=a == 0)
    np.copyto(out, -np.inf, where=a < 0)


define_unary(
    "special_entr",
    _entr_kernel,
    times(lambda ctx: ops.neg(ops.add(ops.log(ctx.input), 1))),
    ("input",),
    floats_only=True,
    public=False,
    decompose=widened(_entr),
    complex=False,
)


def _ndtr(input: Any) -> Any:
    """The normal distribution function, erfc(-x / sqrt 2) / 2."""
    require_dtype("ndtr", input.dtype, complex=False)
    return ops.mul(ops.erfc(ops.mul(input, -1.0 / _SQRT2)), 0.5)


define(
    "special_ndtr(Tensor input)",
    Kind.COMPOSITE,
    decompose=widened(_ndtr),
    method=False,
    public=False,
)


# -- with orders


def _polygamma_type(n: int, input: Any) -> DType:
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}")
    require_dtype("polygamma", input.dtype, complex=False)
    return to_float(input.dtype)


def _polygamma_eager(n: int, input: Any) -> Tensor:
    dtype = _polygamma_type(n, input)
    function = kernel(lambda x: gamma.polygamma(n, x))
    return elementwise("polygamma", function, (input,), dtype, dtype)


define(
    "polygamma(int n, Tensor input)",
    Kind.POINTWISE,
    meta=lambda n, input: pointwise_spec("polygamma", (input,), _polygamma_type(n, input)),
    vjp=lambda ctx, grad: ops.mul(grad, ops.polygamma(ctx.n + 1, ctx.input)),
    saves=("input",),
    eager=_polygamma_eager,
    method=False,
)


def _mvlgamma(input: Any, p: int) -> Any:
    """The multivariate log-gamma function of dimension p (DLMF 35.3)."""
    if p < 1:
        raise RuntimeError(f"mvlgamma: p has to be greater than or equal to 1, got {p}")
    require_dtype("mvlgamma", input.dtype, bool=False, complex=False)
    dtype = to_float(input.dtype)
    x = input if input.dtype is dtype else ops.to_dtype(input, dtype)
    steps = ops.mul(ops.arange(1 - p, 1, dtype=dtype, device=input.device), 0.5)
    total = ops.sum(ops.lgamma(ops.add(ops.unsqueeze(x, -1), steps)), -1)
    return ops.add(total, p * (p - 1) * math.log(math.pi) / 4.0)


define("mvlgamma(Tensor input, int p)", Kind.COMPOSITE, decompose=_mvlgamma)
define(
    "mvlgamma_(Tensor input, int p)",
    Kind.INPLACE,
    functional="mvlgamma",
    public=False,
)


# -- of two operands


def _not_implemented(name: str) -> None:
    raise NotImplementedError(
        f"the derivative for '{name}' with respect to 'input' is not implemented"
    )


def _incomplete_vjp(name: str, sign: float) -> Callable[..., Any]:
    """The density x^(a-1) e^-x / gamma(a) with respect to `other`; `input` has none."""

    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        if ctx.needs["input"]:
            _not_implemented(name)
        a, x = ctx.input, ctx.other
        exponent = ops.sub(ops.mul(ops.sub(a, 1), ops.log(x)), ops.add(x, ops.lgamma(a)))
        return None, ops.mul(ops.mul(grad, ops.exp(exponent)), sign)

    return vjp


for _name, _function, _sign in (("igamma", gamma.igamma, 1.0), ("igammac", gamma.igammac, -1.0)):
    define_binary(
        _name,
        kernel(_function),
        computed=restricted(_name, bool=False, integers=False, complex=False),
        vjp=_incomplete_vjp(_name, _sign),
        saves=("input", "other"),
        numbers="none",
    )


def _zeta_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    if ctx.needs["input"]:
        _not_implemented("zeta")
    x, q = ctx.input, ctx.other
    return None, ops.mul(grad, ops.mul(ops.neg(x), ops.special_zeta(ops.add(x, 1), q)))


define_binary(
    "special_zeta",
    kernel(gamma.zeta),
    computed=restricted("zeta", float_result, complex=False, halves=False),
    vjp=_zeta_vjp,
    saves=("input", "other"),
    inplace=False,
    public=False,
    method=False,
)


# -- orthogonal polynomials

for _name, _function in POLYNOMIALS.items():
    define_binary(
        f"special_{_name}",
        kernel(_function),
        computed=restricted(_name, float_result, complex=False, halves=False),
        vjp=not_differentiable,
        second="n",
        inplace=False,
        public=False,
        method=False,
    )
