"""The gamma distribution and those that are made of gamma variables."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.distribution import (
    Distribution,
    Shape,
    broadcast_all,
    normal_like,
    parameters,
)
from graphwright.distributions.exp_family import ExponentialFamily
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor


def gamma_variates(shape: Shape, concentration: Tensor) -> Tensor:
    """Gamma variables of rate 1, differentiable in the concentration."""
    return ops.standard_gamma(concentration.expand(tuple(shape)))


class Gamma(ExponentialFamily):
    """rate^c x^(c - 1) exp(-rate x) / gamma(c), with the concentration c."""

    arg_constraints = parameters(concentration=constraints.positive, rate=constraints.positive)
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        made = gamma_variates(self._extended_shape(sample_shape), self.concentration) / self.rate
        return made.clamp_min(finfo(made.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        c, rate = self.concentration, self.rate
        return ops.xlogy(c, rate) + ops.xlogy(c - 1, value) - rate * value - ops.lgamma(c)

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return ops.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        c = self.concentration
        return c - self.rate.log() + ops.lgamma(c) + (1 - c) * ops.digamma(c)

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        return ops.lgamma(x + 1) + (x + 1) * ops.log(-y.reciprocal())


class Chi2(Gamma):
    """The sum of `df` squares of standard normal variables."""

    arg_constraints = parameters(df=constraints.positive)

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (self.df,) = broadcast_all(df)
        self.concentration = 0.5 * self.df
        self.rate = ops.full_like(self.df, 0.5)
        Distribution.__init__(self, self.df.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.concentration = self.concentration.expand(tuple(batch_shape))
        new.rate = self.rate.expand(tuple(batch_shape))
        return new


class Dirichlet(ExponentialFamily):
    """prod x_i^(c_i - 1) / B(c) on the simplex, with concentrations c [*, K]."""

    arg_constraints = parameters(concentration=constraints.independent(constraints.positive, 1))
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0)
        places = ops.arange(self.concentration.shape[-1], device=above.device)
        corner = (above.argmax(-1, True) == places).to(above.dtype)
        flat = (self.concentration < 1).all(-1, True)
        return ops.where(flat, corner, above / above.sum(-1, True))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        share = self.concentration / total
        return share * (1 - share) / (total + 1)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        parts = gamma_variates(self._extended_shape(sample_shape), self.concentration)
        return parts / parts.sum(-1, True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        c = self.concentration
        scale = ops.lgamma(c.sum(-1)) - ops.lgamma(c).sum(-1)
        return ops.xlogy(c - 1, value).sum(-1) + scale

    def entropy(self) -> Tensor:
        c = self.concentration
        total, k = c.sum(-1), c.shape[-1]
        return (
            ops.lgamma(c).sum(-1)
            - ops.lgamma(total)
            - (k - total) * ops.digamma(total)
            - ((c - 1) * ops.digamma(c)).sum(-1)
        )

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration - 1,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        c = natural_params[0] + 1
        return ops.lgamma(c).sum(-1) - ops.lgamma(c.sum(-1))


class Beta(ExponentialFamily):
    """x^(a - 1) (1 - x)^(b - 1) / B(a, b) on (0, 1), with the two concentrations a and b."""

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

    def _pair(self) -> Dirichlet:
        both = ops.stack((self.concentration1, self.concentration0), -1)
        return Dirichlet(both, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._pair().mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._pair().rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return self._pair().log_prob(ops.stack((value, 1 - value), -1))

    def entropy(self) -> Tensor:
        return self._pair().entropy()

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration1 - 1, self.concentration0 - 1)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        a, b = (value + 1 for value in natural_params)
        return ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)


class StudentT(Distribution):
    """A standard normal variable over the root of an independent chi2(df) / df."""

    arg_constraints = parameters(
        df=constraints.positive,
        loc=constraints.real,
        scale=constraints.positive,
    )
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return ops.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        found = self.scale.square() * self.df / (self.df - 2)
        return ops.where(self.df > 2, found, ops.where(self.df > 1, math.inf, math.nan))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        square = Chi2(self.df, validate_args=False).rsample(sample_shape) / self.df
        return self.loc + self.scale * normal_like(shape, self.df) * square.rsqrt()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        df, y = self.df, (value - self.loc) / self.scale
        scale = (
            self.scale.log()
            + 0.5 * df.log()
            + 0.5 * math.log(math.pi)
            + ops.lgamma(0.5 * df)
            - ops.lgamma(0.5 * (df + 1))
        )
        return -0.5 * (df + 1) * ops.log1p(y.square() / df) - scale

    def entropy(self) -> Tensor:
        df, more = self.df, 0.5 * (self.df + 1)
        lbeta = ops.lgamma(0.5 * df) + math.lgamma(0.5) - ops.lgamma(more)
        inner = more * (ops.digamma(more) - ops.digamma(0.5 * df))
        return self.scale.log() + inner + 0.5 * df.log() + lbeta


class FisherSnedecor(Distribution):
    """The ratio of independent chi2(df1) / df1 and chi2(df2) / df2."""

    arg_constraints = parameters(df1=constraints.positive, df2=constraints.positive)
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return ops.where(self.df2 > 2, self.df2 / (self.df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return ops.where(self.df1 > 2, found, math.nan)

    @property
    def variance(self) -> Tensor:
        a, b = self.df1, self.df2
        found = 2 * b.square() * (a + b - 2) / (a * (b - 2).square() * (b - 4))
        return ops.where(b > 4, found, math.nan)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        first, second = (
            Chi2(df, validate_args=False).rsample(sample_shape) / df for df in (self.df1, self.df2)
        )
        return (first / second).clamp_min(finfo(first.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        scale = ops.lgamma(a + b) - ops.lgamma(a) - ops.lgamma(b)
        rest = (a + b) * ops.log1p(ratio * value)
        return scale + a * ratio.log() + (a - 1) * value.log() - rest
