"""Kullback-Leibler divergences in closed form, by the types of two distributions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from graphwright.autograd import grad
from graphwright.autograd.grad_mode import enable_grad
from graphwright.distributions import continuous as c
from graphwright.distributions import derived as r
from graphwright.distributions import discrete as d
from graphwright.distributions import gamma as g
from graphwright.distributions.distribution import Distribution, sum_rightmost
from graphwright.distributions.exp_family import ExponentialFamily
from graphwright.distributions.lowrank import LowRankMultivariateNormal
from graphwright.distributions.matrices import Wishart, multivariate_digamma
from graphwright.distributions.multivariate import MultivariateNormal, half_log_det, mahalanobis
from graphwright.distributions.transformed import Independent, TransformedDistribution
from graphwright.distributions.unit import ContinuousBernoulli
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

Rule = Callable[[Any, Any], Tensor]
_RULES: dict[tuple[type, type], Rule] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """A decorator: the function gives the divergence of a `type_p` from a `type_q`.

    It takes the place of an earlier one. As in PyTorch the classes need not derive from
    `Distribution`. Raises TypeError for what are no classes.
    """
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"Expected a Distribution subclass but got {kind}")

    def register(rule: Rule) -> Rule:
        _RULES[type_p, type_q] = rule
        return rule

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The expectation of log p - log q under p, in nats, for every member of the batch.

    The rule of the nearest base classes is taken, first of p and then of q, with a RuntimeWarning
    where another one is the nearest first of q. Raises NotImplementedError where none fits.
    """
    kinds_p, kinds_q = type(p).__mro__, type(q).__mro__
    fitting = [(a, b) for a in kinds_p for b in kinds_q if (a, b) in _RULES]
    if not fitting:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    rule = _RULES[fitting[0]]
    other = next((a, b) for b in kinds_q for a in kinds_p if (a, b) in _RULES)
    if _RULES[other] is not rule:
        warnings.warn(
            f"Ambiguous kl_divergence({type(p).__name__}, {type(q).__name__}). Please "
            f"register_kl({fitting[0][0].__name__}, {other[1].__name__})",
            RuntimeWarning,
            stacklevel=2,
        )
    return rule(p, q)


@register_kl(c.Normal, c.Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).square()
    shift = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + shift - 1 - ratio.log())


@register_kl(r.HalfNormal, r.HalfNormal)
def _half_normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).square()
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(c.Laplace, c.Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio, gap = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + gap / q.scale + ratio * ops.exp(-gap / p.scale) - 1


@register_kl(c.Cauchy, c.Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    first = ((p.scale + q.scale).square() + (p.loc - q.loc).square()).log()
    return first - (4 * p.scale * q.scale).log()


@register_kl(r.Gumbel, r.Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio, shift = p.scale / q.scale, (q.loc - p.loc) / q.scale
    inner = ops.exp(shift + ops.lgamma(1 + ratio))
    return -ratio.log() - shift + ratio * c.EULER + inner - (1 + c.EULER)


@register_kl(c.Uniform, c.Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    outside = (q.low > p.low) | (q.high < p.high)
    return ops.where(outside, math.inf, ((q.high - q.low) / (p.high - p.low)).log())


@register_kl(c.Exponential, c.Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(r.Pareto, r.Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return ops.where(p.scale < q.scale, math.inf, found)


@register_kl(g.Gamma, g.Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    first = b * (p.rate / q.rate).log() + ops.lgamma(b) - ops.lgamma(a)
    return first + (a - b) * ops.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(g.Beta, g.Beta)
def _beta(p: Any, q: Any) -> Tensor:
    return _dirichlet(p._pair(), q._pair())


@register_kl(g.Dirichlet, g.Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    scale = ops.lgamma(total) - ops.lgamma(b.sum(-1)) - (ops.lgamma(a) - ops.lgamma(b)).sum(-1)
    inner = (a - b) * (ops.digamma(a) - ops.digamma(total).unsqueeze(-1))
    return scale + inner.sum(-1)


@register_kl(d.Bernoulli, d.Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    first = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    second = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    first = ops.where(p.probs == 0, 0.0, ops.where(q.probs == 0, math.inf, first))
    second = ops.where(p.probs == 1, 0.0, ops.where(q.probs == 1, math.inf, second))
    return first + second


@register_kl(d.Binomial, d.Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    """Raises NotImplementedError where q may count less far than p."""
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    found = p.total_count * (
        p.probs * (p.logits - q.logits) + ops.log1p(-p.probs) - ops.log1p(-q.probs)
    )
    return ops.where(p.total_count > q.total_count, math.inf, found)


@register_kl(d.Geometric, d.Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - ops.log1p(-q.probs) / p.probs - q.logits


@register_kl(d.Poisson, d.Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(d.Categorical, d.Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = ops.where(p.probs == 0, 0.0, ops.where(q.probs == 0, math.inf, terms))
    return terms.sum(-1)


@register_kl(d.OneHotCategorical, d.OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Tensor:
    return _categorical(p, q)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: Any, q: Any) -> Tensor:
    """Raises ValueError for vectors of different sizes."""
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes "
            "cannot be computed"
        )
    scale = half_log_det(q.scale_tril) - half_log_det(p.scale_tril)
    moved = ops.linalg_solve_triangular(q.scale_tril, p.scale_tril, upper=False)
    traces = moved.square().sum((-2, -1))
    gap = mahalanobis(q.scale_tril, q.loc - p.loc)
    return scale + 0.5 * (traces + gap - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _normal_low_rank(p: Any, q: Any) -> Tensor:
    low = isinstance(p, LowRankMultivariateNormal)
    log_det = p.log_det() if low else 2 * half_log_det(p.scale_tril)
    traces = (q.precision_matrix * p.covariance_matrix).sum((-2, -1))
    gap = q.mahalanobis(q.loc - p.loc)
    return 0.5 * (q.log_det() - log_det + traces + gap - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_normal(p: Any, q: Any) -> Tensor:
    return _multivariate_normal(p, q)


@register_kl(Wishart, Wishart)
def _wishart(p: Any, q: Any) -> Tensor:
    n = p.event_shape[-1]
    own, other = half_log_det(p.scale_tril), half_log_det(q.scale_tril)
    log_det = multivariate_digamma(p.df / 2, n) + n * math.log(2) + 2 * own
    inside = ops.cholesky_solve(p.covariance_matrix, q.scale_tril)
    trace = inside.diagonal(dim1=-2, dim2=-1).sum(-1)
    return (
        (q.df - p.df) * (n * math.log(2) / 2)
        + (q.df * other - p.df * own)
        + (ops.mvlgamma(q.df / 2, n) - ops.mvlgamma(p.df / 2, n))
        + (p.df - q.df) / 2 * log_det
        + p.df / 2 * (trace - n)
    )


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    slope = p.mean * (p.logits - q.logits)
    start = p._log_norm() + ops.log1p(-p.probs)
    return slope + start - q._log_norm() - ops.log1p(-q.probs)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the distributions take different numbers of dims together")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    """Of the bases, where the transforms are equal."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the distributions have different transforms or events")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p: Any, q: Any) -> Tensor:
    """F(q) - F(p) - (q - p) . F'(p) of two members of one family; Nielsen and Nock, 2010."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            "using Bregman divergences"
        )
    with enable_grad():
        own = [value.detach().requires_grad_() for value in p._natural_params]
        norm = p._log_normalizer(*own)
        slopes = grad(norm.sum(), own, create_graph=True)
    others = q._natural_params
    result = q._log_normalizer(*others) - norm
    for mine, other, slope in zip(own, others, slopes, strict=True):
        term = (other - mine) * slope
        result = result - sum_rightmost(term, slope.ndim - len(p.batch_shape))
    return result
