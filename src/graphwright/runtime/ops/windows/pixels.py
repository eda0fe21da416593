"""Moving channels into space and back, and shuffling them."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
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
)
define(
    "pixel_unshuffle(Tensor input, int downscale_factor)",
    Kind.COMPOSITE,
    decompose=_unshuffle,
    method=False,
)
define(
    "channel_shuffle(Tensor input, SymInt groups)",
    Kind.COMPOSITE,
    decompose=_channel_shuffle,
    method=False,
)
