"""Special functions as ops; their numbers come from `special.catalogue`.

Compiled code runs those without a decomposition as eager steps between its kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import elementwise
from graphwright.runtime.ops.pointwise.arithmetic import (
    pointwise_spec,
    require_dtype,
    widened,
)
from graphwright.runtime.ops.pointwise.docstrings import unary_doc
from graphwright.runtime.ops.pointwise.unary import define_unary, times
from graphwright.runtime.ops.special.catalogue import FUNCTIONS, polygamma
from graphwright.runtime.ops.special.numeric import kernel
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


# name, derivative, what it needs, docstring
_FUNCTIONS: tuple[tuple[str, Callable[[Any], Any], tuple[str, ...], str], ...] = (
    (
        "erfc",
        lambda c: _gauss(c.input, -2.0 / _SQRT_PI),
        ("input",),
        """Complementary error function, `y = 1 - erf(x)`, accurate for large `x`.

        >>> gw.erfc(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.1573])
        """,
    ),
    (
        "erfinv",
        lambda c: ops.mul(ops.exp(ops.mul(c.out, c.out)), 0.5 * _SQRT_PI),
        ("out",),
        """Inverse of the error function: `erf(y) = x`; inf at 1, nan beyond -1 and 1.

        >>> gw.erfinv(gw.tensor([0.0, 0.5]))
        tensor([0.0000, 0.4769])
        """,
    ),
    (
        "lgamma",
        lambda c: ops.digamma(c.input),
        ("input",),
        """Logarithm of the absolute value of the gamma function; inf at 0, -1, -2 ...

        Computed by Stirling's series and Chebyshev polynomials (DLMF 5.11.1).

        >>> gw.lgamma(gw.tensor([4.0, 0.5]))
        tensor([1.7918, 0.5724])
        """,
    ),
    (
        "digamma",
        lambda c: ops.polygamma(1, c.input),
        ("input",),
        """Derivative of `lgamma`, `y = gamma'(x) / gamma(x)`; -inf at 0, nan at -1, -2 ...

        Computed by its recurrence and asymptotic series (DLMF 5.11.2).

        >>> gw.digamma(gw.tensor([1.0, 2.0]))
        tensor([-0.5772,  0.4228])
        """,
    ),
    (
        "i0",
        lambda c: ops.special_i1(c.input),
        ("input",),
        """Modified Bessel function of the first kind and order 0 (DLMF 10.25).

        >>> gw.i0(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
        """,
    ),
)
for _name, _slope, _saves, _doc in _FUNCTIONS:
    define_unary(
        _name,
        kernel(FUNCTIONS[_name]),
        times(_slope),
        _saves,
        floats_only=True,
        complex=False,
        doc=_doc,
    )

_NAMESPACE: tuple[tuple[str, Callable[[Any], Any], tuple[str, ...], str], ...] = (
    (
        "special_erfcx",
        lambda c: ops.sub(ops.mul(ops.mul(c.input, c.out), 2.0), 2.0 / _SQRT_PI),
        ("input", "out"),
        """Scaled complementary error function, `y = e^(x^2) erfc(x)`.

        >>> gw.special.erfcx(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4276])
        """,
    ),
    (
        "special_ndtri",
        lambda c: ops.mul(
            ops.exp(ops.mul(ops.mul(c.out, c.out), 0.5)), math.sqrt(2.0 * math.pi)
        ),
        ("out",),
        """Quantile of the standard normal distribution: the inverse of `ndtr`.

        It is -inf at 0, inf at 1 and nan beyond them.

        >>> gw.special.ndtri(gw.tensor([0.5, 0.975]))
        tensor([0.0000, 1.9600])
        """,
    ),
    (
        "special_log_ndtr",
        lambda c: ops.div(
            math.sqrt(2.0 / math.pi), ops.special_erfcx(ops.mul(c.input, -1.0 / _SQRT2))
        ),
        ("input",),
        """Logarithm of the standard normal distribution function, accurate far below 0.

        >>> gw.special.log_ndtr(gw.tensor([0.0, -10.0]))
        tensor([ -0.6931, -53.2313])
        """,
    ),
    (
        "special_i0e",
        lambda c: ops.sub(ops.special_i1e(c.input), ops.mul(ops.sign(c.input), c.out)),
        ("input", "out"),
        """Exponentially scaled modified Bessel function of order 0, `y = e^(-|x|) i0(x)`.

        >>> gw.special.i0e(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4658])
        """,
    ),
    (
        "special_i1",
        _bessel_slope(False),
        ("input",),
        """Modified Bessel function of the first kind and order 1 (DLMF 10.25).

        >>> gw.special.i1(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
        """,
    ),
    (
        "special_i1e",
        _bessel_slope(True),
        ("input",),
        """Exponentially scaled modified Bessel function of order 1, `y = e^(-|x|) i1(x)`.

        >>> gw.special.i1e(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2079])
        """,
    ),
)
_HALVES = {"special_i0e", "special_i1", "special_i1e"}
"""Of these ops, those that also take half types."""

for _name, _slope, _saves, _doc in _NAMESPACE:
    define_unary(
        _name,
        kernel(FUNCTIONS[_name]),
        times(_slope),
        _saves,
        floats_only=True,
        public=False,
        complex=False,
        halves=_name in _HALVES,
        doc=_doc,
    )

_CONSTANT: tuple[tuple[str, str], ...] = (
    (
        "special_airy_ai",
        """Airy function Ai (DLMF 9.2).

        Its result never requires a gradient.

        >>> gw.special.airy_ai(gw.tensor([1.0, 2.0]))
        tensor([0.1353, 0.0349])
        """,
    ),
    (
        "special_bessel_j0",
        """Bessel function of the first kind and order 0 (DLMF 10.2).

        Its result never requires a gradient.

        >>> gw.special.bessel_j0(gw.tensor([1.0, 2.0]))
        tensor([0.7652, 0.2239])
        """,
    ),
    (
        "special_bessel_j1",
        """Bessel function of the first kind and order 1 (DLMF 10.2).

        Its result never requires a gradient.

        >>> gw.special.bessel_j1(gw.tensor([1.0, 2.0]))
        tensor([0.4401, 0.5767])
        """,
    ),
    (
        "special_bessel_y0",
        """Bessel function of the second kind and order 0; nan for `x < 0` (DLMF 10.2).

        Its result never requires a gradient.

        >>> gw.special.bessel_y0(gw.tensor([1.0, 2.0]))
        tensor([0.0883, 0.5104])
        """,
    ),
    (
        "special_bessel_y1",
        """Bessel function of the second kind and order 1; nan for `x < 0` (DLMF 10.2).

        Its result never requires a gradient.

        >>> gw.special.bessel_y1(gw.tensor([1.0, 2.0]))
        tensor([-0.7812, -0.1070])
        """,
    ),
    (
        "special_modified_bessel_i0",
        """Modified Bessel function of the first kind and order 0 (DLMF 10.25).

        Its result never requires a gradient.

        >>> gw.special.modified_bessel_i0(gw.tensor([1.0, 2.0]))
        tensor([1.2661, 2.2796])
        """,
    ),
    (
        "special_modified_bessel_i1",
        """Modified Bessel function of the first kind and order 1 (DLMF 10.25).

        Its result never requires a gradient.

        >>> gw.special.modified_bessel_i1(gw.tensor([1.0, 2.0]))
        tensor([0.5652, 1.5906])
        """,
    ),
    (
        "special_modified_bessel_k0",
        """Modified Bessel function of the second kind and order 0 (DLMF 10.25).

        Its result never requires a gradient.

        >>> gw.special.modified_bessel_k0(gw.tensor([1.0, 2.0]))
        tensor([0.4210, 0.1139])
        """,
    ),
    (
        "special_modified_bessel_k1",
        """Modified Bessel function of the second kind and order 1 (DLMF 10.25).

        Its result never requires a gradient.

        >>> gw.special.modified_bessel_k1(gw.tensor([1.0, 2.0]))
        tensor([0.6019, 0.1399])
        """,
    ),
    (
        "special_scaled_modified_bessel_k0",
        """Exponentially scaled modified Bessel function, `y = e^x k0(x)`.

        Its result never requires a gradient.

        >>> gw.special.scaled_modified_bessel_k0(gw.tensor([1.0, 2.0]))
        tensor([1.1445, 0.8416])
        """,
    ),
    (
        "special_scaled_modified_bessel_k1",
        """Exponentially scaled modified Bessel function, `y = e^x k1(x)`.

        Its result never requires a gradient.

        >>> gw.special.scaled_modified_bessel_k1(gw.tensor([1.0, 2.0]))
        tensor([1.6362, 1.0335])
        """,
    ),
    (
        "special_spherical_bessel_j0",
        """Spherical Bessel function of order 0, `y = sin(x) / x`, 1 at 0.

        Its result never requires a gradient.

        >>> gw.special.spherical_bessel_j0(gw.tensor([1.0, 2.0]))
        tensor([0.8415, 0.4546])
        """,
    ),
)
for _name, _doc in _CONSTANT:
    define_unary(
        _name,
        kernel(FUNCTIONS[_name]),
        not_differentiable,
        floats_only=True,
        public=False,
        complex=False,
        halves=False,
        doc=_doc,
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
    doc="""Entropy of each element, `y = -x log(x)`; 0 at 0, -inf below.

    >>> gw.special.entr(gw.tensor([0.0, 0.5]))
    tensor([0.0000, 0.3466])
    """,
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
    doc=unary_doc(
        """Standard normal distribution function, `y = erfc(-x / sqrt(2)) / 2`.

        >>> gw.special.ndtr(gw.tensor([0.0, 1.96]))
        tensor([0.5000, 0.9750])
        """,
        floats_only=True,
        kinds={"complex": False},
    ),
)


# -- with orders


def _polygamma_type(n: int, input: Any) -> DType:
    if n < 0:
        raise RuntimeError(f"polygamma(n, x) does not support negative n, got {n}")
    require_dtype("polygamma", input.dtype, complex=False)
    return to_float(input.dtype)


def _polygamma_eager(n: int, input: Any) -> Tensor:
    dtype = _polygamma_type(n, input)
    return elementwise("polygamma", kernel(polygamma(n)), (input,), dtype, dtype)


define(
    "polygamma(int n, Tensor input)",
    Kind.POINTWISE,
    meta=lambda n, input: pointwise_spec("polygamma", (input,), _polygamma_type(n, input)),
    vjp=lambda ctx, grad: ops.mul(grad, ops.polygamma(ctx.n + 1, ctx.input)),
    saves=("input",),
    eager=_polygamma_eager,
    method=False,
    doc="""Derivative of order `n` of `digamma`, `(-1)^(n+1) n! zeta(n + 1, x)` (DLMF 25.11.12).

    Args:
        n: the order, at least 0; order 0 is `digamma` itself.
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: `input` is complex.
        RuntimeError: `n` is negative.

    Example:
        >>> gw.polygamma(1, gw.tensor([1.0, 2.0]))
        tensor([1.6449, 0.6449])
    """,
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


define(
    "mvlgamma(Tensor input, int p)",
    Kind.COMPOSITE,
    decompose=_mvlgamma,
    doc="""Logarithm of the multivariate gamma function of dimension `p` (DLMF 35.3).

    It is `p (p - 1) / 4 log(pi)` and the sum of `lgamma(x - i / 2)` over i from 0 to p - 1.

    Args:
        input: a tensor of any shape; integers give the default dtype.
        p: the dimension, at least 1.

    Raises:
        NotImplementedError: `input` is of bool or complex.
        RuntimeError: `p` is below 1.

    Example:
        >>> gw.mvlgamma(gw.tensor([3.0]), 2)
        tensor([1.5502])
    """,
)
define(
    "mvlgamma_(Tensor input, int p)",
    Kind.INPLACE,
    functional="mvlgamma",
    public=False,
)
