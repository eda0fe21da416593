"""Convolution whose places of reading are data."""

from __future__ import annotations

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.ops.convolution import pads_of
from graphwright.onnx.importing.opsets import op


def bilinear(image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Elements of (N, C, H, W) between pixels at y and x, both (N, places); 0 outside."""
    n, c, height, width = image.shape
    flat = image.reshape([n, c, height * width])
    top, left = gw.floor(y), gw.floor(x)
    total = gw.zeros([n, c, y.shape[1]], dtype=image.dtype)
    for down in (0, 1):
        for right in (0, 1):
            row, column = top + down, left + right
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            weight = (1 - gw.abs(y - row)) * (1 - gw.abs(x - column)) * inside
            place = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)
            index = place.to(gw.int64).unsqueeze(1).expand([n, c, y.shape[1]])
            total = total + gw.gather(flat, 2, index) * weight.unsqueeze(1)
    return total


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
    strides, dilations = strides or [1, 1], dilations or [1, 1]
    kernel = list(weight.shape[2:])
    before, _ = pads_of(x.shape[2:], kernel, strides, dilations, pads, "NOTSET")
    n, channels = x.shape[:2]
    kh, kw = kernel
    oh, ow = offset.shape[2:]
    count = kh * kw
    moved = offset.reshape([n, offset_group, count, 2, oh, ow])
    rows = (gw.arange(kh) * dilations[0]).reshape([kh, 1, 1, 1]) - before[0]
    rows = rows + (gw.arange(oh) * strides[0]).reshape([1, 1, oh, 1])
    columns = (gw.arange(kw) * dilations[1]).reshape([1, kw, 1, 1]) - before[1]
    columns = columns + (gw.arange(ow) * strides[1]).reshape([1, 1, 1, ow])
    grid = [kh, kw, oh, ow]
    y = moved[:, :, :, 0] + rows.expand(grid).reshape([count, oh, ow])
    at = moved[:, :, :, 1] + columns.expand(grid).reshape([count, oh, ow])
    parts = x.reshape([n * offset_group, channels // offset_group, *x.shape[2:]])
    read = bilinear(parts, y.reshape([n * offset_group, -1]), at.reshape([n * offset_group, -1]))
    read = read.reshape([n, offset_group, channels // offset_group, count, oh * ow])
    if mask is not None:
        read = read * mask.reshape([n, offset_group, 1, count, oh * ow])
    out = weight.shape[0]
    read = read.reshape([n, group, channels // group * count, oh * ow])
    kernels = weight.reshape([group, out // group, channels // group * count])
    result = gw.matmul(kernels, read).reshape([n, out, oh, ow])
    return result if bias is None else result + bias.reshape([1, -1, 1, 1])
