"""Convolutions and their gradients, for GPU programs: products over unfolded inputs.

With one group, x of (N, C, *), w of (K, C, *) and L windows::

    columns[n, c k, l] = x[n, c, window l at k]            0 beyond the edges
    out[n]             = w (K, C k) @ columns[n]           one batched product
    grad of columns[n] = w.T @ grad[n]                     gathered into the gradient of x
    grad of w          = sum over n of grad[n] @ columns[n].T

With several groups, where products are small, and for integers, each element is a sum of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from graphwright.codegen.lowering.nodes import (
    Gemm,
    Index,
    Shape,
    index_value,
    linear,
    row_major,
)
from graphwright.codegen.lowering.rules import Call
from graphwright.codegen.lowering.views import reshape, unflatten
from graphwright.codegen.lowering.windows import inside
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, as_expr, as_int, product
from graphwright.runtime.tensor import dtypes

Sizes = tuple[int, ...]


class Geometry(Record):
    """Where windows lie: the element `k` of window `o` is at o*stride - padding + k*dilation."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int

    def place(self, window: Index, offset: Index) -> Index:
        """The position that a window has at an offset."""
        return tuple(o * s - p + k * d for o, k, s, p, d in zip(
            window, offset, self.stride, self.padding, self.dilation, strict=True))

    def window(self, place: Index, offset: Index, count: Shape) -> tuple[Index, Any]:
        """The window that has a position at an offset, and whether there is one."""
        windows: list[Expr] = []
        mask: Any = None
        for i, k, s, p, d, n in zip(place, offset, self.stride, self.padding, self.dilation,
                                    count, strict=True):
            start = i + p - k * d
            known = within(start // s, n)
            mask = mask if known is None else both(known, mask)
            if s > 1:
                aligned = apply("eq", index_value(start % s), const(0, dtypes.int64),
                                dtype=dtypes.bool)
                mask = both(aligned, mask)
            windows.append(start // s)
        return tuple(windows), mask


def _geometry(stride: Any, padding: Any, dilation: Any, groups: Any) -> Geometry:
    whole = as_int(as_expr(groups))
    assert whole is not None, "a convolution with a symbolic number of groups"
    return Geometry(tuple(stride), tuple(padding), tuple(dilation), whole)


def _masked(x: Tensor, index: Index, mask: Any) -> Any:
    return x.at(index, mask, None if mask is None else const(0, x.dtype))


def _columns(
    context: Lowering, x: Tensor, kernel: Shape, windows: Shape, geometry: Geometry
) -> Tensor:
    """x unfolded: (N, C times the kernel's elements, windows)."""
    rows = (x.shape[1], *kernel)

    def at(index: Index) -> Any:
        n, row, window = index
        channel, *offset = unflatten(row, rows)
        place = geometry.place(tuple(unflatten(window, windows)), tuple(offset))
        return _masked(x, (n, channel, *place), inside(place, x.shape[2:]))
    shape = (x.shape[0], product(list(rows)), product(list(windows)))
    return context.pointwise("im2col", shape, x.dtype, at)


def _batched(context: Lowering, x: Tensor, count: Expr, turned: bool = False) -> Tensor:
    """One matrix for each of `count`, transposed where `turned`."""
    shape = x.shape[::-1] if turned else x.shape
    return context.view("expand", x, (count, *shape),
                        lambda index: (index[2], index[1]) if turned else index[1:])


def _turned(context: Lowering, x: Tensor) -> Tensor:
    n, rows, columns = x.shape
    return context.view("transpose", x, (n, columns, rows),
                        lambda index: (index[0], index[2], index[1]))


def _product(context: Lowering, a: Tensor, b: Tensor) -> Tensor:
    shape = (a.shape[0], a.shape[1], b.shape[2])
    return context.add(Gemm(context.unique("bmm"), shape, a.dtype, a.name, b.name, a.shape[2]))


def _by_products(call: Call, geometry: Geometry, *tensors: Tensor) -> bool:
    """Whether the sums are matrix products."""
    return (geometry.groups == 1 and call.dtype.is_floating_point
            and all(e != 0 for t in tensors for e in t.shape) and all(e != 0 for e in call.shape))


def _summed(
    context: Lowering, call: Call, inner: Shape, term: Callable[[Index, Index], Any],
    after: Callable[[Index, Any], Any] | None = None,
) -> Tensor:
    """The sum of term(index, inner index) over `inner`, for each element of the result."""
    compute = computed(call.dtype)
    ndim = len(call.shape)
    domain = (*call.shape, *inner)
    total = context.reduction(
        call.op.name, domain, tuple(range(ndim, len(domain))), compute, "sum",
        lambda index: term(index[:ndim], index[ndim:]))
    finish = after or (lambda index, value: value)
    return context.pointwise(call.op.name, call.shape, call.dtype,
                             lambda index: convert(finish(index, total.at(index)), call.dtype))


def _times(call: Call, a: Any, b: Any) -> Any:
    compute = computed(call.dtype)
    return apply("mul", convert(a, compute), convert(b, compute))


# -- forward --------------------------------------------------------------------------------------

def convolution(
    context: Lowering, call: Call, x: Tensor, w: Tensor, bias: Tensor | None, stride: Any,
    padding: Any, dilation: Any, transposed: bool, output_padding: Any, groups: Any,
) -> Tensor:
    """A convolution, or its transpose, which is the gradient of one with respect to its input."""
    geometry = _geometry(stride, padding, dilation, groups)

    def with_bias(index: Index, value: Any) -> Any:
        if bias is None:
            return value
        return apply("add", value, convert(bias.at((index[1],)), value.dtype))
    if transposed:
        return _to_input(context, call, x, w, geometry, with_bias)
    if not _by_products(call, geometry, x, w):
        return _direct(context, call, x, w, geometry, with_bias)
    windows = call.shape[2:]
    columns = _columns(context, x, w.shape[2:], windows, geometry)
    flat = reshape(context, "view", w, (w.shape[0], columns.shape[1]))
    out = _product(context, _batched(context, flat, x.shape[0]), columns)

    def at(index: Index) -> Any:
        place = linear(index[2:], row_major(windows))
        value = convert(out.at((index[0], index[1], place)), computed(call.dtype))
        return convert(with_bias(index, value), call.dtype)
    return context.pointwise("convolution", call.shape, call.dtype, at)


def _direct(
    context: Lowering, call: Call, x: Tensor, w: Tensor, geometry: Geometry,
    after: Callable[[Index, Any], Any],
) -> Tensor:
    each = w.shape[0] // geometry.groups

    def term(index: Index, inner: Index) -> Any:
        n, k, *window = index
        channel, *offset = inner
        place = geometry.place(tuple(window), tuple(offset))
        source = k // each * w.shape[1] + channel
        element = _masked(x, (n, source, *place), inside(place, x.shape[2:]))
        return _times(call, element, w.at((k, channel, *offset)))
    return _summed(context, call, w.shape[1:], term, after)


# -- gradients ------------------------------------------------------------------------------------

def conv_input_grad(
    context: Lowering, call: Call, grad: Tensor, w: Tensor, size: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> Tensor:
    """The gradient with respect to the input."""
    geometry = _geometry(stride, padding, dilation, groups)
    return _to_input(context, call, grad, w, geometry, lambda index, value: value)


def _to_input(
    context: Lowering, call: Call, grad: Tensor, w: Tensor, geometry: Geometry,
    after: Callable[[Index, Any], Any],
) -> Tensor:
    windows, kernel = grad.shape[2:], w.shape[2:]
    if not _by_products(call, geometry, grad, w):
        each, channels = w.shape[0] // geometry.groups, w.shape[1]

        def direct(index: Index, inner: Index) -> Any:
            n, c, *place = index
            k, *offset = inner
            window, mask = geometry.window(tuple(place), tuple(offset), windows)
            source = c // channels * each + k
            element = _masked(grad, (n, source, *window), mask)
            return _times(call, element, w.at((source, c % channels, *offset)))
        return _summed(context, call, (each, *kernel), direct, after)
    flat = reshape(context, "view", w, (w.shape[0], product([w.shape[1], *kernel])))
    rows = reshape(context, "view", grad, (*grad.shape[:2], product(list(windows))))
    columns = _product(context, _batched(context, flat, grad.shape[0], turned=True), rows)

    def term(index: Index, offset: Index) -> Any:
        n, c, *place = index
        window, mask = geometry.window(tuple(place), offset, windows)
        row = linear((c, *offset), row_major((w.shape[1], *kernel)))
        element = _masked(columns, (n, row, linear(window, row_major(windows))), mask)
        return convert(element, computed(call.dtype))
    return _summed(context, call, kernel, term, after)


def conv_weight_grad(
    context: Lowering, call: Call, grad: Tensor, x: Tensor, size: Any, stride: Any, padding: Any,
    dilation: Any, groups: Any,
) -> Tensor:
    """The gradient with respect to the kernels."""
    geometry = _geometry(stride, padding, dilation, groups)
    windows, kernel = grad.shape[2:], call.shape[2:]
    if not _by_products(call, geometry, grad, x):
        each, channels = call.shape[0] // geometry.groups, call.shape[1]

        def direct(index: Index, inner: Index) -> Any:
            k, c, *offset = index
            n, *window = inner
            place = geometry.place(tuple(window), tuple(offset))
            element = _masked(x, (n, k // each * channels + c, *place),
                              inside(place, x.shape[2:]))
            return _times(call, element, grad.at((n, k, *window)))
        return _summed(context, call, (grad.shape[0], *windows), direct)
    columns = _columns(context, x, kernel, windows, geometry)
    rows = reshape(context, "view", grad, (*grad.shape[:2], product(list(windows))))
    products = _product(context, rows, _turned(context, columns))

    def term(index: Index, inner: Index) -> Any:
        k, *rest = index
        row = linear(tuple(rest), row_major(call.shape[1:]))
        return convert(products.at((inner[0], k, row)), computed(call.dtype))
    return _summed(context, call, (grad.shape[0],), term)
