"""Distributions of transformed values, and of several values taken as one."""

from __future__ import annotations

from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.distributions import constraints
from graphwright.distributions.distribution import (
    Distribution,
    Shape,
    lazy,
    own_class,
    parameters,
    sum_rightmost,
)
from graphwright.distributions.transform import ComposeTransform, Transform
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor


class Independent(Distribution):
    """`base_distribution` whose last `reinterpreted_batch_ndims` batch dims belong to the event.

    Raises ValueError where it has fewer batch dims.
    """

    arg_constraints = parameters()
    base_dist: Distribution

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

    def expand(self, batch_shape: Shape, _instance: Independent | None = None) -> Independent:
        new: Independent = self._get_checked_instance(Independent, _instance)
        event = self._event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *event))
        Independent.__init__(new, base, self.reinterpreted_batch_ndims, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """That of the base, if no dims are taken into the event."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the base, with more dims."""
        known = self.base_dist.support
        if not self.reinterpreted_batch_ndims:
            return known
        return constraints.independent(known, self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Raises NotImplementedError where dims are taken into the event."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

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
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The values of `base_distribution` after one transform or a list of them.

    ValueError for what are no transforms, and for a base of fewer dims than they take.
    """

    arg_constraints = parameters()
    base_dist: Distribution
    transforms: list[Transform]

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(transforms, Transform | list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(part, Transform) for part in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        whole = ComposeTransform(self.transforms)
        inside, outside = whole.domain.event_dim, whole.codomain.event_dim
        self.base_dist = _fitting(base_distribution, whole)
        base = base_distribution
        shape = whole.forward_shape(Size((*base.batch_shape, *base.event_shape)))
        events = max(outside, len(base.event_shape) + outside - inside)
        cut = len(shape) - events
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(
        self, batch_shape: Shape, _instance: TransformedDistribution | None = None
    ) -> TransformedDistribution:
        new: TransformedDistribution = self._get_checked_instance(
            own_class(type(self)), _instance
        )
        shape: Any = Size((*batch_shape, *self._event_shape))
        for part in reversed(self.transforms):
            shape = part.inverse_shape(shape)
        cut = len(shape) - len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(shape[:cut])
        new.transforms = self.transforms
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
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
        with no_grad():
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
        for part in reversed(self.transforms):
            value = part.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotone(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._moved(self.base_dist.icdf(self._monotone(value)))


def _fitting(base: Distribution, whole: Transform) -> Distribution:
    """The base with the batch that parameters of the transform ask for, and its event's dims."""
    shape = Size((*base.batch_shape, *base.event_shape))
    dims = whole.domain.event_dim
    if len(shape) < dims:
        raise ValueError(
            f"base_distribution needs to have shape with size at least {dims}, but got {shape}."
        )
    wanted = tuple(whole.inverse_shape(whole.forward_shape(shape)))
    if wanted != tuple(shape):
        base = base.expand(wanted[: len(wanted) - len(base.event_shape)])
    more = dims - len(base.event_shape)
    return Independent(base, more) if more > 0 else base


class OfTransforms(TransformedDistribution):
    """Transformed distributions that know their own formulas.

    Subclasses compute `base_dist` and `transforms` of their parameters when they are asked for.
    """

    has_rsample = True

    @lazy
    def base_dist(self) -> Distribution:
        """The distribution that is transformed."""
        raise NotImplementedError

    @lazy
    def transforms(self) -> list[Transform]:
        """What is done to its values, the first one first."""
        raise NotImplementedError

    expand = Distribution.expand  # type: ignore[assignment]
