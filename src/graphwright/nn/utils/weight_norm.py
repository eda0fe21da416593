"""Weight and spectral normalisation by hooks, the forms that parametrisations came after.

`weight_norm(module)` keeps the parameters `weight_g` and `weight_v` and sets the plain attribute
`weight` before every call; `spectral_norm(module)` keeps `weight_orig` and the buffer `weight_u`.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn import functional as F
from graphwright.nn.layers.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.nn.utils.parametrizations import norm_except_dim
from graphwright.runtime.errors import require_kind
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

T = TypeVar("T", bound=Module)


def _hook_of(module: Module, kind: type, name: str) -> tuple[int, Any] | None:
    """(id, hook) of the normalisation of that kind and name."""
    title = "weight_norm" if kind is WeightNorm else "spectral_norm"
    require_kind(title, "module", module, Module)
    require_kind(title, "name", name, str)
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:  # type: ignore[attr-defined]
            return number, hook
    return None


def _remove(module: Module, kind: type, name: str, title: str) -> Any:
    found = _hook_of(module, kind, name)
    if found is None:
        raise ValueError(f"{title} of '{name}' not found in {module}")
    del module._forward_pre_hooks[found[0]]
    module._count_hooks()
    return found[1]


class WeightNorm:
    """The hook: weight = g * v / |v|, the norm over all dims but `dim`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, None if dim == -1 else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight of the present magnitude and direction."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        weight: Tensor = v * (g / norm_except_dim(v, self.dim))
        return weight

    def __call__(self, module: Module, args: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: T, name: str = "weight", dim: int | None = 0) -> T:
    """Train magnitude and direction of a weight apart: Salimans & Kingma (2016).

    `dim` is the one along which magnitudes are kept; None keeps one magnitude. Raises
    RuntimeError where `name` is normalised already.
    """
    warnings.warn(
        "`nn.utils.weight_norm` is deprecated in favor of "
        "`nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, WeightNorm, name) is not None:
        raise RuntimeError(
            f"Cannot register two weight_norm hooks on the same parameter {name}"
        )
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    magnitude = norm_except_dim(weight.detach(), hook.dim)
    module.register_parameter(f"{name}_g", Parameter(magnitude))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: T, name: str = "weight") -> T:
    """Make the present weight a parameter again. Raises ValueError where there is no norm."""
    hook = _remove(module, WeightNorm, name, "weight_norm")
    weight = hook.compute_weight(module).detach()
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    setattr(module, name, Parameter(weight))
    return module


class SpectralNorm:
    """The hook: weight / its largest singular value, found by power iteration."""

    def __init__(self, name: str, n_power_iterations: int, eps: float, dim: int) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations = name, n_power_iterations
        self.eps, self.dim = eps, dim

    def matrix(self, weight: Tensor) -> Tensor:
        """The weight with one row per output."""
        moved: Tensor = ops.movedim(weight, self.dim, 0)
        return moved.reshape(moved.shape[0], -1)

    def compute_weight(self, module: Module, iterate: bool) -> Tensor:
        """The normed weight; `iterate` improves the singular vectors first, in place."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.matrix(weight)
        if iterate:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(ops.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(ops.mv(matrix, v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        result: Tensor = weight / ops.dot(u, ops.mv(matrix, v))
        return result

    def __call__(self, module: Module, args: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: T,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> T:
    """Divide a weight by its largest singular value: Miyato et al. (2018).

    `dim` is the one of the outputs: 1 for transposed convolutions, else 0. Raises RuntimeError
    where `name` is normalised already, ValueError for fewer than one power iteration.
    """
    if _hook_of(module, SpectralNorm, name) is not None:
        raise RuntimeError(
            f"Cannot register two spectral_norm hooks on the same parameter {name}"
        )
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    hook = SpectralNorm(name, n_power_iterations, eps, dim)
    weight = module._parameters.pop(name, None)
    if weight is None:
        raise ValueError(f"spectral_norm(): {type(module).__name__} has no parameter '{name}'")
    rows, columns = hook.matrix(weight.detach()).shape
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    for part, size in (("u", rows), ("v", columns)):
        start = ops.randn((size,), dtype=weight.dtype, device=weight.device)
        module.register_buffer(f"{name}_{part}", F.normalize(start, dim=0, eps=eps))
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: T, name: str = "weight") -> T:
    """Make the normed weight a parameter again. Raises ValueError where there is no norm."""
    hook = _remove(module, SpectralNorm, name, "spectral_norm")
    with no_grad():
        weight = hook.compute_weight(module, iterate=False).detach()
    delattr(module, name)
    del module._parameters[f"{name}_orig"]
    del module._buffers[f"{name}_u"], module._buffers[f"{name}_v"]
    module.register_parameter(name, Parameter(weight))
    return module
