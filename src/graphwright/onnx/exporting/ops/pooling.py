"""Pooling over windows."""

from __future__ import annotations

from math import prod
from typing import Any

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.ops.unary import is_float, single
from graphwright.onnx.exporting.ops.views import is_static
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes


def _pooled(
    g: Builder, count: int, kind: str, x: Value, kernel: Any, stride: Any, padding: Any,
    ceil_mode: bool, **attributes: Any,
) -> list[Value]:
    """Results of an operator on windows of a tensor with a batch, or one without."""
    alone = x.ndim == len(kernel) + 1
    made = g.several(
        count, kind, g.op("Unsqueeze", x, [0]) if alone else x, kernel_shape=list(kernel),
        strides=list(stride), pads=[*padding, *padding], ceil_mode=int(ceil_mode), **attributes)
    return [g.op("Squeeze", one, [0]) for one in made] if alone else list(made)


def _inside(x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool) -> bool:
    """Whether no window begins behind the tensor and its first padding: before opset 22, ONNX
    counts such windows."""
    if not ceil_mode or not any(padding):
        return True
    extents = x.shape[len(x.shape) - len(kernel):]
    return is_static(extents) and all(
        -(-(size + 2 * pad - wide) // step) * step < size + pad
        for size, wide, step, pad in zip(extents, kernel, stride, padding, strict=True))


def _has_older_maxima(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any,
                      ceil_mode: bool) -> bool:
    plain = not ceil_mode or (set(dilation) == {1} and _inside(x, kernel, stride, padding, True))
    return plain and is_float(x)


@form("max_pool_with_indices", since=22, accepts=is_float)
@form("max_pool_with_indices", accepts=_has_older_maxima)
def _max_pool(
    g: Builder, out: Any, x: Value, kernel: Any, stride: Any, padding: Any, dilation: Any,
    ceil_mode: bool,
) -> tuple[Value, Value | None]:
    """ONNX counts places in the whole tensor, the op in each plane of it."""
    value, *rest = _pooled(g, 2 if 1 in g.used else 1, "MaxPool", x, kernel, stride, padding,
                           ceil_mode, dilations=list(dilation))
    if not rest:
        return value, None
    plane = prod(x.shape[x.ndim - len(kernel):], start=1)
    return value, g.op("Mod", Value(rest[0].name, dtypes.int64), g.scalar(plane))


def _has_divisor(
    x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, include: bool, divisor: Any
) -> bool:
    """A divisor of its own needs windows of one size. ONNX has no means of integers."""
    return is_float(x) and (divisor is None or not ceil_mode)


@form("avg_pool", since=22, accepts=_has_divisor)
@form("avg_pool", accepts=lambda *args: _inside(*args[:5]) and _has_divisor(*args))
def _avg_pool(
    g: Builder, out: Any, x: Value, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
    include: bool, divisor: Any,
) -> Value:
    (made,) = _pooled(g, 1, "AveragePool", x, kernel, stride, padding, ceil_mode,
                      count_include_pad=int(include or divisor is not None))
    return made if divisor is None else g.op("Mul", made, prod(kernel) / divisor)


def _to_one(x: Any, size: Any) -> bool:
    return all(type(one) is int and one == 1 for one in size)


@form("adaptive_avg_pool", accepts=_to_one)
def _global(g: Builder, out: Any, x: Value, size: Any) -> Value:
    """The mean of all places."""
    if x.ndim == len(size) + 2 and single(x):
        return g.op("GlobalAveragePool", x)
    return g.op("ReduceMean", x, list(range(x.ndim - len(size), x.ndim)), keepdims=1)


def _even(x: Any, size: Any) -> bool:
    """Whether all windows have one size."""
    extents = x.shape[len(x.shape) - len(size):]
    return is_static((*extents, *size)) and all(
        extent % count == 0 for extent, count in zip(extents, size, strict=True))


@form("adaptive_max_pool", accepts=_even)
def _adaptive_max_pool(g: Builder, out: Any, x: Value, size: Any) -> Any:
    kernel = _windows(x, size)
    return _max_pool(g, out, x, kernel, kernel, [0] * len(size), [1] * len(size), False)


@form("adaptive_avg_pool", accepts=lambda x, size: _even(x, size) and not _to_one(x, size))
def _adaptive_avg_pool(g: Builder, out: Any, x: Value, size: Any) -> Value:
    kernel = _windows(x, size)
    return _avg_pool(g, out, x, kernel, kernel, [0] * len(size), False, False, None)


def _windows(x: Value, size: Any) -> list[int]:
    return [extent // count
            for extent, count in zip(x.shape[x.ndim - len(size):], size, strict=True)]


@form("col2im")
def _col2im(g: Builder, out: Any, x: Value, size: Any, kernel: Any, dilation: Any, padding: Any,
            stride: Any) -> Value:
    return g.op("Col2Im", x, list(size), list(kernel), dilations=list(dilation),
                pads=[*padding, *padding], strides=list(stride))
