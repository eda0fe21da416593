"""Sampling images at places that are themselves tensors: grids, affine maps, random windows."""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import cast, internal, require_floating, widened
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
_CUBIC = -0.75


# -- places


def _place(x: Any, size: Any, align_corners: bool) -> Any:
    """From -1..1 to places: the corners are the outermost elements' centres, or their edges."""
    if align_corners:
        return ops.mul(ops.add(x, 1), (size - 1) / 2)
    return ops.div(ops.sub(ops.mul(ops.add(x, 1), size), 1), 2)


def _reflected(x: Any, size: Any, align_corners: bool) -> Any:
    low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
    span = high - low
    if span == 0:
        return ops.mul(x, 0)
    distance = ops.abs(ops.sub(x, low))
    extra = ops.fmod(distance, span)
    even = ops.eq(ops.fmod(ops.floor(ops.div(distance, span)), 2), 0)
    return ops.where(even, ops.add(extra, low), ops.sub(span + low, extra))


def _bounded(x: Any, size: Any, padding: str, align_corners: bool) -> Any:
    """The place after the padding, which takes NaN for the first one."""
    if padding == "reflection":
        x = _reflected(x, size, align_corners)
    if padding == "zeros":
        return x
    return ops.where(ops.isnan(x), 0.0, ops.clamp(x, 0, size - 1))


# -- reading


def _read(image: Any, sizes: Any, places: Any) -> Any:
    """image [N, C, prod(sizes)] at whole `places` (one [N, P] each): [N, C, P], 0 outside."""
    inside: Any = None
    flat: Any = None
    for place, size in zip(places, sizes, strict=True):
        here = ops.logical_and(ops.ge(place, 0), ops.le(place, size - 1))
        inside = here if inside is None else ops.logical_and(inside, here)
        index = ops.to_dtype(ops.where(here, place, 0.0), dtypes.int64)
        flat = index if flat is None else ops.add(ops.mul(flat, size), index)
    shape = (image.shape[0], image.shape[1], flat.shape[1])
    index = ops.expand(ops.unsqueeze(flat, 1), shape)
    values = ops.gather(image, 2, index)
    return ops.where(ops.unsqueeze(inside, 1), values, 0.0)


def _sum_of(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = ops.add(total, term)
    return total


def _nearest(image: Any, sizes: Any, places: Any) -> Any:
    """The values next to the places. The gradients of the places are zeros, not missing."""
    values = _read(image, sizes, [ops.round(place.detach()) for place in places])
    always = ops.ones(values.shape, dtype=dtypes.bool, device=values.device)
    return ops.where(always, values, ops.unsqueeze(places[0], 1))


def _weighted(image: Any, sizes: Any, choices: Any) -> Any:
    """The sum over one (place, weight) of each dimension's choices."""
    terms = []
    for chosen in itertools.product(*choices):
        weight = chosen[0][1]
        for _, factor in chosen[1:]:
            weight = ops.mul(weight, factor)
        values = _read(image, sizes, [place for place, _ in chosen])
        terms.append(ops.mul(values, ops.unsqueeze(weight, 1)))
    return _sum_of(terms)


def _linear(x: Any) -> list[Any]:
    low = ops.floor(x.detach())
    part = ops.sub(x, low)
    return [(low, ops.sub(1, part)), (ops.add(low, 1), part)]


def _cubic(x: Any, size: Any, padding: str, align_corners: bool) -> list[Any]:
    """Four places with the weights of Keys (1981)."""
    low, a = ops.floor(x.detach()), _CUBIC
    t = ops.sub(x, low)

    def near(d: Any) -> Any:
        return ops.add(ops.mul(ops.mul(ops.sub(ops.mul(d, a + 2), a + 3), d), d), 1)

    def far(d: Any) -> Any:
        inner = ops.sub(ops.mul(ops.add(ops.mul(ops.sub(d, 5), d), 8), d), 4)
        return ops.mul(inner, a)

    weights = (far(ops.add(t, 1)), near(t), near(ops.sub(1, t)), far(ops.sub(2, t)))
    return [
        (_bounded(ops.add(low, offset), size, padding, align_corners), weight)
        for offset, weight in zip((-1, 0, 1, 2), weights, strict=True)
    ]


# -- grid_sample


def _check(input: Any, grid: Any, mode: str, padding: str) -> None:
    rank = len(input.shape)
    if mode not in MODES:
        raise ValueError(f"grid_sample: expected mode to be one of {MODES}, but got '{mode}'")
    if padding not in PADDINGS:
        raise ValueError(
            f"grid_sample: expected padding_mode to be one of {PADDINGS}, but got '{padding}'"
        )
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            f"grid_sample: input {describe(input)} and grid {describe(grid)} should have one dtype"
        )
    require_floating("grid_sample", input)
    if rank not in (4, 5) or len(grid.shape) != rank or grid.shape[0] != input.shape[0]:
        raise RuntimeError(
            "grid_sample: expected 4D or 5D input and grid with one batch size, but got input "
            f"{describe(input)} and grid {describe(grid)}"
        )
    if grid.shape[-1] != rank - 2:
        raise RuntimeError(
            f"grid_sample: expected grid to have size {rank - 2} in last dimension, but got grid "
            f"{describe(grid)}"
        )
    if any(size == 0 for size in input.shape[2:]):
        raise RuntimeError(
            f"grid_sample: expected input to have non-empty spatial dimensions, but got "
            f"{describe(input)}"
        )
    if mode == "bicubic" and rank == 5:
        raise RuntimeError("grid_sample: bicubic interpolation only supports 4D input")


def _grid_sample(input: Any, grid: Any, mode: str, padding_mode: str, align_corners: bool) -> Any:
    _check(input, grid, mode, padding_mode)
    x, at = widened(input), widened(grid)
    sizes, ndim = x.shape[2:], len(x.shape) - 2
    batch, channels, out = x.shape[0], x.shape[1], grid.shape[1:-1]
    flat = ops.reshape(at, (batch, prod(out), ndim))
    places = [
        _place(ops.select(flat, 2, ndim - 1 - i), size, align_corners)
        for i, size in enumerate(sizes)
    ]
    image = ops.reshape(x, (batch, channels, prod(sizes)))
    if mode == "bicubic":
        choices = [
            _cubic(place, size, padding_mode, align_corners)
            for place, size in zip(places, sizes, strict=True)
        ]
        values = _weighted(image, sizes, choices)
    else:
        inside = [
            _bounded(place, size, padding_mode, align_corners)
            for place, size in zip(places, sizes, strict=True)
        ]
        if mode == "nearest":
            values = _nearest(image, sizes, inside)
        else:
            values = _weighted(image, sizes, [_linear(place) for place in inside])
    return cast(ops.reshape(values, (batch, channels, *out)), input.dtype)


def _grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    if interpolation_mode not in range(len(MODES)) or padding_mode not in range(len(PADDINGS)):
        raise ValueError(
            f"grid_sampler: expected the places of a mode in {MODES} and of a padding_mode in "
            f"{PADDINGS}, but got {interpolation_mode} and {padding_mode}"
        )
    return _grid_sample(
        input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners
    )


# -- affine_grid


def _affine_grid(theta: Any, size: Any, align_corners: bool) -> Any:
    ndim = len(size) - 2
    if ndim not in (2, 3) or len(theta.shape) != 3 or theta.shape[1:] != (ndim, ndim + 1):
        raise RuntimeError(
            "affine_grid: Expected a batch of 2D affine matrices of shape Nx2x3 for size "
            "[N, C, H, W], or of 3D ones of shape Nx3x4 for [N, C, D, H, W], but got theta "
            f"{describe(theta)} for size {list(size)}"
        )
    if any(extent <= 0 for extent in size):
        raise RuntimeError(f"affine_grid: Expected non-zero, positive output size, got {size}")
    parts, sizes = [], size[2:]
    for i in reversed(range(ndim)):
        extent = sizes[i]
        if extent > 1:
            line = ops.linspace(-1, 1, extent, dtype=theta.dtype, device=theta.device)
        else:
            line = ops.full((1,), 0, dtype=theta.dtype, device=theta.device)
        if extent > 1 and not align_corners:
            line = ops.mul(line, (extent - 1) / extent)
        shape = tuple(extent if j == i else 1 for j in range(ndim))
        parts.append(ops.expand(ops.reshape(line, shape), sizes))
    parts.append(ops.full(sizes, 1, dtype=theta.dtype, device=theta.device))
    base = ops.reshape(ops.stack(tuple(parts), ndim), (1, prod(sizes), ndim + 1))
    base = ops.expand(base, (size[0], prod(sizes), ndim + 1))
    return ops.reshape(ops.bmm(base, ops.transpose(theta, 1, 2)), (size[0], *sizes, ndim))


# -- fractional_max_pool (Graham, 2014)


def _starts(sample: Any, size: Any, count: Any, kernel: Any) -> Any:
    """Where the windows of each plane begin: [N, C, count], for samples [N, C] in 0..1."""
    last = ops.full((*sample.shape, min(count, 1)), size - kernel, dtype=dtypes.int64,
                    device=sample.device)
    if count <= 1:
        return last
    alpha = (size - kernel) / (count - 1)
    step = ops.arange(0, count - 1, 1, dtype=sample.dtype, device=sample.device)
    s = ops.unsqueeze(sample, len(sample.shape))
    moved = ops.to_dtype(ops.mul(ops.add(step, s), alpha), dtypes.int64)
    first = ops.to_dtype(ops.mul(s, alpha), dtypes.int64)
    return ops.cat((ops.sub(moved, first), last), len(sample.shape))


def _fractional(input: Any, samples: Any, kernel_size: Any, output_size: Any) -> Any:
    ndim, sizes = len(kernel_size), input.shape[2:]
    for size, count, kernel in zip(sizes, output_size, kernel_size, strict=True):
        if count + kernel - 1 > size:
            raise RuntimeError(
                f"fractional_max_pool: pool size {kernel} is too large relative to input "
                f"{describe(input)} and output size {list(output_size)}"
            )
    lead = tuple(input.shape[:2])
    order = (1, 0) if ndim == 2 else (0, 1, 2)
    starts = [
        _starts(ops.select(samples, 2, order[i]), sizes[i], output_size[i], kernel_size[i])
        for i in range(ndim)
    ]
    choices = []
    for offset in itertools.product(*map(range, kernel_size)):
        flat: Any = None
        for i, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            shape = (*lead, *(output_size[i] if j == i else 1 for j in range(ndim)))
            place = ops.reshape(ops.add(start, offset[i]), shape)
            flat = place if flat is None else ops.add(ops.mul(flat, size), place)
        choices.append(ops.reshape(flat, (*lead, 1, prod(output_size))))
    index = ops.cat(tuple(choices), 2)
    plane = ops.reshape(input, (*lead, prod(sizes)))
    values = ops.gather(plane.detach(), 2, ops.flatten(index, 2))
    best = ops.argmax(ops.reshape(values, index.shape), 2, True)
    indices = ops.squeeze(ops.gather(index, 2, best), 2)
    shape = (*lead, *output_size)
    return ops.reshape(ops.gather(plane, 2, indices), shape), ops.reshape(indices, shape)


internal(
    "grid_sample(Tensor input, Tensor grid, str mode, str padding_mode, bool align_corners)",
    Kind.COMPOSITE,
    decompose=_grid_sample,
)
_GRID_DOC = """Values of images at the points of a grid: `F.grid_sample` with numbered modes.

    Args:
        input: floating point, `(N, C, H, W)` or `(N, C, D, H, W)`.
        grid: points of the dtype of `input`, `(N, h, w, 2)` or `(N, d, h, w, 3)`: x, y (and z)
            from -1 to 1, the first along W.
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic (4 dims only).
        padding_mode: what lies outside: 0 zeros, 1 the border, 2 the image reflected.
        align_corners: -1 and 1 are the centres of the outermost elements; their edges if False.

    Returns: a tensor of shape `(N, C, h, w)` or `(N, C, d, h, w)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.
        ValueError: there is no such mode.

    Example:
        >>> image = gw.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> gw.grid_sampler(image, gw.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.5000]]]])
    """
for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    define(
        f"{_name}(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
        "bool align_corners)",
        Kind.COMPOSITE,
        decompose=_grid_sampler,
        method=False,
        doc=_GRID_DOC,
    )
define(
    "affine_grid_generator(Tensor theta, Size size, bool align_corners)",
    Kind.COMPOSITE,
    decompose=_affine_grid,
    method=False,
    doc="""Grid of points for `grid_sampler`: affine maps of the points of an image.

    Args:
        theta: maps, floating point: `(N, 2, 3)`, or `(N, 3, 4)` for volumes.
        size: the image's: `(N, C, H, W)`, or `(N, C, D, H, W)`.
        align_corners: -1 and 1 are the centres of the outermost elements; their edges if
            False.

    Returns: a tensor of shape `(N, H, W, 2)` or `(N, D, H, W, 3)`.

    Raises:
        RuntimeError: shapes do not match, or a size is less than 1.

    Example:
        >>> theta = gw.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> gw.affine_grid_generator(theta, (1, 1, 1, 2), False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """,
)
internal(
    "fractional_max_pool(Tensor input, Tensor samples, Size kernel_size, Size output_size)",
    Kind.COMPOSITE,
    decompose=_fractional,
)
