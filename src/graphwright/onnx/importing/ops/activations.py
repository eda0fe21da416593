"""Activation functions."""

from __future__ import annotations

from collections.abc import Callable

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import op, plain


def _swish(x: Tensor, alpha: float) -> Tensor:
    return F.silu(x) if alpha == 1.0 else x * gw.sigmoid(alpha * x)


plain("Relu", gw.relu)
plain("Softplus", lambda x: gw.logaddexp(x, gw.zeros_like(x)))
plain("Softsign", F.softsign)
plain("Mish", F.mish)
plain("HardSwish", F.hardswish)
plain("LeakyRelu", lambda x, alpha: F.leaky_relu(x, alpha), "alpha")
plain("Elu", F.elu, "alpha")
plain("Celu", F.celu, "alpha")
plain("Selu", lambda x, alpha, gamma: gamma * gw.where(x > 0, x, alpha * gw.expm1(x)),
      "alpha", "gamma")
plain("ThresholdedRelu", lambda x, alpha: gw.where(x > alpha, x, gw.zeros_like(x)), "alpha")
plain("HardSigmoid", lambda x, alpha, beta: gw.clamp(alpha * x + beta, 0, 1), "alpha", "beta")
plain("Gelu", F.gelu, "approximate")
plain("Swish", _swish, "alpha")
plain("SwiGLU", lambda a, b, alpha: _swish(a, alpha) * b, "alpha", inputs=2)


@op("PRelu")
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """x where not negative, slope x elsewhere; the slope is broadcast to x."""
    if slope.dim() == 1 and x.dim() > 2 and slope.shape[0] == x.shape[1] != x.shape[-1]:
        slope = slope.reshape([-1, *[1] * (x.dim() - 2)])  # as versions before 7 mean it
    return gw.where(x < 0, x * slope, x)


@op("Shrink")
def shrink(x: Tensor, *, lambd: float, bias: float) -> Tensor:
    """x drawn toward 0 by `bias` where beyond `lambd`, 0 elsewhere."""
    wide = x if x.dtype.is_floating_point else x.double()
    moved = gw.where(wide > lambd, wide - bias, gw.where(wide < -lambd, wide + bias, wide * 0))
    return moved.to(x.dtype)


def _hardmax(x: Tensor, axis: int) -> Tensor:
    """1 at the first largest element along an axis, 0 elsewhere."""
    index = gw.argmax(x, dim=axis, keepdim=True)
    return gw.zeros_like(x).scatter(axis, index, 1.0)


def _along_an_axis(name: str, function: Callable[[Tensor, int], Tensor]) -> None:
    """Enter a function along an axis, before version 13 over all dims from it on together."""
    def of_rows(x: Tensor, axis: int) -> Tensor:
        axis = axis % x.dim() if x.dim() else 0
        rows = x.reshape([x.shape[:axis].numel(), -1] if axis else [1, -1])
        return function(rows, 1).reshape(x.shape)

    plain(name, of_rows, "axis")
    plain(name, lambda x, axis: function(x, axis), "axis", since=13)


_along_an_axis("Softmax", gw.softmax)
_along_an_axis("LogSoftmax", gw.log_softmax)
_along_an_axis("Hardmax", _hardmax)
