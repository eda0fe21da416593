"""Invertible differentiable maps with the logarithm of their Jacobian's determinant."""

from __future__ import annotations

import math
from typing import Any

from graphwright.distributions import constraints
from graphwright.distributions.distribution import broadcast_all, clamped, sum_rightmost
from graphwright.distributions.transform import (
    ComposeTransform,
    IndependentTransform,
    PlainTransform,
    Transform,
    _InverseTransform,  # noqa: F401
    check_dims,
    identity_transform,
)
from graphwright.distributions.transforms_of_parts import (
    CatTransform,
    CumulativeDistributionTransform,
    StackTransform,
)
from graphwright.distributions.triangles import CorrCholeskyTransform
from graphwright.nn import functional as F
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.multi_tensor import broadcast_shapes
from graphwright.runtime.tensor.size import Size
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]


class ExpTransform(PlainTransform):
    """exp(x)."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """x^exponent, of positive numbers."""

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _remade(self, cache_size: int) -> Transform:
        return PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        """That of the exponent."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _same(self.exponent, other.exponent)

    __hash__: Any = None

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return _shape_with(shape, self.exponent)

    inverse_shape = forward_shape


def _same(a: Any, b: Any) -> bool:
    """Whether two parameters, numbers or tensors, are equal throughout."""
    equal = a == b
    return bool(equal.all()) if isinstance(equal, Tensor) else bool(equal)


def _shape_with(shape: Any, *parameters: Any) -> Size:
    """The shape to which a value of that shape and parameters broadcast."""
    shapes = [tuple(p.shape) for p in parameters if isinstance(p, Tensor)]
    return Size(broadcast_shapes(tuple(shape), *shapes))


def _clipped_sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), kept from 0 and 1 by the dtype's smallest normal number and eps."""
    info = finfo(x.dtype)
    return ops.sigmoid(x).clamp(min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(PlainTransform):
    """1 / (1 + exp(-x))."""

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        info = finfo(y.dtype)
        kept = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return kept.log() - ops.log1p(-kept)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x) - F.softplus(x)


class TanhTransform(PlainTransform):
    """tanh(x)."""

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return ops.tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return ops.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class SoftplusTransform(PlainTransform):
    """log(1 + exp(x))."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return F.softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-ops.expm1(-y)).log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -F.softplus(-x)


class AbsTransform(PlainTransform):
    """|x|, whose inverse gives the positive one."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """loc + scale x; `event_dim` dims belong to one event."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    def _remade(self, cache_size: int) -> Transform:
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    @property
    def event_dim(self) -> int:
        """The dims of one event."""
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Arrays of `event_dim` dims."""
        if not self._event_dim:
            return constraints.real
        return constraints.independent(constraints.real, self._event_dim)

    codomain = domain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _same(self.loc, other.loc) and _same(self.scale, other.scale)

    __hash__: Any = None

    @property
    def sign(self) -> Any:
        """That of the scale."""
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return int(self.scale > 0) - int(self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        scale = self.scale
        if isinstance(scale, Tensor):
            term = scale.abs().log().expand(x.shape)
        else:
            term = ops.full_like(x, math.log(abs(scale)))
        return sum_rightmost(term, self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        return _shape_with(shape, self.loc, self.scale)

    inverse_shape = forward_shape


class SoftmaxTransform(PlainTransform):
    """softmax over the last dim; its inverse gives logarithms."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return ops.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(PlainTransform):
    """Vectors of n numbers to points of the simplex of n + 1: each takes a share of the rest."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _offset(self, x: Tensor, n: int) -> Tensor:
        places = ops.arange(n, dtype=x.dtype, device=x.device)
        return ops.log(n - places)

    def _call(self, x: Tensor) -> Tensor:
        z = clamped(ops.sigmoid(x - self._offset(x, x.shape[-1])))
        rest = ops.cumprod(1 - z, -1)
        return ops.pad(z, (0, 1), value=1.0) * ops.pad(rest, (1, 0), value=1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        kept = y[..., :-1]
        rest = (1 - ops.cumsum(kept, -1)).clamp(min=finfo(y.dtype).tiny)
        return kept.log() - rest.log() + self._offset(y, kept.shape[-1])

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._offset(x, x.shape[-1])
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(PlainTransform):
    """Matrices to lower triangular ones with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + ops.diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + ops.diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class ReshapeTransform(Transform):
    """Another shape of the event. ValueError for shapes of different numbers of elements."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")

    def _remade(self, cache_size: int) -> Transform:
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """Arrays of `in_shape`'s dims."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Arrays of `out_shape`'s dims."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        return x.reshape((*x.shape[: x.ndim - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Tensor) -> Tensor:
        return y.reshape((*y.shape[: y.ndim - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(tuple(x.shape[: x.ndim - len(self.in_shape)]))

    def forward_shape(self, shape: Any) -> Any:
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape: Any, old: Size, new: Size) -> Size:
    """`shape`, which ends with `old`, with `new` instead. ValueError where it does not."""
    check_dims(shape, len(old))
    cut = len(shape) - len(old)
    if tuple(shape[cut:]) != tuple(old):
        raise ValueError(f"Shape mismatch: expected {tuple(shape[cut:])} but got {tuple(old)}")
    return Size((*shape[:cut], *new))


class PositiveDefiniteTransform(PlainTransform):
    """Matrices to positive definite ones: L L^T, L as `LowerCholeskyTransform` makes it."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return ops.matmul(factor, factor.mT)

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(ops.linalg_cholesky(y))
