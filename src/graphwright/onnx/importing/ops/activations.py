"""Activation functions."""

from __future__ import annotations

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import op, plain

plain("Relu", gw.relu)
plain("Softplus", lambda x: gw.logaddexp(x, gw.zeros_like(x)))
plain("Softsign", F.softsign)
plain("Mish", F.mish)
plain("HardSwish", F.hardswish)


@op("LeakyRelu")
def leaky_relu(x: Tensor, *, alpha: float) -> Tensor:
    """x where positive, alpha x elsewhere."""
    return F.leaky_relu(x, alpha)


@op("PRelu")
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """x where not negative, slope x elsewhere; the slope is broadcast to x."""
    if slope.dim() == 1 and x.dim() > 2 and slope.shape[0] == x.shape[1] != x.shape[-1]:
        slope = slope.reshape([-1, *[1] * (x.dim() - 2)])  # as versions before 7 mean it
    return gw.where(x < 0, x * slope, x)


@op("Elu")
def elu(x: Tensor, *, alpha: float) -> Tensor:
    """x where positive, alpha (exp(x) - 1) elsewhere."""
    return F.elu(x, alpha)


@op("Celu")
def celu(x: Tensor, *, alpha: float) -> Tensor:
    """max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""
    return F.celu(x, alpha)


@op("Selu")
def selu(x: Tensor, *, alpha: float, gamma: float) -> Tensor:
    """gamma x where positive, gamma alpha (exp(x) - 1) elsewhere."""
    return gamma * gw.where(x > 0, x, alpha * gw.expm1(x))


@op("ThresholdedRelu")
def thresholded_relu(x: Tensor, *, alpha: float) -> Tensor:
    """x where above alpha, 0 elsewhere."""
    return gw.where(x > alpha, x, gw.zeros_like(x))


@op("HardSigmoid")
def hard_sigmoid(x: Tensor, *, alpha: float, beta: float) -> Tensor:
    """alpha x + beta, within 0 and 1."""
    return gw.clamp(alpha * x + beta, 0, 1)


@op("Shrink")
def shrink(x: Tensor, *, lambd: float, bias: float) -> Tensor:
    """x drawn toward 0 by `bias` where beyond `lambd`, 0 elsewhere."""
    wide = x.double() if x.dtype.is_floating_point is False else x
    moved = gw.where(wide > lambd, wide - bias, gw.where(wide < -lambd, wide + bias, wide * 0))
    return moved.to(x.dtype)


@op("Gelu")
def gelu(x: Tensor, *, approximate: str) -> Tensor:
    """x times the probability that a normal number is less, or the "tanh" approximation."""
    return F.gelu(x, approximate=approximate)


@op("Swish")
def swish(x: Tensor, *, alpha: float) -> Tensor:
    """x sigmoid(alpha x)."""
    return F.silu(x) if alpha == 1.0 else x * gw.sigmoid(alpha * x)


@op("SwiGLU")
def swiglu(a: Tensor, b: Tensor, *, alpha: float) -> Tensor:
    """a sigmoid(alpha a) b."""
    return swish(a, alpha=alpha) * b


def _as_rows(x: Tensor, axis: int) -> Tensor:
    """x as a matrix, whose rows are the dims from `axis` on."""
    axis = axis % x.dim() if x.dim() else 0
    return x.reshape([x.shape[:axis].numel(), -1]) if axis else x.reshape([1, -1])


@op("Softmax", since=13)
def softmax(x: Tensor, *, axis: int) -> Tensor:
    """exp(x) over its sum along an axis."""
    return gw.softmax(x, dim=axis)


@op("Softmax")
def softmax_of_rows(x: Tensor, *, axis: int) -> Tensor:
    """Softmax over all dims from `axis` on together."""
    return gw.softmax(_as_rows(x, axis), dim=1).reshape(x.shape)


@op("LogSoftmax", since=13)
def log_softmax(x: Tensor, *, axis: int) -> Tensor:
    """The logarithm of softmax along an axis."""
    return gw.log_softmax(x, dim=axis)


@op("LogSoftmax")
def log_softmax_of_rows(x: Tensor, *, axis: int) -> Tensor:
    """The logarithm of softmax over all dims from `axis` on together."""
    return gw.log_softmax(_as_rows(x, axis), dim=1).reshape(x.shape)


@op("Hardmax", since=13)
def hardmax(x: Tensor, *, axis: int) -> Tensor:
    """1 at the first largest element along an axis, 0 elsewhere."""
    index = gw.argmax(x, dim=axis, keepdim=True)
    return gw.zeros_like(x).scatter(axis, index, 1.0)


@op("Hardmax")
def hardmax_of_rows(x: Tensor, *, axis: int) -> Tensor:
    """Hardmax over all dims from `axis` on together."""
    return hardmax(_as_rows(x, axis), axis=1).reshape(x.shape)
