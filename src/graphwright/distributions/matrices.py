"""Distributions of matrices: Wishart, and LKJ of the factors of correlations."""

from __future__ import annotations

import math
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.distributions import constraints
from graphwright.distributions.distribution import (
    Distribution,
    Shape,
    broadcast_all,
    normal_like,
    parameters,
)
from graphwright.distributions.exp_family import ExponentialFamily
from graphwright.distributions.gamma import Beta, Chi2
from graphwright.distributions.multivariate import OfOneMatrix, half_log_det, one_matrix
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.multi_tensor import broadcast_shapes
from graphwright.runtime.tensor.tensor import Tensor


def multivariate_digamma(x: Tensor, n: int) -> Tensor:
    """The derivative of `mvlgamma(x, n)`: the sum of digamma(x - i/2) over i < n."""
    steps = ops.arange(n, dtype=x.dtype, device=x.device) / 2
    return ops.digamma(x.unsqueeze(-1) - steps).sum(-1)


class Wishart(OfOneMatrix, ExponentialFamily):
    """Sums X X^T of `df` normal vectors, whose covariance is V [*, n, n].

    V, its inverse or its factor is given. ValueError unless just one of them is, and unless
    `df` exceeds n - 1.
    """

    support = constraints.positive_definite
    has_rsample = True
    arg_constraints = parameters(
        covariance_matrix=constraints.positive_definite,
        precision_matrix=constraints.positive_definite,
        scale_tril=constraints.lower_cholesky,
        df=constraints.greater_than(0),
    )

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        name, matrix = one_matrix(covariance_matrix, precision_matrix, scale_tril)
        if not isinstance(df, Tensor):
            df = ops.full((), df, dtype=matrix.dtype, device=matrix.device)
        batch = broadcast_shapes(tuple(matrix.shape[:-2]), tuple(df.shape))
        n = matrix.shape[-1]
        if bool((df <= n - 1).any()):
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}."
            )
        self.df = df.expand(batch)
        self.__dict__[name] = matrix.expand((*batch, n, n))
        super().__init__(batch, (n, n), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        known = ops.where(factor > 0, factor, math.nan)
        return known[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        crossed = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (v.square() + crossed)

    def rsample(self, sample_shape: Shape = (), max_try_correction: int | None = None) -> Tensor:
        """Bartlett's decomposition: L A A^T L^T, A triangular with chi on its diagonal.

        `max_try_correction` is accepted and not needed: no sample is singular.
        """
        shape = self._extended_shape(sample_shape)
        n: int = shape[-1]
        steps = ops.arange(n, dtype=self.df.dtype, device=self.df.device)
        chi = Chi2(self.df.unsqueeze(-1) - steps, validate_args=False).rsample(sample_shape)
        lower = normal_like(shape, self.scale_tril).tril(-1)
        factor = ops.matmul(self.scale_tril, lower + ops.diag_embed(chi.sqrt()))
        return ops.matmul(factor, factor.mT)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n: int = self._event_shape[-1]
        inside = ops.cholesky_solve(value, self.scale_tril)
        trace = inside.diagonal(dim1=-2, dim2=-1).sum(-1)
        norm = self.df * (n * math.log(2) / 2 + half_log_det(self.scale_tril))
        norm = norm + ops.mvlgamma(self.df / 2, n)
        return (self.df - n - 1) / 2 * ops.linalg_slogdet(value)[1] - trace / 2 - norm

    def entropy(self) -> Tensor:
        n: int = self._event_shape[-1]
        half = self.df / 2
        return (
            (n + 1) * (half_log_det(self.scale_tril) + n * math.log(2) / 2)
            + ops.mvlgamma(half, n)
            - (self.df - n - 1) / 2 * multivariate_digamma(half, n)
            + half * n
        )

    _mean_carrier_measure = 0.0

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        n: int = self._event_shape[-1]
        return (-self.precision_matrix / 2, (self.df - n - 1) / 2)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        x, y = natural_params
        n: int = self._event_shape[-1]
        half = y + (n + 1) / 2
        log_det = n * math.log(2) - ops.linalg_slogdet(-2 * x)[1]
        return half * log_det + ops.mvlgamma(half, n)


class LKJCholesky(Distribution):
    """Factors L of correlation matrices [dim, dim], whose density is det(L L^T)**(eta - 1).

    eta is the `concentration`. Lewandowski, Kurowicka and Joe (2009). ValueError for `dim` < 2.
    """

    arg_constraints = parameters(concentration=constraints.positive)
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """The onion method: a row at a time, its length from a Beta distribution."""
        shape = self._extended_shape(sample_shape)
        eta = self.concentration
        with no_grad():
            steps = ops.arange(self.dim - 1, dtype=eta.dtype, device=eta.device)
            before = ops.cat([steps.new_zeros((1,)), steps])
            first = (before + 0.5).expand((*eta.shape, self.dim))
            second = (eta + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * before
            squares = Beta(first, second, validate_args=False).sample(sample_shape).unsqueeze(-1)
            normal = normal_like(shape, eta).tril(-1)
            length = normal.norm(dim=-1, keepdim=True)
            directions = normal / ops.where(length == 0, 1.0, length)
            rows = squares.sqrt() * directions
            rest = (1 - rows.square().sum(-1)).clamp(min=finfo(eta.dtype).tiny)
            return rows + ops.diag_embed(rest.sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        eta, below = self.concentration, self.dim - 1
        places = ops.arange(2, self.dim + 1, dtype=eta.dtype, device=eta.device)
        powers = 2 * (eta - 1).unsqueeze(-1) + self.dim - places
        density = (powers * value.diagonal(dim1=-2, dim2=-1)[..., 1:].log()).sum(-1)
        alpha = eta + 0.5 * below
        norm = 0.5 * below * math.log(math.pi) + ops.mvlgamma(alpha - 0.5, below)
        return density - (norm - ops.lgamma(alpha) * below)
