"""Lowering of sliding windows: im2col, col2im and max pooling.

Backward passes are written as gathers: every input element looks for the windows that hold it,
so that no two iterations write the same element.
"""

from __future__ import annotations

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
from graphwright.runtime import dtypes
from graphwright.runtime.symbolic.expr import Expr, Int, as_expr, ceildiv

Pair = tuple[int, int]


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


def _batched(context: Lowering, x: Tensor) -> Tensor:
    """[C, H, W] as [1, C, H, W]."""
    return x if x.ndim == 4 else reshape(context, "unsqueeze", x, (Int(1), *x.shape))


@lowering("max_pool2d_with_indices")
def _max_pool(context: Lowering, call: Call, x: Tensor, kernel_size: Any, stride: Any = None,
              padding: Any = 0, dilation: Any = 1, *unused: Any) -> tuple[Tensor, Tensor]:
    kernel, dilate, pad = (pair(v) for v in (kernel_size, dilation, padding))
    step = pair(stride) if stride not in (None, (), []) else kernel
    source = _batched(context, x)
    shapes = [tuple(as_expr(e) for e in v.shape) for v in call.val]
    out = shapes[0] if x.ndim == 4 else (Int(1), *shapes[0])
    compute = computed(x.dtype)
    lowest = float("-inf") if compute.is_floating_point else _least(compute)

    def element(index: Index) -> Any:
        n, c, *rest = index
        place = tuple(rest[a] * step[a] - pad[a] + rest[2 + a] * dilate[a] for a in (0, 1))
        return convert(_masked(source, (n, c, *place), const(lowest, x.dtype)), compute)
    domain = (*out, as_expr(kernel[0]), as_expr(kernel[1]))
    largest = context.reduction("max_pool2d", domain, (4, 5), compute, "max", element)
    which = context.reduction("max_pool2d", domain, (4, 5), dtypes.int64, "argmax", element)

    def flat_place(index: Index) -> Any:
        size = const(kernel[1], dtypes.int64)
        at = which.at(index)
        parts = (apply("floordiv", at, size), apply("remainder", at, size))
        places = [apply("add", apply("mul", part, const(dilate[a], dtypes.int64)),
                        index_value(index[2 + a] * step[a] - pad[a]))
                  for a, part in enumerate(parts)]
        width = index_value(source.shape[3])
        return apply("add", apply("mul", places[0], width), places[1])
    indices = context.pointwise("max_pool2d", out, dtypes.int64, flat_place)
    values = context.pointwise("max_pool2d", out, x.dtype,
                               lambda index: convert(largest.at(index), x.dtype))
    return (reshape(context, "max_pool2d", values, shapes[0]),
            reshape(context, "max_pool2d", indices, shapes[1]))


def _least(dtype: Any) -> int:
    return -(1 << (8 * dtype.itemsize - 1)) if dtype.is_signed else 0


@lowering("max_pool2d_backward")
def _max_pool_backward(
    context: Lowering, call: Call, grad: Tensor, indices: Tensor, input_size: Any,
    kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, *unused: Any,
) -> Tensor:
    kernel, dilate, pad = (pair(v) for v in (kernel_size, dilation, padding))
    step = pair(stride) if stride not in (None, (), []) else kernel
    gradient, places = _batched(context, grad), _batched(context, indices)
    shape = call.shape if grad.ndim == 4 else (Int(1), *call.shape)
    reach = [ceildiv(dilate[a] * (kernel[a] - 1) + 1, step[a]) for a in (0, 1)]
    compute = computed(grad.dtype)

    def term(index: Index) -> Any:
        n, c, h, w, *back = index
        window = tuple((p + pad[a]) // step[a] - back[a] for a, p in enumerate((h, w)))
        other = const(-1, dtypes.int64)
        chosen = _masked(places, (n, c, *window), other)
        value = convert(_masked(gradient, (n, c, *window), const(0, grad.dtype)), compute)
        here = apply("eq", chosen, index_value(h * shape[3] + w), dtype=dtypes.bool)
        return apply("where", here, value, const(0, compute), dtype=compute)
    total = context.reduction(
        "max_pool2d_backward", (*shape, *reach), (4, 5), compute, "sum", term)
    out = total
    if compute is not call.dtype:
        out = context.pointwise("to_dtype", shape, call.dtype,
                                lambda index: convert(total.at(index), call.dtype))
    return reshape(context, "max_pool2d_backward", out, call.shape)
