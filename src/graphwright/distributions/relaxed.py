"""Relaxed Bernoulli and categorical variables: continuous, and differentiable in the chances.

The logits of a value are distributed more simply: the relaxed ones are transforms of these.
"""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.discrete import Chances, Classes
from graphwright.distributions.distribution import Shape, broadcast_all, clamped, uniform_open
from graphwright.distributions.transformed import TransformedDistribution
from graphwright.distributions.transforms import ExpTransform, SigmoidTransform
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def _log_of(temperature: Any, like: Tensor) -> Tensor:
    """The logarithm of a temperature, which may be a number."""
    if not isinstance(temperature, Tensor):
        temperature = ops.full((), temperature, dtype=like.dtype, device=like.device)
    return temperature.log()


class _Relaxed(TransformedDistribution):
    """One whose parameters are those of what it is made of."""

    has_rsample = True
    base_dist: LogitRelaxedBernoulli | ExpRelaxedCategorical

    @property
    def temperature(self) -> Any:
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """log(p / (1 - p)) of a chance p, or the logarithms of the classes' probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probability, or those of the classes."""
        return self.base_dist.probs


class LogitRelaxedBernoulli(Chances):
    """The logits of `RelaxedBernoulli`: (logits + logit(u)) / temperature of a uniform u."""

    support = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        super().__init__(self._set(probs, logits).shape, validate_args=validate_args)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = clamped(uniform_open(self._extended_shape(sample_shape), self._param))
        probs = clamped(self.probs)
        odds = ops.log(probs) - ops.log1p(-probs)
        return (ops.log(u) - ops.log1p(-u) + odds) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value * self.temperature
        return _log_of(self.temperature, diff) + diff - 2 * F.softplus(diff)


class RelaxedBernoulli(_Relaxed):
    """Numbers in (0, 1) nearer to 0 and 1 the lower the temperature; Maddison et al., 2016."""

    arg_constraints = Chances.arg_constraints
    support = constraints.unit_interval

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)


class ExpRelaxedCategorical(Classes):
    """Logarithms of `RelaxedOneHotCategorical`: log_softmax((logits + noise) / temperature)."""

    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        shape = self._set(probs, logits).shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        u = clamped(uniform_open(self._extended_shape(sample_shape), self._param))
        scores = (self.logits - ops.log(-ops.log(u))) / self.temperature
        return ops.log_softmax(scores, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        k = self._num_events
        logits, value = broadcast_all(self.logits, value)
        score = ops.log_softmax(logits - value * self.temperature, -1).sum(-1)
        return score + math.lgamma(k) + (k - 1) * _log_of(self.temperature, score)


class RelaxedOneHotCategorical(_Relaxed):
    """Points of the simplex near its corners for low temperatures; Jang et al., 2016."""

    arg_constraints = Classes.arg_constraints
    support = constraints.simplex

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
