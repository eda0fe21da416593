"""Resizing of images: nearest, linear, cubic, area, with or without antialiasing.

Every mode but "area" is one step for each dimension that sums a few weighted places; the step
is an op of its own (`resample`), which is linear and so its own gradient, transposed.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_size, contiguous_spec
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import on_device
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    finish,
    internal,
    is_half,
    output,
    spec,
    widened,
)
from graphwright.runtime.ops.table import Kind, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.tensor import Tensor

_CUBIC, _CUBIC_ANTIALIAS = -0.75, -0.5


# -- one dimension


def _resampled(array: Array, dim: int) -> Array:
    """[outer, size, inner] of a contiguous array."""
    whole = np.ascontiguousarray(array)
    return whole.reshape(prod(whole.shape[:dim]), whole.shape[dim], prod(whole.shape[dim + 1 :]))


def _run(
    transposed: bool, input: Tensor, dim: int, index: Tensor, weight: Tensor, shape: Any
) -> Tensor:
    result, out = output(shape, input.dtype)
    x = input._nd.astype(np.float32) if is_half(input.dtype) else input._nd
    places, factors = np.ascontiguousarray(index._nd), np.ascontiguousarray(weight._nd, out.dtype)
    _core.resample(transposed, _resampled(x, dim), places, factors, _resampled(out, dim))
    return finish(result, out)


def _changed(input: Any, dim: int, size: Any) -> tuple[Any, ...]:
    return (*input.shape[:dim], size, *input.shape[dim + 1 :])


def _resample_meta(input: Any, dim: int, index: Any, weight: Any) -> Any:
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f'"interpolate" not implemented for {input.dtype}')
    return spec(_changed(input, dim, index.shape[0]), input)


def _resample_eager(input: Tensor, dim: int, index: Tensor, weight: Tensor) -> Tensor:
    shape = _resample_meta(input, dim, index, weight).shape
    return _run(False, input, dim, index, weight, shape)


def _resample_vjp(ctx: Any, grad: Any) -> Any:
    size = ctx.input.shape[ctx.dim]
    return ops.resample_backward(grad, ctx.dim, ctx.index, ctx.weight, size), None, None


def _resample_backward_eager(
    grad: Tensor, dim: int, index: Tensor, weight: Tensor, size: int
) -> Tensor:
    return _run(True, grad, dim, index, weight, _changed(grad, dim, size))


def _taps(input: Any, dim: int, index: Any, weight: Any) -> tuple[Any, Any]:
    """Places as a vector, and weights as [count, taps] in the dims that `dim` becomes."""
    shape = [1] * (len(input.shape) + 1)
    shape[dim], shape[dim + 1] = index.shape
    return ops.reshape(index, (-1,)), ops.reshape(weight, shape)


def _resample_by_sums(input: Any, dim: int, index: Any, weight: Any) -> Any:
    places, factors = _taps(input, dim, index, weight)
    picked = ops.index_select(widened(input), dim, places)
    split = (*input.shape[:dim], *index.shape, *input.shape[dim + 1 :])
    total = ops.sum(ops.mul(ops.reshape(picked, split), factors), (dim + 1,))
    return cast(total, input.dtype)


def _resample_backward_by_sums(grad: Any, dim: int, index: Any, weight: Any, size: Any) -> Any:
    places, factors = _taps(grad, dim, index, weight)
    terms = ops.mul(ops.unsqueeze(widened(grad), dim + 1), factors)
    flat = (*grad.shape[:dim], places.shape[0], *grad.shape[dim + 1 :])
    zeros = ops.zeros(_changed(grad, dim, size), dtype=terms.dtype, device=grad.device)
    return cast(ops.index_add(zeros, dim, places, ops.reshape(terms, flat)), grad.dtype)


internal(
    "resample(Tensor input, int dim, Tensor index, Tensor weight)",
    Kind.OTHER,
    meta=_resample_meta,
    vjp=_resample_vjp,
    saves=("index", "weight"),
    decompose=_resample_by_sums,
    eager=_resample_eager,
    tags=("whole",),
)
internal(
    "resample_backward(Tensor grad, int dim, Tensor index, Tensor weight, int size)",
    Kind.OTHER,
    meta=lambda grad, dim, index, weight, size: spec(_changed(grad, dim, size), grad),
    vjp=lambda ctx, grad: (ops.resample(grad, ctx.dim, ctx.index, ctx.weight), None, None),
    saves=("index", "weight"),
    decompose=_resample_backward_by_sums,
    eager=_resample_backward_eager,
    tags=("whole",),
)


# -- places and weights


def _scale(size: int, count: int, align_corners: bool, factor: float | None, real: Any) -> Any:
    """How far apart neighbours of the output are in the input."""
    if align_corners:
        return real(size - 1) / real(count - 1) if count > 1 else real(0)
    return real(1.0 / factor) if factor else real(size) / real(count)


def _nearest(size: int, count: int, factor: float | None, exact: bool) -> tuple[Array, Array]:
    scale = _scale(size, count, False, factor, np.float32)
    place = np.arange(count, dtype=np.float32) + np.float32(0.5 if exact else 0)
    index = np.minimum(np.floor(place * scale).astype(np.int64), size - 1)
    return index[:, None], np.ones((count, 1))


def _sources(
    size: int, count: int, align_corners: bool, factor: float | None, real: Any
) -> Array:
    scale = _scale(size, count, align_corners, factor, real)
    place = np.arange(count, dtype=real)
    if align_corners:
        return np.asarray(place * scale)
    return np.asarray(scale * (place + real(0.5)) - real(0.5))


def _linear(
    size: int, count: int, align_corners: bool, factor: float | None, real: Any
) -> tuple[Array, Array]:
    source = np.maximum(_sources(size, count, align_corners, factor, real), 0)
    low = np.minimum(source.astype(np.int64), size - 1)
    part = np.clip(source - low, 0, 1)
    index = np.stack([low, np.minimum(low + 1, size - 1)], 1)
    return index, np.stack([1 - part, part], 1)


def _cubic_weight(distance: Array, a: float) -> Array:
    """The convolution kernel of Keys (1981)."""
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _cubic(
    size: int, count: int, align_corners: bool, factor: float | None, real: Any
) -> tuple[Array, Array]:
    source = _sources(size, count, align_corners, factor, real)
    low = np.floor(source)
    offsets = np.arange(-1, 3)
    index = np.clip(low.astype(np.int64)[:, None] + offsets, 0, size - 1)
    return index, _cubic_weight((source - low)[:, None] - offsets.astype(real), _CUBIC)


def _antialiased(
    size: int, count: int, align_corners: bool, factor: float | None, cubic: bool
) -> tuple[Array, Array]:
    """The filter widened by the scale where the image shrinks, as in Pillow."""
    scale = float(_scale(size, count, align_corners, factor, np.float64))
    stretch = max(scale, 1.0)
    support = (2.0 if cubic else 1.0) * stretch
    center = scale * (np.arange(count) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    last = np.minimum((center + support + 0.5).astype(np.int64), size)
    taps = max(int((last - first).max(initial=1)), 1)
    index = first[:, None] + np.arange(taps)
    distance = (index - center[:, None] + 0.5) / stretch
    weight = _cubic_weight(distance, _CUBIC_ANTIALIAS) if cubic else 1 - np.abs(distance)
    weight = np.where(index < last[:, None], weight if cubic else np.maximum(weight, 0), 0)
    total = weight.sum(1, keepdims=True)
    return np.minimum(index, size - 1), weight / np.where(total == 0, 1, total)


def _whole(weight: Array) -> Array:
    """Weights as multiples of the power of two with which all fit in 16 bits, as PyTorch's are."""
    bits = 0
    while bits < 22 and int(0.5 + weight.max(initial=0) * 2.0 ** (bits + 1)) < 1 << 15:
        bits += 1
    scaled = weight * 2.0**bits
    return np.trunc(scaled + np.copysign(0.5, scaled)) / 2.0**bits


@lru_cache(256)
def _table(
    mode: str,
    size: int,
    count: int,
    align_corners: bool,
    factor: float | None,
    antialias: bool,
    double: bool,
    of_bytes: bool = False,
) -> tuple[Tensor, Tensor]:
    """Places and weights as tensors [count, taps], int64 and float."""
    real = np.float64 if double or of_bytes else np.float32
    if mode in ("nearest", "nearest-exact"):
        index, weight = _nearest(size, count, factor, mode == "nearest-exact")
    elif antialias:
        index, weight = _antialiased(size, count, align_corners, factor, mode == "bicubic")
    else:
        function = _cubic if mode == "bicubic" else _linear
        index, weight = function(size, count, align_corners, factor, real)
    if of_bytes:
        weight = _whole(weight)
    dtype = dtypes.float64 if double else dtypes.float32
    return (
        _core.from_ndarray(Tensor, np.ascontiguousarray(index), int64),
        _core.from_ndarray(Tensor, np.ascontiguousarray(weight, dtype.numpy), dtype),
    )


_TAPS = {"nearest": 1, "nearest-exact": 1, "bicubic": 4}


def _table_meta(mode: str, size: Any, count: Any, *options: Any) -> tuple[TensorSpec, TensorSpec]:
    shape = (count, _TAPS.get(mode, 2))
    dtype = dtypes.float64 if options[3] else dtypes.float32
    return contiguous_spec(shape, int64, None), contiguous_spec(shape, dtype, None)


internal(
    "resample_table(str mode, int size, int count, bool align_corners, object factor, "
    "bool antialias, bool double, bool of_bytes)",
    Kind.CREATION,
    meta=_table_meta,
    vjp=not_differentiable,
    eager=_table,
)


def _places(device: Any, mode: str, size: Any, count: Any, *options: Any) -> tuple[Any, Any]:
    """The table on a device: made once for sizes that are known, as a step of the graph for
    symbolic ones."""
    known = size.__class__ is int and count.__class__ is int
    if known or options[2]:
        index, weight = _table(mode, int(size), int(count), *options)
    else:
        index, weight = ops.resample_table(mode, size, count, *options)
    return on_device(index, device), on_device(weight, device)


# -- images


def _resize(
    input: Any, size: Any, mode: str, align_corners: bool, factors: Any, antialias: bool
) -> Any:
    """Bytes are resized as images, or by their nearest neighbours; no other integers are."""
    first = len(input.shape) - len(size)
    bytes_ = input.dtype is dtypes.uint8 and (len(size) == 2 or mode.startswith("nearest"))
    require_dtype(mode, input.dtype, bool=False, integers=bytes_, complex=False)
    if mode.startswith("nearest") and not input.dtype.is_floating_point:
        for i, count in enumerate(size):
            index, _ = _places(
                input.device, mode, input.shape[first + i], count, False, factors[i], False, False,
                False,
            )
            input = ops.index_select(input, first + i, ops.select(index, 1, 0))
        return input
    x = ops.to_dtype(input, dtypes.float32) if bytes_ else widened(input)
    double = x.dtype is dtypes.float64
    for i in reversed(range(len(size))):
        extent, count = x.shape[first + i], size[i]
        if extent == count and factors[i] in (None, 1.0) and not antialias:
            continue
        table = _places(
            x.device, mode, extent, count, align_corners, factors[i], antialias, double, bytes_
        )
        x = ops.resample(x, first + i, *table)
        if bytes_:
            x = ops.clamp(ops.floor(ops.add(x, 0.5)), 0, 255)
    out = cast(x, input.dtype)
    return ops.clone(out) if out is input else out


def _interpolate(
    input: Any, size: Any, mode: str, align_corners: bool, scale_factors: Any, antialias: bool
) -> Any:
    if any(count < 1 for count in size) or any(extent == 0 for extent in input.shape[1:]):
        raise RuntimeError(
            f"interpolate: Input and output sizes should be greater than 0, but got input "
            f"{describe(input)} and output {list(size)}"
        )
    check_size("interpolate", (*input.shape[: len(input.shape) - len(size)], *size))
    factors = (None,) * len(size) if scale_factors is None else tuple(scale_factors)
    if mode == "area":
        return ops.adaptive_avg_pool(input, size)
    return _resize(input, size, mode, align_corners, factors, antialias)


internal(
    "interpolate(Tensor input, Size size, str mode, bool align_corners, object scale_factors, "
    "bool antialias)",
    Kind.COMPOSITE,
    decompose=_interpolate,
)
