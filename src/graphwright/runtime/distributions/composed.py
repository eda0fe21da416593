"""Distributions made of other distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.runtime.distributions import constraints
from graphwright.runtime.distributions.discrete import Categorical
from graphwright.runtime.distributions.distribution import Distribution, Shape, sum_rightmost
from graphwright.runtime.distributions.transforms import ComposeTransform, Transform
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor


class Independent(Distribution):
    """`base_distribution` whose last `reinterpreted_batch_ndims` batch dims belong to the event.

    Raises ValueError where it has fewer batch dims.
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        cut = len(batch) - reinterpreted_batch_ndims
        event = (*batch[cut:], *base_distribution.event_shape)
        super().__init__(batch[:cut], event, validate_args=validate_args)

    def expand(self, batch_shape: Shape) -> Independent:
        event = self._event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *event))
        return Independent(base, self.reinterpreted_batch_ndims, validate_args=False)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        """That of the base, with more dims."""
        return constraints.independent(self.base_dist.support, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The values of `base_distribution` after one transform or several."""

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(part, Transform) for part in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        whole = ComposeTransform(self.transforms)
        batch, event = base_distribution.batch_shape, base_distribution.event_shape
        lifted = max(whole.domain.event_dim - len(event), 0)
        if lifted:
            base_distribution = Independent(base_distribution, lifted, validate_args=False)
        self.base_dist = base_distribution
        shape = whole.forward_shape((*batch, *event))
        kept = len(base_distribution.event_shape) - whole.domain.event_dim
        cut = len(shape) - whole.codomain.event_dim - max(kept, 0)
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Shape) -> TransformedDistribution:
        base = self.base_dist.expand(batch_shape)
        return TransformedDistribution(base, self.transforms, validate_args=False)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        """Where the last transform leads."""
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self._event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    def _moved(self, x: Tensor) -> Tensor:
        for part in self.transforms:
            x = part(x)
        return x

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self._moved(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._moved(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        total: Any = 0.0
        dims = len(self._event_shape)
        for part in reversed(self.transforms):
            before = part.inv(value)
            dims += part.domain.event_dim - part.codomain.event_dim
            term = part.log_abs_det_jacobian(before, value)
            total = total - sum_rightmost(term, dims - part.domain.event_dim)
            value = before
        more = dims - len(self.base_dist.event_shape)
        return total + sum_rightmost(self.base_dist.log_prob(value), more)

    def _monotone(self, value: Tensor) -> Tensor:
        """1 - value where the transforms fall."""
        sign: Any = 1
        for part in self.transforms:
            sign = sign * part.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        for part in reversed(self.transforms):
            value = part.inv(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._moved(self.base_dist.icdf(self._monotone(value)))

    def __repr__(self) -> str:
        return f"TransformedDistribution({self.base_dist}, {self.transforms})"


class MixtureSameFamily(Distribution):
    """`component_distribution` along its last batch dim, with a Categorical's weights.

    Raises ValueError for another mixture and where the numbers of components differ.
    """

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
        count = mixture_distribution.probs.shape[-1]
        if not batch or batch[-1] != count:
            raise ValueError(
                f"`mixture_distribution` component ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({batch[-1] if batch else None})"
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        event = component_distribution.event_shape
        super().__init__(batch[:-1], event, validate_args=validate_args)

    @property
    def support(self) -> Any:
        """That of the components."""
        return self.component_distribution.support

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape(*probs.shape, *(1,) * len(self._event_shape))

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
        chosen = self.mixture_distribution.sample(sample_shape)
        chosen = chosen.expand((*sample_shape, *self._batch_shape))
        made = self.component_distribution.sample(sample_shape)
        index = chosen.reshape(*chosen.shape, *(1,) * (len(self._event_shape) + 1))
        dim = made.ndim + self._along()
        shape = list(made.shape)
        shape[dim] = 1
        return made.gather(dim, index.expand(shape)).squeeze(dim)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  "
            f"{self.component_distribution})"
        )
