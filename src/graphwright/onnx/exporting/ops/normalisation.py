"""Normalisation, softmax among it."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.onnx.element_types import ELEMENT_TYPES
from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.views import is_static
from graphwright.onnx.exporting.registry import form, forms


def _precision(x: Value) -> int | None:
    """What moments are computed in: float32, unless the tensor is float64."""
    return ELEMENT_TYPES[x.dtype] if x.dtype.itemsize == 8 else None


def _ones(g: Builder, weight: Value | None, shape: Any, dtype: Any) -> Value:
    """The weight, or ones."""
    return g.constant(np.ones(tuple(shape)), dtype) if weight is None else weight


@form("layer_norm", accepts=lambda x, shape, *rest: is_static(shape))
def _layer_norm(g: Builder, out: Any, x: Value, shape: Any, weight: Value | None,
                bias: Value | None, eps: float) -> Value:
    return g.op("LayerNormalization", x, _ones(g, weight, shape, x.dtype), bias, axis=-len(shape),
                epsilon=eps, stash_type=_precision(x))


@form("rms_norm", since=23, accepts=lambda x, shape, *rest: is_static(shape))
def _rms_norm(g: Builder, out: Any, x: Value, shape: Any, weight: Value | None,
              eps: float | None) -> Value:
    if eps is None:
        eps = float(np.finfo(np.float32 if x.dtype.itemsize < 8 else np.float64).eps)
    return g.op("RMSNormalization", x, _ones(g, weight, shape, x.dtype), axis=-len(shape),
                epsilon=eps, stash_type=_precision(x))


def _of_channels(
    g: Builder, kind: str, x: Value, weight: Value | None, bias: Value | None, *statistics: Value,
    **attributes: Any,
) -> Value:
    """An operator that has a scale and a shift for each channel: ones and zeros where there are
    none."""
    channels = x.shape[1:2]
    shift = g.constant(np.zeros(channels), x.dtype) if bias is None else bias
    scale = _ones(g, weight, channels, x.dtype)
    return g.op(kind, x, scale, shift, *statistics, **attributes)


def _has_channels(x: Any) -> bool:
    return len(x.shape) >= 3 and is_static(x.shape[1:2])


@form("group_norm", since=21, accepts=lambda x, *rest: _has_channels(x))
def _group_norm(g: Builder, out: Any, x: Value, groups: int, weight: Value | None,
                bias: Value | None, eps: float) -> Value:
    return _of_channels(g, "GroupNormalization", x, weight, bias, num_groups=groups, epsilon=eps,
                        stash_type=_precision(x))


@form("batch_norm", accepts=lambda x, weight, bias, mean, var, training, *rest: (
    not training and mean is not None and var is not None and is_static(x.shape[1:2])))
def _batch_norm(
    g: Builder, out: Any, x: Value, weight: Value | None, bias: Value | None, mean: Value,
    var: Value, training: bool, momentum: float, eps: float,
) -> Value:
    return _of_channels(g, "BatchNormalization", x, weight, bias, mean, var, epsilon=eps)


@form("instance_norm", accepts=lambda x, weight, bias, mean, var, use_input, *rest: (
    use_input and mean is None and _has_channels(x)))
def _instance_norm(
    g: Builder, out: Any, x: Value, weight: Value | None, bias: Value | None, mean: None,
    var: None, use_input: bool, momentum: float, eps: float,
) -> Value:
    return _of_channels(g, "InstanceNormalization", x, weight, bias, epsilon=eps)


forms({
    "softmax": lambda g, out, x, dim, dtype: g.math("Softmax", x, dtype=out.dtype, axis=dim),
    "log_softmax": lambda g, out, x, dim, dtype: g.math("LogSoftmax", x, dtype=out.dtype,
                                                        axis=dim),
}, accepts=lambda x, dim, dtype: len(x.shape) > 0)
