"""Orthogonal polynomials p_n(x) in float64, by their three-term recurrences (DLMF 18.9).

Chebyshev polynomials of an order above `MAX_STEPS` have a closed form (DLMF 18.5); Hermite's are
nan from where they overflow, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphwright.runtime.ops.special.numeric import Array

_Function = Callable[[Array, Array], Array]
_Step = Callable[[Array, Array, Array, int], Array]

MAX_STEPS = 1 << 16
"""The highest order to which a recurrence goes, a step for each."""
_CHECKED = 64
"""How many steps it goes before it looks whether only nan is left."""


def _polynomial(
    first: Callable[[Array], Array], step: _Step, closed: _Function | None = None
) -> _Function:
    """p_0 = 1, p_1 = first(x), p_(k+1) = step(x, p_k, p_(k-1), k); 0 for negative n.

    closed(x, n): the values of an order above MAX_STEPS, where ValueError is raised without it.
    """

    def function(x: Array, n: Array) -> Array:
        order = np.trunc(np.where(np.isfinite(n), n, -1.0))
        result = np.where(order == 0, 1.0, 0.0)
        beyond = order > MAX_STEPS
        before, value = np.ones_like(x), first(x)
        for k in range(1, int(order.max(initial=0, where=~beyond)) + 1):
            if k % _CHECKED == 0 and np.isnan(value).all():
                result = np.where(order >= k, np.nan, result)
                break
            result = np.where(order == k, value, result)
            before, value = value, step(x, value, before, k)
        result = np.where(np.isnan(x) & (order > 0), np.nan, result)
        if beyond.any():
            result[beyond] = _beyond(closed, x[beyond], order[beyond])
        return result

    return function


def _beyond(closed: _Function | None, x: Array, n: Array) -> Array:
    if closed is None:
        raise ValueError(f"the order n must be at most {MAX_STEPS}, got {n.max():.0f}")
    values = closed(x, n)
    return np.where(np.isfinite(values), values, np.nan)


def _chebyshev_step(x: Array, p: Array, before: Array, k: int) -> Array:
    return 2.0 * x * p - before


def _angle(x: Array) -> Array:
    """Complex where |x| > 1, where cosines become hyperbolic."""
    return np.arccos(x.astype(np.complex128))


def _ratio(above: Array, below: Array, limit: Array) -> Array:
    """The real part of a fraction, which tends to the limit where both are 0."""
    zero = below == 0
    return np.where(zero, limit, (above / np.where(zero, 1.0, below)).real)


def _parity(n: Array) -> Array:
    return np.where(n % 2 == 0, 1.0, -1.0)


def _sign(x: Array, n: Array) -> Array:
    return np.where(x < 0, _parity(n), 1.0)


def _first_kind(x: Array, n: Array) -> Array:
    return np.asarray(_sign(x, n) * np.cos(n * _angle(np.abs(x))).real)


def _second_kind(x: Array, n: Array) -> Array:
    angle = _angle(np.abs(x))
    return _sign(x, n) * _ratio(np.sin((n + 1.0) * angle), np.sin(angle), n + 1.0)


def _fourth_kind(x: Array, n: Array) -> Array:
    angle = _angle(x)
    return _ratio(np.sin((n + 0.5) * angle), np.sin(0.5 * angle), 2.0 * n + 1.0)


def _third_kind(x: Array, n: Array) -> Array:
    return _parity(n) * _fourth_kind(-x, n)


def _overflown(x: Array, n: Array) -> Array:
    return np.full_like(x, np.nan)


def _shifted(function: _Function) -> _Function:
    return lambda x, n: function(2.0 * x - 1.0, n)


_CHEBYSHEV = {
    "t": _polynomial(lambda x: x, _chebyshev_step, _first_kind),
    "u": _polynomial(lambda x: 2.0 * x, _chebyshev_step, _second_kind),
    "v": _polynomial(lambda x: 2.0 * x - 1.0, _chebyshev_step, _third_kind),
    "w": _polynomial(lambda x: 2.0 * x + 1.0, _chebyshev_step, _fourth_kind),
}
POLYNOMIALS: dict[str, _Function] = {
    **{f"chebyshev_polynomial_{k}": f for k, f in _CHEBYSHEV.items()},
    **{f"shifted_chebyshev_polynomial_{k}": _shifted(f) for k, f in _CHEBYSHEV.items()},
    "hermite_polynomial_h": _polynomial(
        lambda x: 2.0 * x, lambda x, p, before, k: 2.0 * x * p - 2.0 * k * before, _overflown
    ),
    "hermite_polynomial_he": _polynomial(
        lambda x: x, lambda x, p, b, k: x * p - k * b, _overflown
    ),
    "laguerre_polynomial_l": _polynomial(
        lambda x: 1.0 - x, lambda x, p, b, k: ((2 * k + 1 - x) * p - k * b) / (k + 1)
    ),
    "legendre_polynomial_p": _polynomial(
        lambda x: x, lambda x, p, b, k: ((2 * k + 1) * x * p - k * b) / (k + 1)
    ),
}
"""Functions of x and n by name."""
DEFINITIONS: dict[str, tuple[str, str]] = {
    "chebyshev_polynomial_t": (
        "Chebyshev polynomial of the first kind, `T_n(cos a) = cos(n a)`",
        "0.1250",
    ),
    "chebyshev_polynomial_u": (
        "Chebyshev polynomial of the second kind, `U_n(cos a) = sin((n + 1) a) / sin(a)`",
        "1.2500",
    ),
    "chebyshev_polynomial_v": (
        "Chebyshev polynomial of the third kind, `V_n(cos a) = cos((n + 1/2) a) / cos(a / 2)`",
        "-0.2500",
    ),
    "chebyshev_polynomial_w": (
        "Chebyshev polynomial of the fourth kind, `W_n(cos a) = sin((n + 1/2) a) / sin(a / 2)`",
        "2.7500",
    ),
    "shifted_chebyshev_polynomial_t": (
        "Shifted Chebyshev polynomial of the first kind, `T_n(2x - 1)`",
        "-0.5000",
    ),
    "shifted_chebyshev_polynomial_u": (
        "Shifted Chebyshev polynomial of the second kind, `U_n(2x - 1)`",
        "0.",
    ),
    "shifted_chebyshev_polynomial_v": (
        "Shifted Chebyshev polynomial of the third kind, `V_n(2x - 1)`",
        "-1.",
    ),
    "shifted_chebyshev_polynomial_w": (
        "Shifted Chebyshev polynomial of the fourth kind, `W_n(2x - 1)`",
        "1.",
    ),
    "hermite_polynomial_h": ("Hermite polynomial of physics, `H_2(x) = 4x^2 - 2`", "0.2500"),
    "hermite_polynomial_he": ("Hermite polynomial of probability, `He_2(x) = x^2 - 1`", "-0.4375"),
    "laguerre_polynomial_l": ("Laguerre polynomial, `L_2(x) = (x^2 - 4x + 2) / 2`", "-0.2188"),
    "legendre_polynomial_p": ("Legendre polynomial, `P_2(x) = (3x^2 - 1) / 2`", "0.3438"),
}
"""What each is, and its printed value for x = 0.75 and n = 2."""
