"""Mixtures of distributions."""

from __future__ import annotations

from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.distributions import constraints
from graphwright.distributions.discrete import Categorical
from graphwright.distributions.distribution import Distribution, Shape, parameters
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class MixtureSameFamily(Distribution):
    """`component_distribution` along its last batch dim, with a Categorical's weights.

    Raises ValueError for another mixture and where the numbers of components differ.
    """

    arg_constraints = parameters()

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of distributions.Distribution"
            )
        batch = component_distribution.batch_shape
        _check_batches(mixture_distribution.batch_shape, batch[:-1])
        count = mixture_distribution._num_events
        if not batch or batch[-1] != count:
            raise ValueError(
                f"`mixture_distribution` component ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({batch[-1] if batch else None})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        event = component_distribution.event_shape
        super().__init__(batch[:-1], event, validate_args=validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        """The components' weights."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last batch dim."""
        return self._component_distribution

    @constraints.dependent_property
    def support(self) -> Any:
        """That of all components."""
        return constraints.MixtureSameFamilyConstraint(self.component_distribution.support)

    def expand(
        self, batch_shape: Shape, _instance: MixtureSameFamily | None = None
    ) -> MixtureSameFamily:
        new: MixtureSameFamily = self._get_checked_instance(MixtureSameFamily, _instance)
        count = self._mixture_distribution._num_events
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._component_distribution = self._component_distribution.expand((*batch_shape, count))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _weights(self) -> Tensor:
        """The weights [batch, components, 1 for every dim of an event]."""
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * len(self._event_shape)))

    def _along(self) -> int:
        return -1 - len(self._event_shape)

    @property
    def mean(self) -> Tensor:
        return (self._weights() * self.component_distribution.mean).sum(self._along())

    @property
    def variance(self) -> Tensor:
        parts, weights, dim = self.component_distribution, self._weights(), self._along()
        within = (weights * parts.variance).sum(dim)
        spread = (parts.mean - self.mean.unsqueeze(dim)).square()
        return within + (weights * spread).sum(dim)

    def _padded(self, value: Tensor) -> Tensor:
        return value.unsqueeze(self._along())

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        inner = self.component_distribution.log_prob(self._padded(value))
        weights = ops.log_softmax(self.mixture_distribution.logits, -1)
        return ops.logsumexp(inner + weights, -1)

    def cdf(self, value: Tensor) -> Tensor:
        inner = self.component_distribution.cdf(self._padded(value))
        return (inner * self.mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            chosen = chosen.expand((*sample_shape, *self._batch_shape))
            made = self.component_distribution.sample(sample_shape)
            index = chosen.reshape((*chosen.shape, *(1,) * (len(self._event_shape) + 1)))
            dim = made.ndim + self._along()
            shape = list(made.shape)
            shape[dim] = 1
            return made.gather(dim, index.expand(shape)).squeeze(dim)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  "
            f"{self.component_distribution})"
        )


def _check_batches(weights: Any, components: Any) -> None:
    """Raise ValueError for batches that do not broadcast."""
    for a, b in zip(reversed(weights), reversed(components), strict=False):
        if a != 1 and b != 1 and a != b:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
                f"`component_distribution.batch_shape`({components})"
            )
