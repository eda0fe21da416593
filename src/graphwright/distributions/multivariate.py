"""The normal distribution of vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.distribution import (
    Centred,
    Distribution,
    Shape,
    lazy,
    normal_like,
    parameters,
)
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.multi_tensor import broadcast_shapes
from graphwright.runtime.tensor.tensor import Tensor


def mahalanobis(scale_tril: Tensor, difference: Tensor) -> Tensor:
    """x^T (L L^T)^-1 x for L [*, n, n] and x [*, n]."""
    solved = ops.linalg_solve_triangular(scale_tril, difference.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).square().sum(-1)


def half_log_det(scale_tril: Tensor) -> Tensor:
    """log det L."""
    return scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def one_matrix(
    covariance: Tensor | None, precision: Tensor | None, scale_tril: Tensor | None
) -> tuple[str, Tensor]:
    """The name and the matrix of the one that is given. ValueError unless just one is."""
    given = {
        "covariance_matrix": covariance,
        "precision_matrix": precision,
        "scale_tril": scale_tril,
    }
    known = [(name, matrix) for name, matrix in given.items() if matrix is not None]
    if len(known) != 1:
        raise ValueError(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    name, matrix = known[0]
    if matrix.ndim < 2:
        raise ValueError(
            f"{name} must be at least two-dimensional, with optional leading batch dimensions"
        )
    return name, matrix


def factor_of(given: Mapping[str, Any]) -> Tensor:
    """The lower factor L of the covariance L L^T, from the matrix or from its inverse."""
    if "covariance_matrix" in given:
        return ops.linalg_cholesky(given["covariance_matrix"])
    factor = ops.linalg_cholesky(ops.flip(given["precision_matrix"], (-2, -1)))
    turned = ops.flip(factor, (-2, -1)).mT
    one = ops.eye(turned.shape[-1], dtype=turned.dtype, device=turned.device)
    return ops.linalg_solve_triangular(turned, one, upper=False)


class OfOneMatrix(Distribution):
    """Distributions given by a covariance [*, n, n], its inverse or its factor: `one_matrix`."""

    @lazy
    def scale_tril(self) -> Tensor:
        """L, with the covariance L L^T."""
        return factor_of(self.__dict__)

    @lazy
    def covariance_matrix(self) -> Tensor:
        """L L^T."""
        return ops.matmul(self.scale_tril, self.scale_tril.mT)

    @lazy
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return ops.cholesky_inverse(self.scale_tril)


class MultivariateNormal(Centred, OfOneMatrix):
    """Normal vectors around loc [*, n] with a covariance [*, n, n], its inverse or its factor L.

    Raises ValueError unless just one of the three is given.
    """

    arg_constraints = parameters(
        loc=constraints.real_vector,
        covariance_matrix=constraints.positive_definite,
        precision_matrix=constraints.positive_definite,
        scale_tril=constraints.lower_cholesky,
    )
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = one_matrix(covariance_matrix, precision_matrix, scale_tril)
        batch = broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1]))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        self.__dict__[name] = matrix.expand((*batch, *matrix.shape[-2:]))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    @property
    def variance(self) -> Tensor:
        return self.scale_tril.square().sum(-1)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        noise = normal_like(self._extended_shape(sample_shape), self.loc)
        return self.loc + ops.matmul(self.scale_tril, noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        difference = value - self.loc
        square = mahalanobis(self.scale_tril, difference)
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + square) - half_log_det(self.scale_tril)

    def entropy(self) -> Tensor:
        n: Any = self._event_shape[0]
        return 0.5 * n * (1.0 + math.log(2 * math.pi)) + half_log_det(self.scale_tril)
