"""Distributions with a location and a scale, and others of two numbers."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.distribution import (
    Centred,
    Distribution,
    Shape,
    broadcast_all,
    normal_like,
    parameters,
    uniform_open,
)
from graphwright.distributions.exp_family import ExponentialFamily
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor

EULER = 0.57721566490153286060
LOG_2PI = math.log(2 * math.pi)


class LocationScale(Centred):
    """loc + scale * a fixed distribution of real numbers."""

    arg_constraints = parameters(loc=constraints.real, scale=constraints.positive)
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        Distribution.__init__(self, self.loc.shape, validate_args=validate_args)

    def _standard(self, value: Tensor) -> Tensor:
        return (value - self.loc) / self.scale


class Normal(LocationScale, ExponentialFamily):
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

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        square = self.scale.square()
        return (self.loc / square, -0.5 * square.reciprocal())

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return -0.25 * x.square() / y + 0.5 * ops.log(-math.pi / y)


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


class Uniform(Distribution):
    """1 / (high - low) from `low` to below `high`. ValueError unless low < high."""

    arg_constraints = parameters(low=constraints.real, high=constraints.real)
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)
        if self._validate_args and not bool((self.low < self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
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


class Exponential(ExponentialFamily):
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

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return -ops.log(-natural_params[0])
