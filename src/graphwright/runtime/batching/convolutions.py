"""Convolutions and their gradients: the batch goes into N, or into groups of channels."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op


def into_first(value: Any) -> Any:
    """[B, N, ...] -> [B * N, ...]."""
    return ops.reshape(value, (value.shape[0] * value.shape[1], *value.shape[2:]))


def out_of_first(value: Any, count: Any) -> Any:
    """[B * N, ...] -> [B, N, ...]."""
    return ops.reshape(value, (count, value.shape[0] // count, *value.shape[1:]))


def _into_channels(value: Any) -> Any:
    """[B, N, C, ...] -> [N, B * C, ...]."""
    turned = ops.transpose(value, 0, 1)
    batch, count, channels = turned.shape[:3]
    return ops.reshape(turned, (batch, count * channels, *turned.shape[3:]))


def _out_of_channels(value: Any, count: Any) -> Any:
    """[N, B * C, ...] -> [B, N, C, ...]."""
    batch, channels = value.shape[:2]
    apart = ops.reshape(value, (batch, count, channels // count, *value.shape[2:]))
    return ops.transpose(apart, 0, 1)


@rule("convolution")
def convolution(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """With one weight for all, more images; with one for each example, more groups."""
    input, weight, bias, *options, groups = args
    own_bias = bias is not None and bias.batched
    shared = None if bias is None or own_bias or weight.batched else bias.value
    if not weight.batched:
        given = into_first(whole(input))
        out = dispatch(op, (given, weight.value, shared, *options, groups))
        out = out_of_first(out, level.size)
    else:
        given, kernels = _into_channels(whole(input)), into_first(weight.value)
        out = dispatch(op, (given, kernels, None, *options, groups * level.size))
        out = _out_of_channels(out, level.size)
    if bias is None or shared is not None:
        return out
    ones = (1,) * (input.ndim - 2)
    return ops.add(out, ops.reshape(whole(bias), (level.size, 1, bias.shape[0], *ones)))


@rule("conv_input_grad")
def conv_input_grad(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The gradient of the input, of size [N, C, ...]."""
    grad, weight, size, *options, groups = args
    batch, channels, *sizes = size
    if not weight.batched:
        given = into_first(whole(grad))
        wanted = (batch * level.size, channels, *sizes)
        out = dispatch(op, (given, weight.value, wanted, *options, groups))
        return out_of_first(out, level.size)
    given, kernels = _into_channels(whole(grad)), into_first(weight.value)
    wanted = (batch, channels * level.size, *sizes)
    out = dispatch(op, (given, kernels, wanted, *options, groups * level.size))
    return _out_of_channels(out, level.size)


@rule("conv_weight_grad")
def conv_weight_grad(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """The gradient of the weight, of size [O, C / groups, ...], for each example apart."""
    grad, input, size, *options, groups = args
    outs, *rest = size
    given, values = _into_channels(whole(grad)), _into_channels(whole(input))
    wanted = (outs * level.size, *rest)
    out = dispatch(op, (given, values, wanted, *options, groups * level.size))
    return out_of_first(out, level.size)
