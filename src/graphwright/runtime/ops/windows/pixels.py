"""Moving channels into space and back, and shuffling them."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Kind, define


def _require_image(name: str, input: Any, what: str, factor: Any) -> None:
    if len(input.shape) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input {describe(input)}"
        )
    if isinstance(factor, bool) or not hasattr(factor, "__index__"):
        raise TypeError(f"{name}(): argument '{what}' must be int, not {type(factor).__name__}")
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


def _shuffle(input: Any, upscale_factor: Any) -> Any:
    r = upscale_factor
    _require_image("pixel_shuffle", input, "upscale_factor", r)
    *lead, channels, height, width = input.shape
    if channels % (r * r) != 0:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but got input {describe(input)} and upscale_factor={r}"
        )
    n = len(lead)
    split = ops.reshape(input, (*lead, channels // (r * r), r, r, height, width))
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    out = (*lead, channels // (r * r), height * r, width * r)
    return ops.contiguous(ops.reshape(ops.permute(split, order), out))


def _unshuffle(input: Any, downscale_factor: Any) -> Any:
    r = downscale_factor
    _require_image("pixel_unshuffle", input, "downscale_factor", r)
    *lead, channels, height, width = input.shape
    if height % r != 0 or width % r != 0:
        raise RuntimeError(
            "pixel_unshuffle expects height and width to be divisible by downscale_factor, but "
            f"got input {describe(input)} and downscale_factor={r}"
        )
    n = len(lead)
    split = ops.reshape(input, (*lead, channels, height // r, r, width // r, r))
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    out = (*lead, channels * r * r, height // r, width // r)
    return ops.contiguous(ops.reshape(ops.permute(split, order), out))


def _channel_shuffle(input: Any, groups: Any) -> Any:
    if len(input.shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input {describe(input)}"
        )
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive: {groups}")
    batch, channels, *sizes = input.shape
    if channels % groups != 0:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {describe(input)} and "
            f"{groups} groups."
        )
    split = ops.reshape(input, (batch, groups, channels // groups, *sizes))
    return ops.contiguous(ops.reshape(ops.transpose(split, 1, 2), input.shape))


define(
    "pixel_shuffle(Tensor input, int upscale_factor)",
    Kind.COMPOSITE,
    decompose=_shuffle,
    method=False,
    doc="""Channels moved into space: `(*, C * r**2, H, W)` becomes `(*, C, H * r, W * r)`.

    Shi et al., "Real-time single image and video super-resolution" (2016).

    Args:
        input: a tensor of at least 3 dims.
        upscale_factor: the factor r.

    Returns: a tensor of the dtype of `input`.

    Raises:
        RuntimeError: the channels are not a multiple of r**2, r is less than 1, or `input`
            has less than 3 dims.

    Example:
        >>> gw.pixel_shuffle(gw.tensor([[[0]], [[1]], [[2]], [[3]]]), 2)
        tensor([[[0, 1],
                 [2, 3]]])
    """,
)
define(
    "pixel_unshuffle(Tensor input, int downscale_factor)",
    Kind.COMPOSITE,
    decompose=_unshuffle,
    method=False,
    doc="""Space moved into channels: `(*, C, H * r, W * r)` becomes `(*, C * r**2, H, W)`.

    Args:
        input: a tensor of at least 3 dims.
        downscale_factor: the factor r.

    Returns: a tensor of the dtype of `input`.

    Raises:
        RuntimeError: height or width is not a multiple of r, r is less than 1, or `input` has
            less than 3 dims.

    Example:
        >>> gw.pixel_unshuffle(gw.tensor([[[0, 1], [2, 3]]]), 2).flatten()
        tensor([0, 1, 2, 3])
    """,
)
define(
    "channel_shuffle(Tensor input, SymInt groups)",
    Kind.COMPOSITE,
    decompose=_channel_shuffle,
    method=False,
    doc="""Channels in another order: those of all groups first, second, and so on.

    The C channels are seen as `(groups, C / groups)` and transposed (Zhang et al.,
    "ShuffleNet", 2018).

    Args:
        input: `(N, C, *)`, of at least 3 dims.
        groups: the number of groups, a divisor of C.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: `groups` is less than 1 or no divisor, or `input` has less than 3 dims.

    Example:
        >>> gw.channel_shuffle(gw.tensor([[[0], [1], [2], [3]]]), 2).flatten()
        tensor([0, 2, 1, 3])
    """,
)
