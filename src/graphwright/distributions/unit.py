"""The continuous Bernoulli distribution, and the logistic normal one."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.continuous import Normal
from graphwright.distributions.discrete import Chances
from graphwright.distributions.distribution import Shape, broadcast_all, parameters, uniform_open
from graphwright.distributions.exp_family import ExponentialFamily
from graphwright.distributions.transformed import TransformedDistribution
from graphwright.distributions.transforms import StickBreakingTransform
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class ContinuousBernoulli(Chances, ExponentialFamily):
    """Numbers x in [0, 1] with a density in proportion to p**x (1 - p)**(1 - x).

    Loaiza-Ganem and Cunningham (2019). Around p = 1/2, between `lims`, series replace quotients
    of numbers that vanish together.
    """

    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        given = self._set(probs, logits)
        self._lims = lims
        super().__init__(given.shape, validate_args=validate_args)

    def _far(self) -> Tensor:
        """Where p is not near 1/2."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _safe(self) -> Tensor:
        """p, and where it is near 1/2 a value that is not."""
        return ops.where(self._far(), self.probs, self._lims[0])

    def _log_norm(self) -> Tensor:
        """The logarithm of the factor that makes the density's integral one."""
        p, x = self._safe(), self.probs - 0.5
        quotient = ops.abs(ops.log1p(-p) - ops.log(p)).log()
        gap = (1 - 2 * p).abs().log()
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x**2) * x**2
        return ops.where(self._far(), quotient - gap, series)

    @property
    def mean(self) -> Tensor:
        p, x = self._safe(), self.probs - 0.5
        far = p / (2 * p - 1) + 1 / (ops.log1p(-p) - ops.log(p))
        return ops.where(self._far(), far, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x**2) * x)

    @property
    def variance(self) -> Tensor:
        p, x = self._safe(), (self.probs - 0.5) ** 2
        far = p * (p - 1) / (1 - 2 * p) ** 2 + 1 / (ops.log1p(-p) - ops.log(p)) ** 2
        return ops.where(self._far(), far, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.icdf(uniform_open(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        fit = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._log_norm() - fit

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        p = self._safe()
        far = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        inside = ops.where(self._far(), far, value)
        return ops.where(value <= 0, 0.0, ops.where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._safe()
        start = ops.log1p(-p)
        far = (ops.log1p(-p + value * (2 * p - 1)) - start) / (ops.log(p) - start)
        return ops.where(self._far(), far, value)

    def entropy(self) -> Tensor:
        low, high = ops.log1p(-self.probs), ops.log(self.probs)
        return self.mean * (low - high) - self._log_norm() - low

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """log((exp(x) - 1) / x), near 0 by its series."""
        x = natural_params[0]
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        safe = ops.where(far, x, self._lims[0] - 0.5)
        quotient = ops.expm1(safe).abs().log() - safe.abs().log()
        return ops.where(far, quotient, 0.5 * x + x.square() / 24 - x.pow(4) / 2880)


class LogisticNormal(TransformedDistribution):
    """Points of the simplex made by breaking a stick at normal numbers."""

    arg_constraints = parameters(loc=constraints.real, scale=constraints.positive)
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The normal numbers' means."""
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Tensor:
        """The normal numbers' standard deviations."""
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined]
