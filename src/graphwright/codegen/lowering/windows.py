"""Lowering of sliding windows: im2col, col2im and pooling in any number of dimensions.

Backward passes are written as gathers: every input element looks for the windows that hold it,
so that no two iterations write the same element.
"""

from __future__ import annotations

from math import prod
from typing import Any

from graphwright.codegen.loops import Const
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    apply,
    both,
    computed,
    const,
    convert,
    within,
)
from graphwright.codegen.lowering.nodes import Index, Shape, index_value
from graphwright.codegen.lowering.rules import Call, lowering
from graphwright.codegen.lowering.views import reshape
from graphwright.runtime.symbolic.expr import Expr, as_expr, maximum, minimum
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype

Pair = tuple[int, int]
Sizes = tuple[int, ...]


def pair(value: Any) -> Pair:
    """An int or a pair as a pair."""
    if isinstance(value, (tuple, list)):
        return (value[0], value[-1])
    return (value, value)


def output_extent(size: Expr, kernel: int, dilation: int, padding: int, stride: int) -> Expr:
    """How many windows fit along an axis."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _masked(x: Tensor, index: Index, other: Const) -> Any:
    """The element at `index`, whose last two axes may lie outside."""
    mask = None
    for i, extent in zip(index[-2:], x.shape[-2:], strict=True):
        inside = within(i, extent)
        mask = mask if inside is None else both(inside, mask)
    return x.at(index, mask, None if mask is None else other)


@lowering("im2col")
def _im2col(context: Lowering, call: Call, x: Tensor, kernel_size: Any, dilation: Any = 1,
            padding: Any = 0, stride: Any = 1) -> Tensor:
    kernel, dilate, pad, step = (pair(v) for v in (kernel_size, dilation, padding, stride))
    out = [output_extent(x.shape[2 + a], kernel[a], dilate[a], pad[a], step[a]) for a in (0, 1)]
    shape = (*x.shape[:2], as_expr(kernel[0]), as_expr(kernel[1]), out[0], out[1])
    zero = const(0, x.dtype)

    def at(index: Index) -> Any:
        n, c, *rest = index
        place = tuple(rest[2 + a] * step[a] + rest[a] * dilate[a] - pad[a] for a in (0, 1))
        return _masked(x, (n, c, *place), zero)
    columns = context.pointwise("im2col", shape, x.dtype, at)
    return reshape(context, "im2col", columns, call.shape)


@lowering("col2im")
def _col2im(context: Lowering, call: Call, x: Tensor, output_size: Any, kernel_size: Any,
            dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    kernel, dilate, pad, step = (pair(v) for v in (kernel_size, dilation, padding, stride))
    batch, channels, height, width = call.shape
    out = [output_extent(e, kernel[a], dilate[a], pad[a], step[a])
           for a, e in enumerate((height, width))]
    split: Shape = (batch, channels, as_expr(kernel[0]), as_expr(kernel[1]), out[0], out[1])
    columns = reshape(context, "col2im", x, split)
    compute = computed(x.dtype)

    def at(index: Index) -> Any:
        n, c, *rest = index
        places, mask = [], None
        for a in (0, 1):
            start = rest[a] + pad[a] - rest[2 + a] * dilate[a]
            inside = within(start // step[a], out[a])
            mask = mask if inside is None else both(inside, mask)
            if step[a] > 1:
                aligned = apply("eq", index_value(start % step[a]), const(0, dtypes.int64),
                                dtype=dtypes.bool)
                mask = both(aligned, mask)
            places.append(start // step[a])
        other = None if mask is None else const(0, x.dtype)
        return convert(columns.at((n, c, rest[2], rest[3], *places), mask, other), compute)
    domain = (*call.shape, as_expr(kernel[0]), as_expr(kernel[1]))
    total = context.reduction("col2im", domain, (4, 5), compute, "sum", at)
    if compute is call.dtype:
        return total
    return context.pointwise("to_dtype", call.shape, call.dtype,
                             lambda index: convert(total.at(index), call.dtype))


def _places(index: Index, ndim: int, step: Sizes, pad: Sizes, dilate: Sizes) -> Index:
    """Where the windows of `index` = (*lead, *window, *offset) read."""
    lead = len(index) - 2 * ndim
    return (*index[:lead], *(
        index[lead + a] * step[a] - pad[a] + index[lead + ndim + a] * dilate[a]
        for a in range(ndim)
    ))


def inside(index: Index, extents: Shape) -> Any:
    """Whether the last axes of `index` lie within `extents`; None where they always do."""
    mask = None
    for place, extent in zip(index[-len(extents):], extents, strict=True):
        inside = within(place, extent)
        mask = mask if inside is None else both(inside, mask)
    return mask


def _cast(context: Lowering, x: Tensor, shape: Shape, dtype: Any) -> Tensor:
    if x.dtype is dtype:
        return x
    return context.pointwise("to_dtype", shape, dtype, lambda index: convert(x.at(index), dtype))


@lowering("max_pool_with_indices")
def _max_pool(context: Lowering, call: Call, x: Tensor, kernel: Sizes, step: Sizes, pad: Sizes,
              dilate: Sizes, *unused: Any) -> tuple[Tensor, Tensor]:
    ndim = len(kernel)
    out = tuple(as_expr(e) for e in call.val[0].shape)
    compute = computed(x.dtype)
    lowest = float("-inf") if compute.is_floating_point else _least(compute)
    extents = x.shape[-ndim:]

    def element(index: Index) -> Any:
        place = _places(index, ndim, step, pad, dilate)
        mask = inside(place, extents)
        return convert(x.at(place, mask, None if mask is None else const(lowest, x.dtype)),
                       compute)
    domain = (*out, *(as_expr(k) for k in kernel))
    axes = tuple(range(len(out), len(domain)))
    largest = context.reduction("max_pool", domain, axes, compute, "max", element)
    which = context.reduction("max_pool", domain, axes, dtypes.int64, "argmax", element)
    last_nan = _last_nan(context, domain, axes, compute, element)

    def flat_place(index: Index) -> Any:
        rest: Any = which.at(index)
        if last_nan is not None:
            last: Any = convert(last_nan.at(index), dtypes.int64)
            found = apply("ge", last, const(0, dtypes.int64), dtype=dtypes.bool)
            rest = apply("where", found, last, rest, dtype=dtypes.int64)
        parts: list[Any] = []
        for a in reversed(range(ndim)):
            size = const(kernel[a], dtypes.int64)
            offset: Any = apply("remainder", rest, size) if a else rest
            rest = apply("floordiv", rest, size)
            begin = index_value(index[len(index) - ndim + a] * step[a] - pad[a])
            place: Any = apply("add", apply("mul", offset, const(dilate[a], dtypes.int64)), begin)
            parts.append(_not_before(place, begin, dilate[a]) if pad[a] else place)
        place = parts[-1]
        for a in range(1, ndim):
            place = apply("add", apply("mul", place, index_value(extents[a])), parts[ndim - 1 - a])
        return place
    indices = context.pointwise("max_pool", out, dtypes.int64, flat_place)
    return _cast(context, largest, out, x.dtype), indices


def _last_nan(
    context: Lowering, domain: Shape, axes: tuple[int, ...], compute: Any, element: Any
) -> Tensor | None:
    """Where in its window the last nan is, whose place counts of several; -1 without any."""
    if not compute.is_floating_point:
        return None

    def place(index: Index) -> Any:
        value, flat = element(index), as_expr(0)
        for axis in axes:
            flat = flat * domain[axis] + index[axis]
        return apply("where", apply("isnan", value, dtype=dtypes.bool),
                     convert(index_value(flat), dtypes.int32), const(-1, dtypes.int32),
                     dtype=dtypes.int32)
    return context.reduction("max_pool", domain, axes, dtypes.int32, "max", place)


def _not_before(place: Any, begin: Any, dilation: int) -> Any:
    """`place`, or the window's first one that is no padding: where nothing in the window is more
    than the least value, which padding counts as, the largest is found at its beginning."""
    zero, spread = const(0, dtypes.int64), const(dilation, dtypes.int64)
    before = apply("max", apply("sub", zero, begin), zero)
    rounded = apply("floordiv", apply("add", before, const(dilation - 1, dtypes.int64)), spread)
    return apply("max", place, apply("add", begin, apply("mul", rounded, spread)))


def _least(dtype: Any) -> int:
    return -(1 << (8 * dtype.itemsize - 1)) if dtype.is_signed else 0


def _windows_over(
    index: Index, ndim: int, kernel: Sizes, step: Sizes, pad: Sizes, counts: Shape
) -> tuple[Index, Any]:
    """The window `back` steps before the last one that reaches a place, of `index` =
    (*lead, *place, *back); and whether there is one."""
    lead = len(index) - 2 * ndim
    window = tuple((index[lead + a] + pad[a]) // step[a] - index[lead + ndim + a]
                   for a in range(ndim))
    return (*index[:lead], *window), inside(window, counts)


def _over_windows(
    context: Lowering, hint: str, call: Call, reach: Sizes, term: Any
) -> Tensor:
    """The sum over the windows that reach each element of the result."""
    compute = computed(call.dtype)
    domain = (*call.shape, *(as_expr(r) for r in reach))
    axes = tuple(range(len(call.shape), len(domain)))
    total = context.reduction(hint, domain, axes, compute, "sum", term)
    return _cast(context, total, call.shape, call.dtype)


@lowering("max_pool_backward")
def _max_pool_backward(
    context: Lowering, call: Call, grad: Tensor, indices: Tensor, input_size: Any,
    kernel: Sizes, step: Sizes, pad: Sizes, dilate: Sizes,
) -> Tensor:
    ndim = len(kernel)
    reach = tuple(-(-(dilate[a] * (kernel[a] - 1) + 1) // step[a]) for a in range(ndim))
    extents, counts = call.shape[-ndim:], grad.shape[-ndim:]
    compute = computed(grad.dtype)

    def term(index: Index) -> Any:
        window, mask = _windows_over(index, ndim, kernel, step, pad, counts)
        chosen = indices.at(window, mask, None if mask is None else const(-1, dtypes.int64))
        value = grad.at(window, mask, None if mask is None else const(0, grad.dtype))
        place, lead = index[-2 * ndim], len(index) - 2 * ndim
        for a in range(1, ndim):
            place = place * extents[a] + index[lead + a]
        here = apply("eq", chosen, index_value(place), dtype=dtypes.bool)
        return apply("where", here, convert(value, compute), const(0, compute), dtype=compute)
    return _over_windows(context, "max_pool_backward", call, reach, term)


def _divisor(
    extents: Shape, kernel: Sizes, step: Sizes, pad: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Any, dtype: Any,
) -> Any:
    """What each window's sum is divided by, as a function of its place: how many elements it has,
    of which those of the last windows lie behind the padding where `ceil_mode`."""
    fixed = prod(kernel) if divisor_override is None else divisor_override
    whole = not ceil_mode and (count_include_pad or not any(pad))
    if divisor_override is not None or whole:
        return lambda window: const(fixed, dtype)

    def count(window: Index) -> Any:
        total = as_expr(1)
        for at, extent, k, s, p in zip(window, extents, kernel, step, pad, strict=True):
            start = at * s - p
            end = minimum(start + k, extent + p)
            inside = maximum(minimum(end, extent) - maximum(start, 0), 1)
            total = total * (end - start if count_include_pad else inside)
        return convert(index_value(total), dtype)
    return count


def _averaged(dtype: dtype) -> dtype:
    """What means are computed in: those of integers are rounded towards zero."""
    return computed(dtype) if dtype.is_floating_point else dtypes.float64


@lowering("avg_pool")
def _avg_pool(context: Lowering, call: Call, x: Tensor, kernel: Sizes, step: Sizes, pad: Sizes,
              ceil_mode: bool, count_include_pad: bool, divisor_override: Any) -> Tensor:
    ndim, compute = len(kernel), _averaged(x.dtype)
    divisor = _divisor(x.shape[-ndim:], kernel, step, pad, ceil_mode, count_include_pad,
                       divisor_override, compute)

    def element(index: Index) -> Any:
        place = _places(index, ndim, step, pad, (1,) * ndim)
        mask = inside(place, x.shape[-ndim:])
        return convert(x.at(place, mask, None if mask is None else const(0, x.dtype)), compute)
    domain = (*call.shape, *(as_expr(k) for k in kernel))
    axes = tuple(range(len(call.shape), len(domain)))
    total = context.reduction("avg_pool", domain, axes, compute, "sum", element)
    return context.pointwise(
        "avg_pool", call.shape, call.dtype,
        lambda index: convert(
            apply("div", total.at(index), divisor(index[-ndim:]), dtype=compute), call.dtype))


@lowering("avg_pool_backward")
def _avg_pool_backward(
    context: Lowering, call: Call, grad: Tensor, input_size: Any, kernel: Sizes, step: Sizes,
    pad: Sizes, ceil_mode: bool, count_include_pad: bool, divisor_override: Any,
) -> Tensor:
    ndim, compute = len(kernel), computed(grad.dtype)
    counts = grad.shape[-ndim:]
    divisor = _divisor(call.shape[-ndim:], kernel, step, pad, ceil_mode, count_include_pad,
                       divisor_override, compute)
    shares = context.pointwise(
        "avg_pool_backward", grad.shape, compute,
        lambda index: apply("div", convert(grad.at(index), compute), divisor(index[-ndim:]),
                            dtype=compute))
    reach = tuple(-(-kernel[a] // step[a]) for a in range(ndim))

    def term(index: Index) -> Any:
        window, mask = _windows_over(index, ndim, kernel, step, pad, counts)
        lead = len(index) - 2 * ndim
        for a in range(ndim):
            first = window[lead + a] * step[a] - pad[a]
            covers = within(index[lead + a] - first, as_expr(kernel[a]))
            mask = mask if covers is None else both(covers, mask)
        return shares.at(window, mask, None if mask is None else const(0, compute))
    return _over_windows(context, "avg_pool_backward", call, reach, term)
