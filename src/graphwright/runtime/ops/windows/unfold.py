"""Sliding windows over images: the views, im2col and col2im."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.int_arguments import as_int, as_ints
from graphwright.runtime.ops.nn_support import (
    Array,
    compute,
    finish,
    internal,
    output,
    spec,
)
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.tensor.tensor import Tensor

Pair = tuple[Any, Any]
_SIZES = {1: "L", 2: "H, W", 3: "D, H, W"}


def for_dims(template: str, ndim: int, **parts: str) -> str:
    """The docstring of an op of signals of `ndim` dims, from what those of 1 to 3 share.

    `{n}` is ndim, `{sizes}` the sizes' names; `{twos}`, `{threes}` and `{fives}` are the sizes in
    examples.
    """
    return template.format(
        n=ndim,
        sizes=_SIZES[ndim],
        twos=", 2" * ndim,
        threes=", 3" * ndim,
        fives=", 5" * ndim,
        **parts,
    )


def spread_over(ndim: int, name: str, what: str, value: Any) -> tuple[Any, ...]:
    """One number for each of `ndim` dimensions from a number or a sequence of 1 or `ndim`.

    Raises TypeError where it is neither, RuntimeError for another length.
    """
    if value.__class__ is int:
        return (value,) * ndim
    argument = f"{name}(): argument '{what}'"
    if isinstance(value, list | tuple):
        values = as_ints(argument, value)
        values = values * ndim if len(values) == 1 else values
        if len(values) != ndim:
            raise RuntimeError(
                f"{name}: expected {what} to be a single integer value or a list of {ndim} "
                f"values, but got {what}={list(value)}"
            )
        return values
    return (as_int(argument, value),) * ndim


def window_count(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """How many windows fit along one dimension."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def padded(x: Array, padding: Pair, value: Any, extra: Pair = (0, 0)) -> Array:
    """x [N, C, H, W] with `value` around it (`extra` more after the end); x itself if none."""
    (top, left), (bottom, right) = padding, (padding[0] + extra[0], padding[1] + extra[1])
    if not (top or left or bottom or right):
        return x
    n, c, h, w = x.shape
    out = np.full((n, c, h + top + bottom, w + left + right), value, x.dtype)
    out[:, :, top : top + h, left : left + w] = x
    return out


def window_view(x: Array, kernel: Pair, stride: Pair, dilation: Pair) -> Array:
    """[N, C, H, W] as a read-only view [N, C, oh, ow, kh, kw]."""
    n, c, h, w = x.shape
    rows = window_count(h, kernel[0], stride[0], 0, dilation[0])
    columns = window_count(w, kernel[1], stride[1], 0, dilation[1])
    sn, sc, sh, sw = x.strides
    return np.lib.stride_tricks.as_strided(
        x,
        (n, c, rows, columns, *kernel),
        (sn, sc, sh * stride[0], sw * stride[1], sh * dilation[0], sw * dilation[1]),
        writeable=False,
    )


def add_windows(windows: Array, out: Array, stride: Pair, padding: Pair, dilation: Pair) -> None:
    """out [N, C, H, W] = the sums of windows [N, C, kh, kw, oh, ow] laid back in place."""
    n, c, h, w = out.shape
    kh, kw, oh, ow = windows.shape[2:]
    image = np.zeros((n, c, h + 2 * padding[0], w + 2 * padding[1]), out.dtype)
    for i in range(kh):
        top = i * dilation[0]
        rows = slice(top, top + stride[0] * (oh - 1) + 1, stride[0])
        for j in range(kw):
            left = j * dilation[1]
            image[:, :, rows, left : left + stride[1] * (ow - 1) + 1 : stride[1]] += windows[
                :, :, i, j
            ]
    out[...] = image[:, :, padding[0] : padding[0] + h, padding[1] : padding[1] + w]


def _counts(size: Any, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Pair:
    return (
        window_count(size[0], kernel[0], stride[0], padding[0], dilation[0]),
        window_count(size[1], kernel[1], stride[1], padding[1], dilation[1]),
    )


def _im2col_meta(input: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    if len(input.shape) != 4:
        raise RuntimeError(f"im2col: expected input [N, C, H, W], got {describe(input)}")
    require_dtype("im2col", input.dtype, integers=False)
    kernel = kernel_size
    counts = _counts(input.shape[2:], kernel, dilation, padding, stride)
    if counts[0] < 1 or counts[1] < 1:
        raise RuntimeError(
            f"im2col: kernel {list(kernel)} does not fit in input {describe(input)} with padding "
            f"{list(padding)}"
        )
    channels = input.shape[1] * kernel[0] * kernel[1]
    return spec((input.shape[0], channels, counts[0] * counts[1]), input)


def _im2col_eager(
    input: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Tensor:
    shape = _im2col_meta(input, kernel_size, dilation, padding, stride).shape
    result, out = output(shape, input.dtype)
    x = padded(compute(input), padding, 0)
    windows = window_view(x, kernel_size, stride, dilation)
    n, c, oh, ow, kh, kw = windows.shape
    out.reshape(n, c, kh, kw, oh, ow)[...] = windows.transpose(0, 1, 4, 5, 2, 3)
    return finish(result, out)


def _im2col_vjp(ctx: Any, grad: Any) -> Any:
    size = tuple(ctx.input.shape[2:])
    return ops.col2im(grad, size, ctx.kernel_size, ctx.dilation, ctx.padding, ctx.stride)


def _col2im_meta(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    kernel = kernel_size
    area = kernel[0] * kernel[1]
    counts = _counts(output_size, kernel, dilation, padding, stride)
    if (
        len(input.shape) != 3
        or input.shape[1] % area != 0
        or input.shape[2] != counts[0] * counts[1]
    ):
        raise RuntimeError(
            f"col2im: expected input [N, C * {area}, {counts[0] * counts[1]}] for "
            f"output_size={output_size}, kernel_size={kernel_size}, got {describe(input)}"
        )
    require_dtype("col2im", input.dtype, integers=False)
    return spec((input.shape[0], input.shape[1] // area, *output_size), input)


def _col2im_eager(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Tensor:
    shape = _col2im_meta(input, output_size, kernel_size, dilation, padding, stride).shape
    kernel = kernel_size
    counts = _counts(shape[2:], kernel, dilation, padding, stride)
    result, out = output(shape, input.dtype)
    windows = compute(input).reshape(*shape[:2], *kernel, *counts)
    add_windows(windows, out, stride, padding, dilation)
    return finish(result, out)


def _col2im_vjp(ctx: Any, grad: Any) -> Any:
    return ops.im2col(grad, ctx.kernel_size, ctx.dilation, ctx.padding, ctx.stride)


internal(
    "im2col(Tensor input, IntPair kernel_size, IntPair dilation, IntPair padding, IntPair stride)",
    Kind.OTHER,
    meta=_im2col_meta,
    vjp=_im2col_vjp,
    eager=_im2col_eager,
)
internal(
    "col2im(Tensor input, IntPair output_size, IntPair kernel_size, IntPair dilation, "
    "IntPair padding, IntPair stride)",
    Kind.OTHER,
    meta=_col2im_meta,
    vjp=_col2im_vjp,
    eager=_col2im_eager,
)
