"""Normal vectors whose covariance is a matrix of low rank and a diagonal."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.distribution import Centred, Shape, lazy, normal_like, parameters
from graphwright.distributions.multivariate import half_log_det
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.multi_tensor import broadcast_shapes
from graphwright.runtime.tensor.tensor import Tensor


class LowRankMultivariateNormal(Centred):
    """Normal vectors around loc [*, n] with the covariance W W^T + diag(d).

    W is `cov_factor` [*, n, rank], d is `cov_diag` [*, n]. Only matrices [rank, rank] are
    factored: 1 + W^T d^-1 W has the determinant that is missing (Woodbury). ValueError for
    shapes that do not fit.
    """

    arg_constraints = parameters(
        loc=constraints.real_vector,
        cov_factor=constraints.independent(constraints.real, 2),
        cov_diag=constraints.independent(constraints.positive, 1),
    )
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = tuple(loc.shape[-1:])
        if cov_factor.ndim < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch "
                "dimensions"
            )
        if tuple(cov_factor.shape[-2:-1]) != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n[0]} x m")
        if tuple(cov_diag.shape[-1:]) != n:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {n}")
        batch = broadcast_shapes(
            tuple(loc.shape[:-1]), tuple(cov_factor.shape[:-2]), tuple(cov_diag.shape[:-1])
        )
        self.loc = loc.expand((*batch, *n))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        self.cov_diag = cov_diag.expand((*batch, *n))
        super().__init__(batch, n, validate_args=validate_args)

    def _inner(self) -> tuple[Tensor, Tensor]:
        """(the factor of 1 + W^T d^-1 W, W^T d^-1)."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        inner = ops.matmul(scaled, self.cov_factor)
        one = ops.eye(inner.shape[-1], dtype=inner.dtype, device=inner.device)
        return ops.linalg_cholesky(inner + one), scaled

    def mahalanobis(self, difference: Tensor) -> Tensor:
        """x^T C^-1 x for x [*, n] and the covariance C."""
        factor, scaled = self._inner()
        inside = ops.matmul(scaled, difference.unsqueeze(-1))
        solved = ops.linalg_solve_triangular(factor, inside, upper=False).squeeze(-1)
        return (difference.square() / self.cov_diag).sum(-1) - solved.square().sum(-1)

    def log_det(self) -> Tensor:
        """log det C."""
        return 2 * half_log_det(self._inner()[0]) + self.cov_diag.log().sum(-1)

    @lazy
    def covariance_matrix(self) -> Tensor:
        """C."""
        return ops.matmul(self.cov_factor, self.cov_factor.mT) + ops.diag_embed(self.cov_diag)

    @lazy
    def scale_tril(self) -> Tensor:
        """L, with C = L L^T."""
        return ops.linalg_cholesky(self.covariance_matrix)

    @lazy
    def precision_matrix(self) -> Tensor:
        """The inverse of C."""
        factor, scaled = self._inner()
        part = ops.linalg_solve_triangular(factor, scaled, upper=False)
        return ops.diag_embed(self.cov_diag.reciprocal()) - ops.matmul(part.mT, part)

    @lazy
    def variance(self) -> Tensor:
        """The covariance's diagonal."""
        return self.cov_factor.square().sum(-1) + self.cov_diag

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        few = normal_like((*shape[:-1], self.cov_factor.shape[-1]), self.loc)
        common = ops.matmul(self.cov_factor, few.unsqueeze(-1)).squeeze(-1)
        return self.loc + common + self.cov_diag.sqrt() * normal_like(shape, self.loc)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        square = self.mahalanobis(value - self.loc)
        n: Any = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + self.log_det() + square)

    def entropy(self) -> Tensor:
        n: Any = self._event_shape[0]
        return 0.5 * (n * (1.0 + math.log(2 * math.pi)) + self.log_det())
