"""Divergences of distributions of two families: the entropy of p, and E[log q] by p's moments.

Importing the module registers them with `kl_divergence`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from graphwright.distributions import continuous as c
from graphwright.distributions import derived as r
from graphwright.distributions import discrete as d
from graphwright.distributions import gamma as g
from graphwright.distributions.kl import kl_divergence, register_kl
from graphwright.distributions.unit import ContinuousBernoulli
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["kl_divergence", "register_kl"]

_MEAN_LOG: dict[type, Callable[[Any], Tensor]] = {
    g.Beta: lambda p: ops.digamma(p.concentration1)
    - ops.digamma(p.concentration1 + p.concentration0),
    c.Exponential: lambda p: -p.rate.log() - c.EULER,
    g.Gamma: lambda p: ops.digamma(p.concentration) - p.rate.log(),
    r.Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    c.Uniform: lambda p: (ops.xlogy(p.high, p.high) - ops.xlogy(p.low, p.low))
    / (p.high - p.low)
    - 1,
}
"""E[log x] by the class of x's distribution."""

_MEAN_EXP: dict[type, Callable[[Any, Tensor], Tensor]] = {
    c.Normal: lambda p, t: ops.exp(p.loc * t + (p.scale * t).square() / 2),
    c.Exponential: lambda p, t: p.rate / (p.rate - t),
    g.Gamma: lambda p, t: (p.rate / (p.rate - t)).pow(p.concentration),
    c.Uniform: lambda p, t: ((p.high * t).exp() - (p.low * t).exp()) / (t * (p.high - p.low)),
}
"""E[exp(t x)]."""


def _under(p: Any, known: dict[type, Any]) -> Any:
    """What is known of the nearest class of p."""
    return next(known[kind] for kind in type(p).__mro__ if kind in known)


def _infinite_where(outside: Tensor, value: Tensor) -> Tensor:
    """`value`, and infinity where p has values that q never takes."""
    return ops.where(outside, math.inf, value)


def _of_normal(p: Any, q: Any) -> Tensor:
    square = (p.variance + (p.mean - q.loc).square()) / q.scale.square()
    return -0.5 * square - q.scale.log() - 0.5 * c.LOG_2PI


def _of_exponential(p: Any, q: Any) -> Tensor:
    return q.rate.log() - q.rate * p.mean


def _of_gamma(p: Any, q: Any) -> Tensor:
    a, rate = q.concentration, q.rate
    mean_log = _under(p, _MEAN_LOG)(p)
    return a * rate.log() - ops.lgamma(a) + (a - 1) * mean_log - rate * p.mean


def _of_gumbel(p: Any, q: Any) -> Tensor:
    slope = q.scale.reciprocal()
    inner = ops.exp(q.loc * slope) * _under(p, _MEAN_EXP)(p, -slope)
    return -q.scale.log() - (p.mean - q.loc) * slope - inner


def _of_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    return p.mean * q.logits + ops.log1p(-q.probs) + q._log_norm()


def _of_uniform(p: Any, q: Any) -> Tensor:
    """Of values between 0 and 1."""
    return -_infinite_where((q.low > 0) | (q.high < 1), ops.log(q.high - q.low))


def _laplace_of_normal(p: Any, q: Any) -> Tensor:
    """With E|x - loc| of the folded normal distribution."""
    gap = p.loc - q.loc
    near = p.scale * math.sqrt(2 / math.pi) * ops.exp(-0.5 * (gap / p.scale).square())
    far = gap * ops.erf(gap / (p.scale * math.sqrt(2)))
    return -ops.log(2 * q.scale) - (near + far) / q.scale


def _beta_of_uniform(p: Any, q: Any) -> Tensor:
    a, b = q.concentration1, q.concentration0
    mirrored = c.Uniform(1 - p.high, 1 - p.low, validate_args=False)
    norm = ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)
    mean_log = _MEAN_LOG[c.Uniform]
    return (a - 1) * mean_log(p) + (b - 1) * mean_log(mirrored) - norm


def _pareto_of_uniform(p: Any, q: Any) -> Tensor:
    a = q.alpha
    return a.log() + a * q.scale.log() - (a + 1) * _MEAN_LOG[c.Uniform](p)


def _poisson_of_bernoulli(p: Any, q: Any) -> Tensor:
    return p.probs * q.rate.log() - q.rate


_Mean = Callable[[Any, Any], Tensor]
_FINITE: list[tuple[type, type, _Mean]] = [
    *((p, c.Normal, _of_normal)
      for p in (g.Beta, ContinuousBernoulli, c.Exponential, g.Gamma, r.Gumbel, c.Laplace,
                r.Pareto, c.Uniform)),
    *((p, c.Exponential, _of_exponential)
      for p in (g.Beta, ContinuousBernoulli, g.Gamma, r.Pareto)),
    *((p, g.Gamma, _of_gamma) for p in (g.Beta, c.Exponential, r.Pareto)),
    *((p, r.Gumbel, _of_gumbel) for p in (c.Exponential, g.Gamma, c.Normal, c.Uniform)),
    *((p, c.Uniform, _of_uniform) for p in (g.Beta, ContinuousBernoulli)),
    (g.Beta, ContinuousBernoulli, _of_continuous_bernoulli),
    (c.Normal, c.Laplace, _laplace_of_normal),
    (d.Bernoulli, d.Poisson, _poisson_of_bernoulli),
]  # fmt: skip
"""(p, q, E[log q] under p), where q takes all values of p."""

_OF_UNIFORM: list[tuple[type, _Mean, Callable[[Any, Any], Tensor]]] = [
    (g.Beta, _beta_of_uniform, lambda p, q: (p.low < 0) | (p.high > 1)),
    (ContinuousBernoulli, _of_continuous_bernoulli, lambda p, q: (p.low < 0) | (p.high > 1)),
    (c.Exponential, _of_exponential, lambda p, q: p.low < 0),
    (g.Gamma, _of_gamma, lambda p, q: p.low < 0),
    (r.Pareto, _pareto_of_uniform, lambda p, q: p.low < q.scale),
]
"""(q, E[log q], where q does not take all values) under uniform p."""

_BOUNDED: tuple[type, ...] = (g.Beta, ContinuousBernoulli, c.Uniform)
_INFINITE: list[tuple[type, tuple[type, ...]]] = [
    *((p, (*_BOUNDED, c.Exponential, g.Gamma, r.Pareto))
      for p in (c.Normal, c.Laplace, r.Gumbel)),
    *((p, (*_BOUNDED, r.Pareto)) for p in (c.Exponential, g.Gamma)),
    (r.Pareto, _BOUNDED),
    (g.Beta, (r.Pareto,)),
    (ContinuousBernoulli, (r.Pareto,)),
    (d.Poisson, (d.Bernoulli, d.Binomial)),
]  # fmt: skip
"""(p, the q that never take some values of p)."""


def _infinite(p: Any, q: Any) -> Tensor:
    return ops.full_like(ops.add(p.mean, q.mean), math.inf)


def _register_finite(kind_p: type, kind_q: type, mean: _Mean) -> None:
    register_kl(kind_p, kind_q)(lambda p, q: -p.entropy() - mean(p, q))


def _register_of_uniform(kind: type, mean: _Mean, outside: Callable[[Any, Any], Tensor]) -> None:
    register_kl(c.Uniform, kind)(
        lambda p, q: _infinite_where(outside(p, q), -p.entropy() - mean(p, q))
    )


for _p, _q, _mean in _FINITE:
    _register_finite(_p, _q, _mean)
for _q, _mean, _outside in _OF_UNIFORM:
    _register_of_uniform(_q, _mean, _outside)
for _p, _kinds in _INFINITE:
    for _q in _kinds:
        register_kl(_p, _q)(_infinite)
