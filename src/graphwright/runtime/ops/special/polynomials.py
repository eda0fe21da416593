"""Orthogonal polynomials p_n(x) in float64, by their three-term recurrences (DLMF 18.9).

Chebyshev polynomials of an order above `MAX_STEPS` have a closed form (DLMF 18.5); Hermite's are
nan from where they overflow, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from graphwright.runtime.ops.special.numeric import Array, State, pieces, repeated, require

_Function = Callable[[Array, Array], Array]
_Step = Callable[[Array, Array, Array, int], Array]

MAX_STEPS = 1 << 16
"""The highest order to which a recurrence goes, a step for each."""
TOO_HIGH = f"the order n must be at most {MAX_STEPS}, got {{value}}"
"""What is said of a higher order of polynomials without a closed form."""
LIMITED = frozenset({"special_laguerre_polynomial_l", "special_legendre_polynomial_p"})
"""The ops of those."""


def _polynomial(
    first: Callable[[Array], Array], step: _Step, closed: _Function | None = None
) -> _Function:
    """p_0 = 1, p_1 = first(x), p_(k+1) = step(x, p_k, p_(k-1), k); 0 for negative n.

    closed(x, n): the values of an order above MAX_STEPS, where ValueError is raised without it.
    """

    def recurrence(x: Array, order: Array) -> Array:
        def turn(k: int, result: Array, before: Array, value: Array) -> State:
            return np.where(order == k, value, result), value, step(x, value, before, k)

        start = np.where(order == 0, 1.0, np.where(order > 0, np.nan, 0.0))
        result, *_ = repeated(
            turn, (start, np.ones_like(x), first(x)), MAX_STEPS,
            lambda k, result, before, value: (order >= k) & ~np.isnan(value))
        return np.where(np.isnan(x) & (order > 0), np.nan, result)

    def function(x: Array, n: Array) -> Array:
        order = np.trunc(np.where(np.isfinite(n), n, -1.0))
        beyond = order > MAX_STEPS
        if closed is None:
            require(~beyond, lambda: TOO_HIGH.format(value=f"{order.max():.0f}"))
            return recurrence(x, order)
        return pieces(x, ((beyond, _finite(closed)), (~beyond, recurrence)), order)

    return function


def _finite(closed: _Function) -> _Function:
    """Infinite values as nan."""
    def function(x: Array, n: Array) -> Array:
        values = closed(x, n)
        return np.where(np.isfinite(values), values, np.nan)
    return function


def _chebyshev_step(x: Array, p: Array, before: Array, k: int) -> Array:
    return 2.0 * x * p - before


def _ratio(above: Array, below: Array, limit: Array) -> Array:
    """A fraction, which tends to the limit where both are 0."""
    zero = below == 0
    return np.where(zero, limit, above / np.where(zero, 1.0, below))


def _parity(n: Array) -> Array:
    return np.where(np.remainder(n, 2.0) == 0, 1.0, -1.0)


def _sign(x: Array, n: Array) -> Array:
    return np.where(x < 0, _parity(n), 1.0)


def _by_angle(inside: _Function, beyond: _Function) -> _Function:
    """inside(arccos x, n) of |x| <= 1, beyond(arccosh |x|, n) of others: the real part of the
    former at complex angles."""
    return lambda x, n: pieces(x, (
        (np.abs(x) <= 1.0, lambda v, m: inside(np.arccos(v), m)),
        (np.abs(x) > 1.0, lambda v, m: beyond(np.arccosh(np.abs(v)), m))), n)


def _first_kind(x: Array, n: Array) -> Array:
    values = _by_angle(lambda a, m: np.cos(m * a), lambda a, m: np.cosh(m * a))
    return _sign(x, n) * values(np.abs(x), n)


def _second_kind(x: Array, n: Array) -> Array:
    values = _by_angle(lambda a, m: _ratio(np.sin((m + 1.0) * a), np.sin(a), m + 1.0),
                       lambda a, m: _ratio(np.sinh((m + 1.0) * a), np.sinh(a), m + 1.0))
    return _sign(x, n) * values(np.abs(x), n)


def _fourth_kind(x: Array, n: Array) -> Array:
    """Below -1 the third kind's at -x, with the sign of its parity."""
    def below(v: Array, m: Array) -> Array:
        angle = np.arccosh(-v)
        return _parity(m) * _ratio(np.cosh((m + 0.5) * angle), np.cosh(0.5 * angle), m * 0 + 1.0)

    values = _by_angle(
        lambda a, m: _ratio(np.sin((m + 0.5) * a), np.sin(0.5 * a), 2.0 * m + 1.0),
        lambda a, m: _ratio(np.sinh((m + 0.5) * a), np.sinh(0.5 * a), 2.0 * m + 1.0))
    return pieces(x, ((x < -1.0, below), (x >= -1.0, values)), n)


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
