"""Gamma variates, and how they move with their concentration.

A variate x of concentration a is a function of a and of the uniform number F(x; a) behind it:
dx/da = -(dF/da) / (dF/dx) at that x ("implicit reparameterisation", Figurnov et al., 2018).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import contiguous_spec
from graphwright.runtime.ops.kernels import Array, wrap
from graphwright.runtime.ops.random.distributions import drawn_by_numpy
from graphwright.runtime.ops.special.gamma import digamma
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

SMALL, FAR = 8.0, 25.0
"""Concentrations from which on the density is nearly normal; variates beyond the series."""


def _series(a: Array, x: Array) -> Array:
    """By the power series of F: -x sum_n t_n (log x - digamma(a + n + 1)), t_n = x^n / (a)_(n+1).

    For a < SMALL and x <= FAR, where what cancels leaves single precision.
    """
    term, psi, log = 1 / a, digamma(a + 1), np.log(x)
    total = term * (log - psi)
    for n in range(1, 160):
        psi = psi + 1 / (a + n)
        term = term * x / (a + n)
        total += term * (log - psi)
    return -x * total


def _tail(a: Array, x: Array) -> Array:
    """By Laguerre's quadrature of the upper tail: far out its integrand is smooth."""
    nodes, weights = np.polynomial.laguerre.laggauss(40)
    s = nodes[:, None]
    values = np.exp((a - 1) * np.log1p(s / x)) * (np.log(x + s) - digamma(a))
    return np.asarray(weights @ values)


def _near_normal(a: Array, x: Array) -> Array:
    """By Legendre's quadrature of the shorter side, twelve standard deviations wide."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    lower = x < a
    spread = 12 * np.sqrt(a)
    end = np.where(lower, np.maximum(x - spread, x * 1e-8), x + spread + 40)
    t = x + (end - x) * (nodes[:, None] + 1) / 2
    density = np.exp((a - 1) * np.log(t / x) - (t - x))
    inner = weights @ (density * (np.log(t) - digamma(a)))
    return np.asarray(inner * (end - x) / 2)


def _derivative(a: Array, x: Array) -> Array:
    """dx/da of variates x of concentrations a."""
    out = np.zeros_like(x)
    large = a >= SMALL
    for rule, where in (
        (_series, ~large & (x <= FAR)),
        (_tail, ~large & (x > FAR)),
        (_near_normal, large),
    ):
        if where.any():
            out[where] = rule(a[where], x[where])
    return out


def _grad_eager(concentration: Any, sample: Any) -> Tensor:
    a = concentration._nd.astype(np.float64)
    x = np.maximum(sample._nd.astype(np.float64), np.finfo(np.float64).tiny)
    return wrap(_derivative(*np.broadcast_arrays(a, x)), sample.dtype)


define(
    "standard_gamma_grad(Tensor concentration, Tensor sample)",
    Kind.OTHER,
    meta=lambda concentration, sample: contiguous_spec(sample, sample.shape),
    vjp=not_differentiable,
    eager=_grad_eager,
    method=False,
    public=False,
)


def _gamma(concentration: Any, generator: Any) -> Tensor:
    """Of concentrations below 1, the logarithm is drawn: x = y u^(1/a) with y of a + 1."""
    if not concentration.dtype.is_floating_point:
        raise RuntimeError(
            f"standard_gamma: expected floating point numbers, got {describe(concentration)}"
        )
    a = concentration._nd.astype(np.float64)
    if not (a >= 0).all():
        raise RuntimeError("standard_gamma: concentrations must not be negative")
    kind = dtypes.float32 if concentration.dtype is dtypes.float32 else dtypes.float64
    tiny = float(np.finfo(kind.numpy).tiny)
    return drawn_by_numpy(
        "standard_gamma",
        concentration,
        generator,
        lambda g: np.maximum(g.standard_gamma(a), tiny),
    )


define(
    "standard_gamma(Tensor concentration, Generator? generator=None)",
    Kind.OTHER,
    vjp=lambda ctx, grad: ops.mul(
        grad, ops.standard_gamma_grad(ctx.concentration, ctx.out)
    ),
    saves=("concentration", "out"),
    eager=_gamma,
    method=False,
    public=False,
    tags=("data_dependent",),
)
