"""Exponential families: densities exp(t(x) . theta - F(theta) + k(x))."""

from __future__ import annotations

from graphwright.autograd import grad
from graphwright.autograd.grad_mode import enable_grad
from graphwright.distributions.distribution import Distribution, sum_rightmost
from graphwright.runtime.tensor.tensor import Tensor


class ExponentialFamily(Distribution):
    """A base for distributions that know theta and F (`_natural_params`, `_log_normalizer`).

    The entropy is F - theta . grad F - E[k(x)] (Nielsen and Nock, 2010), the last of which is
    the subclass's `_mean_carrier_measure`.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """theta."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        """E[k(x)]."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """F(theta)."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        with enable_grad():
            theta = [value.detach().requires_grad_() for value in self._natural_params]
            norm = self._log_normalizer(*theta)
            slopes = grad(norm.sum(), theta, create_graph=True)
        result = norm - self._mean_carrier_measure
        for value, slope in zip(theta, slopes, strict=True):
            dims = value.ndim - len(self._batch_shape)
            result = result - sum_rightmost(value * slope, dims)
        return result
