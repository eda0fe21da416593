"""Resizing images, as a function."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
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


def _scaled(extent: Any, factor: float) -> Any:
    """floor(extent * factor); of a factor such as 2 or 0.5 in integers, which may be symbolic."""
    numerator, denominator = factor.as_integer_ratio() if math.isfinite(factor) else (0, 0)
    if 0 < denominator <= _SMALL_RATIO and abs(numerator) <= _SMALL_RATIO:
        return extent * numerator // denominator
    return math.floor(extent * factor)


_SMALL_RATIO = 1 << 20


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
    """Images resized, by interpolation or by means of cells.

    Args:
        input: floating point, `(N, C, *)` with 1 to 3 dims of space.
        size: the new size, an int or one per dim; None: given by `scale_factor`.
        scale_factor: the factor of the size, a number or one per dim; results are rounded
            down.
        mode: "nearest", "nearest-exact" or "area" for all, "linear" for 1 dim, "bilinear" or
            "bicubic" (Keys, 1981) for 2, "trilinear" for 3.
        align_corners: corners are mapped to corners, not edges to edges; False if None. Not
            for "nearest", "nearest-exact" and "area".
        recompute_scale_factor: use the ratio of the sizes as the scale, not `scale_factor`
            itself.
        antialias: widen the filter where the image shrinks; "bilinear" and "bicubic" only.

    Returns: a tensor of shape `(N, C, *size)`.

    Raises:
        NotImplementedError: there is no such mode for the number of dims.
        ValueError: arguments contradict each other or do not fit the number of dims.

    Example:
        >>> F.interpolate(gw.tensor([[[1.0, 3.0]]]), size=4, mode="linear")
        tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
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
        sizes = tuple(map(_scaled, input.shape[2:], factors))
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
    """Images resized: the older name of `interpolate`.

    Args:
        input: floating point, `(N, C, *)` with 1 to 3 dims of space.
        size: the new size, an int or one per dim; None: given by `scale_factor`.
        scale_factor: the factor of the size, a number or one per dim.
        mode: as for `interpolate`.
        align_corners: as for `interpolate`.

    Returns: a tensor of shape `(N, C, *size)`.

    Raises:
        NotImplementedError: there is no such mode for the number of dims.
        ValueError: arguments contradict each other.

    Example:
        >>> F.upsample(gw.tensor([[[1.0, 3.0]]]), scale_factor=2)
        tensor([[[1., 1., 3., 3.]]])
    """
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Images resized by copying the nearest element: `interpolate` of mode "nearest".

    Args:
        input: floating point, `(N, C, *)` with 1 to 3 dims of space.
        size: the new size, an int or one per dim; None: given by `scale_factor`.
        scale_factor: the factor of the size, a number or one per dim.

    Returns: a tensor of shape `(N, C, *size)`.

    Raises:
        ValueError: not exactly one of `size` and `scale_factor` is given.

    Example:
        >>> F.upsample_nearest(gw.tensor([[[1.0, 3.0]]]), 4)
        tensor([[[1., 1., 3., 3.]]])
    """
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """Images resized by bilinear interpolation, corners aligned.

    Args:
        input: floating point, `(N, C, H, W)`.
        size: the new size, an int or two; None: given by `scale_factor`.
        scale_factor: the factor of the size, a number or two.

    Returns: a tensor of shape `(N, C, *size)`.

    Raises:
        NotImplementedError: `input` has not 4 dims.
        ValueError: not exactly one of `size` and `scale_factor` is given.

    Example:
        >>> F.upsample_bilinear(gw.tensor([[[[1.0, 3.0]]]]), (1, 3))
        tensor([[[[1., 2., 3.]]]])
    """
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
