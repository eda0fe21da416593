"""max_pool2d, avg_pool2d, adaptive_avg_pool2d."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.dtypes import int64
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    finish,
    internal,
    new,
    output,
    quietly,
    require_floating,
    spec,
    widened,
)
from graphwright.runtime.ops.nn_windows import padded, window_count
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import Tensor

Pair = tuple[Any, Any]


def _strides(kernel_size: Any, stride: Any) -> Pair:
    """The stride, which is the kernel's size where none is given."""
    return kernel_size if stride is None else stride


def _count(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    if not ceil_mode:
        return window_count(size, kernel, stride, padding, dilation)
    count = (size + 2 * padding - dilation * (kernel - 1) - 1 + stride - 1) // stride + 1
    return count - 1 if (count - 1) * stride >= size + padding else count


def _check(name: str, input: Any, kernel: Pair, padding: Pair) -> None:
    if len(input.shape) not in (3, 4):
        raise RuntimeError(f"{name}: expected input [N, C, H, W] or [C, H, W], got "
                           f"{describe(input)}")  # fmt: skip
    for extent, pad in zip(kernel, padding, strict=True):
        if pad * 2 > extent:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={pad}, "
                f"kernel_size={extent} and dilation=1"
            )


def _output_shape(
    name: str,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[Any, ...]:
    kernel, pad = kernel_size, padding
    _check(name, input, kernel, pad)
    step, spread = _strides(kernel_size, stride), dilation
    counts = [
        _count(input.shape[-2 + i], kernel[i], step[i], pad[i], spread[i], ceil_mode)
        for i in (0, 1)
    ]
    if counts[0] < 1 or counts[1] < 1:
        raise RuntimeError(
            f"{name}: Output size is too small: given input {describe(input)}, calculated "
            f"output size {counts}"
        )
    return (*input.shape[:-2], *counts)


# max_pool2d


def _max_meta(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    shape = _output_shape("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)
    return spec(shape, input), spec(shape, input, int64)


def _lowest(dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


def _offsets(
    kernel: Pair, stride: Pair, dilation: Pair, counts: Pair
) -> list[tuple[int, int, slice, slice]]:
    """For each place (row, column) in a window: where it lies, and the slices of all windows."""
    places = []
    for i in range(kernel[0]):
        top = i * dilation[0]
        rows = slice(top, top + stride[0] * (counts[0] - 1) + 1, stride[0])
        for j in range(kernel[1]):
            left = j * dilation[1]
            columns = slice(left, left + stride[1] * (counts[1] - 1) + 1, stride[1])
            places.append((top, left, rows, columns))
    return places


def _origin(counts: Pair, stride: Pair, padding: Pair, width: int) -> Array:
    """The flat index in the unpadded plane of each window's first place (may be outside)."""
    rows = np.arange(counts[0]) * stride[0] - padding[0]
    columns = np.arange(counts[1]) * stride[1] - padding[1]
    return rows[:, None] * width + columns


def _first_inside(counts: Pair, stride: Pair, padding: Pair, dilation: Pair, width: int) -> Array:
    """The flat index of each window's first place that is inside the plane."""
    inside = []
    for i in (0, 1):
        start = np.arange(counts[i]) * stride[i] - padding[i]
        inside.append(np.where(start < 0, start + -(start // dilation[i]) * dilation[i], start))
    return inside[0][:, None] * width + inside[1]


def _end_padding(
    size: Any, counts: Pair, kernel: Pair, stride: Pair, padding: Pair, dilation: Pair
) -> Pair:
    """How far windows reach past the end's padding (in ceil mode)."""
    needs = [
        (counts[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1
        - (size[i] + 2 * padding[i])
        for i in (0, 1)
    ]  # fmt: skip
    return max(needs[0], 0), max(needs[1], 0)


def _max_eager(
    input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    shape = _output_shape("max_pool2d", input, kernel_size, stride, padding, dilation, ceil_mode)
    kernel, step, pad, spread = (
        kernel_size,
        _strides(kernel_size, stride),
        padding,
        dilation,
    )
    x = compute(input)
    x = x.reshape(-1, *x.shape[-3:])
    height, width = x.shape[2:]
    counts = (shape[-2], shape[-1])
    extra = _end_padding((height, width), counts, kernel, step, pad, spread)
    x = padded(x, pad, _lowest(x.dtype), extra)
    result, out = output(shape, input.dtype)
    indices = new(shape, int64)
    best = out.reshape(*x.shape[:2], *counts)
    where = indices._nd.reshape(best.shape)
    best[...] = _lowest(x.dtype)
    where[...] = _first_inside(counts, step, pad, spread, width)
    origin = _origin(counts, step, pad, width)
    floating = x.dtype.kind == "f"
    for top, left, rows, columns in _offsets(kernel, step, spread, counts):
        values = x[:, :, rows, columns]
        better = values > best
        if floating:
            better |= values != values
        np.copyto(best, values, where=better)
        np.copyto(where, origin + (top * width + left), where=better)
    return finish(result, out), indices


def _max_vjp(ctx: Any, grad: Any, grad_indices: Any) -> Any:
    return ops.max_pool2d_backward(
        grad,
        ctx.out1,
        ctx.input.shape,
        ctx.kernel_size,
        _strides(ctx.kernel_size, ctx.stride),
        ctx.padding,
        ctx.dilation,
    )


def _max_backward_meta(grad: Any, indices: Any, input_size: Any, *window: Any) -> Any:
    return spec(input_size, grad)


def _max_backward_eager(
    grad: Tensor,
    indices: Tensor,
    input_size: Any,
    kernel_size: Pair,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
) -> Tensor:
    counts = (grad.shape[-2], grad.shape[-1])
    g = compute(grad).reshape(-1, grad.shape[-3], *counts)
    where = indices._nd.reshape(g.shape)
    height, width = input_size[-2:]
    result, out = output(input_size, grad.dtype)
    y = out.reshape(*g.shape[:2], height, width)
    extra = _end_padding((height, width), counts, kernel_size, stride, padding, dilation)
    image = np.zeros(
        (*g.shape[:2], height + 2 * padding[0] + extra[0], width + 2 * padding[1] + extra[1]),
        g.dtype,
    )
    relative = where - _origin(counts, stride, padding, width)
    for top, left, rows, columns in _offsets(kernel_size, stride, dilation, counts):
        chosen = relative == top * width + left
        image[:, :, rows, columns] += np.where(chosen, g, 0)
    y[...] = image[:, :, padding[0] : padding[0] + height, padding[1] : padding[1] + width]
    return finish(result, out)


def _max_backward_vjp(ctx: Any, grad: Any) -> Any:
    flat = ops.reshape(grad, (*grad.shape[:-2], grad.shape[-2] * grad.shape[-1]))
    index = ctx.indices
    picked = ops.reshape(index, (*index.shape[:-2], index.shape[-2] * index.shape[-1]))
    return ops.reshape(ops.gather(flat, len(flat.shape) - 1, picked), index.shape), None


def _max_pool2d_decompose(
    input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    return ops.max_pool2d_with_indices(
        input,
        kernel_size,
        _strides(kernel_size, stride),
        padding,
        dilation,
        ceil_mode,
    )[0]


# avg_pool2d


def _avg_shape(input: Any, kernel_size: Any, stride: Any, padding: Any) -> tuple[Any, ...]:
    require_floating("avg_pool2d", input)
    return _output_shape("avg_pool2d", input, kernel_size, stride, padding, (1, 1), False)


def _avg_meta(
    input: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool
) -> Any:
    return spec(_avg_shape(input, kernel_size, stride, padding), input)


def _cells(size: Any, counts: Any, kernel: Any, stride: Any, padding: Any) -> Any:
    """How many places of each window lie inside the image, along one dimension."""
    start = ops.sub(ops.mul(ops.arange(0, counts, 1, dtype=int64), stride), padding)
    end = ops.clamp(ops.add(start, kernel), None, size)
    return ops.sub(end, ops.clamp(start, 0, None))


def _avg_eager(
    input: Tensor, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool
) -> Tensor:
    shape = _avg_shape(input, kernel_size, stride, padding)
    kernel, step, pad = kernel_size, _strides(kernel_size, stride), padding
    x = compute(input)
    x = padded(x.reshape(-1, *x.shape[-3:]), pad, 0)
    result, out = output(shape, input.dtype)
    counts = (shape[-2], shape[-1])
    total = out.reshape(*x.shape[:2], *counts)
    total[...] = 0
    for _, _, rows, columns in _offsets(kernel, step, (1, 1), counts):
        total += x[:, :, rows, columns]
    if count_include_pad or pad == (0, 0):
        total /= kernel[0] * kernel[1]
    else:
        cells = [
            _cells(input.shape[-2 + i], counts[i], kernel[i], step[i], pad[i])._nd for i in (0, 1)
        ]
        total /= (cells[0][:, None] * cells[1]).astype(total.dtype)
    return finish(result, out)


def _avg_decompose(
    input: Any, kernel_size: Any, stride: Any, padding: Any, count_include_pad: bool
) -> Any:
    shape = _avg_shape(input, kernel_size, stride, padding)
    kernel, step, pad = kernel_size, _strides(kernel_size, stride), padding
    batched = input if len(input.shape) == 4 else ops.unsqueeze(input, 0)
    area = kernel[0] * kernel[1]
    columns = ops.im2col(widened(batched), kernel, (1, 1), pad, step)
    length = shape[-2] * shape[-1]
    windows = ops.reshape(columns, (batched.shape[0], batched.shape[1], area, length))
    total = ops.reshape(ops.sum(windows, (2,)), shape)
    if count_include_pad or pad == (0, 0):
        return cast(ops.div(total, area), input.dtype)
    cells = [
        _cells(input.shape[-2 + i], shape[-2 + i], kernel[i], step[i], pad[i]) for i in (0, 1)
    ]
    inside = ops.mul(ops.unsqueeze(cells[0], 1), cells[1])
    return cast(ops.div(total, cast(inside, total.dtype)), input.dtype)


# adaptive_avg_pool2d


def _averaging(size: Any, cells: Any, like: Any) -> Any:
    """The [cells, size] matrix that averages positions floor(i*size/cells).. of each cell i.

    Cell i covers floor(i * size / cells) to ceil((i + 1) * size / cells), as in PyTorch.
    """
    i = ops.unsqueeze(ops.arange(0, cells, 1, dtype=int64), 1)
    begin = ops.div(ops.mul(i, size), cells, rounding_mode="floor")
    scaled = ops.add(ops.mul(ops.add(i, 1), size), cells - 1)
    end = ops.div(scaled, cells, rounding_mode="floor")
    position = ops.unsqueeze(ops.arange(0, size, 1, dtype=int64), 0)
    inside = ops.logical_and(ops.ge(position, begin), ops.lt(position, end))
    weight = ops.to_dtype(inside, like.dtype)
    return ops.div(weight, ops.to_dtype(ops.sub(end, begin), like.dtype))


def _adaptive_decompose(input: Any, output_size: Any) -> Any:
    require_floating("adaptive_avg_pool2d", input)
    if len(input.shape) not in (3, 4):
        raise RuntimeError(
            "adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got " + describe(input)
        )
    if tuple(output_size) == (1, 1):
        ndim = len(input.shape)
        return ops.mean(input, (ndim - 2, ndim - 1), True)
    rows, columns = output_size
    x = widened(input)
    down = _averaging(x.shape[-2], rows, x)
    across = ops.transpose(_averaging(x.shape[-1], columns, x), 0, 1)
    return cast(ops.matmul(ops.matmul(down, x), across), input.dtype)


_MAX_WINDOW = (
    "IntPair kernel_size, IntPair? stride=None, IntPair padding=0, IntPair dilation=1, "
    "bool ceil_mode=False"
)

internal(
    f"max_pool2d_with_indices(Tensor input, {_MAX_WINDOW})",
    Kind.OTHER,
    meta=_max_meta,
    vjp=_max_vjp,
    saves=("out1",),
    eager=quietly(_max_eager),
)
define(
    f"max_pool2d(Tensor input, {_MAX_WINDOW})",
    Kind.COMPOSITE,
    decompose=_max_pool2d_decompose,
    method=False,
)
internal(
    "max_pool2d_backward(Tensor grad, Tensor indices, Size input_size, IntPair kernel_size, "
    "IntPair stride, IntPair padding, IntPair dilation)",
    Kind.OTHER,
    meta=_max_backward_meta,
    vjp=_max_backward_vjp,
    saves=("indices",),
    eager=quietly(_max_backward_eager),
)
internal(
    "avg_pool2d(Tensor input, IntPair kernel_size, IntPair? stride=None, IntPair padding=0, "
    "bool count_include_pad=True)",
    Kind.COMPOSITE,
    meta=_avg_meta,
    decompose=_avg_decompose,
    eager=quietly(_avg_eager),
)
internal(
    "adaptive_avg_pool2d(Tensor input, Size output_size)",
    Kind.COMPOSITE,
    decompose=_adaptive_decompose,
)
