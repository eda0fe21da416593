"""Normalisation."""

from __future__ import annotations

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.element_types import dtype_of
from graphwright.onnx.importing.opsets import Tensors, op, plain


def _of_channels(values: Tensor, x: Tensor) -> Tensor:
    return values.reshape([1, -1, *[1] * (x.dim() - 2)])


@op("BatchNormalization")
def batch_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, *, epsilon: float,
    momentum: float = 0.9, training_mode: int = 0, spatial: int = 1, is_test: int = 1,
    n_outputs: int = 1,
) -> Tensors:  # fmt: skip
    """x minus the mean over the deviation of each channel; in training new statistics too."""
    if not spatial:
        return (x - mean) / gw.sqrt(variance + epsilon) * scale + bias
    if not training_mode:
        return F.batch_norm(
            x, mean.to(x.dtype), variance.to(x.dtype), scale.to(x.dtype), bias.to(x.dtype),
            eps=epsilon,
        )
    axes = [0, *range(2, x.dim())]
    own_mean = x.mean(axes)
    own = ((x - _of_channels(own_mean, x)) ** 2).mean(axes)
    y = (x - _of_channels(own_mean, x)) / gw.sqrt(_of_channels(own, x) + epsilon)
    y = y * _of_channels(scale, x) + _of_channels(bias, x)
    running = (
        mean * momentum + own_mean * (1 - momentum), variance * momentum + own * (1 - momentum)
    )
    return (y, *running)[:n_outputs]


plain("InstanceNormalization",
      lambda x, scale, bias, epsilon: F.instance_norm(x, None, None, scale, bias, eps=epsilon),
      "epsilon", inputs=3)


@op("LayerNormalization")
def layer_normalization(
    x: Tensor, scale: Tensor, bias: Tensor | None = None, *, axis: int = -1, epsilon: float,
    stash_type: int = 1, n_outputs: int = 1,
) -> Tensors:  # fmt: skip
    """x minus its mean over its deviation, both over all dims from `axis` on."""
    axis = axis % x.dim()
    wide = x.to(dtype_of(stash_type))
    sizes = list(x.shape[axis:])
    whole = list(scale.shape) == sizes and (bias is None or list(bias.shape) == sizes)
    if n_outputs == 1 and whole and x.dtype == wide.dtype:
        return F.layer_norm(x, sizes, scale, bias, epsilon)
    axes = list(range(axis, x.dim()))
    mean = wide.mean(axes, keepdim=True)
    deviation = wide - mean
    inverse = gw.rsqrt((deviation * deviation).mean(axes, keepdim=True) + epsilon)
    y = (deviation * inverse).to(x.dtype) * scale
    y = y if bias is None else y + bias
    return (y, mean, inverse)[:n_outputs]


@op("RMSNormalization")
def rms_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Tensor:
    """x over the root of the mean of its squares over all dims from `axis` on."""
    sizes = list(x.shape[axis % x.dim() :])
    return F.rms_norm(x.to(dtype_of(stash_type)), sizes, eps=epsilon).to(x.dtype) * scale


@op("GroupNormalization", since=21)
def group_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float,
    stash_type: int = 1,
) -> Tensor:  # fmt: skip
    """Groups of channels of each example minus their mean over their deviation."""
    wide = x.to(dtype_of(stash_type))
    y = F.group_norm(wide, num_groups, eps=epsilon).to(x.dtype)
    return y * _of_channels(scale, x) + _of_channels(bias, x)


@op("GroupNormalization")
def group_normalization_by_group(
    x: Tensor, scale: Tensor, bias: Tensor, *, num_groups: int, epsilon: float
) -> Tensor:
    """GroupNormalization of version 18, whose scale and bias are those of groups."""
    count = x.shape[1] // num_groups
    return group_normalization(
        x, scale.repeat_interleave(count), bias.repeat_interleave(count),
        num_groups=num_groups, epsilon=epsilon,
    )  # fmt: skip


@op("LpNormalization")
def lp_normalization(x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """x over its p-norm along an axis, 0 where that is 0."""
    norm = gw.linalg.vector_norm(x, p, axis, True)
    return gw.where(norm == 0, gw.zeros_like(x), x / norm)


@op("LRN")
def local_response_normalization(
    x: Tensor, *, size: int, alpha: float, beta: float, bias: float
) -> Tensor:
    """x over a power of the sum of squares of neighbouring channels."""
    channels = x.shape[1]
    before = (size - 1) // 2
    squares = F.pad(x * x, [*[0, 0] * (x.dim() - 2), before, size - 1 - before])
    total = squares.narrow(1, 0, channels)
    for shift in range(1, size):
        total = total + squares.narrow(1, shift, channels)
    return x / (bias + alpha / size * total) ** beta


@op("MeanVarianceNormalization")
def mean_variance_normalization(x: Tensor, *, axes: list[int]) -> Tensor:
    """x minus its mean over its deviation along axes."""
    mean = x.mean(axes, keepdim=True)
    variance = (x * x).mean(axes, keepdim=True) - mean * mean
    return (x - mean) / (gw.sqrt(variance) + 1e-9)
