"""Transforms of parts of a tensor, and the one by a distribution's own probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.runtime.distributions import constraints
from graphwright.runtime.distributions.distribution import Distribution, sum_rightmost
from graphwright.runtime.distributions.transforms import Transform
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor


class CumulativeDistributionTransform(Transform):
    """Values to the probabilities of smaller ones: uniform numbers for those distributed so."""

    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution

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


class CatTransform(Transform):
    """Each of `tseq` on a part of `dim`, as long as `lengths` say (by default 1 each)."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        self.transforms, self.dim = list(tseq), dim
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        self.bijective = all(part.bijective for part in self.transforms)

    @property
    def length(self) -> int:
        """The size of `dim`."""
        return sum(self.lengths)

    def _parts(self, value: Tensor) -> Iterator[Tensor]:
        if value.shape[self.dim] != self.length:
            raise ValueError(
                f"expected {self.length} values along dim {self.dim}, got {value.shape[self.dim]}"
            )
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
        found, dims = [], self.domain.event_dim
        for transform, a, b in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            jacobian = transform.log_abs_det_jacobian(a, b)
            found.append(sum_rightmost(jacobian, dims - transform.domain.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.ndim
        if dim + dims < 0:
            return ops.cat(found, dim + dims)
        total = found[0]
        for jacobian in found[1:]:
            total = total + jacobian
        return total

    @property
    def domain(self) -> Any:
        """The parts' domains."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """The parts' codomains."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Each of `tseq` on one place along `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0) -> None:
        self.transforms, self.dim = list(tseq), dim
        self.bijective = all(part.bijective for part in self.transforms)

    def _places(self, value: Tensor) -> list[Tensor]:
        if value.shape[self.dim] != len(self.transforms):
            raise ValueError(
                f"expected {len(self.transforms)} values along dim {self.dim}, got "
                f"{value.shape[self.dim]}"
            )
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

    @property
    def domain(self) -> Any:
        """The parts' domains."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """The parts' codomains."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
