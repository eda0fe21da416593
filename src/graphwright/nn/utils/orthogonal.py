"""Matrices that stay orthogonal while they are trained."""

from __future__ import annotations

from graphwright.nn.module import Module
from graphwright.nn.utils.parametrize import register_parametrization
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor

MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """A map from all matrices [*, m, n] onto those with orthonormal columns, if m < n rows.

    "matrix_exp" and "cayley" take the part below the diagonal as that of a skew-symmetric matrix
    A: exp(A), or (1 - A/2)^-1 (1 + A/2), is a rotation. "householder" takes it as the vectors of
    reflections, and the diagonal as signs. A `base` is multiplied by that, so that an original
    of zeros, but for -1 on the diagonal, stands for the base itself: Lezcano-Casado (2019),
    "Trivializations for gradient-based optimization on manifolds".
    """

    base: Tensor | None

    def __init__(self, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, original: Tensor) -> Tensor:
        wide = original.shape[-2] < original.shape[-1]
        tall = original.mT if wide else original
        result = _reflected(tall) if self.orthogonal_map == "householder" else self._rotated(tall)
        if self.use_trivialization:
            if self.base is None:
                raise RuntimeError(
                    "orthogonal(): a tensor that has another parametrization already gives no "
                    "base to start from: use use_trivialization=False, or register this one first"
                )
            result = self.base @ result
        return result.mT if wide else result

    def _rotated(self, tall: Tensor) -> Tensor:
        rows, columns = tall.shape[-2:]
        lower = ops.tril(tall)
        if rows != columns:
            lower = ops.cat([lower, lower.new_zeros((*lower.shape[:-1], rows - columns))], -1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            rotation = ops.matrix_exp(skew)
        else:
            identity = ops.eye(rows, dtype=skew.dtype, device=skew.device)
            rotation = ops.linalg_solve(identity - skew * 0.5, identity + skew * 0.5)
        return rotation[..., :columns]

    def right_inverse(self, weight: Tensor) -> Tensor:
        """The original of the orthogonal matrix next to `weight` in its QR decomposition.

        Raises NotImplementedError for "matrix_exp" and "cayley" without a base.
        """
        wide = weight.shape[-2] < weight.shape[-1]
        tall = weight.mT if wide else weight
        if not self.use_trivialization:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            original = _reflections(tall)
            return original.mT if wide else original
        self.base = _completed(tall)
        identity = ops.eye(*weight.shape[-2:], dtype=weight.dtype, device=weight.device)
        return -identity.expand(weight.shape).clone()


def _reflected(tall: Tensor) -> Tensor:
    """The first columns of the product of the reflections, with the signs on the diagonal."""
    vectors = ops.tril(tall, -1)
    scales = 2.0 / (1.0 + ops.sum(vectors * vectors, -2))
    signs = ops.diagonal(tall, dim1=-2, dim2=-1).int()
    result: Tensor = ops.linalg_householder_product(vectors, scales) * signs.unsqueeze(-2)
    return result


def _reflections(tall: Tensor) -> Tensor:
    """What `_reflected` takes to give the Q of `tall` = QR where R has a positive diagonal."""
    packed, scales = ops.geqrf(tall)
    signs = ops.sgn(ops.diagonal(packed, dim1=-2, dim2=-1))
    signs = ops.where(scales == 0, -signs, signs)
    found: Tensor = ops.diagonal_scatter(packed, signs, 0, -2, -1)
    return found


def _completed(tall: Tensor) -> Tensor:
    """A square orthogonal matrix whose first columns are `tall`, made orthogonal if it is not."""
    rows, columns = tall.shape[-2:]
    if rows == columns and _is_orthogonal(tall):
        return tall.clone()
    if rows != columns:
        rest = ops.randn(
            (*tall.shape[:-1], rows - columns), dtype=tall.dtype, device=tall.device)
        tall = ops.cat([tall, rest], -1)
    packed, scales = ops.geqrf(tall)
    signs = ops.sgn(ops.diagonal(packed, dim1=-2, dim2=-1))
    found: Tensor = ops.linalg_householder_product(packed, scales) * signs.unsqueeze(-2)
    return found


def _is_orthogonal(square: Tensor) -> bool:
    """Up to rounding: as many of its steps as the matrix has columns, times ten."""
    size = square.shape[-1]
    identity = ops.eye(size, dtype=square.dtype, device=square.device)
    tolerance = 10.0 * size * finfo(square.dtype).eps
    return bool(ops.allclose(square.mH @ square, identity, atol=tolerance))


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a matrix [*, m, n] orthogonal: orthonormal columns where m >= n, else rows.

    Args:
        orthogonal_map: "matrix_exp" (the default for square and for complex matrices), "cayley"
            or "householder" (the default for others).
        use_trivialization: whether a buffer `base` keeps what was assigned last, and the trained
            original holds the weight's distance from it.

    Raises ValueError below 2 dimensions, for an unknown map, and for "householder" of complex
    matrices.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    if orthogonal_map == "householder" and weight.is_complex():
        raise ValueError("The householder parametrization does not support complex tensors.")
    made = _Orthogonal(orthogonal_map, use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
