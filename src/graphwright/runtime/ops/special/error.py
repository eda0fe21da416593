"""Relatives of the error function: erfc, erfcx, erfinv, ndtri, log_ndtr."""

from __future__ import annotations

import math

import numpy as np

from graphwright.runtime.ops.special.functions import complement_scaled, erf_float64
from graphwright.runtime.ops.special.numeric import Array, pieces

_SPLIT = 0.46875
_SQRT2 = math.sqrt(2.0)
_SQRT_PI = math.sqrt(math.pi)

# M. Giles, "Approximating the erfinv function", GPU Computing Gems 2 (2012): single precision.
_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)


def _gauss(y: Array) -> Array:
    """exp(-y^2), with y split so that the square of its head is exact."""
    head = np.trunc(y * 16.0) / 16.0
    return np.exp(-head * head) * np.exp(-(y - head) * (y + head))


def erfc(x: Array) -> Array:
    """1 - erf(x), relative 1e-15 (Cody)."""
    def upper(v: Array) -> Array:
        bounded = np.minimum(v, 28.0)
        return _gauss(bounded) * complement_scaled(bounded)

    return pieces(
        x,
        (
            (np.abs(x) <= _SPLIT, lambda v: 1.0 - erf_float64(v)),
            (x > 0, upper),
            (x < 0, lambda v: 2.0 - upper(-v)),
        ),
    )


def erfcx(x: Array) -> Array:
    """exp(x^2) erfc(x), relative 1e-14; inf below -26.7."""
    return pieces(
        x,
        (
            (x > _SPLIT, complement_scaled),
            (x >= -_SPLIT, lambda v: np.exp(v * v) * (1.0 - erf_float64(v))),
            (x < 0, lambda v: 2.0 / _gauss(np.minimum(-v, 28.0)) - complement_scaled(-v)),
        ),
    )


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    value = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        value = value * x + c
    return value


def _centre(x: Array) -> Array:
    """erfinv for |x| <= 0.7: Giles' polynomial and two Newton steps."""
    w = -np.log1p(-x * x) - 2.5
    y = _polynomial(w, _CENTRE) * x
    for _ in range(2):
        y = y - (erf_float64(y) - x) * (0.5 * _SQRT_PI) * np.exp(y * y)
    return y


def _inverse_tail(q: Array) -> Array:
    """y > 0 with erfc(y) = q, for q <= 0.3 (or 0): Newton in log erfc, which is nearly y^2."""
    log_q = np.log(np.where(q > 0, q, 1.0))
    w = -log_q
    y = np.sqrt(np.maximum(w - 0.5 * np.log(np.maximum(w, 0.5) * np.pi), 0.25))
    for _ in range(5):
        scaled = complement_scaled(np.maximum(y, _SPLIT))
        miss = np.log(scaled) - y * y - log_q
        y = y + miss * scaled * (0.5 * _SQRT_PI)
    return np.where(q > 0, y, np.inf)


def erfinv(x: Array) -> Array:
    """The y with erf(y) = x, relative 1e-14; infinite at -1 and 1, nan beyond."""
    def tail(v: Array) -> Array:
        return np.copysign(_inverse_tail(1.0 - np.abs(v)), v)

    return pieces(
        x, ((np.abs(x) <= 0.7, _centre), (np.abs(x) <= 1.0, tail))
    )


def ndtri(p: Array) -> Array:
    """The x at which the normal distribution function is p; nan outside of [0, 1]."""
    return pieces(
        p,
        (
            ((p >= 0) & (p <= 0.15), lambda v: -_SQRT2 * _inverse_tail(2.0 * v)),
            ((p > 0.15) & (p < 0.85), lambda v: _SQRT2 * _centre(2.0 * v - 1.0)),
            ((p >= 0.85) & (p <= 1), lambda v: _SQRT2 * _inverse_tail(2.0 * (1.0 - v))),
        ),
    )


def log_ndtr(x: Array) -> Array:
    """The logarithm of the normal distribution function."""
    def low(v: Array) -> Array:
        return np.log(0.5 * erfcx(-v / _SQRT2)) - 0.5 * v * v

    return pieces(
        x, ((x < -1.0, low), (x >= -1.0, lambda v: np.log1p(-0.5 * erfc(v / _SQRT2))))
    )
