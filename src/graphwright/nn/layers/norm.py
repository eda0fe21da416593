"""Normalisation layers."""

from __future__ import annotations

from typing import Any

from graphwright.nn import functional as F
from graphwright.nn import init
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class _Affine(Module):
    """A module with an optional `weight` of ones and `bias` of zeros of one shape."""

    def _make_affine(
        self, shape: tuple[int, ...], weight: bool, bias: bool, device: Any, dtype: Any
    ) -> None:
        for name, wanted, make in (("weight", weight, ops.ones), ("bias", bias, ops.zeros)):
            value = Parameter(make(shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)

    def reset_parameters(self) -> None:
        """Weights of one, biases of zero."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None:
            init.zeros_(self.bias)


def _shape(value: int | tuple[int, ...] | list[int]) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


class LayerNorm(_Affine):
    """Normalise over the trailing `normalized_shape` (Ba et al., 2016)."""

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...] | list[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        affine = elementwise_affine
        self._make_affine(self.normalized_shape, affine, affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """Divide by the root mean square over the trailing `normalized_shape`.

    Zhang & Sennrich (2019). `eps` None means the machine epsilon of the input's dtype.
    """

    def __init__(
        self,
        normalized_shape: int | tuple[int, ...] | list[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = Parameter(ops.ones(self.normalized_shape, device=device, dtype=dtype))
        self.register_parameter("weight", weight if elementwise_affine else None)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(_Affine):
    """Normalise each of `num_groups` groups of channels (Wu & He, 2018): input [N, C, *]."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self._make_affine((num_channels,), affine, affine and bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha * mean of x**2 over `size` neighbouring channels)**beta: [N, C, *].

    Krizhevsky et al. (2012).
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
