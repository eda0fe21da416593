"""Smooth activations: gelu, silu, mish, softplus, logsigmoid, glu."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.activations.elementwise import activation, inplace, like, wide
from graphwright.runtime.ops.nn_support import cast, internal, require_floating, widened
from graphwright.runtime.ops.table import Kind, define

_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
_GELU_CUBIC = 0.044715


# gelu


def _check_gelu(approximate: str) -> None:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")


def _gelu_meta(input: Any, approximate: str) -> Any:
    require_floating("gelu", input)
    _check_gelu(approximate)
    return like(input)


def _gelu_decompose(x: Any, approximate: str) -> Any:
    if approximate == "tanh":
        cubic = ops.add(ops.mul(ops.mul(x, x), _GELU_CUBIC), 1.0)
        inner = ops.tanh(ops.mul(ops.mul(cubic, x), _SQRT_2_OVER_PI))
        return ops.mul(ops.mul(x, 0.5), ops.add(inner, 1.0))
    return ops.mul(x, ops.normal_cdf(x))


def _gelu_backward(grad: Any, x: Any, approximate: str) -> Any:
    square = ops.mul(x, x)
    if approximate == "tanh":
        cubic = ops.mul(square, _GELU_CUBIC)
        inner = ops.tanh(ops.mul(ops.mul(ops.add(cubic, 1.0), x), _SQRT_2_OVER_PI))
        slope = ops.mul(ops.add(ops.mul(cubic, 3.0), 1.0), _SQRT_2_OVER_PI)
        bent = ops.mul(ops.sub(1.0, ops.mul(inner, inner)), ops.mul(slope, x))
        return ops.mul(grad, ops.mul(ops.add(ops.add(bent, inner), 1.0), 0.5))
    density = ops.mul(ops.exp(ops.mul(square, -0.5)), _INV_SQRT_2PI)
    return ops.mul(grad, ops.add(ops.normal_cdf(x), ops.mul(x, density)))


# silu


def _silu_decompose(x: Any) -> Any:
    return ops.mul(x, ops.sigmoid(x))


def _silu_backward(grad: Any, x: Any) -> Any:
    s = ops.sigmoid(x)
    return ops.mul(grad, ops.mul(s, ops.add(ops.mul(x, ops.sub(1.0, s)), 1.0)))


# softplus, logsigmoid


def _softplus_decompose(x: Any, beta: float, threshold: float) -> Any:
    z = ops.mul(x, beta)
    tail = ops.log1p(ops.exp(ops.neg(ops.abs(z))))
    smooth = ops.div(ops.add(tail, ops.clamp(z, 0, None)), beta)
    return ops.where(ops.gt(z, threshold), x, smooth)


def _softplus_backward(grad: Any, x: Any, beta: float, threshold: float) -> Any:
    z = ops.mul(x, beta)
    return ops.where(ops.gt(z, threshold), grad, ops.mul(grad, ops.sigmoid(z)))


def _logsigmoid_decompose(x: Any) -> Any:
    return ops.sub(ops.clamp(x, None, 0), ops.log1p(ops.exp(ops.neg(ops.abs(x)))))


def _logsigmoid_backward(grad: Any, x: Any) -> Any:
    return ops.mul(grad, ops.sigmoid(ops.neg(x)))


# mish


def _soft_tanh(x: Any) -> Any:
    """tanh(log(1 + e^x)) = z / (z + 2) with z = e^x (e^x + 2)."""
    e = ops.exp(ops.clamp(x, None, 20.0))
    z = ops.mul(e, ops.add(e, 2.0))
    return ops.div(z, ops.add(z, 2.0))


def _mish_decompose(x: Any) -> Any:
    return ops.mul(x, _soft_tanh(x))


def _mish_backward(grad: Any, x: Any) -> Any:
    t = _soft_tanh(x)
    bent = ops.mul(ops.mul(x, ops.sigmoid(x)), ops.sub(1.0, ops.mul(t, t)))
    return ops.mul(grad, ops.add(t, bent))


# glu


def _glu_decompose(input: Any, dim: int) -> Any:
    """a * sigmoid(b) for the halves a, b of `input` along `dim` (Dauphin et al., 2016)."""
    require_floating("glu", input)
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    size = input.shape[dim]
    if size % 2 != 0:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {size}"
        )
    a = ops.narrow(input, dim, 0, size // 2)
    b = ops.narrow(input, dim, size // 2, size // 2)
    return ops.gated(a, b)


def _gated_vjp(ctx: Any, grad: Any) -> Any:
    """Half precision in float32, as the result."""
    needs, dtype = ctx.needs, grad.dtype
    grad, s = widened(grad), ops.sigmoid(widened(ctx.gate))
    to_input = cast(ops.mul(grad, s), dtype) if needs["input"] else None
    if not needs["gate"]:
        return to_input, None
    return to_input, cast(ops.sigmoid_backward(ops.mul(grad, widened(ctx.input)), s), dtype)


activation(
    "gelu(Tensor input, *, str approximate='none')",
    _gelu_decompose,
    _gelu_backward,
    meta=_gelu_meta,
    doc="""Gaussian error linear unit, `y = x Phi(x)`, Phi the standard normal distribution.

    Hendrycks and Gimpel, "Gaussian error linear units", 2016.

    Args:
        input: a floating-point tensor of any shape.
        approximate: "none", or "tanh" for `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `approximate` has another value.

    Example:
        >>> F.gelu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """,
)
activation("silu(Tensor input)", _silu_decompose, _silu_backward)
activation(
    "softplus(Tensor input, float beta=1.0, float threshold=20.0)",
    _softplus_decompose,
    _softplus_backward,
    doc="""Smooth relu, `y = log(1 + e^(beta x)) / beta`.

    Args:
        input: a floating-point tensor of any shape.
        beta: the steepness.
        threshold: where `beta x` is above it, `y` is `x`.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.softplus(gw.tensor([0.0, 1.0]))
        tensor([0.6931, 1.3133])
    """,
)
activation(
    "logsigmoid(Tensor input)",
    _logsigmoid_decompose,
    _logsigmoid_backward,
    doc="""Logarithm of the logistic function, `y = -log(1 + e^(-x))`, without overflow.

    Args:
        input: a floating-point tensor of any shape.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.logsigmoid(gw.tensor([0.0, 1.0]))
        tensor([-0.6931, -0.3133])
    """,
)
activation("mish(Tensor input)", _mish_decompose, _mish_backward)
define(
    "gated(Tensor input, Tensor gate)",
    Kind.COMPOSITE,
    meta=like,
    vjp=_gated_vjp,
    saves=("input?gate", "gate"),
    decompose=wide(lambda x, gate: ops.mul(x, ops.sigmoid(gate))),
    method=False,
    public=False,
)
internal(
    "glu(Tensor input, Dim dim=-1)",
    Kind.COMPOSITE,
    decompose=_glu_decompose,
    doc="""Gated linear unit, `a * sigmoid(b)` for the halves a, b of `input` along a dim.

    Dauphin et al., "Language modeling with gated convolutional networks", 2016.

    Args:
        input: a floating-point tensor with at least one dim.
        dim: the dim that is halved, of even size.

    Returns: a tensor of half the size in `dim`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: the size of `dim` is odd, or `input` has no dims.

    Example:
        >>> F.glu(gw.tensor([1.0, 2.0, 0.0, 0.0]))
        tensor([0.5000, 1.0000])
    """,
)
inplace("silu_(Tensor input)", "mish_(Tensor input)")
