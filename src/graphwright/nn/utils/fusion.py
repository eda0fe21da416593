"""Folding batch normalisation into the layer before it, for inference.

y = (W x + b - mean) / sqrt(var + eps) * weight + bias is linear in x: Jacob et al. (2018),
"Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference".
"""

from __future__ import annotations

import copy
from typing import Any

from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.errors import require_kind, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

Pair = tuple[Parameter, Parameter]
_OF_LAYERS = ("weight", "bias")
_OF_NORMS = ("running_mean", "running_var", "eps", "weight", "bias")


def _fused(
    weight: Tensor, bias: Tensor | None, dim: int, norm: tuple[Any, Any, float, Any, Any]
) -> Pair:
    mean, var, eps, gamma, beta = norm
    for argument, value in (("weight", weight), ("running mean", mean), ("running var", var)):
        require_tensor("fuse_bn", argument, value)
    if bias is None:
        bias = ops.zeros_like(mean)
    require_tensor("fuse_bn", "bias", bias)
    scale = ops.rsqrt(var + eps)
    if gamma is not None:
        scale = scale * gamma
    shape = [1] * weight.ndim
    shape[dim] = -1
    shifted = (bias - mean) * scale
    if beta is not None:
        shifted = shifted + beta
    return (
        Parameter((weight * scale.reshape(shape)).to(weight.dtype), weight.requires_grad),
        Parameter(shifted.to(bias.dtype), bias.requires_grad),
    )


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> Pair:
    """Weight and bias of the convolution that does both."""
    return _fused(conv_w, conv_b, int(transpose), (bn_rm, bn_rv, bn_eps, bn_w, bn_b))


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> Pair:
    """Weight and bias of the linear layer that does both."""
    return _fused(linear_w, linear_b, 0, (bn_rm, bn_rv, bn_eps, bn_w, bn_b))


def _eval_pair(layer: Any, bn: Any) -> tuple[Any, Any]:
    for argument, module, needed in (("layer", layer, _OF_LAYERS), ("bn", bn, _OF_NORMS)):
        require_kind("fuse_bn_eval", argument, module, Module)
        missing = [name for name in needed if not hasattr(module, name)]
        if missing:
            raise TypeError(
                f"fuse_bn_eval(): argument '{argument}' must have the attributes {needed}, but "
                f"{type(module).__name__} lacks {missing}"
            )
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Only supports BatchNorm with running statistics")
    return copy.deepcopy(layer), (bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of `conv` that also does `bn`; both must be in evaluation mode."""
    fused, norm = _eval_pair(conv, bn)
    fused.weight, fused.bias = _fused(fused.weight, fused.bias, int(transpose), norm)
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of `linear` that also does `bn`; both must be in evaluation mode."""
    fused, norm = _eval_pair(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
        )
    fused.weight, fused.bias = _fused(fused.weight, fused.bias, 0, norm)
    return fused
