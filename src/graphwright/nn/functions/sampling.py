"""Sampling images at given or random places, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.errors import describe, require_tensor
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.windows.unfold import spread_over
from graphwright.runtime.tensor.tensor import Tensor


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """input [N, C, H, W] at the places grid [N, H', W', 2] = (x, y): [N, C, H', W'].

    Places run from -1 to 1; with `align_corners` these are the centres of the outermost
    elements, otherwise their edges. Also in three dimensions. `mode`: "bilinear", "nearest" or
    "bicubic" (4-d); `padding_mode`: "zeros", "border" or "reflection". ValueError for others,
    RuntimeError where shapes or dtypes do not fit.
    """
    return ops.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The grid for `grid_sample` of affine maps theta [N, 2, 3] (or [N, 3, 4]).

    `size` is that of the wanted output, [N, C, H, W] or [N, C, D, H, W]. ValueError for sizes
    that do not fit `theta` and for an empty output, NotImplementedError for sizes of other rank.
    """
    if not theta.dtype.is_floating_point:
        raise ValueError(
            f"Expected theta to have floating point type, but got {describe(theta)}"
        )
    ndim = len(size) - 2
    if ndim not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {tuple(size)}."
        )
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (ndim, ndim + 1):
        raise ValueError(
            "affine_grid: Expected a batch of 2D affine matrices of shape Nx2x3 for size "
            "[N, C, H, W], or of 3D ones of shape Nx3x4 for [N, C, D, H, W], but got theta "
            f"{describe(theta)} for size {list(size)}"
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return ops.affine_grid_generator(theta, tuple(size), bool(align_corners))


def _fractional_max_pool(ndim: int) -> Callable[..., Any]:
    name = f"fractional_max_pool{ndim}d"

    def fractional_max_pool(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        """Maxima of windows whose places are drawn at random (Graham, 2014).

        `output_size`, or `output_ratio` (in 0..1) of the input's, is the size of the result.
        `_random_samples` [N, C, dimensions] in 0..1 replaces the drawn ones.
        """
        require_tensor(name, "input", input)
        if input.ndim not in (ndim + 1, ndim + 2):
            raise RuntimeError(f"{name}: Expected {ndim + 1}D or {ndim + 2}D tensor, but got "
                               f"{describe(input)}")  # fmt: skip
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name} requires specifying either an output_size or output_ratio")
        kernel = spread_over(ndim, name, "kernel_size", kernel_size)
        if output_size is None:
            ratios = output_ratio if isinstance(output_ratio, list | tuple) else (
                (output_ratio,) * ndim)  # fmt: skip
            output_size = tuple(
                int(n * r) for n, r in zip(input.shape[-ndim:], ratios, strict=True)
            )
        sizes = spread_over(ndim, name, "output_size", output_size)
        batched = input.ndim == ndim + 2
        x = input if batched else ops.unsqueeze(input, 0)
        samples = _random_samples
        if samples is None:
            samples = ops.rand((x.shape[0], x.shape[1], ndim), dtype=x.dtype)
        values, indices = ops.fractional_max_pool(x, samples, kernel, sizes)
        if not batched:
            values, indices = ops.squeeze(values, 0), ops.squeeze(indices, 0)
        return (values, indices) if return_indices else values

    fractional_max_pool.__name__ = fractional_max_pool.__qualname__ = name
    return fractional_max_pool


fractional_max_pool2d = _fractional_max_pool(2)
fractional_max_pool3d = _fractional_max_pool(3)


def _with_indices(pool: Callable[..., Any]) -> Callable[..., Any]:
    name = f"{pool.__name__}_with_indices"

    def fractional_max_pool_with_indices(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        """The maxima, and their places in each image, whatever `return_indices` is."""
        return pool(input, kernel_size, output_size, output_ratio, True, _random_samples)

    fractional_max_pool_with_indices.__name__ = name
    fractional_max_pool_with_indices.__qualname__ = name
    return fractional_max_pool_with_indices


fractional_max_pool2d_with_indices = _with_indices(fractional_max_pool2d)
fractional_max_pool3d_with_indices = _with_indices(fractional_max_pool3d)
