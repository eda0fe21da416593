"""Images of other sizes, read at points of a grid, and decoded."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import op


class _Axis:
    """How one axis is resized: its sizes, scale and region, and the points at which it is read."""

    def __init__(self, n: int, out: int, scale: float, roi: tuple[float, float]) -> None:
        self.n, self.out, self.scale, self.roi = n, out, scale, roi

    def points(self, mode: str) -> Tensor:
        """The coordinate in the input of each element of the output, as float64."""
        x = gw.arange(self.out, dtype=gw.float64)
        n, out, scale = self.n, self.out, self.scale
        if mode == "half_pixel":
            return (x + 0.5) / scale - 0.5
        if mode == "half_pixel_symmetric":
            adjustment = out / (scale * n)
            return n / 2 * (1 - adjustment) + (x + 0.5) / scale - 0.5
        if mode == "pytorch_half_pixel":
            return (x + 0.5) / scale - 0.5 if out > 1 else x * 0
        if mode == "align_corners":
            return x * ((n - 1) / (out - 1)) if out > 1 else x * 0
        if mode == "asymmetric":
            return x / scale
        if mode == "tf_half_pixel_for_nn":
            return (x + 0.5) / scale
        if mode == "tf_crop_and_resize":
            start, end = self.roi
            if out > 1:
                return start * (n - 1) + x * ((end - start) * (n - 1) / (out - 1))
            return x * 0 + 0.5 * (start + end) * (n - 1)
        raise ValueError(f"Resize: no coordinates {mode!r}")


def _nearest(points: Tensor, mode: str) -> Tensor:
    if mode == "round_prefer_floor":
        return gw.ceil(points - 0.5)
    if mode == "round_prefer_ceil":
        return gw.floor(points + 0.5)
    return gw.ceil(points) if mode == "ceil" else gw.floor(points)


def _cubic(distance: Tensor, a: float) -> Tensor:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return gw.where(distance <= 1, near, gw.where(distance < 2, far, distance * 0))


def _taps(
    points: Tensor, axis: _Axis, mode: str, antialias: bool, a: float, exclude_outside: bool
) -> tuple[Tensor, Tensor]:
    """Places (output, taps) and weights of what each element of an output is made of."""
    stretch = max(1.0, 1.0 / axis.scale) if antialias else 1.0
    radius = (1.0 if mode == "linear" else 2.0) * stretch
    count = 2 * math.ceil(radius)
    first = gw.floor(points) - (count // 2 - 1)
    places = first.unsqueeze(1) + gw.arange(count, dtype=gw.float64)
    distance = gw.abs(places - points.unsqueeze(1)) / stretch
    weights = (1 - distance).clamp(min=0) if mode == "linear" else _cubic(distance, a)
    if exclude_outside:
        inside = (places >= 0) & (places <= axis.n - 1)
        weights = weights * inside
    if exclude_outside or antialias:
        weights = weights / weights.sum(1, keepdim=True)
    return places.clamp(0, axis.n - 1).to(gw.int64), weights


def _resized(x: Tensor, dim: int, places: Tensor, weights: Tensor) -> Tensor:
    total = None
    sizes = [-1, *[1] * (x.dim() - 1 - dim)]
    for tap in range(places.shape[1]):
        part = gw.index_select(x, dim, places[:, tap]) * weights[:, tap].to(x.dtype).reshape(sizes)
        total = part if total is None else total + part
    assert total is not None
    return total


@op("Resize", since=11)
def resize(
    x: Tensor, roi: list[float] | None = None, scales: list[float] | None = None,
    sizes: list[int] | None = None, *, antialias: int = 0, axes: list[int] | None = None,
    coordinate_transformation_mode: str = "half_pixel", cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0, extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch", mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:  # fmt: skip
    """x with other sizes along axes, by scales or sizes: nearest, linear or cubic."""
    dims = [a % x.dim() for a in axes] if axes is not None else list(range(x.dim()))
    if not scales and not sizes:
        raise ValueError("Resize: neither scales nor sizes are given")
    dtype = x.dtype
    moved = mode == "nearest" and coordinate_transformation_mode != "tf_crop_and_resize"
    y = x if moved or dtype in (gw.float32, gw.float64) else x.to(gw.float32)
    outside: list[tuple[int, Tensor]] = []
    plan = _plan(x, dims, roi, scales, sizes, keep_aspect_ratio_policy)
    crops = coordinate_transformation_mode == "tf_crop_and_resize"
    for dim, axis in plan:
        if axis.scale == 1.0 and axis.out == axis.n and not crops:
            continue
        points = axis.points(coordinate_transformation_mode)
        if crops:
            outside.append((dim, (points < 0) | (points > axis.n - 1)))
        if mode == "nearest":
            place = _nearest(points, nearest_mode).clamp(0, axis.n - 1).to(gw.int64)
            y = gw.index_select(y, dim, place)
        else:
            places, weights = _taps(
                points, axis, mode, bool(antialias), cubic_coeff_a, bool(exclude_outside)
            )
            y = _resized(y, dim, places, weights)
    for dim, mask in outside:
        shaped = mask.reshape([-1, *[1] * (x.dim() - 1 - dim)])
        y = y.masked_fill(shaped.expand(y.shape), extrapolation_value)
    if dtype.is_floating_point or moved:
        return y.to(dtype)
    limits = gw.iinfo(dtype)
    return gw.round(y).clamp(limits.min, limits.max).to(dtype)


def _plan(
    x: Tensor, dims: list[int], roi: list[float] | None, scales: list[float] | None,
    sizes: list[int] | None, policy: str,
) -> list[tuple[int, _Axis]]:  # fmt: skip
    """The dims to resize and how; where an aspect ratio is kept, sizes are its own."""
    if sizes and policy != "stretch":
        ratios = [wanted / x.shape[dim] for dim, wanted in zip(dims, sizes, strict=True)]
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        scales = [ratio] * len(dims)
        sizes = [math.floor(ratio * x.shape[dim] + 0.5) for dim in dims]
    plan = []
    for i, dim in enumerate(dims):
        n: Any = x.shape[dim]
        region = (roi[i], roi[i + len(dims)]) if roi else (0.0, 1.0)
        if sizes:
            out: Any = sizes[i]
            scale = scales[i] if scales else out / n
        else:
            assert scales is not None
            scale = scales[i]
            out = n if scale == 1.0 else _scaled(n, scale)
        plan.append((dim, _Axis(n, out, scale, region)))
    return plan


def _scaled(n: Any, scale: float) -> Any:
    return n * int(scale) if float(scale).is_integer() else math.floor(n * scale)


@op("Resize", "Upsample")
def resize_by_scales(x: Tensor, scales: list[float], *, mode: str = "nearest") -> Tensor:
    """x with sizes times scales, read at output coordinates over the scales."""
    linear = mode in ("linear", "bilinear")
    return resize(
        x, None, scales, mode="linear" if linear else "nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )


_SAMPLING = {"linear": "bilinear", "cubic": "bicubic"}


@op("GridSample")
def grid_sample(
    x: Tensor, grid: Tensor, *, align_corners: int = 0, mode: str = "linear",
    padding_mode: str = "zeros",
) -> Tensor:  # fmt: skip
    """x read at the places of a grid, whose coordinates run from -1 to 1, innermost first."""
    return F.grid_sample(
        x, grid.to(x.dtype), _SAMPLING.get(mode, mode), padding_mode, bool(align_corners)
    )


@op("AffineGrid")
def affine_grid(theta: Tensor, size: list[int], *, align_corners: int = 0) -> Tensor:
    """The grid of places that affine maps give."""
    return F.affine_grid(theta, size, bool(align_corners))


@op("ImageDecoder")
def image_decoder(encoded: Tensor, *, pixel_format: str = "RGB") -> Tensor:
    """The pixels (H, W, channels) of a picture, "RGB", "BGR" or "Grayscale", as uint8.

    Raises:
        ImportError: Pillow is not installed, which decodes.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("ImageDecoder needs Pillow: pip install pillow") from error
    if pixel_format not in ("RGB", "BGR", "Grayscale"):
        raise ValueError(f"ImageDecoder: no pixel format {pixel_format!r}")
    try:
        image = Image.open(io.BytesIO(encoded.numpy().tobytes()))
    except OSError as error:
        raise ValueError(f"ImageDecoder: {error}") from error
    if pixel_format == "Grayscale":
        return gw.from_numpy(np.array(image.convert("L"))[:, :, np.newaxis])
    pixels = np.array(image.convert("RGB"))
    return gw.from_numpy(pixels[:, :, ::-1].copy() if pixel_format == "BGR" else pixels)
