"""Maxima and means of windows, strided or adaptive, in one to three dimensions.

The ops take any leading dimensions and pool the last ones, as many as `kernel_size` or
`output_size` has numbers. The kernels are compiled (`_core.pool_windows`).
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import (
    Array,
    finish,
    internal,
    is_half,
    new,
    output,
    require_floating,
    spec,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.value_checks import checked, inside
from graphwright.runtime.ops.windows.unfold import for_dims, spread_over, window_count
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.tensor import Tensor

Sizes = tuple[Any, ...]
Bounds = tuple[tuple[Array, Array, Array], tuple[int, int, int]]

MAXIMUM, SUM, SPREAD = 0, 1, 2
_ADD_AT, _PUT_AT = 0, 1


# -- shapes


def _count(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    if not ceil_mode:
        return window_count(size, kernel, stride, padding, dilation)
    count = (size + 2 * padding - dilation * (kernel - 1) - 1 + stride - 1) // stride + 1
    return count - 1 if (count - 1) * stride >= size + padding else count


def pooled_shape(
    name: str,
    input: Any,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> Sizes:
    """The shape of what windows leave; RuntimeError where they do not fit."""
    ndim = len(kernel)
    for what, values in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if any(value < 1 for value in values):
            raise RuntimeError(
                f"{name}: {what} should be greater than zero, but got {list(values)}"
            )
    for extent, pad, spread in zip(kernel, padding, dilation, strict=True):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad * 2 > (extent - 1) * spread + 1:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={pad}, kernel_size={extent} and dilation={spread}"
            )
    counts = [
        _count(*each, ceil_mode)
        for each in zip(input.shape[-ndim:], kernel, stride, padding, dilation, strict=True)
    ]
    if any(count < 1 for count in counts):
        raise RuntimeError(
            f"{name}: Output size is too small: given input {describe(input)}, calculated "
            f"output size {counts}"
        )
    return (*input.shape[:-ndim], *counts)


def require_rank(name: str, ndim: int, input: Any) -> None:
    """RuntimeError unless `input` is [C, *] or [N, C, *] with `ndim` sizes; only N may be 0."""
    rank = len(input.shape)
    whole = input.shape[-ndim - 1 :]
    if rank not in (ndim + 1, ndim + 2) or any(size == 0 for size in whole):
        raise RuntimeError(
            f"{name}: non-empty {ndim + 1}D or {ndim + 2}D (batch mode) tensor expected for "
            f"input, where only the batch may be empty, but got {describe(input)}"
        )


# -- windows as begins and ends, for the kernels


def _planes(array: Array, ndim: int) -> Array:
    """[*, sizes] as a contiguous array [planes, D, H, W]."""
    sizes = (1,) * (3 - ndim) + array.shape[array.ndim - ndim :]
    return np.ascontiguousarray(array).reshape(prod(array.shape[: array.ndim - ndim]), *sizes)


def stacked(begin: Array, end: Array) -> Array:
    return np.ascontiguousarray(np.stack([begin, end]), np.int64)


_WHOLE = stacked(np.zeros(1), np.ones(1))


def three_axes(bounds: list[Array], steps: tuple[int, ...]) -> Bounds:
    missing = 3 - len(bounds)
    return (_WHOLE,) * missing + tuple(bounds), (1,) * missing + steps  # type: ignore[return-value]


@lru_cache(1024)
def _max_bounds(
    sizes: Sizes, counts: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes
) -> Bounds:
    bounds = []
    for size, count, k, s, p, d in zip(
        sizes, counts, kernel, stride, padding, dilation, strict=True
    ):
        start = np.arange(count) * s - p
        begin = np.where(start < 0, start - start // d * d, start)
        bounds.append(stacked(begin, np.minimum(start + (k - 1) * d + 1, size)))
    return three_axes(bounds, dilation)


@lru_cache(1024)
def _mean_bounds(
    sizes: Sizes, counts: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes
) -> tuple[Bounds, Array, Array]:
    """Windows, and how many places each has with and without the padding."""
    bounds, whole, inside = [], np.ones(1), np.ones(1)
    for size, count, k, s, p in zip(sizes, counts, kernel, stride, padding, strict=True):
        start = np.arange(count) * s - p
        end = np.minimum(start + k, size + p)
        bounds.append(stacked(np.maximum(start, 0), np.minimum(end, size)))
        whole = np.multiply.outer(whole, end - start)
        clipped = np.maximum(np.minimum(end, size) - np.maximum(start, 0), 1)
        inside = np.multiply.outer(inside, clipped)
    return three_axes(bounds, (1,) * len(sizes)), whole.reshape(-1), inside.reshape(-1)


def _values(tensor: Tensor) -> Array:
    """For the kernels: half precision as float32, integers as int64."""
    array: Array = tensor._nd
    if is_half(tensor.dtype):
        return array.astype(np.float32)
    return array if tensor.dtype.is_floating_point else array.astype(np.int64)


def pool(
    part: int, input: Tensor, shape: Sizes, ndim: int, divisors: Array, bounds: Bounds
) -> Tensor:
    """Sums divided (integers: rounded towards zero), or the transpose of that."""
    x, dtype = _values(input), input.dtype
    if not dtype.is_floating_point:
        result, out = new(shape, dtype), np.empty(shape, np.float64)
        x = x.astype(np.float64)
    else:
        result, out = output(shape, dtype)
    given = np.ascontiguousarray(divisors, out.dtype)
    _core.pool_windows(part, _planes(x, ndim), _planes(out, ndim), given, *bounds)
    return finish(result, out)


# -- maxima


def require_ordered(name: str, input: Any) -> None:
    if input.dtype.name == "bool" or input.dtype.is_complex:
        raise NotImplementedError(f'"{name}" not implemented for {input.dtype}')


def largest(input: Tensor, shape: Sizes, ndim: int, bounds: Bounds) -> tuple[Tensor, Tensor]:
    values, indices = new(shape, input.dtype), new(shape, int64)
    x = _planes(_values(input), ndim)
    direct = x.dtype == values._nd.dtype
    best = values._nd if direct else np.empty(shape, x.dtype)
    _core.pool_windows(
        MAXIMUM, x, _planes(best, ndim), _planes(indices._nd, ndim), *bounds
    )
    if not direct:
        values._nd[...] = best
    return values, indices


def _max_shape(input: Any, *window: Any) -> Sizes:
    require_ordered("max_pool", input)
    return pooled_shape("max_pool", input, *window)


def _max_meta(input: Any, *window: Any) -> Any:
    shape = _max_shape(input, *window)
    return spec(shape, input), spec(shape, input, int64)


def _max_eager(
    input: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> tuple[Tensor, Tensor]:
    shape = _max_shape(input, kernel_size, stride, padding, dilation, ceil_mode)
    ndim = len(kernel_size)
    bounds = _max_bounds(
        input.shape[-ndim:], shape[-ndim:], kernel_size, stride, padding, dilation
    )
    return largest(input, shape, ndim, bounds)


def _max_vjp(ctx: Any, grad: Any, grad_indices: Any) -> Any:
    return ops.max_pool_backward(
        grad, ctx.out1, ctx.input.shape, ctx.kernel_size, ctx.stride, ctx.padding, ctx.dilation
    )


def _max_backward_meta(grad: Any, indices: Any, input_size: Any, *window: Any) -> Any:
    return spec(input_size, grad)


def _rows(array: Array, planes: int) -> Array:
    return np.ascontiguousarray(array).reshape(planes, array.size // max(planes, 1))


def _at_places(part: int, values: Tensor, indices: Tensor, size: Sizes, ndim: int) -> Tensor:
    """Values laid at their indices in otherwise zero planes of the last `ndim` sizes."""
    narrow = _values(values)
    wide = np.empty(size, narrow.dtype)
    direct = narrow.dtype == values._nd.dtype
    result = new(size, values.dtype)
    target = result._nd if direct else wide
    planes = prod(size[: len(size) - ndim])
    if target.size:
        _core.plane_places(
            part,
            _rows(narrow, planes),
            _rows(indices._nd, planes),
            target.reshape(planes, target.size // planes),
        )
    if not direct:
        result._nd[...] = wide
    return result


def _max_backward_eager(
    grad: Tensor, indices: Tensor, input_size: Sizes, kernel_size: Sizes, *window: Any
) -> Tensor:
    return _at_places(_ADD_AT, grad, indices, input_size, len(kernel_size))


def _picked(grad: Any, indices: Any, ndim: int) -> Any:
    """The elements of the planes of `grad` at their `indices`."""
    lead = len(grad.shape) - ndim
    flat, places = ops.flatten(grad, lead), ops.flatten(indices, lead)
    return ops.reshape(ops.gather(flat, lead, places), indices.shape)


def _max_backward_vjp(ctx: Any, grad: Any) -> Any:
    return _picked(grad, ctx.indices, len(ctx.kernel_size)), None


def _scatter_meta(input: Any, indices: Any, output_size: Any, ndim: int) -> Any:
    return spec(output_size, input)


def _scatter_decompose(input: Any, indices: Any, output_size: Any, ndim: int) -> Any:
    lead = len(output_size) - ndim
    zeros = ops.full(output_size, 0, dtype=input.dtype, device=input.device)
    flat = ops.scatter_add(
        ops.flatten(zeros, lead), lead, ops.flatten(indices, lead), ops.flatten(input, lead)
    )
    return ops.reshape(flat, output_size)


def _scatter_eager(input: Tensor, indices: Tensor, output_size: Sizes, ndim: int) -> Tensor:
    return _at_places(_ADD_AT, input, indices, output_size, ndim)


def _scatter_vjp(ctx: Any, grad: Any) -> Any:
    return _picked(grad, ctx.indices, ctx.ndim), None


# -- max_unpool


def _unpool_meta(input: Any, indices: Any, output_size: Any, ndim: int) -> Any:
    if indices.dtype is not int64:
        raise RuntimeError(
            f"max_unpool: elements in indices should be type int64 but got {indices.dtype}"
        )
    if tuple(indices.shape) != tuple(input.shape):
        raise RuntimeError(
            f"max_unpool: Expected shape of indices {describe(indices)} to be same as that of the "
            f"input {describe(input)}"
        )
    return spec((*input.shape[:-ndim], *output_size), input)


def _unpool_eager(input: Tensor, indices: Tensor, output_size: Sizes, ndim: int) -> Tensor:
    shape = _unpool_meta(input, indices, output_size, ndim).shape
    try:
        return _at_places(_PUT_AT, input, indices, shape, ndim)
    except IndexError as error:
        raise RuntimeError(
            f"max_unpool: Found an invalid max index for output of size {list(output_size)}: "
            f"{error}"
        ) from None


def _unpool_decompose(input: Any, indices: Any, output_size: Any, ndim: int) -> Any:
    shape = _unpool_meta(input, indices, output_size, ndim).shape
    lead = len(shape) - ndim
    zeros = ops.flatten(ops.zeros(shape, dtype=input.dtype, device=input.device), lead)
    places = checked(
        indices, inside(indices, 0, zeros.shape[-1] - 1),
        f"max_unpool: Found an invalid max index for output of size {list(output_size)}")
    flat = ops.scatter_src(zeros, lead, ops.flatten(places, lead), ops.flatten(input, lead))
    return ops.reshape(flat, shape)


# -- means


def _mean_shape(
    input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, divisor: Any
) -> Sizes:
    if input.dtype is not int64:
        require_floating("avg_pool", input)
    if divisor == 0:
        raise RuntimeError("divisor must be not zero")
    ones = (1,) * len(kernel_size)
    return pooled_shape("avg_pool", input, kernel_size, stride, padding, ones, ceil_mode)


def _mean_meta(
    input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Any,
) -> Any:  # fmt: skip
    return spec(
        _mean_shape(input, kernel_size, stride, padding, ceil_mode, divisor_override), input
    )


def _mean_windows(
    sizes: Sizes, counts: Sizes, window: tuple[Sizes, Sizes, Sizes], include: bool, divisor: Any
) -> tuple[Bounds, Array]:
    bounds, whole, inside = _mean_bounds(sizes, counts, *window)
    if divisor is not None:
        return bounds, np.full(whole.shape, divisor)
    return bounds, whole if include else inside


def _mean_eager(
    input: Tensor, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Any,
) -> Tensor:  # fmt: skip
    shape = _mean_shape(input, kernel_size, stride, padding, ceil_mode, divisor_override)
    ndim, window = len(kernel_size), (kernel_size, stride, padding)
    bounds, divisors = _mean_windows(
        input.shape[-ndim:], shape[-ndim:], window, count_include_pad, divisor_override
    )
    return pool(SUM, input, shape, ndim, divisors, bounds)


def _mean_vjp(ctx: Any, grad: Any) -> Any:
    return ops.avg_pool_backward(
        grad, ctx.input.shape, ctx.kernel_size, ctx.stride, ctx.padding, ctx.ceil_mode,
        ctx.count_include_pad, ctx.divisor_override,
    )  # fmt: skip


def _mean_backward_eager(
    grad: Tensor, input_size: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes,
    ceil_mode: bool, count_include_pad: bool, divisor_override: Any,
) -> Tensor:  # fmt: skip
    ndim, window = len(kernel_size), (kernel_size, stride, padding)
    bounds, divisors = _mean_windows(
        tuple(input_size[-ndim:]), grad.shape[-ndim:], window, count_include_pad, divisor_override
    )
    return pool(SPREAD, grad, input_size, ndim, divisors, bounds)


def _mean_backward_vjp(ctx: Any, grad: Any) -> Any:
    return ops.avg_pool(
        grad, ctx.kernel_size, ctx.stride, ctx.padding, ctx.ceil_mode, ctx.count_include_pad,
        ctx.divisor_override,
    )  # fmt: skip


def resized_meta(input: Any, size: Any, *rest: Any) -> Any:
    return spec(size, input)


# -- the table

_WINDOW = "Size kernel_size, Size stride, Size padding"
_MEAN_WINDOW = f"{_WINDOW}, bool ceil_mode, bool count_include_pad, object divisor_override"

internal(
    f"max_pool_with_indices(Tensor input, {_WINDOW}, Size dilation, bool ceil_mode)",
    Kind.OTHER,
    meta=_max_meta,
    vjp=_max_vjp,
    saves=("out1",),
    eager=_max_eager,
)
internal(
    f"max_pool_backward(Tensor grad, Tensor indices, Size input_size, {_WINDOW}, Size dilation)",
    Kind.OTHER,
    meta=_max_backward_meta,
    vjp=_max_backward_vjp,
    saves=("indices",),
    eager=_max_backward_eager,
)
internal(
    "scatter_planes(Tensor input, Tensor indices, Size output_size, int ndim)",
    Kind.OTHER,
    meta=_scatter_meta,
    vjp=_scatter_vjp,
    saves=("indices",),
    eager=_scatter_eager,
    decompose=_scatter_decompose,
)
internal(
    "max_unpool(Tensor input, Tensor indices, Size output_size, int ndim)",
    Kind.OTHER,
    meta=_unpool_meta,
    vjp=_scatter_vjp,
    saves=("indices",),
    decompose=_unpool_decompose,
    eager=_unpool_eager,
    tags=("whole",),
)
internal(
    f"avg_pool(Tensor input, {_MEAN_WINDOW})",
    Kind.OTHER,
    meta=_mean_meta,
    vjp=_mean_vjp,
    eager=_mean_eager,
)
internal(
    f"avg_pool_backward(Tensor grad, Size input_size, {_MEAN_WINDOW})",
    Kind.OTHER,
    meta=resized_meta,
    vjp=_mean_backward_vjp,
    eager=_mean_backward_eager,
)
# -- the functions of one rank


def _window(
    name: str, ndim: int, input: Any, kernel_size: Any, stride: Any, padding: Any
) -> tuple[Sizes, Sizes, Sizes]:
    require_rank(name, ndim, input)
    kernel = spread_over(ndim, name, "kernel_size", kernel_size)
    empty = stride is None or (isinstance(stride, list | tuple) and not stride)
    return (
        kernel,
        kernel if empty else spread_over(ndim, name, "stride", stride),
        spread_over(ndim, name, "padding", padding),
    )


def _max_pool_of(ndim: int, with_indices: bool) -> Any:
    name = f"max_pool{ndim}d"

    def decompose(
        input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> Any:
        if ndim == 1 and not with_indices:
            require_floating(name, input)
        window = _window(name, ndim, input, kernel_size, stride, padding)
        spread = spread_over(ndim, name, "dilation", dilation)
        both = ops.max_pool_with_indices(input, *window, spread, bool(ceil_mode))
        return both if with_indices else both[0]

    return decompose


def _avg_pool_of(ndim: int) -> Any:
    name = f"avg_pool{ndim}d"

    def decompose(
        input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
        count_include_pad: bool, divisor_override: Any = None,
    ) -> Any:  # fmt: skip
        window = _window(name, ndim, input, kernel_size, stride, padding)
        return ops.avg_pool(
            input, *window, bool(ceil_mode), bool(count_include_pad), divisor_override
        )

    return decompose


_MAX_DOC = """Maximum of each window of {n}D signals{indices}.

    Args:
        input: `(N, C, {sizes})`, or `(C, {sizes})`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: what is added at both ends of each dim, of value -inf; at most half a window.
        dilation: the step between the elements of a window, an int or one per dim.
        ceil_mode: round the number of windows up, not down.

    Returns: {result} of the shape of `input`, but
    `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` elements in each
    pooled dim.{more}

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> {space}.max_pool{n}d{suffix}(gw.ones(1, 2{fives}), 2){take}.shape
        graphwright.Size([1, 2{twos}])
    """
_AVG_DOC = """Mean of each window of {n}D signals.

    Args:
        input: `(N, C, {sizes})`, or `(C, {sizes})`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: zeros at both ends of each dim, at most half a window.
        ceil_mode: round the number of windows up, not down.
        count_include_pad: padding counts as elements of the mean.{divisor}

    Returns: a tensor of the shape of `input`, but `(size + 2 * padding - kernel_size) //
    stride + 1` elements in each pooled dim.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> F.avg_pool{n}d(gw.ones(1, 2{fives}), 2).shape
        graphwright.Size([1, 2{twos}])
    """
_DIVISOR_DOC = """
        divisor_override: what sums are divided by; the number of elements if None."""
_INDICES_DOC = " The indices are int64: positions in the flattened dims that are pooled."


def _max_doc(ndim: int, suffix: str) -> str:
    return for_dims(
        _MAX_DOC,
        ndim,
        suffix=suffix,
        indices=", with its index" if suffix else "",
        result="`(values, indices)`, both" if suffix else "a tensor",
        more=_INDICES_DOC if suffix else "",
        take="[1]" if suffix else "",
        space="F" if suffix else "gw",
    )


_OPTIONS = "Ints? stride=None, Ints padding=0"
for _ndim in (1, 2, 3):
    for _suffix in ("", "_with_indices"):
        define(
            f"max_pool{_ndim}d{_suffix}(Tensor input, Ints kernel_size, {_OPTIONS}, "
            "Ints dilation=1, bool ceil_mode=False)",
            Kind.COMPOSITE,
            decompose=_max_pool_of(_ndim, bool(_suffix)),
            method=False,
            public=not _suffix or _ndim == 1,
            doc=_max_doc(_ndim, _suffix),
        )
    define(
        f"avg_pool{_ndim}d(Tensor input, Ints kernel_size, {_OPTIONS}, bool ceil_mode=False, "
        "bool count_include_pad=True"
        + (")" if _ndim == 1 else ", int? divisor_override=None)"),
        Kind.COMPOSITE,
        decompose=_avg_pool_of(_ndim),
        method=False,
        public=_ndim == 1,
        doc=for_dims(_AVG_DOC, _ndim, divisor=_DIVISOR_DOC if _ndim > 1 else ""),
    )
