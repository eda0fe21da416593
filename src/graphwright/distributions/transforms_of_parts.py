"""Transforms of parts of a tensor, and the one by a distribution's own probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.distribution import Distribution, sum_rightmost
from graphwright.distributions.transform import Transform
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class CumulativeDistributionTransform(Transform):
    """Values to the probabilities of smaller ones: uniform numbers for those distributed so."""

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _remade(self, cache_size: int) -> Transform:
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    @property
    def domain(self) -> Any:
        """Where the distribution's values lie."""
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)


class _OfParts(Transform):
    """Transforms `tseq` of parts along `dim`. AssertionError for what are no transforms."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        for part in tseq:
            if not isinstance(part, Transform):
                raise AssertionError(
                    f"expected Transform instances, got {type(part).__name__}"
                )
        super().__init__(cache_size=cache_size)
        self.transforms = [part.with_cache(cache_size) if cache_size else part for part in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:
        """Whether all parts are."""
        return all(part.bijective for part in self.transforms)

    def _check_size(self, value: Tensor, length: int) -> None:
        """Raise AssertionError for a value that has not that length along `dim`."""
        if not -value.ndim <= self.dim < value.ndim:
            raise AssertionError(
                f"dim {self.dim} out of range for tensor with {value.ndim} dimensions"
            )
        if value.shape[self.dim] != length:
            raise AssertionError(
                f"expected {length} values along dim {self.dim}, got {value.shape[self.dim]}"
            )


class CatTransform(_OfParts):
    """Each of `tseq` on a part of `dim`, as long as `lengths` say (by default 1 each)."""

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})"
            )

    def _remade(self, cache_size: int) -> Transform:
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    @property
    def event_dim(self) -> int:
        """The most of the parts'."""
        return max(part.event_dim for part in self.transforms)

    @property
    def length(self) -> int:
        """The size of `dim`."""
        return sum(self.lengths)

    def _parts(self, value: Tensor) -> Iterator[Tensor]:
        self._check_size(value, self.length)
        start = 0
        for length in self.lengths:
            yield value.narrow(self.dim, start, length)
            start += length

    def _call(self, x: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(x), strict=True)
        return ops.cat([transform(part) for transform, part in parts], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(y), strict=True)
        return ops.cat([transform.inv(part) for transform, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found, dims = [], self.event_dim
        for transform, a, b in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            jacobian = transform.log_abs_det_jacobian(a, b)
            found.append(sum_rightmost(jacobian, dims - transform.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.ndim
        if dim + dims < 0:
            return ops.cat(found, dim + dims)
        total = found[0]
        for jacobian in found[1:]:
            total = total + jacobian
        return total

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' domains."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' codomains."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_OfParts):
    """Each of `tseq` on one place along `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _remade(self, cache_size: int) -> Transform:
        return StackTransform(self.transforms, self.dim, cache_size)

    def _places(self, value: Tensor) -> list[Tensor]:
        self._check_size(value, len(self.transforms))
        return list(ops.unbind(value, self.dim))

    def _call(self, x: Tensor) -> Tensor:
        parts = zip(self.transforms, self._places(x), strict=True)
        return ops.stack([transform(part) for transform, part in parts], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._places(y), strict=True)
        return ops.stack([transform.inv(part) for transform, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._places(x), self._places(y), strict=True)
        return ops.stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' domains."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' codomains."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
