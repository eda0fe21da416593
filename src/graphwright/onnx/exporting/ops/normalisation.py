"""Normalisation, softmax among it."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.element_types import element_type
from graphwright.onnx.exporting.ops.views import is_static
from graphwright.onnx.exporting.registry import form


def _precision(x: Value) -> int | None:
    """What moments are computed in: float32, unless the tensor is float64."""
    return element_type(x.dtype) if x.dtype.itemsize == 8 else None


def _ones(g: Builder, weight: Value | None, shape: Any, dtype: Any) -> Value:
    """The weight, or ones."""
    if weight is not None:
        return weight
    return g.constant(np.ones(tuple(shape)), dtype)


@form("layer_norm", accepts=lambda x, shape, *rest: is_static(shape))
def _layer_norm(g: Builder, out: Any, x: Value, shape: Any, weight: Value | None,
                bias: Value | None, eps: float) -> Value:
    scale = _ones(g, weight, shape, x.dtype)
    return g.op("LayerNormalization", x, scale, bias, axis=-len(shape), epsilon=eps,
                stash_type=_precision(x))


@form("rms_norm", since=23, accepts=lambda x, shape, *rest: is_static(shape))
def _rms_norm(g: Builder, out: Any, x: Value, shape: Any, weight: Value | None,
              eps: float | None) -> Value:
    small = float(np.finfo(np.float32).eps) if x.dtype.itemsize < 8 else float(
        np.finfo(np.float64).eps)
    return g.op("RMSNormalization", x, _ones(g, weight, shape, x.dtype),
                axis=-len(shape), epsilon=small if eps is None else eps,
                stash_type=_precision(x))


def _is_grouped(x: Any, groups: int, *rest: Any) -> bool:
    return len(x.shape) >= 3 and is_static(x.shape[1:2])


@form("group_norm", since=21, accepts=_is_grouped)
def _group_norm(g: Builder, out: Any, x: Value, groups: int, weight: Value | None,
                bias: Value | None, eps: float) -> Value:
    channels = (x.shape or ())[1]
    scale = _ones(g, weight, [channels], x.dtype)
    shift = bias if bias is not None else g.constant(np.zeros(channels), x.dtype)
    return g.op("GroupNormalization", x, scale, shift, num_groups=groups, epsilon=eps,
                stash_type=_precision(x))


def _has_statistics(x: Any, weight: Any, bias: Any, mean: Any, var: Any, training: bool,
                    *rest: Any) -> bool:
    return not training and mean is not None and var is not None and is_static(x.shape[1:2])


@form("batch_norm", accepts=_has_statistics)
def _batch_norm(
    g: Builder, out: Any, x: Value, weight: Value | None, bias: Value | None, mean: Value,
    var: Value, training: bool, momentum: float, eps: float,
) -> Value:
    channels = (x.shape or ())[1]
    scale = _ones(g, weight, [channels], x.dtype)
    shift = bias if bias is not None else g.constant(np.zeros(channels), x.dtype)
    return g.op("BatchNormalization", x, scale, shift, mean, var, epsilon=eps)


def _uses_input(x: Any, weight: Any, bias: Any, mean: Any, var: Any, use_input: bool,
                *rest: Any) -> bool:
    return use_input and mean is None and len(x.shape) >= 3 and is_static(x.shape[1:2])


@form("instance_norm", accepts=_uses_input)
def _instance_norm(
    g: Builder, out: Any, x: Value, weight: Value | None, bias: Value | None, mean: None,
    var: None, use_input: bool, momentum: float, eps: float,
) -> Value:
    channels = (x.shape or ())[1]
    scale = _ones(g, weight, [channels], x.dtype)
    shift = bias if bias is not None else g.constant(np.zeros(channels), x.dtype)
    return g.op("InstanceNormalization", x, scale, shift, epsilon=eps)


@form("softmax", accepts=lambda x, dim, dtype: len(x.shape) > 0)
def _softmax(g: Builder, out: Any, x: Value, dim: int, dtype: Any) -> Value:
    return g.math("Softmax", x, dtype=out.dtype, axis=dim)


@form("log_softmax", accepts=lambda x, dim, dtype: len(x.shape) > 0)
def _log_softmax(g: Builder, out: Any, x: Value, dim: int, dtype: Any) -> Value:
    return g.math("LogSoftmax", x, dtype=out.dtype, axis=dim)


