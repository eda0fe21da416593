"""Images of other sizes, read at points of a grid, and decoded; choosing among boxes in them."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.nn import functional as F
from graphwright.onnx.importing.opsets import op


class _Axis(NamedTuple):
    """How one axis is resized: its sizes, scale and region."""

    n: Any
    out: Any
    scale: float
    start: float
    end: float

    def points(self, mode: str) -> Tensor:
        """The coordinate in the input of each element of the output, as float64."""
        if mode not in _POINTS:
            raise ValueError(f"Resize: no coordinates {mode!r}")
        return _POINTS[mode](gw.arange(self.out, dtype=gw.float64), self)


def _half_pixel(x: Tensor, axis: _Axis) -> Tensor:
    return (x + 0.5) / axis.scale - 0.5


def _half_pixel_symmetric(x: Tensor, axis: _Axis) -> Tensor:
    adjustment = axis.out / (axis.scale * axis.n)
    return axis.n / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5


def _crop(x: Tensor, axis: _Axis) -> Tensor:
    start, end, last = axis.start, axis.end, axis.n - 1
    if axis.out > 1:
        return start * last + x * ((end - start) * last / (axis.out - 1))
    return x * 0 + 0.5 * (start + end) * last


_POINTS: dict[str, Callable[[Tensor, _Axis], Tensor]] = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": lambda x, axis: _half_pixel(x, axis) if axis.out > 1 else x * 0,
    "align_corners": lambda x, axis: (
        x * ((axis.n - 1) / (axis.out - 1)) if axis.out > 1 else x * 0),
    "asymmetric": lambda x, axis: x / axis.scale,
    "tf_half_pixel_for_nn": lambda x, axis: (x + 0.5) / axis.scale,
    "tf_crop_and_resize": _crop,
}
"""coordinate_transformation_mode -> coordinates in the input of those in the output."""


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
    sizes = [-1, *[1] * (x.dim() - 1 - dim)]
    return reduce(gw.add, [
        gw.index_select(x, dim, place) * weight.to(x.dtype).reshape(sizes)
        for place, weight in zip(places.unbind(1), weights.unbind(1), strict=True)
    ])


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
    dtype, crops = x.dtype, coordinate_transformation_mode == "tf_crop_and_resize"
    moved = mode == "nearest" and not crops
    y = x if moved or dtype in (gw.float32, gw.float64) else x.to(gw.float32)
    outside: list[tuple[int, Tensor]] = []
    for dim, axis in _plan(x, dims, roi, scales, sizes, keep_aspect_ratio_policy):
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
        start, end = (roi[i], roi[i + len(dims)]) if roi else (0.0, 1.0)
        if sizes:
            out: Any = sizes[i]
            scale = scales[i] if scales else out / n
        else:
            assert scales is not None
            scale = scales[i]
            out = n if scale == 1.0 else _scaled(n, scale)
        plan.append((dim, _Axis(n, out, scale, start, end)))
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


@op("NonMaxSuppression")
def non_max_suppression(
    boxes: Tensor, scores: Tensor, max_output_boxes_per_class: int | None = None,
    iou_threshold: float | None = None, score_threshold: float | None = None, *,
    center_point_box: int = 0,
) -> Tensor:  # fmt: skip
    """(image, class, box) of the boxes with the best scores that overlap no better one much.

    Args:
        boxes: (images, boxes, 4), two corners y, x, or x and y of the centre, width and height.
        scores: (images, classes, boxes).
    """
    limit = max_output_boxes_per_class or 0
    rows = boxes.numpy()
    if center_point_box:
        centre, half = rows[..., :2], rows[..., 2:] / 2
        low, high = centre - half, centre + half
    else:
        first, second = rows[..., :2], rows[..., 2:]
        low, high = np.minimum(first, second), np.maximum(first, second)
    found: list[tuple[int, int, int]] = []
    for image, classes in enumerate(scores.numpy()):
        for label, values in enumerate(classes):
            kept = _suppressed(
                low[image], high[image], values, limit, iou_threshold or 0.0, score_threshold
            )
            found += [(image, label, box) for box in kept]
    return gw.tensor(found, dtype=gw.int64).reshape([len(found), 3])


def _suppressed(
    low: np.ndarray, high: np.ndarray, scores: np.ndarray, limit: int, overlap: float,
    least: float | None,
) -> list[int]:  # fmt: skip
    """Positions of the boxes kept, the best first."""
    order = np.argsort(-scores, kind="stable")
    if least is not None:
        order = order[scores[order] > least]
    areas = np.prod(high - low, axis=-1)
    kept: list[int] = []
    while len(order) and len(kept) < limit:
        best, order = order[0], order[1:]
        kept.append(int(best))
        sides = np.minimum(high[order], high[best]) - np.maximum(low[order], low[best])
        common = np.prod(np.maximum(sides, 0), axis=-1)
        union = areas[order] + areas[best] - common
        order = order[~(common > overlap * union)]
    return kept
