"""Initial values of parameters. Every function changes its tensor in place and returns it."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.runtime.errors import require_kind, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.generator import Generator
from graphwright.runtime.tensor.tensor import Tensor

_GAINS = {
    "linear": 1,
    "conv1d": 1,
    "conv2d": 1,
    "conv3d": 1,
    "conv_transpose1d": 1,
    "conv_transpose2d": 1,
    "conv_transpose3d": 1,
    "sigmoid": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor that keeps the variance through `nonlinearity` (leaky_relu: `param` = slope)."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def calculate_fans(tensor: Tensor) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight [out, in, *kernel]."""
    _check(tensor)
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    receptive = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive


def _check(tensor: Any) -> None:
    require_tensor("nn.init", "tensor", tensor)


def _assign(tensor: Tensor, values: Tensor) -> Tensor:
    with no_grad():
        tensor.copy_(values)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """All elements `val`."""
    _check(tensor)
    with no_grad():
        tensor.fill_(val)
    return tensor


def ones_(tensor: Tensor) -> Tensor:
    """All elements one."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """All elements zero."""
    return constant_(tensor, 0.0)


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform in [a, b)."""
    _check(tensor)
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal with `mean` and standard deviation `std`."""
    _check(tensor)
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal with `mean` and `std` cut to [a, b], by inverting the distribution function.

    A UserWarning where `mean` is more than 2 `std` outside: few such numbers are normal.
    NotImplementedError unless `tensor` is floating point.
    """
    _check(tensor)
    if not tensor.is_floating_point():
        raise NotImplementedError(f'"trunc_normal_" not implemented for {tensor.dtype}')
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1.0 + math.erf((x - mean) / (std * math.sqrt(2.0)))) / 2.0

    with no_grad():
        values = ops.rand(
            tensor.shape, dtype=dtypes.float64, generator=generator, device=tensor.device)
        uniform = values * (below(b) - below(a)) + below(a)
        normal = ops.erfinv(uniform * 2 - 1) * (std * math.sqrt(2.0)) + mean
        return _assign(tensor, ops.clamp(normal, a, b))


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix; ValueError unless `tensor` has 2 dimensions."""
    _check(tensor)
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    with no_grad():
        identity = ops.eye(rows, columns, dtype=tensor.dtype, device=tensor.device)
        return _assign(tensor, identity)


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Glorot & Bengio (2010): uniform of bound gain * sqrt(6 / (fan_in + fan_out))."""
    fan_in, fan_out = calculate_fans(tensor)
    bound = gain * math.sqrt(6.0 / (fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Glorot & Bengio (2010): normal of std gain * sqrt(2 / (fan_in + fan_out))."""
    fan_in, fan_out = calculate_fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / (fan_in + fan_out)), generator)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """The fan that `mode` ("fan_in" or "fan_out", whatever the case) names."""
    require_kind("nn.init", "mode", mode, str)
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return calculate_fans(tensor)[mode == "fan_out"]


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """He et al. (2015): uniform of bound sqrt(3) * gain / sqrt(fan)."""
    _check(tensor)
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """He et al. (2015): normal of std gain / sqrt(fan)."""
    _check(tensor)
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(
    tensor: Tensor, gain: float = 1, generator: Generator | None = None
) -> Tensor:
    """Rows (or columns, the fewer) orthonormal, times `gain`: Saxe et al. (2013).

    Raises ValueError below 2 dimensions; trailing dimensions are flattened into columns.
    """
    _check(tensor)
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        normal = ops.randn((rows, columns), dtype=dtypes.float64, generator=generator,
                           device=tensor.device)
        q, r = ops.linalg_qr(normal.T if rows < columns else normal)
        q = q * ops.sign(ops.diagonal(r))
        return _assign(tensor, (q.T if rows < columns else q).reshape(tensor.shape) * gain)


def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal with `std`, a fraction `sparsity` of every column zero: Martens (2010)."""
    _check(tensor)
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    zeros = math.ceil(sparsity * tensor.shape[0])
    with no_grad():
        normal_(tensor, 0, std, generator)
        scores = ops.rand(tensor.shape, generator=generator, device=tensor.device)
        dropped = ops.lt(ops.argsort(scores, 0), zeros)
        return _assign(tensor, ops.masked_fill(tensor, dropped, 0))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution's weight [out, in, *kernel] that hands as many channels on as it can.

    Raises ValueError unless there are 3 to 5 dimensions and `groups` divides `out`.
    """
    _check(tensor)
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    channels = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for d in range(min(channels, tensor.shape[1])):
                tensor[(group * channels + d, d, *middle)] = 1
    return tensor


_calculate_fan_in_and_fan_out = calculate_fans


def _deprecated(name: str) -> Callable[..., Tensor]:
    initialise = globals()[f"{name}_"]

    @functools.wraps(initialise)
    def older(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
            stacklevel=2,
        )
        result: Tensor = initialise(*args, **kwargs)
        return result

    older.__name__ = older.__qualname__ = name
    return older


constant = _deprecated("constant")
dirac = _deprecated("dirac")
eye = _deprecated("eye")
kaiming_normal = _deprecated("kaiming_normal")
kaiming_uniform = _deprecated("kaiming_uniform")
normal = _deprecated("normal")
orthogonal = _deprecated("orthogonal")
sparse = _deprecated("sparse")
uniform = _deprecated("uniform")
xavier_normal = _deprecated("xavier_normal")
xavier_uniform = _deprecated("xavier_uniform")
