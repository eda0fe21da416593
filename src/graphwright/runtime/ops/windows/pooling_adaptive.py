"""Adaptive pooling: the cells of a grid of a given size, in one to three dimensions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    internal,
    require_floating,
    spec,
    widened,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.windows.pooling import (
    SPREAD,
    SUM,
    Bounds,
    Sizes,
    largest,
    pool,
    resized_meta,
    stacked,
    three_axes,
)
from graphwright.runtime.ops.windows.unfold import for_dims, spread_over
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.tensor import Tensor


@lru_cache(1024)
def _adaptive_bounds(sizes: Sizes, counts: Sizes) -> tuple[Bounds, Array]:
    """Cell i covers floor(i * size / count) to ceil((i + 1) * size / count), as in PyTorch."""
    bounds, places = [], np.ones(1)
    for size, count in zip(sizes, counts, strict=True):
        cell = np.arange(count)
        begin, end = cell * size // count, -(-(cell + 1) * size // count)
        bounds.append(stacked(begin, end))
        places = np.multiply.outer(places, end - begin)
    return three_axes(bounds, (1,) * len(sizes)), places.reshape(-1)


def _adaptive_shape(name: str, input: Any, output_size: Any) -> Sizes:
    if any(size < 0 for size in output_size):
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0, but got "
            f"{list(output_size)}"
        )
    return (*input.shape[: -len(output_size)], *output_size)


def _adaptive_mean_meta(input: Any, output_size: Any) -> Any:
    require_floating("adaptive_avg_pool", input)
    return spec(_adaptive_shape("adaptive_avg_pool", input, output_size), input)


def _adaptive_mean_eager(input: Tensor, output_size: Sizes) -> Tensor:
    shape = _adaptive_mean_meta(input, output_size).shape
    ndim = len(output_size)
    bounds, places = _adaptive_bounds(input.shape[-ndim:], tuple(output_size))
    return pool(SUM, input, shape, ndim, places, bounds)


def _adaptive_mean_backward_eager(grad: Tensor, size: Sizes, ndim: int) -> Tensor:
    bounds, places = _adaptive_bounds(tuple(size[-ndim:]), grad.shape[-ndim:])
    return pool(SPREAD, grad, size, ndim, places, bounds)


def _averaging(size: Any, cells: Any, like: Any) -> Any:
    """The [cells, size] matrix that averages the positions of each cell."""
    i = ops.unsqueeze(ops.arange(0, cells, 1, dtype=int64, device=like.device), 1)
    begin = ops.div(ops.mul(i, size), cells, rounding_mode="floor")
    scaled = ops.add(ops.mul(ops.add(i, 1), size), cells - 1)
    end = ops.div(scaled, cells, rounding_mode="floor")
    position = ops.unsqueeze(ops.arange(0, size, 1, dtype=int64, device=like.device), 0)
    inside = ops.logical_and(ops.ge(position, begin), ops.lt(position, end))
    weight = ops.to_dtype(inside, like.dtype)
    return ops.div(weight, ops.to_dtype(ops.sub(end, begin), like.dtype))


def _along(x: Any, dim: int, matrix: Any) -> Any:
    """matrix [m, n] times dimension `dim` (n) of x."""
    last = len(x.shape) - 1
    if dim == last:
        return ops.matmul(x, ops.transpose(matrix, 0, 1))
    if dim == last - 1:
        return ops.matmul(matrix, x)
    moved = ops.matmul(ops.transpose(x, dim, last), ops.transpose(matrix, 0, 1))
    return ops.transpose(moved, dim, last)


def _adaptive_mean_decompose(input: Any, output_size: Any) -> Any:
    x, first = widened(input), len(input.shape) - len(output_size)
    for i, cells in enumerate(output_size):
        x = _along(x, first + i, _averaging(x.shape[first + i], cells, x))
    return ops.contiguous(cast(x, input.dtype))


def _adaptive_mean_backward_decompose(grad: Any, size: Any, ndim: int) -> Any:
    x, first = widened(grad), len(size) - ndim
    for dim in range(first, len(size)):
        matrix = _averaging(size[dim], x.shape[dim], x)
        x = _along(x, dim, ops.transpose(matrix, 0, 1))
    return ops.contiguous(cast(x, grad.dtype))


def _adaptive_max_meta(input: Any, output_size: Any) -> Any:
    require_floating("adaptive_max_pool", input)
    shape = _adaptive_shape("adaptive_max_pool", input, output_size)
    return spec(shape, input), spec(shape, input, int64)


def _adaptive_max_eager(input: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
    shape = _adaptive_max_meta(input, output_size)[0].shape
    ndim = len(output_size)
    bounds, _ = _adaptive_bounds(input.shape[-ndim:], tuple(output_size))
    return largest(input, shape, ndim, bounds)


def _cells(size: Any, count: Any, device: Any) -> Any:
    """The positions of each cell [count, most], its last one again where it has fewer."""
    i = ops.arange(count, device=device)
    begin = ops.floor_divide(ops.mul(i, size), count)
    end = ops.floor_divide(ops.add(ops.mul(ops.add(i, 1), size), count - 1), count)
    most = (size + count - 1) // count + 1
    offset = ops.arange(most, device=device)
    return ops.minimum(ops.add(ops.unsqueeze(begin, 1), offset), ops.unsqueeze(ops.sub(end, 1), 1))


def _adaptive_max_decompose(input: Any, output_size: Any) -> tuple[Any, Any]:
    """Each cell as the last dim: its maximum, and where its last nan or first maximum is."""
    shape = _adaptive_max_meta(input, output_size)[0].shape
    first, ndim = len(input.shape) - len(output_size), len(output_size)
    x, flat = input, ops.zeros((1,), dtype=int64, device=input.device)
    for i, count in enumerate(output_size):
        size, dim = input.shape[first + i], first + 2 * i
        cells = _cells(size, count, input.device)
        picked = ops.index_select(x, dim, ops.reshape(cells, (-1,)))
        x = ops.reshape(picked, (*x.shape[:dim], *cells.shape, *x.shape[dim + 1 :]))
        along = [1] * (2 * ndim)
        along[2 * i], along[2 * i + 1] = cells.shape
        flat = ops.add(ops.mul(flat, size), ops.reshape(cells, along))
    order = (*range(first), *range(first, first + 2 * ndim, 2),
             *range(first + 1, first + 2 * ndim, 2))
    x = ops.reshape(ops.permute(x, order), (*shape, -1))
    flat = ops.permute(flat, tuple(d - first for d in order[first:]))
    flat = ops.expand(ops.reshape(flat, (*output_size, x.shape[-1])), x.shape)
    places = ops.arange(x.shape[-1], device=input.device)
    nan = ops.amax(ops.where(ops.isnan(x), places, -1), (-1,), True)
    chosen = ops.where(ops.ge(nan, 0), nan, ops.argmax(x, -1, True))
    return ops.amax(x, (-1,)), ops.reshape(ops.gather(flat, len(shape), chosen), shape)


def _adaptive_max_vjp(ctx: Any, grad: Any, grad_indices: Any) -> Any:
    return ops.scatter_planes(grad, ctx.out1, ctx.input.shape, len(ctx.output_size))


internal(
    "adaptive_avg_pool(Tensor input, Size output_size)",
    Kind.COMPOSITE,
    meta=_adaptive_mean_meta,
    vjp=lambda ctx, grad: ops.adaptive_avg_pool_backward(
        grad, ctx.input.shape, len(ctx.output_size)
    ),
    eager=_adaptive_mean_eager,
    decompose=_adaptive_mean_decompose,
)
internal(
    "adaptive_avg_pool_backward(Tensor grad, Size input_size, int ndim)",
    Kind.COMPOSITE,
    meta=resized_meta,
    vjp=lambda ctx, grad: ops.adaptive_avg_pool(grad, tuple(ctx.grad.shape[-ctx.ndim :])),
    eager=_adaptive_mean_backward_eager,
    decompose=_adaptive_mean_backward_decompose,
)
internal(
    "adaptive_max_pool(Tensor input, Size output_size)",
    Kind.OTHER,
    meta=_adaptive_max_meta,
    vjp=_adaptive_max_vjp,
    saves=("out1",),
    decompose=_adaptive_max_decompose,
    eager=_adaptive_max_eager,
    tags=("whole",),
)



def _adaptive_sizes(name: str, ndim: int, input: Any, output_size: Any) -> Sizes:
    """A size for each of `ndim` dimensions: the input's own where None is given.

    Raises RuntimeError for another number of sizes. An input with too few dimensions for a
    sequence is a ValueError in PyTorch, except in one dimension.
    """
    one = not isinstance(output_size, list | tuple)
    given = (output_size,) * ndim if one else output_size
    if ndim > 1 and not one and len(input.shape) <= len(given):
        raise ValueError(
            f"{name}: Input dimension should be at least {len(given) + 1}, but got "
            f"{describe(input)}"
        )
    if len(given) != ndim:
        raise RuntimeError(f"{name}: output_size must be {ndim} numbers, but got {output_size}")
    if None in given:
        own = input.shape[-ndim:]
        given = [n if size is None else size for size, n in zip(given, own, strict=True)]
    return spread_over(ndim, name, "output_size", given)


def _require_elements(name: str, ndim: int, input: Any, first: int) -> None:
    """RuntimeError unless `input` is [C, *] or [N, C, *], not empty from dimension `first` on."""
    if len(input.shape) not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"{name}: expected a {ndim + 1}D or {ndim + 2}D tensor, but got {describe(input)}"
        )
    if any(size == 0 for size in input.shape[first:]):
        raise RuntimeError(
            f"{name}: expected input to have non-zero size for the dimensions from {first} on, "
            f"but got {describe(input)}"
        )


def _adaptive_avg_pool_of(ndim: int) -> Any:
    name = f"adaptive_avg_pool{ndim}d"

    def decompose(input: Any, output_size: Any) -> Any:
        sizes = _adaptive_sizes(name, ndim, input, output_size)
        whole = all(size.__class__ is int and size == 1 for size in sizes)
        if not whole or ndim == 1:
            _require_elements(name, ndim, input, len(input.shape) if whole else -ndim)
        if whole:
            return ops.mean(input, tuple(range(-ndim, 0)), True)
        return ops.adaptive_avg_pool(input, sizes)

    return decompose


def _adaptive_max_pool_of(ndim: int) -> Any:
    name = f"adaptive_max_pool{ndim}d"

    def decompose(input: Any, output_size: Any) -> Any:
        sizes = _adaptive_sizes(name, ndim, input, output_size)
        _require_elements(name, ndim, input, 1)
        return ops.adaptive_max_pool(input, sizes)

    return decompose


_AVG_DOC = """Mean of the windows of {n}D signals, as many as `output_size` says.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, {sizes})`, or `(C, {sizes})`.
        output_size: the number of windows, an int or one per dim{none}.

    Returns: a tensor of the shape of `input`, but `output_size` elements in the pooled dims.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims, or `output_size` does not fit.

    Example:
        >>> F.adaptive_avg_pool{n}d(gw.ones(1, 2{fives}), 3).shape
        graphwright.Size([1, 2{threes}])
    """
_MAX_DOC = """Maximum of the windows of {n}D signals, as many as `output_size` says, and its index.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, {sizes})`, or `(C, {sizes})`; none of these 0 but N.
        output_size: the number of windows, an int or one per dim{none}.

    Returns: `(values, indices)`, both of the shape of `input`, but `output_size` elements in
    the pooled dims. The indices are int64: positions in the flattened dims that are pooled.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims or no elements, or `output_size` does
            not fit.

    Example:
        >>> F.adaptive_max_pool{n}d_with_indices(gw.ones(1, 2{fives}), 3)[1].shape
        graphwright.Size([1, 2{threes}])
    """


for _ndim, _sizes in ((1, "Ints"), (2, "Ints|None"), (3, "Ints|None")):
    _none = "; None keeps a dim's size" if _ndim > 1 else ""
    define(
        f"adaptive_avg_pool{_ndim}d(Tensor input, {_sizes} output_size)",
        Kind.COMPOSITE,
        decompose=_adaptive_avg_pool_of(_ndim),
        method=False,
        public=_ndim == 1,
        doc=for_dims(_AVG_DOC, _ndim, none=_none),
    )
    define(
        f"adaptive_max_pool{_ndim}d(Tensor input, {_sizes} output_size)",
        Kind.COMPOSITE,
        decompose=_adaptive_max_pool_of(_ndim),
        method=False,
        public=_ndim == 1,
        doc=for_dims(_MAX_DOC, _ndim, none=_none),
    )
