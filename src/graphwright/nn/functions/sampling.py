"""Sampling images at given or random places, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.errors import describe, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.windows.unfold import spread_over
from graphwright.runtime.tensor.tensor import Tensor


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Values of images at the points of a grid.

    Args:
        input: floating point, `(N, C, H, W)` or `(N, C, D, H, W)`.
        grid: points of the dtype of `input`, `(N, h, w, 2)` or `(N, d, h, w, 3)`: x, y (and
            z) from -1 to 1, x along W.
        mode: "bilinear", "nearest", or "bicubic" (4 dims only).
        padding_mode: what lies outside: "zeros", the "border", or the image by "reflection".
        align_corners: -1 and 1 are the centres of the outermost elements, not their edges;
            False if None.

    Returns: a tensor of shape `(N, C, h, w)` or `(N, C, d, h, w)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.
        ValueError: there is no such mode.

    Example:
        >>> F.grid_sample(gw.tensor([[[[0.0, 1.0], [2.0, 3.0]]]]), gw.zeros(1, 1, 1, 2))
        tensor([[[[1.5000]]]])
    """
    return ops.grid_sample(input, grid, mode, padding_mode, bool(align_corners))


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Grid of points for `grid_sample`: affine maps of the points of an image.

    Args:
        theta: maps, floating point: `(N, 2, 3)`, or `(N, 3, 4)` for volumes.
        size: that of the wanted output, `(N, C, H, W)` or `(N, C, D, H, W)`.
        align_corners: -1 and 1 are the centres of the outermost elements, not their edges;
            False if None.

    Returns: a tensor of shape `(N, H, W, 2)` or `(N, D, H, W, 3)`.

    Raises:
        NotImplementedError: `size` has not 4 or 5 elements.
        ValueError: `theta` does not fit `size` or is not floating point, or a size is less
            than 1.

    Example:
        >>> F.affine_grid(gw.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), (1, 1, 1, 2))
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
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
        """Maximum of windows whose starts are drawn at random (Graham, 2014).

        `fractional_max_pool2d` and `fractional_max_pool3d` pool 2 and 3 dims.

        Args:
            input: `(N, C, *)` or `(C, *)`.
            kernel_size: the size of a window, an int or one per dim.
            output_size: the number of windows, an int or one per dim; None: given by
                `output_ratio`.
            output_ratio: the part of the input's size, from 0 to 1, a number or one per dim.
            return_indices: return `(values, indices)`: int64 positions in the flattened
                pooled dims.

        Returns: a tensor with `output_size` elements in the pooled dims.

        Raises:
            RuntimeError: `input` has another number of dims, or the windows do not fit.
            ValueError: not exactly one of `output_size` and `output_ratio` is given.

        Example:
            >>> F.fractional_max_pool2d(gw.ones(1, 5, 5), 2, output_size=3).shape
            graphwright.Size([1, 3, 3])
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
            samples = ops.rand((x.shape[0], x.shape[1], ndim), dtype=x.dtype, device=x.device)
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
        """Maxima and indices of `fractional_max_pool2d` or `fractional_max_pool3d`.

        Args:
            input: `(N, C, *)` or `(C, *)`.
            kernel_size: the size of a window, an int or one per dim.
            output_size: the number of windows, an int or one per dim; None: given by
                `output_ratio`.
            output_ratio: the part of the input's size, from 0 to 1, a number or one per dim.
            return_indices: has no effect.

        Returns: `(values, indices)` with `output_size` elements in the pooled dims; indices
        are int64 positions in the flattened pooled dims.

        Raises:
            RuntimeError: `input` has another number of dims, or the windows do not fit.
            ValueError: not exactly one of `output_size` and `output_ratio` is given.

        Example:
            >>> F.fractional_max_pool2d_with_indices(gw.ones(1, 5, 5), 2, output_size=3)[1].shape
            graphwright.Size([1, 3, 3])
        """
        return pool(input, kernel_size, output_size, output_ratio, True, _random_samples)

    fractional_max_pool_with_indices.__name__ = name
    fractional_max_pool_with_indices.__qualname__ = name
    return fractional_max_pool_with_indices


fractional_max_pool2d_with_indices = _with_indices(fractional_max_pool2d)
fractional_max_pool3d_with_indices = _with_indices(fractional_max_pool3d)
