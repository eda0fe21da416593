"""Convolutions."""

from __future__ import annotations

from functools import reduce
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.ops.products import minus_zero_point
from graphwright.onnx.importing.ops.windows import Windows, padded
from graphwright.onnx.importing.opsets import op

_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


@op("Conv")
def conv(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *,
    kernel_shape: list[int] | None = None, strides: list[int] | None = None,
    dilations: list[int] | None = None, pads: list[int] | None = None, auto_pad: str = "NOTSET",
    group: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, sizes...) with (M, C/group, kernel...)."""
    rank, kernel = x.dim() - 2, list(weight.shape[2:])
    if kernel_shape and kernel != kernel_shape:
        raise ValueError(f"the kernel is {kernel}, kernel_shape {kernel_shape}")
    if rank not in _CONVOLUTIONS:
        raise NotImplementedError(f"convolution over {rank} dims; there are 1 to 3")
    windows = Windows(
        x.shape[2:], kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
        auto_pad=auto_pad,
    )  # fmt: skip
    padding = windows.symmetric
    if padding is None:
        x, padding = padded(x, windows.before, windows.behind), [0] * rank
    return _CONVOLUTIONS[rank](
        x, weight, bias, windows.strides, padding, windows.dilations, group
    )


@op("ConvTranspose")
def conv_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *,
    kernel_shape: list[int] | None = None, strides: list[int] | None = None,
    dilations: list[int] | None = None, pads: list[int] | None = None,
    output_padding: list[int] | None = None, output_shape: list[int] | None = None,
    auto_pad: str = "NOTSET", group: int = 1,
) -> Tensor:  # fmt: skip
    """Transposed convolution of (N, C, sizes...) with (C, M/group, kernel...)."""
    rank, sizes, kernel = x.dim() - 2, x.shape[2:], list(weight.shape[2:])
    if rank not in _TRANSPOSED:
        raise NotImplementedError(f"transposed convolution over {rank} dims; there are 1 to 3")
    same = auto_pad in ("SAME_UPPER", "SAME_LOWER")
    windows = Windows(
        sizes, kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
        auto_pad="NOTSET" if same else auto_pad,
    )
    strides, dilations = windows.strides, windows.dilations
    before, behind, padding = windows.before, windows.behind, windows.symmetric
    extra = output_padding or [0] * rank
    if output_shape is None and same:
        output_shape = [n * s for n, s in zip(sizes, strides, strict=True)]
    if output_shape is not None:
        totals = [
            s * (n - 1) + e + (k - 1) * d + 1 - wanted
            for n, k, s, d, e, wanted in zip(
                sizes, kernel, strides, dilations, extra, output_shape[-rank:], strict=True
            )
        ]
        before = [total // 2 for total in totals]
        behind = [total - half for total, half in zip(totals, before, strict=True)]
        if auto_pad != "SAME_UPPER":
            before, behind = behind, before
        padding = before if before == behind and min(before) >= 0 else None
    transposed = _TRANSPOSED[rank]
    if padding is not None:
        return transposed(x, weight, bias, strides, padding, extra, group, dilations)
    # The part that output padding adds is all 0 but for the bias, and so is what is beyond it.
    y = transposed(x, weight, None, strides, [0] * rank, [0] * rank, group, dilations)
    added = [e - last for e, last in zip(extra, behind, strict=True)]
    y = padded(y, [-first for first in before], added)
    return y if bias is None else y + bias.reshape([1, -1, *[1] * rank])


def exact_convolution(
    x: Tensor, weight: Tensor, x_zero_point: Tensor | None, w_zero_point: Tensor | None,
    **options: Any,
) -> Tensor:  # fmt: skip
    """The convolution of integers of 8 bits minus their zero points in floating point, which has
    it exactly."""
    kernel_zero = None if w_zero_point is None else w_zero_point.reshape(
        [-1, *[1] * (weight.dim() - 1)]
    )
    image = minus_zero_point(x, x_zero_point)
    kernel = minus_zero_point(weight, kernel_zero)
    wide = gw.float32 if weight.shape[1:].numel() <= 128 else gw.float64
    return conv(image.to(wide), kernel.to(wide), **options)


@op("ConvInteger", options_of=(conv,))
def conv_integer(
    x: Tensor, weight: Tensor, x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None, **options: Any,
) -> Tensor:  # fmt: skip
    """The convolution of 8-bit tensors minus their zero points, as int32."""
    return exact_convolution(x, weight, x_zero_point, w_zero_point, **options).to(gw.int32)


@op("CausalConvWithState")
def causal_conv_with_state(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, past_state: Tensor | None = None, *,
    activation: str = "none",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Each channel of (batch, channels, length) convolved with earlier elements, and the last."""
    count = weight.shape[-1] - 1
    if past_state is None:
        past_state = gw.zeros([x.shape[0], x.shape[1], count], dtype=x.dtype)
    whole = gw.cat([past_state, x], dim=2)
    y = F.conv1d(whole, weight, bias, groups=x.shape[1])
    if activation in ("silu", "swish"):
        y = F.silu(y)
    return y, whole.narrow(2, whole.shape[2] - count, count)


@op("Col2Im")
def col2im(
    x: Tensor, image_shape: list[int], block_shape: list[int], *,
    dilations: list[int] | None = None, pads: list[int] | None = None,
    strides: list[int] | None = None,
) -> Tensor:  # fmt: skip
    """Blocks (N, C prod(block), L), added up where they overlap, as images (N, C, sizes...)."""
    rank = len(image_shape)
    windows = Windows(
        image_shape, kernel_shape=block_shape, strides=strides, dilations=dilations, pads=pads
    )
    before, behind = windows.before, windows.behind
    whole = [n + b + e for n, b, e in zip(image_shape, before, behind, strict=True)]
    place, total = gw.zeros([1] * (2 * rank), dtype=gw.int64), 1
    for dim, (n, k, d, s) in enumerate(
        zip(whole, block_shape, windows.dilations, windows.strides, strict=True)
    ):
        count = (n - (k - 1) * d - 1) // s + 1
        sizes = [1] * (2 * rank)
        sizes[dim], sizes[rank + dim] = k, count
        own = gw.arange(k).reshape([-1, 1]) * d + gw.arange(count) * s
        place, total = place * n + own.reshape(sizes), total * n
    values = x.reshape([x.shape[0], -1, place.numel()])
    index = place.reshape([1, 1, -1]).expand(values.shape)
    image = gw.zeros([*values.shape[:2], total], dtype=x.dtype).scatter_add(2, index, values)
    return padded(
        image.reshape([*values.shape[:2], *whole]), [-b for b in before], [-e for e in behind]
    )


def corners(image: Tensor, y: Tensor, x: Tensor) -> list[Tensor]:
    """The four pixels of (N, C, H, W) around y and x, (N, places), each times its share; 0
    outside."""
    n, c, height, width = image.shape
    flat = image.reshape([n, c, height * width])
    top, left = gw.floor(y), gw.floor(x)
    found = []
    for row in (top, top + 1):
        for column in (left, left + 1):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            weight = (1 - gw.abs(y - row)) * (1 - gw.abs(x - column)) * inside
            place = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)
            index = place.to(gw.int64).unsqueeze(1).expand([n, c, y.shape[1]])
            found.append(gw.gather(flat, 2, index) * weight.unsqueeze(1))
    return found


@op("DeformConv")
def deform_conv(
    x: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None = None,
    mask: Tensor | None = None, *, kernel_shape: list[int] | None = None,
    strides: list[int] | None = None, dilations: list[int] | None = None,
    pads: list[int] | None = None, group: int = 1, offset_group: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of images (N, C, H, W) that reads each pixel at an offset, times a mask."""
    if x.dim() != 4:
        raise NotImplementedError(f"DeformConv over {x.dim() - 2} dims; there are 2")
    kernel = list(weight.shape[2:])
    windows = Windows(
        x.shape[2:], kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads
    )
    n, channels = x.shape[:2]
    out, own, (oh, ow) = weight.shape[0], channels // offset_group, offset.shape[2:]
    grid = [*kernel, oh, ow]
    count = grid[0] * grid[1]
    moved = offset.reshape([n, offset_group, count, 2, oh, ow])
    places = []
    for dim in (0, 1):
        sizes, steps = [1] * 4, [1] * 4
        sizes[dim], steps[2 + dim] = -1, -1
        first = gw.arange(grid[dim]) * windows.dilations[dim] - windows.before[dim]
        step = gw.arange(grid[2 + dim]) * windows.strides[dim]
        whole = (first.reshape(sizes) + step.reshape(steps)).expand(grid)
        at = moved[:, :, :, dim] + whole.reshape([count, oh, ow])
        places.append(at.reshape([n * offset_group, -1]))
    images = x.reshape([n * offset_group, own, *x.shape[2:]])
    read = reduce(gw.add, corners(images, *places))
    read = read.reshape([n, offset_group, own, count, oh * ow])
    if mask is not None:
        read = read * mask.reshape([n, offset_group, 1, count, oh * ow])
    read = read.reshape([n, group, channels // group * count, oh * ow])
    kernels = weight.reshape([group, out // group, channels // group * count])
    result = gw.matmul(kernels, read).reshape([n, out, oh, ow])
    return result if bias is None else result + bias.reshape([1, -1, 1, 1])
