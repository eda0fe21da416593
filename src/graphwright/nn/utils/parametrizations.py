"""Ready parametrisations: weight norm, spectral norm, and orthogonal matrices."""

from __future__ import annotations

from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn import functional as F
from graphwright.nn.layers.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from graphwright.nn.module import Module
from graphwright.nn.utils.orthogonal import orthogonal
from graphwright.nn.utils.parametrize import register_parametrization
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

__all__ = ["norm_except_dim", "orthogonal", "spectral_norm", "weight_norm"]


def norm_except_dim(value: Tensor, dim: int | None) -> Tensor:
    """The 2-norm over all dims but `dim` (None: over all), those kept with size 1."""
    if dim is None:
        norm: Tensor = ops.norm(value)
        return norm
    others = tuple(i for i in range(value.ndim) if i != dim % value.ndim)
    return ops.sqrt(ops.sum(value * value, others, True)) if others else ops.abs(value)


class _WeightNorm(Module):
    """g * v / |v|: Salimans & Kingma (2016)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """(magnitude, direction) of `weight`."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train magnitude (`original0`) and direction (`original1`) of a weight apart.

    `dim` is the one along which magnitudes are kept; None or -1 keeps one magnitude. State that
    `nn.utils.weight_norm` saved as `<name>_g` and `<name>_v` loads as well.
    """
    own = None if dim == -1 else dim
    register_parametrization(module, name, _WeightNorm(own), unsafe=True)

    def renamed(state: dict[str, Any], prefix: str, *_: Any) -> None:
        older = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if all(key in state for key in older):
            for number, key in enumerate(older):
                state[f"{prefix}parametrizations.{name}.original{number}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(renamed)
    return module


class _SpectralNorm(Module):
    """weight / its largest singular value, by power iteration: Miyato et al. (2018)."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, "
                f"{weight.ndim - 1}] but got {dim})"
            )
        self.dim = dim % weight.ndim
        self.n_power_iterations, self.eps = n_power_iterations, eps
        if weight.ndim > 1:
            matrix = self._matrix(weight.detach())
            for name, size in zip(("_u", "_v"), matrix.shape, strict=True):
                start = ops.randn((size,), dtype=weight.dtype, device=weight.device)
                self.register_buffer(name, F.normalize(start, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        moved: Tensor = ops.movedim(weight, self.dim, 0)
        return moved.reshape(moved.shape[0], -1)

    def _iterate(self, matrix: Tensor, times: int) -> None:
        with no_grad():
            for _ in range(times):
                self._u.copy_(F.normalize(matrix @ self._v, dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.T @ self._u, dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            normal: Tensor = F.normalize(weight, dim=0, eps=self.eps)
            return normal
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / ops.dot(u, ops.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Any value may be assigned; it is taken as the original."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value, kept up to date in training mode.

    `dim` is the one of the outputs: 1 for transposed convolutions, else 0. Raises ValueError
    where the module has no tensor of that name.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    normed = _SpectralNorm(weight, n_power_iterations, dim, eps)
    register_parametrization(module, name, normed)
    return module
