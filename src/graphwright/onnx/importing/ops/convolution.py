"""Convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import op

_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


def pads_of(
    sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int], pads: Sequence[int] | None, auto_pad: str,
) -> tuple[list[int], list[int]]:  # fmt: skip
    """How much to pad each dim before and behind, from the pads given or as `auto_pad` says."""
    rank = len(sizes)
    if auto_pad == "VALID":
        return [0] * rank, [0] * rank
    if auto_pad == "NOTSET" or auto_pad == "":
        pads = pads or [0] * (2 * rank)
        return list(pads[:rank]), list(pads[rank:])
    before, behind = [], []
    for n, k, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        total = max((-(-n // stride) - 1) * stride + (k - 1) * dilation + 1 - n, 0)
        less, more = total // 2, total - total // 2
        before.append(less if auto_pad == "SAME_UPPER" else more)
        behind.append(more if auto_pad == "SAME_UPPER" else less)
    return before, behind


def padded(x: Tensor, before: Sequence[int], behind: Sequence[int], value: float = 0) -> Tensor:
    """x with elements before and behind its last dims; negative numbers crop."""
    flat: list[int] = []
    for first, last in zip(reversed(before), reversed(behind), strict=True):
        flat += [first, last]
    return F.pad(x, flat, "constant", value) if any(flat) else x


@op("Conv")
def conv(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *,
    kernel_shape: list[int] | None = None, strides: list[int] | None = None,
    dilations: list[int] | None = None,
    pads: list[int] | None = None, auto_pad: str = "NOTSET", group: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution of (N, C, sizes...) with (M, C/group, kernel...)."""
    rank = x.dim() - 2
    kernel = kernel_shape or list(weight.shape[2:])
    if list(weight.shape[2:]) != list(kernel):
        raise ValueError(f"the kernel is {list(weight.shape[2:])}, kernel_shape {kernel}")
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    before, behind = pads_of(x.shape[2:], kernel, strides, dilations, pads, auto_pad)
    if before == behind and all(n >= 0 for n in before):
        padding = before
    else:
        x, padding = padded(x, before, behind), [0] * rank
    if rank not in _CONVOLUTIONS:
        raise NotImplementedError(f"convolution over {rank} dims; there are 1 to 3")
    return _CONVOLUTIONS[rank](x, weight, bias, strides, padding, dilations, group)


@op("ConvTranspose")
def conv_transpose(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *,
    kernel_shape: list[int] | None = None, strides: list[int] | None = None,
    dilations: list[int] | None = None,
    pads: list[int] | None = None, output_padding: list[int] | None = None,
    output_shape: list[int] | None = None, auto_pad: str = "NOTSET", group: int = 1,
) -> Tensor:  # fmt: skip
    """Transposed convolution of (N, C, sizes...) with (C, M/group, kernel...)."""
    rank = x.dim() - 2
    if rank not in _TRANSPOSED:
        raise NotImplementedError(f"transposed convolution over {rank} dims; there are 1 to 3")
    kernel = list(weight.shape[2:])
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    extra = output_padding or [0] * rank
    full = [
        s * (n - 1) + e + (k - 1) * d + 1
        for n, k, s, d, e in zip(x.shape[2:], kernel, strides, dilations, extra, strict=True)
    ]
    if output_shape is None and auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        output_shape = [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
    if output_shape is not None:
        totals = [n - wanted for n, wanted in zip(full, output_shape[-rank:], strict=True)]
        halves = [total // 2 for total in totals]
        others = [total - half for total, half in zip(totals, halves, strict=True)]
        before, behind = (halves, others) if auto_pad == "SAME_UPPER" else (others, halves)
    else:
        before, behind = pads_of(x.shape[2:], kernel, strides, dilations, pads, auto_pad)
    transposed = _TRANSPOSED[rank]
    if before == behind and all(n >= 0 for n in before):
        return transposed(x, weight, bias, strides, before, extra, group, dilations)
    # The part that output padding adds is all 0 but for the bias, and so is what is beyond it.
    y = transposed(x, weight, None, strides, [0] * rank, [0] * rank, group, dilations)
    added = [e - last for e, last in zip(extra, behind, strict=True)]
    y = padded(y, [-first for first in before], added)
    return y if bias is None else y + bias.reshape([1, -1, *[1] * rank])


def exact_convolution(x: Tensor, weight: Tensor, **options: Any) -> Tensor:
    """The convolution of small integers in floating point, which has it exactly."""
    terms = weight.shape[1:].numel()
    wide = gw.float32 if terms <= 128 else gw.float64
    return conv(x.to(wide), weight.to(wide), **options)


@op("ConvInteger")
def conv_integer(
    x: Tensor, weight: Tensor, x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None, *, kernel_shape: list[int] | None = None,
    strides: list[int] | None = None, dilations: list[int] | None = None,
    pads: list[int] | None = None, auto_pad: str = "NOTSET", group: int = 1,
) -> Tensor:  # fmt: skip
    """The convolution of 8-bit tensors minus their zero points, as int32."""
    options = {
        "kernel_shape": kernel_shape, "strides": strides, "dilations": dilations, "pads": pads,
        "auto_pad": auto_pad, "group": group,
    }  # fmt: skip
    image, kernel = x.to(gw.int32), weight.to(gw.int32)
    if x_zero_point is not None:
        image = image - x_zero_point.to(gw.int32)
    if w_zero_point is not None:
        kernel = kernel - w_zero_point.to(gw.int32).reshape([-1, *[1] * (weight.dim() - 1)])
    return exact_convolution(image, kernel, **options).to(gw.int32)


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
    strides, dilations = strides or [1] * rank, dilations or [1] * rank
    before, behind = pads_of(image_shape, block_shape, strides, dilations, pads, "NOTSET")
    whole = [n + b + e for n, b, e in zip(image_shape, before, behind, strict=True)]
    counts = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, d, s in zip(whole, block_shape, dilations, strides, strict=True)
    ]
    n = x.shape[0]
    place = gw.zeros([1] * (2 * rank), dtype=gw.int64)
    for dim in range(rank):
        at = gw.arange(block_shape[dim]).reshape([-1, 1]) * dilations[dim]
        own = at + gw.arange(counts[dim]) * strides[dim]
        sizes = [1] * (2 * rank)
        sizes[dim], sizes[rank + dim] = block_shape[dim], counts[dim]
        place = place * whole[dim] + own.reshape(sizes)
    total = 1
    for size in whole:
        total *= size
    values = x.reshape([n, -1, place.numel()])
    index = place.reshape([1, 1, -1]).expand(values.shape)
    image = gw.zeros([n, values.shape[1], total], dtype=x.dtype).scatter_add(2, index, values)
    return padded(
        image.reshape([n, values.shape[1], *whole]), [-b for b in before], [-e for e in behind]
    )


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
