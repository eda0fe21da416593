"""Bessel functions of orders 0 and 1, and the Airy function, by Chebyshev sums.

Absolute errors below 1e-14 times the function's greatest value nearby; the scaled functions
(i0e, i1e, k0e, k1e) are relative 1e-15.
"""

from __future__ import annotations

import math

import numpy as np

from graphwright.runtime.ops.special import tables
from graphwright.runtime.ops.special.numeric import Array, chebyshev, pieces

_TWO_OVER_PI = 2.0 / math.pi


def i0e(x: Array) -> Array:
    """exp(-|x|) I0(x)."""
    size = np.abs(x)
    return pieces(
        size,
        (
            (size <= 8.0, lambda v: chebyshev(v, tables.I0E_LOW, 0.0, 8.0)),
            (size > 8.0, lambda v: chebyshev(8.0 / v, tables.I0E_HIGH, 0.0, 1.0) / np.sqrt(v)),
        ),
    )


def i1e(x: Array) -> Array:
    """exp(-|x|) I1(x)."""
    size = np.abs(x)
    value = pieces(
        size,
        (
            (size <= 8.0, lambda v: v * chebyshev(v, tables.I1E_LOW, 0.0, 8.0)),
            (size > 8.0, lambda v: chebyshev(8.0 / v, tables.I1E_HIGH, 0.0, 1.0) / np.sqrt(v)),
        ),
    )
    return np.copysign(value, x)


def _grown(x: Array, scaled: Array) -> Array:
    """scaled * exp(|x|), in two steps so that it overflows no sooner than it must."""
    half = np.exp(0.5 * np.abs(x))
    return scaled * half * half


def i0(x: Array) -> Array:
    """The modified Bessel function I0; nan at infinity, as in SciPy and PyTorch."""
    return _grown(x, i0e(x))


def i1(x: Array) -> Array:
    """The modified Bessel function I1; nan at infinity, as in SciPy and PyTorch."""
    return _grown(x, i1e(x))


def _k0_low(x: Array) -> Array:
    return chebyshev(x * x, tables.K0_LOW, 0.0, 4.0) - np.log(0.5 * x) * i0(x)


def _k1_low(x: Array) -> Array:
    return chebyshev(x * x, tables.K1_LOW, 0.0, 4.0) / x + np.log(0.5 * x) * i1(x)


def k0e(x: Array) -> Array:
    """exp(x) K0(x); inf at 0, nan below."""
    return pieces(
        x,
        (
            (x == 0, lambda v: np.full_like(v, np.inf)),
            ((x > 0) & (x <= 2.0), lambda v: _k0_low(v) * np.exp(v)),
            (x > 2.0, lambda v: chebyshev(2.0 / v, tables.K0E_HIGH, 0.0, 1.0) / np.sqrt(v)),
        ),
    )


def k1e(x: Array) -> Array:
    """exp(x) K1(x); inf at 0, nan below."""
    return pieces(
        x,
        (
            (x == 0, lambda v: np.full_like(v, np.inf)),
            ((x > 0) & (x <= 2.0), lambda v: _k1_low(v) * np.exp(v)),
            (x > 2.0, lambda v: chebyshev(2.0 / v, tables.K1E_HIGH, 0.0, 1.0) / np.sqrt(v)),
        ),
    )


def k0(x: Array) -> Array:
    """The modified Bessel function K0."""
    return pieces(
        x,
        (
            (x == 0, lambda v: np.full_like(v, np.inf)),
            ((x > 0) & (x <= 2.0), _k0_low),
            (x > 2.0, lambda v: k0e(v) * np.exp(-v)),
        ),
    )


def k1(x: Array) -> Array:
    """The modified Bessel function K1."""
    return pieces(
        x,
        (
            (x == 0, lambda v: np.full_like(v, np.inf)),
            ((x > 0) & (x <= 2.0), _k1_low),
            (x > 2.0, lambda v: k1e(v) * np.exp(-v)),
        ),
    )


def _parts(x: Array, order: int) -> tuple[Array, Array]:
    """Amplitudes in and out of phase beyond 8, times sqrt(2/(pi x)) (DLMF 10.17)."""
    u = np.square(8.0 / x)
    p = (tables.BESSEL_P0, tables.BESSEL_P1)[order]
    q = (tables.BESSEL_Q0, tables.BESSEL_Q1)[order]
    size = np.sqrt(_TWO_OVER_PI / x)
    return size * chebyshev(u, p, 0.0, 1.0), size * chebyshev(u, q, 0.0, 1.0) / x


def _waves(x: Array, order: int) -> tuple[Array, Array]:
    """cos and sin of x - pi/4 (order 0) or x - 3 pi/4 (order 1), from cos x and sin x."""
    root = math.sqrt(0.5)
    c, s = np.cos(x) * root, np.sin(x) * root
    return (c + s, s - c) if order == 0 else (s - c, -c - s)


def _far(x: Array, order: int, second: bool) -> Array:
    p, q = _parts(x, order)
    c, s = _waves(x, order)
    return p * s + q * c if second else p * c - q * s


def j0(x: Array) -> Array:
    """The Bessel function J0; nan at infinity, as in SciPy and PyTorch."""
    size = np.abs(x)
    return pieces(
        size,
        (
            (size <= 8.0, lambda v: chebyshev(v * v, tables.J0_LOW, 0.0, 64.0)),
            (size > 8.0, lambda v: _far(v, 0, False)),
        ),
    )


def j1(x: Array) -> Array:
    """The Bessel function J1; nan at infinity, as in SciPy and PyTorch."""
    size = np.abs(x)
    value = pieces(
        size,
        (
            (size <= 8.0, lambda v: v * chebyshev(v * v, tables.J1_LOW, 0.0, 64.0)),
            (size > 8.0, lambda v: _far(v, 1, False)),
        ),
    )
    return np.where(x < 0, -value, value)


def y0(x: Array) -> Array:
    """The Bessel function Y0; -inf at 0, nan below and at infinity."""
    def low(v: Array) -> Array:
        return chebyshev(v * v, tables.Y0_LOW, 0.0, 64.0) + _TWO_OVER_PI * np.log(v) * j0(v)

    return pieces(
        x,
        (
            (x == 0, lambda v: np.full_like(v, -np.inf)),
            ((x > 0) & (x <= 8.0), low),
            (x > 8.0, lambda v: _far(v, 0, True)),
        ),
    )


def y1(x: Array) -> Array:
    """The Bessel function Y1; -inf at 0, nan below and at infinity."""
    def low(v: Array) -> Array:
        smooth = v * chebyshev(v * v, tables.Y1_LOW, 0.0, 64.0)
        return smooth + _TWO_OVER_PI * (np.log(v) * j1(v) - 1.0 / v)

    return pieces(
        x,
        (
            (x == 0, lambda v: np.full_like(v, -np.inf)),
            ((x > 0) & (x <= 8.0), low),
            (x > 8.0, lambda v: _far(v, 1, True)),
        ),
    )


def spherical_j0(x: Array) -> Array:
    """sin(x) / x; 0 at infinity."""
    near = np.abs(x) < 0.5
    square = np.where(near, x * x, 0.0)
    series = np.ones_like(square)
    for k in range(8, 0, -1):
        series = 1.0 - series * square / (2.0 * k * (2.0 * k + 1.0))
    far = np.where(near, 1.0, x)
    return np.where(near, series, np.where(np.isinf(x), 0.0, np.sin(far) / far))


_AIRY_HIGH = 2.0 / 3.0 * 2.0**1.5
_AIRY_LOW = 2.0 / 3.0 * 8.0**1.5


def _airy_high(x: Array) -> Array:
    z = 2.0 / 3.0 * x * np.sqrt(x)
    value = chebyshev(1.0 / z, tables.AIRY_HIGH, 0.0, 1.0 / _AIRY_HIGH)
    return value * np.exp(-z) / (2.0 * math.sqrt(math.pi) * np.sqrt(np.sqrt(x)))


def _airy_low(x: Array) -> Array:
    size = -x
    z = 2.0 / 3.0 * size * np.sqrt(size)
    v = 1.0 / (z * z)
    p = chebyshev(v, tables.AIRY_P, 0.0, _AIRY_LOW**-2)
    q = chebyshev(v, tables.AIRY_Q, 0.0, _AIRY_LOW**-2) / z
    phase = z - math.pi / 4.0
    return (np.cos(phase) * p + np.sin(phase) * q) / np.sqrt(math.pi * np.sqrt(size))


def airy_ai(x: Array) -> Array:
    """The Airy function Ai (DLMF 9.7 beyond [-8, 2]); nan at infinity, as in PyTorch."""
    return pieces(
        x,
        (
            (np.isinf(x), lambda v: np.full_like(v, np.nan)),
            (x >= 2.0, _airy_high),
            (x >= -8.0, lambda v: chebyshev(v, tables.AIRY_MIDDLE, -8.0, 2.0)),
            (x < -8.0, _airy_low),
        ),
    )
