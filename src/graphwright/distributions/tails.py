"""The generalised Pareto distribution."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.constraints import dependent_property
from graphwright.distributions.distribution import (
    Distribution,
    Shape,
    broadcast_all,
    parameters,
    uniform_open,
)
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class GeneralizedPareto(Distribution):
    """What lies above `loc`: P(X > x) = (1 + c y)**(-1/c), y = (x - loc) / scale.

    c is the `concentration`; 0 is the exponential distribution, below it there is an end.
    """

    arg_constraints = parameters(
        loc=constraints.real, scale=constraints.positive, concentration=constraints.real
    )
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From `loc` on, up to an end where the concentration is negative."""
        end = self.loc - self.scale / self.concentration
        high = ops.where(self.concentration < 0, end, math.inf)
        return constraints.interval(self.loc, high)

    def _parts(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and the concentration with 1 there."""
        flat = ops.isclose(self.concentration, ops.zeros_like(self.concentration))
        return flat, ops.where(flat, 1.0, self.concentration)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.icdf(uniform_open(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        y = (value - self.loc) / self.scale
        flat, c = self._parts()
        curved = (1 + 1 / c) * ops.log1p(c * y)
        return -ops.where(flat, y, curved) - ops.log(self.scale)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log P(X > value)."""
        self._checked(value)
        y = (value - self.loc) / self.scale
        flat, c = self._parts()
        return ops.where(flat, -y, -ops.log1p(c * y) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """log P(X <= value)."""
        return ops.log1p(-ops.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return ops.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        flat, c = self._parts()
        rest = ops.log1p(-value)
        return self.loc + self.scale * ops.where(flat, -rest, ops.expm1(-c * rest) / c)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        return ops.where(c < 1, self.loc + self.scale / ops.where(c < 1, 1 - c, 1.0), math.inf)

    @property
    def variance(self) -> Tensor:
        c = ops.where(self.concentration < 0.5, self.concentration, 0.0)
        finite = self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c))
        return ops.where(self.concentration < 0.5, finite, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.loc

    def entropy(self) -> Tensor:
        return ops.log(self.scale) + self.concentration + 1
