"""Distributions of transformed variables, with their own formulas."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.continuous import (
    EULER,
    Cauchy,
    Exponential,
    LocationScale,
    Normal,
    Uniform,
)
from graphwright.distributions.distribution import (
    Distribution,
    Shape,
    broadcast_all,
    lazy,
    parameters,
    uniform_open,
)
from graphwright.distributions.gamma import Gamma, gamma_variates
from graphwright.distributions.transform import Transform
from graphwright.distributions.transformed import OfTransforms
from graphwright.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
)
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor


class Gumbel(LocationScale, OfTransforms):
    """exp(-z - exp(-z)) / scale."""

    @lazy
    def base_dist(self) -> Distribution:
        """Uniform numbers between 0 and 1."""
        info = finfo(self.loc.dtype)
        low = ops.full_like(self.loc, info.tiny)
        high = ops.full_like(self.loc, 1 - info.eps)
        return Uniform(low, high, validate_args=False)

    @lazy
    def transforms(self) -> list[Transform]:
        """loc - scale log(-log(u))."""
        log, minus = ExpTransform().inv, AffineTransform(0, -ops.ones_like(self.scale))
        return [log, minus, log, AffineTransform(self.loc, -self.scale)]

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


class LogNormal(LocationScale, OfTransforms):
    """exp of a normal variable."""

    support = constraints.positive

    @lazy
    def base_dist(self) -> Normal:
        """The normal variable."""
        return Normal(self.loc, self.scale, validate_args=False)

    @lazy
    def transforms(self) -> list[Transform]:
        """exp."""
        return [ExpTransform()]

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
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return self.base_dist.log_prob(value.log()) - value.log()

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf(value).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class _Half(OfTransforms):
    """The absolute value of a symmetric distribution around 0."""

    arg_constraints = parameters(scale=constraints.positive)
    support = constraints.nonnegative
    _whole: type[LocationScale]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast_all(scale)
        Distribution.__init__(self, self.scale.shape, validate_args=validate_args)

    @lazy
    def base_dist(self) -> LocationScale:
        """The symmetric distribution."""
        return self._whole(ops.zeros_like(self.scale), self.scale, validate_args=False)

    @lazy
    def transforms(self) -> list[Transform]:
        """|x|."""
        return [AbsTransform()]

    @property
    def mode(self) -> Tensor:
        return ops.zeros_like(self.scale)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return ops.where(
            value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf
        )

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


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


class Pareto(OfTransforms):
    """alpha scale^alpha / x^(alpha + 1) from `scale` on."""

    arg_constraints = parameters(alpha=constraints.positive, scale=constraints.positive)

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        Distribution.__init__(self, self.scale.shape, validate_args=validate_args)

    @lazy
    def base_dist(self) -> Distribution:
        """Exponential variables of the rate alpha."""
        return Exponential(self.alpha, validate_args=False)

    @lazy
    def transforms(self) -> list[Transform]:
        """scale exp(x)."""
        return [ExpTransform(), AffineTransform(0, self.scale)]

    @constraints.dependent_property(is_discrete=False, event_dim=0)
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


class Weibull(OfTransforms):
    """(k / s) y^(k - 1) exp(-y^k), with y = x / s, s the scale and k the concentration."""

    arg_constraints = parameters(scale=constraints.positive, concentration=constraints.positive)
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        Distribution.__init__(self, self.scale.shape, validate_args=validate_args)

    @lazy
    def base_dist(self) -> Distribution:
        """Exponential variables of rate 1."""
        return Exponential(ops.ones_like(self.scale), validate_args=False)

    @lazy
    def transforms(self) -> list[Transform]:
        """scale x^(1 / k)."""
        power = PowerTransform(self.concentration_reciprocal)
        return [power, AffineTransform(0, self.scale)]

    @property
    def concentration_reciprocal(self) -> Tensor:
        """1 / k."""
        return self.concentration.reciprocal()

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

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-ops.log1p(-value)).pow(self.concentration.reciprocal())

    def entropy(self) -> Tensor:
        k = self.concentration
        return EULER * (1 - k.reciprocal()) + ops.log(self.scale / k) + 1


class Kumaraswamy(OfTransforms):
    """a b x^(a - 1) (1 - x^a)^(b - 1) on (0, 1), with the two concentrations a and b."""

    arg_constraints = parameters(
        concentration1=constraints.positive,
        concentration0=constraints.positive,
    )
    support = constraints.unit_interval

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        shape = self.concentration1.shape
        Distribution.__init__(self, shape, validate_args=validate_args)

    @lazy
    def base_dist(self) -> Distribution:
        """Uniform numbers between 0 and 1."""
        zero = ops.zeros_like(self.concentration0)
        return Uniform(zero, ops.ones_like(zero), validate_args=False)

    @lazy
    def transforms(self) -> list[Transform]:
        """(1 - u^(1 / b))^(1 / a)."""
        inner = PowerTransform(self.concentration0.reciprocal())
        outer = PowerTransform(self.concentration1.reciprocal())
        return [inner, AffineTransform(1.0, -1.0), outer]

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


class InverseGamma(OfTransforms):
    """1 / x of a gamma variable x."""

    arg_constraints = parameters(concentration=constraints.positive, rate=constraints.positive)
    support = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        Distribution.__init__(self, self.concentration.shape, validate_args=validate_args)

    @lazy
    def base_dist(self) -> Distribution:
        """The gamma variable."""
        return Gamma(self.concentration, self.rate, validate_args=False)

    @lazy
    def transforms(self) -> list[Transform]:
        """1 / x."""
        return [PowerTransform(-ops.ones_like(self.rate))]

    @property
    def mean(self) -> Tensor:
        return ops.where(
            self.concentration > 1, self.rate / (self.concentration - 1), math.inf
        )

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        found = self.rate.square() / ((c - 1).square() * (c - 2))
        return ops.where(c > 2, found, math.inf)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.rate / gamma_variates(self._extended_shape(sample_shape), self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        c, rate = self.concentration, self.rate
        return c * rate.log() - (c + 1) * value.log() - rate / value - ops.lgamma(c)

    def cdf(self, value: Tensor) -> Tensor:
        inverse = value.reciprocal()
        if self._validate_args:
            self.base_dist._validate_sample(inverse)
        return ops.igammac(self.concentration, self.rate * inverse)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c + self.rate.log() + ops.lgamma(c) - (1 + c) * ops.digamma(c)
