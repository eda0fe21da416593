"""Pooling."""

from __future__ import annotations

from functools import reduce
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.ops.convolution import corners
from graphwright.onnx.importing.ops.windows import Windows, padded
from graphwright.onnx.importing.opsets import Tensors, op, plain

_MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
_MEAN = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


def _held(x: Tensor) -> Tensor:
    """x in a dtype that pooling computes with, which has all its values."""
    if x.dtype.is_floating_point:
        return x
    return x.to(gw.float64 if x.element_size() > 2 else gw.float32)


@op("MaxPool", options_of=(Windows,))
def max_pool(
    x: Tensor, *, storage_order: int = 0, n_outputs: int = 1, **options: Any
) -> Tensors:
    """The largest elements of windows, and their places in the whole tensor."""
    rank, sizes = x.dim() - 2, list(x.shape[2:])
    windows = Windows(sizes, **options)
    held = _held(x)
    if n_outputs == 1 and windows.plain and rank in _MAX:
        pooled = _MAX[rank](
            held, windows.kernel, windows.strides, windows.before, windows.dilations
        )
        return pooled.to(x.dtype)
    read = windows.of(held, float("-inf"))
    flat = read.reshape([*read.shape[: rank + 2], -1])
    values = gw.amax(flat, dim=-1).to(x.dtype)
    if n_outputs == 1:
        return values
    order = range(rank) if not storage_order else range(rank)[::-1]
    place = gw.zeros([1, 1, *[1] * rank], dtype=gw.int64)
    for dim in order:
        own = gw.arange(sizes[dim]).reshape([-1, *[1] * (rank - 1 - dim)])
        place = place * sizes[dim] + own
    places = windows.of(place.to(gw.float64), 0)
    places = places.reshape([*places.shape[: rank + 2], -1]).to(gw.int64)
    largest = gw.argmax(flat, dim=-1, keepdim=True)
    index = gw.gather(places.expand(flat.shape), -1, largest).squeeze(-1)
    outer = gw.arange(x.shape[0] * x.shape[1]).reshape([x.shape[0], x.shape[1], *[1] * rank])
    return values, index + outer * x.shape[2:].numel()


@op("AveragePool", options_of=(Windows,))
def average_pool(x: Tensor, *, count_include_pad: int = 0, **options: Any) -> Tensor:
    """The means of windows, of padding's zeros too where `count_include_pad`."""
    rank = x.dim() - 2
    windows = Windows(x.shape[2:], **options)
    if windows.plain and rank in _MEAN and all(d == 1 for d in windows.dilations):
        return _MEAN[rank](
            x, windows.kernel, windows.strides, windows.before,
            count_include_pad=bool(count_include_pad),
        )
    last = list(range(rank + 2, 2 * rank + 2))
    counted = gw.ones([1, 1, *x.shape[2:]], dtype=x.dtype)
    counted = padded(counted, windows.before, windows.behind, 1 if count_include_pad else 0)
    counted = padded(counted, [0] * rank, windows.extra)
    return windows.of(x, 0).sum(last) / windows.cut(counted).sum(last)


@op("LpPool", since=2, options_of=(Windows,))
def lp_pool(x: Tensor, *, p: int = 2, **options: Any) -> Tensor:
    """The p-norms of windows."""
    rank = x.dim() - 2
    powers = gw.abs(Windows(x.shape[2:], **options).of(x, 0)) ** p
    return powers.sum(list(range(rank + 2, 2 * rank + 2))) ** (1 / p)


@op("GlobalAveragePool")
def global_average_pool(x: Tensor) -> Tensor:
    """The mean of each channel."""
    return x.mean(list(range(2, x.dim())), keepdim=True)


plain("GlobalMaxPool", lambda x: gw.amax(x, list(range(2, x.dim())), True))


@op("GlobalLpPool", since=2)
def global_lp_pool(x: Tensor, *, p: int = 2) -> Tensor:
    """The p-norm of each channel."""
    return (gw.abs(x) ** p).sum(list(range(2, x.dim())), keepdim=True) ** (1 / p)


@op("MaxUnpool")
def max_unpool(
    x: Tensor, indices: Tensor, output_shape: list[int] | None = None, *,
    kernel_shape: list[int], strides: list[int] | None = None, pads: list[int] | None = None,
) -> Tensor:  # fmt: skip
    """Elements put back at the places where MaxPool found them, 0 elsewhere."""
    rank = x.dim() - 2
    strides, pads = strides or [1] * rank, pads or [0] * (2 * rank)
    sizes = [
        (n - 1) * s - pads[i] - pads[rank + i] + k
        for i, (n, s, k) in enumerate(zip(x.shape[2:], strides, kernel_shape, strict=True))
    ]
    shape = [*x.shape[:2], *sizes]
    flat = gw.zeros(shape, dtype=x.dtype).reshape([-1])
    y = flat.scatter(0, indices.to(gw.int64).reshape([-1]), x.reshape([-1])).reshape(shape)
    if output_shape is None or list(output_shape) == shape:
        return y
    return padded(y, [0] * x.dim(), [w - n for w, n in zip(output_shape, shape, strict=True)])


@op("RoiAlign")
def roi_align(
    x: Tensor, rois: Tensor, batch_indices: Tensor, *, output_height: int, output_width: int,
    sampling_ratio: int = 0, spatial_scale: float = 1.0, mode: str = "avg",
    coordinate_transformation_mode: str = "output_half_pixel",
) -> Tensor:  # fmt: skip
    """Regions (x1, y1, x2, y2) of images, each read at points of a grid and pooled to one size."""
    shift = 0.5 if coordinate_transformation_mode == "half_pixel" else 0.0
    results = []
    for region, image in zip(rois.tolist(), batch_indices.tolist(), strict=True):
        left, top, right, bottom = [n * spatial_scale - shift for n in region]
        width, height = right - left, bottom - top
        if not shift:
            width, height = max(width, 1.0), max(height, 1.0)
        ys = _points(top, height, output_height, sampling_ratio)
        xs = _points(left, width, output_width, sampling_ratio)
        results.append(_region(x[image : image + 1], ys, xs, output_height, output_width, mode))
    if not results:
        return gw.zeros([0, x.shape[1], output_height, output_width], dtype=x.dtype)
    return gw.cat(results)


def _points(start: float, length: float, bins: int, ratio: int) -> Tensor:
    """The coordinates along one dim at which bins are read, the same number for each."""
    count = ratio if ratio > 0 else max(1, int(-(-length // bins)))
    size = length / bins
    inner = (gw.arange(count) + 0.5) * size / count
    return (start + gw.arange(bins).unsqueeze(1) * size + inner).reshape([-1])


def _region(
    image: Tensor, ys: Tensor, xs: Tensor, height: int, width: int, mode: str
) -> Tensor:
    rows, columns = image.shape[2:]
    y = ys.unsqueeze(1).expand([len(ys), len(xs)]).reshape([1, -1])
    x = xs.unsqueeze(0).expand([len(ys), len(xs)]).reshape([1, -1])
    inside = (y >= -1) & (y <= rows) & (x >= -1) & (x <= columns)
    y, x = y.clamp(0, rows - 1).to(image.dtype), x.clamp(0, columns - 1).to(image.dtype)
    around = corners(image, y, x)
    read = gw.amax(gw.stack(around), 0) if mode == "max" else reduce(gw.add, around)
    bins = [height, len(ys) // height, width, len(xs) // width]
    read = (read * inside).reshape([1, image.shape[1], *bins])
    return read.mean([3, 5]) if mode == "avg" else gw.amax(read, [3, 5])


@op("MaxRoiPool")
def max_roi_pool(
    x: Tensor, rois: Tensor, *, pooled_shape: list[int], spatial_scale: float = 1.0
) -> Tensor:
    """Regions (image, x1, y1, x2, y2) of images, each pooled to one size by its largest pixels."""
    height, width = pooled_shape
    results = []
    for image, *region in rois.tolist():
        left, top, right, bottom = [round(n * spatial_scale) for n in region]
        tall, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        pooled = gw.zeros([x.shape[1], height, width], dtype=x.dtype)
        for i in range(height):
            for j in range(width):
                rows = slice(*_bin(top, tall, i, height, x.shape[2]))
                columns = slice(*_bin(left, wide, j, width, x.shape[3]))
                part = x[int(image), :, rows, columns]
                if part.numel():
                    pooled[:, i, j] = gw.amax(part, [1, 2])
        results.append(pooled)
    if not results:
        return gw.zeros([0, x.shape[1], height, width], dtype=x.dtype)
    return gw.stack(results)


def _bin(start: int, length: int, index: int, bins: int, limit: int) -> tuple[int, int]:
    first = start + index * length // bins
    last = start - (-(index + 1) * length // bins)
    return min(max(first, 0), limit), min(max(last, 0), limit)
