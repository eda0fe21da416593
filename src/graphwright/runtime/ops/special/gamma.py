"""The gamma function's relatives: lgamma, digamma, zeta, polygamma, incomplete gamma."""

from __future__ import annotations

import math

import numpy as np

from graphwright.runtime.ops.special.error import erfc
from graphwright.runtime.ops.special.numeric import Array, State, chebyshev, pieces, repeated
from graphwright.runtime.ops.special.tables import LGAMMA_LOW, LGAMMA_MIDDLE

# B_2k / (2k (2k-1)): Stirling's series of lgamma.
_STIRLING = (
    1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400,
)
# B_2k / 2k: the asymptotic series of digamma.
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)
# B_2k / (2k)!: the tail of the Euler-Maclaurin sum.
_EULER = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000,
    1 / 74724249600, -3617 / 10670622842880000, 43867 / 5109094217170944000,
)
# Temme's c_0 and c_1 as series in eta (DLMF 8.12.11).
_TEMME = (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 1 / 25515,
          -571 / 261273600, -281 / 151559100)
_TEMME_SECOND = (-1 / 540, -1 / 288, 1 / 378, -77 / 77760)
_EXCESS = tuple((-1) ** k / k for k in range(2, 19))
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_SUMMED = 12


def _series(x: Array, coefficients: tuple[float, ...]) -> Array:
    """The sum of c_k x^k, k from 0."""
    value = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        value = value * x + c
    return value


def sin_pi(x: Array) -> Array:
    """sin(pi x), exact at integers."""
    whole = np.rint(x)
    value = np.sin(np.pi * (x - whole))
    return np.where(np.remainder(whole, 2.0) != 0, -value, value)


def _stirling(x: Array) -> Array:
    inverse = 1.0 / x
    tail = _series(inverse * inverse, _STIRLING) * inverse
    return (x - 0.5) * (np.log(x) - 1.0) - 0.5 + _HALF_LOG_2PI + tail


def _lgamma_low(x: Array) -> Array:
    return chebyshev(x, LGAMMA_LOW, 1.0, 3.0) * (x - 1.0) * (x - 2.0)


def _lgamma_positive(x: Array) -> Array:
    return pieces(
        x,
        (
            (x == np.inf, lambda v: v),
            (x >= 1e17, lambda v: v * (np.log(v) - 1.0)),
            (x >= 8.0, _stirling),
            (x >= 3.0, lambda v: chebyshev(v, LGAMMA_MIDDLE, 3.0, 8.0)),
            (x >= 1.0, _lgamma_low),
            (x > 0.0, lambda v: _lgamma_low(v + 1.0) - np.log(v)),
        ),
    )


def _lgamma_reflected(x: Array) -> Array:
    return np.log(np.pi / np.abs(sin_pi(x))) - _lgamma_positive(1.0 - x)


def lgamma(x: Array) -> Array:
    """log |gamma(x)|: relative 2e-15 for x > 0, else absolute; inf at the poles.

    Chebyshev on [1, 8], Stirling's series beyond, reflection below 0 (DLMF 5.5.3, 5.11.1).
    """
    return pieces(
        x,
        (
            (np.isinf(x) | (x == 0), lambda v: np.full_like(v, np.inf)),
            (x > 0, _lgamma_positive),
            ((x < 0) & (x == np.floor(x)), lambda v: np.full_like(v, np.inf)),
            (x < 0, _lgamma_reflected),
        ),
    )


def _digamma_positive(x: Array) -> Array:
    def step(k: int, x: Array, shift: Array) -> tuple[Array, Array]:
        low = x < 10.0
        return np.where(low, x + 1.0, x), np.where(low, shift - 1.0 / x, shift)

    x, shift = repeated(step, (x, np.zeros_like(x)), 10, lambda k, x, shift: x < 10.0)
    inverse = 1.0 / x
    square = inverse * inverse
    return shift + np.log(x) - 0.5 * inverse - square * _series(square, _DIGAMMA)


def _digamma_reflected(x: Array) -> Array:
    part = x - np.rint(x)
    return _digamma_positive(1.0 - x) - np.pi / np.tan(np.pi * part)


def digamma(x: Array) -> Array:
    """The derivative of lgamma: absolute 1e-15; -inf and inf at 0 and -0, nan at -1, -2, ...

    Recurrence up to 10, then the asymptotic series; reflection below 0 (DLMF 5.5.4, 5.11.2).
    """
    return pieces(
        x,
        (
            (x == np.inf, lambda v: v),
            (x == 0, lambda v: np.copysign(np.inf, -v)),
            (x > 0, _digamma_positive),
            ((x < 0) & (x != np.floor(x)), _digamma_reflected),
        ),
    )


def _hurwitz(x: Array, q: Array) -> Array:
    """zeta(x, q) for q > 0, x > 1: Euler-Maclaurin after 12 terms (DLMF 25.11.5)."""
    (total,) = repeated(lambda k, total: (total + np.power(q + (k - 1), -x),),
                        (np.zeros_like(x),), _SUMMED)
    a = q + _SUMMED
    last = np.power(a, -x)
    total = total + last * a / (x - 1.0) + 0.5 * last
    factor = last * x / a
    step = x
    for coefficient in _EULER:
        total = total + coefficient * factor
        factor = factor * (step + 1.0) * (step + 2.0) / (a * a)
        step = step + 2.0
    return total


def _hurwitz_negative(x: Array, q: Array) -> Array:
    """For q < 0 and whole x: the terms below and above zero summed apart."""
    part = q - np.floor(q)
    below = _hurwitz(x, 1.0 - part) - _hurwitz(x, 1.0 - q)
    return _hurwitz(x, part) + np.where(np.remainder(x, 2.0) != 0, -below, below)


def zeta(x: Array, q: Array) -> Array:
    """Hurwitz's zeta function, the sum of (q + k)^-x: relative 1e-14 for q > 0.

    inf for x = 1 and for q = 0, -1, ...; nan for x < 1, and for other q < 0 unless x is whole.
    """
    return pieces(
        x,
        (
            (np.isnan(x) | np.isnan(q), lambda v, w: v + w),
            (x == 1.0, lambda v, w: np.full_like(v, np.inf)),
            (x < 1.0, lambda v, w: np.full_like(v, np.nan)),
            ((q <= 0) & (q == np.floor(q)), lambda v, w: np.full_like(v, np.inf)),
            ((q <= 0) & (x != np.floor(x)), lambda v, w: np.full_like(v, np.nan)),
            (np.isinf(x) & (q < 0), lambda v, w: np.full_like(v, np.nan)),
            (np.isinf(x), lambda v, w: np.where(w < 1, np.inf, np.where(w == 1, 1.0, 0.0))),
            (np.isinf(q), lambda v, w: np.zeros_like(v)),
            (q > 0, _hurwitz),
            (q < 0, _hurwitz_negative),
        ),
        q,
    )


def polygamma(n: int, x: Array) -> Array:
    """The n-th derivative of digamma, (-1)^(n+1) n! zeta(n+1, x) for n > 0 (DLMF 25.11.12)."""
    if n == 0:
        return digamma(x)
    scale = math.exp(math.lgamma(n + 1.0)) if n > 20 else float(math.factorial(n))
    sign = 1.0 if n % 2 else -1.0
    return sign * scale * zeta(np.full_like(x, n + 1.0), x)


# -- incomplete gamma functions

_LIMIT = 20000
_EPSILON = 1e-16


def _prefactor(a: Array, x: Array) -> Array:
    """x^a e^-x / gamma(a+1), for large a through log(x/a) so that little cancels."""
    small = np.exp(a * np.log(x) - x - lgamma(a + 1.0))
    ratio = x / a
    shift = np.where(np.abs(ratio - 1.0) < 0.5, ratio - 1.0, 0.0)
    near = np.log1p(shift) - shift
    excess = np.where(shift != 0, near, np.log(ratio) - (ratio - 1.0))
    inverse = 1.0 / np.maximum(a, 1.0)
    tail = _series(inverse * inverse, _STIRLING) * inverse
    large = np.exp(a * excess - tail) / np.sqrt(2.0 * np.pi * a)
    return np.where(a < 20.0, small, large)


def _lower(x: Array, a: Array) -> Array:
    """P(a, x) by its power series (DLMF 8.7.1)."""
    def step(k: int, term: Array, total: Array) -> tuple[Array, Array]:
        term = term * x / (a + k)
        return term, total + term

    _, total = repeated(step, (np.ones_like(x), np.ones_like(x)), _LIMIT,
                        lambda k, term, total: term > total * _EPSILON)
    return np.minimum(total * _prefactor(a, x), 1.0)


def _upper(x: Array, a: Array) -> Array:
    """Q(a, x) by Lentz's continued fraction (DLMF 8.9.2)."""
    tiny = 1e-300
    b = x + 1.0 - a
    c = np.full_like(x, 1.0 / tiny)
    d = 1.0 / np.where(b == 0, tiny, b)

    def step(k: int, b: Array, c: Array, d: Array, value: Array, ratio: Array) -> State:
        numerator = -k * (k - a)
        b = b + 2.0
        d = numerator * d + b
        c = b + numerator / c
        d = 1.0 / np.where(np.abs(d) < tiny, tiny, d)
        c = np.where(np.abs(c) < tiny, tiny, c)
        return b, c, d, value * (d * c), d * c

    start = (b, c, d, d, np.zeros_like(x))
    *_, value, _ = repeated(step, start, _LIMIT,
                            lambda k, *state: np.abs(state[-1] - 1.0) > _EPSILON * 4)
    return value * _prefactor(a, x) * a


def _small_upper(x: Array, a: Array) -> Array:
    """Q for x < 1.1 and small a, where 1 - P cancels: 1 - x^a/gamma(a+1) + ... summed apart."""
    exponent = a * np.log(x) - lgamma(a + 1.0)

    def step(k: int, term: Array, total: Array) -> tuple[Array, Array]:
        term = term * -x / k
        return term, total + term * a / (a + k)

    _, total = repeated(step, (np.ones_like(x), np.zeros_like(x)), 2000,
                        lambda k, term, total: np.abs(term) > _EPSILON)
    return -np.expm1(exponent) - np.exp(exponent) * total


def _is_uniform(x: Array, a: Array) -> Array:
    return np.isfinite(a) & (a >= 1e6) & (np.abs(x - a) < 0.1 * a)


def _uniform(x: Array, a: Array, sign: float) -> Array:
    """Q (`sign` 1) or P (-1) by Temme's uniform expansion (DLMF 8.12.3 and 8.12.4)."""
    gap = (x - a) / a
    eta = gap * np.sqrt(2.0 * _series(gap, _EXCESS))
    side = eta * np.sqrt(0.5 * a)
    rest = _series(eta, _TEMME) + _series(eta, _TEMME_SECOND) / a
    rest = rest * np.exp(-side * side) / math.sqrt(2.0 * math.pi) / np.sqrt(a)
    return 0.5 * erfc(sign * side) + sign * rest


def igamma(a: Array, x: Array) -> Array:
    """The regularised lower incomplete gamma function P(a, x); 1e-13 or better.

    nan for negative arguments, 0 at x = 0, 1 at a = 0.
    """
    wrong = (a < 0) | (x < 0) | np.isnan(a) | np.isnan(x)
    return pieces(
        x,
        (
            (wrong | ((a == 0) & (x == 0)), lambda v, w: np.full_like(v, np.nan)),
            (a == 0, lambda v, w: np.ones_like(v)),
            (x == 0, lambda v, w: np.zeros_like(v)),
            (np.isinf(a) & np.isinf(x), lambda v, w: np.full_like(v, np.nan)),
            (np.isinf(a), lambda v, w: np.zeros_like(v)),
            (np.isinf(x), lambda v, w: np.ones_like(v)),
            (_is_uniform(x, a), lambda v, w: _uniform(v, w, -1.0)),
            ((x > 1.0) & (x > a), lambda v, w: 1.0 - _upper(v, w)),
            (x >= 0, _lower),
        ),
        a,
    )


def igammac(a: Array, x: Array) -> Array:
    """The regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x)."""
    wrong = (a < 0) | (x < 0) | np.isnan(a) | np.isnan(x)
    return pieces(
        x,
        (
            (wrong | ((a == 0) & (x == 0)), lambda v, w: np.full_like(v, np.nan)),
            (a == 0, lambda v, w: np.zeros_like(v)),
            (x == 0, lambda v, w: np.ones_like(v)),
            (np.isinf(a) & np.isinf(x), lambda v, w: np.full_like(v, np.nan)),
            (np.isinf(a), lambda v, w: np.ones_like(v)),
            (np.isinf(x), lambda v, w: np.zeros_like(v)),
            (_is_uniform(x, a), lambda v, w: _uniform(v, w, 1.0)),
            ((x > 1.1) & (x > a), _upper),
            ((x <= 1.1) & (a < 1.0), _small_upper),
            (x >= 0, lambda v, w: 1.0 - _lower(v, w)),
        ),
        a,
    )
