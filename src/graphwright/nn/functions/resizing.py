"""Resizing images, as a function."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor.tensor import Tensor

_RANKS = {
    "nearest": (3, 4, 5),
    "nearest-exact": (3, 4, 5),
    "area": (3, 4, 5),
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "trilinear": (5,),
}
_ALIGNING = ("linear", "bilinear", "bicubic", "trilinear")


def _for_each(what: str, value: Any, input: Tensor) -> tuple[Any, ...]:
    ndim = input.ndim - 2
    if not isinstance(value, list | tuple):
        return (value,) * ndim
    if len(value) != ndim:
        raise ValueError(
            f"Input and {what} must have the same number of spatial dimensions, but got input "
            f"{describe(input)} and {what} of {list(value)}"
        )
    return tuple(value)


def _check(input: Tensor, mode: str, align_corners: bool | None, antialias: bool) -> None:
    if mode not in _RANKS:
        raise NotImplementedError(f"interpolate: unknown mode '{mode}' for {describe(input)}")
    if align_corners is not None and mode not in _ALIGNING:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | "
            "bilinear | bicubic | trilinear"
        )
    if antialias and not (mode in ("bilinear", "bicubic") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D "
            "tensor as input"
        )


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """[N, C, *] resized to `size`, or to floor(size * `scale_factor`), of each dimension.

    Modes: "nearest", "nearest-exact" and "area" (means of cells) for 1 to 3 dimensions,
    "linear", "bilinear", "bicubic" (4-d), "trilinear". `align_corners` makes corners meet
    corners. With `recompute_scale_factor` the scale follows from the sizes, otherwise
    `scale_factor` itself is used. `antialias` (bilinear and bicubic) widens the filter where the
    image shrinks. ValueError for arguments that contradict, NotImplementedError for a mode that
    does not exist for the input's rank.
    """
    _check(input, mode, align_corners, antialias)
    if (size is None) == (scale_factor is None):
        raise ValueError("exactly one of size or scale_factor should be defined")
    factors = None
    if size is not None:
        if recompute_scale_factor:
            raise ValueError(
                "recompute_scale_factor is not meaningful with an explicit size."
            )
        sizes = _for_each("output size", size, input)
    else:
        factors = tuple(float(f) for f in _for_each("scale_factor", scale_factor, input))
        extents = zip(input.shape[2:], factors, strict=True)
        sizes = tuple(math.floor(extent * factor) for extent, factor in extents)
        if recompute_scale_factor:
            factors = None
    if input.ndim not in _RANKS[mode]:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the "
            f"modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact "
            f"(got {mode})"
        )
    return ops.interpolate(input, sizes, mode, bool(align_corners), factors, antialias)


def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate` by its former name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "nearest"."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "bilinear", corners aligned."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
