"""Resizing and sampling of images."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.onnx.exporting.builder import Builder, Value
from graphwright.onnx.exporting.registry import form
from graphwright.runtime.tensor import dtypes

_MODES = {"nearest": "nearest", "nearest-exact": "nearest", "linear": "linear",
          "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
_NEAREST = {"nearest": ("asymmetric", "floor"),
            "nearest-exact": ("half_pixel", "round_prefer_ceil")}


def _resizable(
    x: Any, size: Any, mode: str, align_corners: bool, factors: Any, antialias: bool
) -> bool:
    """What Resize computes as the op does."""
    return mode in _MODES and not antialias and x.dtype in (dtypes.float32, dtypes.float16)


@form("interpolate", accepts=_resizable)
def _interpolate(
    g: Builder, out: Any, x: Value, size: Any, mode: str, align_corners: bool, factors: Any,
    antialias: bool,
) -> Value:
    """By scales where the call had scales, which are not always the quotient of the sizes."""
    place, rounding = _NEAREST.get(
        mode, ("align_corners" if align_corners else "half_pixel", None))
    dims = list(range(x.ndim - len(size), x.ndim))
    scales = sizes = None
    if factors is not None and all(one is not None for one in factors) and not align_corners:
        scales = g.constant(np.array(factors, np.float32), dtypes.float32)
    else:
        sizes = g.sizes(size)
    return g.op(
        "Resize", x, None, scales, sizes, mode=_MODES[mode], axes=dims,
        coordinate_transformation_mode=place, nearest_mode=rounding,
        cubic_coeff_a=-0.75 if mode == "bicubic" else None)


@form("resample")
def _resample(g: Builder, out: Any, x: Value, dim: int, index: Value, weight: Value) -> Value:
    """Weighted sums of a few places along a dim."""
    places = g.op("Gather", x, index, axis=dim)
    shape = [1] * (x.ndim + 1)
    shape[dim : dim + 2] = weight.shape
    factors = g.op("Reshape", g.cast(weight, x.dtype), shape)
    return g.op("ReduceSum", g.op("Mul", places, factors), [dim + 1], keepdims=0)


@form("grid_sample", accepts=lambda x, grid, mode, *rest: x.dtype is dtypes.float32 and (
    mode in ("bilinear", "nearest") or (mode == "bicubic" and len(x.shape) == 4)))
def _grid_sample(g: Builder, out: Any, x: Value, grid: Value, mode: str, padding: str,
                 align_corners: bool) -> Value:
    kind = mode if g.opset < 20 else _MODES[mode]
    return g.op("GridSample", x, grid, mode=kind, padding_mode=padding,
                align_corners=int(align_corners))
