"""Distributions with a location and a scale, and others of two numbers."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.distributions import constraints
from graphwright.runtime.distributions.distribution import (
    Centred,
    Distribution,
    Shape,
    broadcast_all,
    normal_like,
    parameters,
    uniform_open,
)
from graphwright.runtime.limits import finfo
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor

EULER = 0.57721566490153286060
LOG_2PI = math.log(2 * math.pi)


class LocationScale(Centred):
    """loc + scale * a fixed distribution of real numbers."""

    arg_constraints = parameters(loc=constraints.real, scale=constraints.positive)
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale


class Normal(LocationScale):
    """exp(-z^2 / 2) / (scale sqrt(2 pi)), with z = (x - loc) / scale."""

    @property
    def variance(self) -> Tensor:
        return self.scale.square()

    @property
    def stddev(self) -> Tensor:
        return self.scale

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.loc + normal_like(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return -0.5 * self._standard(value).square() - self.scale.log() - 0.5 * LOG_2PI

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return 0.5 * (1 + ops.erf(self._standard(value) / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * ops.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * LOG_2PI + self.scale.log()


class Laplace(LocationScale):
    """exp(-|z|) / (2 scale)."""

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.square()

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = 2 * uniform_open(self._extended_shape(sample_shape), self.loc) - 1
        u = u.clamp_min(finfo(u.dtype).eps - 1)
        return self.loc - self.scale * u.sign() * ops.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return -ops.log(2 * self.scale) - self._standard(value).abs()

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        z = self._standard(value)
        return 0.5 - 0.5 * z.sign() * ops.expm1(-z.abs())

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * ops.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        return 1 + ops.log(2 * self.scale)


class Cauchy(LocationScale):
    """1 / (pi scale (1 + z^2)); it has no mean, and its variance is infinite."""

    @property
    def mean(self) -> Tensor:
        return ops.full_like(self.loc, math.nan)

    @property
    def variance(self) -> Tensor:
        return ops.full_like(self.loc, math.inf)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = uniform_open(self._extended_shape(sample_shape), self.loc)
        return self.loc + self.scale * ops.tan(math.pi * (u - 0.5))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return -math.log(math.pi) - self.scale.log() - ops.log1p(self._standard(value).square())

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return ops.atan(self._standard(value)) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return ops.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(LocationScale):
    """exp(-z - exp(-z)) / scale."""

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (math.pi**2 / 6)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = uniform_open(self._extended_shape(sample_shape), self.loc)
        u = u.clamp_max(1 - finfo(u.dtype).eps)
        return self.loc - self.scale * ops.log(-ops.log(u))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        y = -self._standard(value)
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return ops.exp(-ops.exp(-self._standard(value)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * ops.log(-ops.log(value))

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)


class LogNormal(LocationScale):
    """exp of a normal variable."""

    support = constraints.positive

    def _base(self) -> Normal:
        return Normal(self.loc, self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return ops.exp(self.loc + self.scale.square() / 2)

    @property
    def mode(self) -> Tensor:
        return ops.exp(self.loc - self.scale.square())

    @property
    def variance(self) -> Tensor:
        square = self.scale.square()
        return ops.expm1(square) * ops.exp(2 * self.loc + square)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._base().rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return self._base().log_prob(value.log()) - value.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return self._base().cdf(value.log())

    def icdf(self, value: Tensor) -> Tensor:
        return self._base().icdf(value).exp()

    def entropy(self) -> Tensor:
        return self._base().entropy() + self.loc


class _Half(Distribution):
    """The absolute value of a symmetric distribution around 0."""

    arg_constraints = parameters(scale=constraints.positive)
    support = constraints.nonnegative
    has_rsample = True
    _whole: type[LocationScale]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    def _base(self) -> LocationScale:
        return self._whole(ops.zeros_like(self.scale), self.scale, validate_args=False)

    @property
    def mode(self) -> Tensor:
        return ops.zeros_like(self.scale)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._base().rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return ops.where(
            value >= 0, self._base().log_prob(value) + math.log(2), -math.inf
        )

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return 2 * self._base().cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self._base().icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self._base().entropy() - math.log(2)


class HalfNormal(_Half):
    """|x| of a normal x around 0."""

    _whole = Normal

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """|x| of a Cauchy x around 0."""

    _whole = Cauchy

    @property
    def mean(self) -> Tensor:
        return ops.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        return ops.full_like(self.scale, math.inf)


class Uniform(Distribution):
    """1 / (high - low) from `low` to below `high`. ValueError unless low < high."""

    arg_constraints = parameters(low=constraints.real, high=constraints.real)
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> constraints.Constraint:
        """From low to high."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return ops.full_like(self.high, math.nan)

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = tuple(self._extended_shape(sample_shape))
        u = ops.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        inside = (self.low <= value) & (self.high > value)
        return ops.log(inside.to(self.low.dtype)) - ops.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return ops.log(self.high - self.low)


class Exponential(Distribution):
    """rate exp(-rate x)."""

    arg_constraints = parameters(rate=constraints.positive)
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Tensor:
        return ops.zeros_like(self.rate)

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return -uniform_open(self._extended_shape(sample_shape), self.rate).log() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return -ops.expm1(-self.rate * value)

    def icdf(self, value: Tensor) -> Tensor:
        return -ops.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1 - ops.log(self.rate)


class Pareto(Distribution):
    """alpha scale^alpha / x^(alpha + 1) from `scale` on."""

    arg_constraints = parameters(alpha=constraints.positive, scale=constraints.positive)
    has_rsample = True

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """From scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = uniform_open(self._extended_shape(sample_shape), self.scale)
        return self.scale * ops.exp(-u.log() / self.alpha)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return 1 - (self.scale / value).pow(self.alpha)

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale / (1 - value).pow(self.alpha.reciprocal())

    def entropy(self) -> Tensor:
        return ops.log(self.scale / self.alpha) + (1 + self.alpha.reciprocal())


class Weibull(Distribution):
    """(k / s) y^(k - 1) exp(-y^k), with y = x / s, s the scale and k the concentration."""

    arg_constraints = parameters(scale=constraints.positive, concentration=constraints.positive)
    support = constraints.positive
    has_rsample = True

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        super().__init__(self.scale.shape, validate_args=validate_args)

    def _moment(self, order: int) -> Tensor:
        return ops.exp(ops.lgamma(1 + order / self.concentration))

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k).pow(k.reciprocal())

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (self._moment(2) - self._moment(1).square())

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = uniform_open(self._extended_shape(sample_shape), self.scale)
        return self.scale * (-u.log()).pow(self.concentration.reciprocal())

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        k, y = self.concentration, value / self.scale
        return ops.log(k / self.scale) + (k - 1) * y.log() - y.pow(k)

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return -ops.expm1(-(value / self.scale).pow(self.concentration))

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-ops.log1p(-value)).pow(self.concentration.reciprocal())

    def entropy(self) -> Tensor:
        k = self.concentration
        return EULER * (1 - k.reciprocal()) + ops.log(self.scale / k) + 1


class Kumaraswamy(Distribution):
    """a b x^(a - 1) (1 - x^a)^(b - 1) on (0, 1), with the two concentrations a and b."""

    arg_constraints = parameters(
        concentration1=constraints.positive,
        concentration0=constraints.positive,
    )
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    def _moment(self, order: int) -> Tensor:
        a, b = 1 + order / self.concentration1, self.concentration0
        return b * ops.exp(ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b))

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        found = ((a - 1) / (a * b - 1)).pow(a.reciprocal())
        return ops.where((a < 1) | (b < 1), math.nan, found)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.square()

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = uniform_open(self._extended_shape(sample_shape), self.concentration1)
        inner = -ops.expm1(u.log() / self.concentration0)
        return inner.pow(self.concentration1.reciprocal())

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        a, b = self.concentration1, self.concentration0
        return ops.log(a * b) + (a - 1) * value.log() + (b - 1) * ops.log1p(-value.pow(a))

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        inner = ops.log1p(-value.pow(self.concentration1))
        return -ops.expm1(self.concentration0 * inner)

    def icdf(self, value: Tensor) -> Tensor:
        inner = -ops.expm1(ops.log1p(-value) / self.concentration0)
        return inner.pow(self.concentration1.reciprocal())

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = ops.digamma(b + 1) + EULER
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - ops.log(a) - ops.log(b)
