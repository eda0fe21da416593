"""Sliding windows as columns, padding, and moving channels into space."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.windows.unfold import spread_over
from graphwright.runtime.tensor.tensor import Tensor

pad = ops.pad
pixel_shuffle = ops.pixel_shuffle
pixel_unshuffle = ops.pixel_unshuffle
channel_shuffle = ops.channel_shuffle
native_channel_shuffle = ops.channel_shuffle


def _window(
    name: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> tuple[tuple[Any, ...], ...]:
    """The four pairs. RuntimeError where one is not positive (padding: negative)."""
    named = (
        ("kernel_size", kernel_size, 1),
        ("dilation", dilation, 1),
        ("padding", padding, 0),
        ("stride", stride, 1),
    )
    pairs = []
    for what, value, least in named:
        pair = spread_over(2, name, what, value)
        if any(number < least for number in pair):
            raise RuntimeError(f"{name}: {what} should be at least {least}, but got {value}")
        pairs.append(pair)
    return tuple(pairs)


def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Windows of images as columns (im2col).

    Args:
        input: `(N, C, H, W)` or `(C, H, W)`.
        kernel_size: the size of a window, an int or two.
        dilation: the step between the elements of a window, an int or two.
        padding: zeros at both ends of each dim, an int or two.
        stride: the step between windows, an int or two.

    Returns: a tensor of shape `(N, C * kh * kw, L)` with L windows, row by row.

    Raises:
        RuntimeError: a size is out of range, or no window fits.

    Example:
        >>> F.unfold(gw.ones(1, 2, 4, 4), 3).shape
        graphwright.Size([1, 18, 4])
    """
    require_tensor("unfold", "input", input)
    window = _window("unfold", kernel_size, dilation, padding, stride)
    if input.ndim == 3:
        return ops.squeeze(ops.im2col(ops.unsqueeze(input, 0), *window), 0)
    return ops.im2col(input, *window)


def fold(
    input: Tensor,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Columns added up where their windows overlap (col2im): the adjoint of `unfold`.

    Args:
        input: `(N, C * kh * kw, L)` or `(C * kh * kw, L)`.
        output_size: the size of the images, an int or two.
        kernel_size: the size of a window, an int or two.
        dilation: the step between the elements of a window, an int or two.
        padding: zeros that `unfold` added at both ends of each dim, an int or two.
        stride: the step between windows, an int or two.

    Returns: a tensor of shape `(N, C, *output_size)`.

    Raises:
        RuntimeError: `input` has another number of dims or of windows, or a size is out of
            range.

    Example:
        >>> F.fold(gw.ones(1, 4, 2), (2, 3), 2)
        tensor([[[[1., 2., 1.],
                  [1., 2., 1.]]]])
    """
    window = _window("fold", kernel_size, dilation, padding, stride)
    size = spread_over(2, "fold", "output_size", output_size)
    if any(extent < 1 for extent in size):
        raise RuntimeError(f"fold: output_size should be at least 1, but got {output_size}")
    if input.ndim == 2:
        return ops.squeeze(ops.col2im(ops.unsqueeze(input, 0), size, *window), 0)
    if input.ndim != 3:
        raise RuntimeError(
            f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {describe(input)}"
        )
    return ops.col2im(input, size, *window)
