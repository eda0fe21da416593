"""Triangles of matrices as vectors, and the transforms that need them."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.transform import Transform, check_dims
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Matrices [*, n, n] whose lower triangle (up to diagonal `diag`) is `vec`, row by row."""
    length = vec.shape[-1]
    shift = 1 + 2 * diag
    n = round((-shift + math.sqrt(shift * shift + 8 * length + 4 * abs(diag) * (diag + 1))) / 2)
    rows, columns = ops.tril_indices(n, n, diag, device=vec.device)
    if rows.shape[0] != length:
        raise ValueError(
            f"The size of last dimension is {length} which cannot be expressed as the lower "
            "triangular part of a square D x D matrix."
        )
    flat = vec.new_zeros((*vec.shape[:-1], n * n))
    places = (rows * n + columns).expand(vec.shape)
    return flat.scatter(-1, places, vec).reshape(*vec.shape[:-1], n, n)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangles (up to diagonal `diag`) of matrices [*, n, n], row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = ops.tril_indices(n, n, diag, device=mat.device)
    return ops.index_select(mat.flatten(-2), -1, rows * n + columns)


class CorrCholeskyTransform(Transform):
    """Vectors of n (n - 1) / 2 numbers to factors [n, n] of correlation matrices.

    tanh makes each a share of what is left of its row, whose square sum is to be 1.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        shares = vec_to_tril_matrix(ops.tanh(x), -1)
        rest = ops.cumprod((1 - shares.square()).clamp(min=0).sqrt(), -1)
        one = ops.eye(shares.shape[-1], dtype=x.dtype, device=x.device)
        return (shares + one) * ops.pad(rest[..., :-1], (1, 0), value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        rest = 1 - ops.cumsum(y * y, -1)
        before = ops.pad(rest[..., :-1], (1, 0), value=1.0)
        share = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(before, -1).sqrt()
        return (ops.log1p(share) - ops.log1p(-share)) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        rest = 1 - ops.cumsum(y * y, -1)
        sticks = 0.5 * tril_matrix_to_vec(rest, -2).log().sum(-1)
        return sticks - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        check_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        n = shape[-1]
        return Size((*shape[:-2], n * (n - 1) // 2))
