"""Lowering of views: renamed indices, never a copy."""

from __future__ import annotations

from typing import Any

from graphwright.codegen.lowering.context import Lowering, Tensor, Unlowerable
from graphwright.codegen.lowering.nodes import Index, Shape, linear, row_major
from graphwright.codegen.lowering.rules import Call, lowering
from graphwright.runtime.symbolic.expr import Expr, Int, as_expr, as_int, product


def reshaped(index: Index, shape: Shape, target: Shape) -> Index:
    """The index into `target` of the element that is at `index` of `shape`, in row-major order.

    Runs of axes with equal products are matched, so that `//` and `%` stay within them.
    """
    result: list[Expr] = []
    s = t = 0
    while s < len(shape) or t < len(target):
        if s < len(shape) and t < len(target) and shape[s] == target[t]:
            result.append(index[s])
            s, t = s + 1, t + 1
            continue
        s_end, t_end = _matching_run(shape, s, target, t)
        flat = linear(index[s:s_end], row_major(shape[s:s_end]))
        result += unflatten(flat, target[t:t_end])
        s, t = s_end, t_end
    return tuple(result)


def _matching_run(shape: Shape, s: int, target: Shape, t: int) -> tuple[int, int]:
    """The ends of the shortest runs from `s` and `t` on with equal, known products."""
    if s < len(shape) and shape[s] == 1:
        return s + 1, t
    if t < len(target) and target[t] == 1:
        return s, t + 1
    s_end, t_end = min(s + 1, len(shape)), min(t + 1, len(target))
    while True:
        have, want = product(shape[s:s_end]), product(target[t:t_end])
        if have == want:
            return s_end, t_end
        if s_end == len(shape) and t_end == len(target):
            return s_end, t_end
        h, w = as_int(have), as_int(want)
        grow_shape = (want % have) == 0 if h is None or w is None else h < w
        if (grow_shape and s_end < len(shape)) or t_end == len(target):
            s_end += 1
        else:
            t_end += 1


def unflatten(flat: Expr, shape: Shape) -> list[Expr]:
    """The row-major index of position `flat` in `shape`."""
    result: list[Expr] = []
    for step, extent in zip(row_major(shape), shape, strict=True):
        result.append(Int(0) if extent == 1 else (flat // step) % extent)
    if len(shape) and shape[0] != 1:
        result[0] = flat // row_major(shape)[0]
    return result


def reshape(context: Lowering, hint: str, x: Tensor, shape: Shape) -> Tensor:
    """`x` with another shape of equally many elements."""
    if shape == x.shape:
        return x
    if any(e == 0 for e in shape):
        return nothing(context, hint, x, shape)
    return context.view(hint, x, shape, lambda index: reshaped(index, shape, x.shape))


def nothing(context: Lowering, hint: str, x: Tensor, shape: Shape) -> Tensor:
    """A view of `x` without elements."""
    return context.view(hint, x, shape, lambda index: tuple(Int(0) for _ in x.shape))


@lowering("view", "reshape", "unsqueeze", "squeeze", "flatten", "unflatten", "_unsafe_view")
def _view(context: Lowering, call: Call, x: Tensor, *unused: Any) -> Tensor:
    return reshape(context, call.op.name, x, call.shape)


def permute(context: Lowering, x: Tensor, dims: tuple[int, ...]) -> Tensor:
    """`x` with its axes in the order `dims`."""
    places = {d % x.ndim: p for p, d in enumerate(dims)}
    shape = tuple(x.shape[d % x.ndim] for d in dims)
    return context.view(
        "permute", x, shape, lambda index: tuple(index[places[d]] for d in range(x.ndim)))


@lowering("alias", "detach")
def _alias(context: Lowering, call: Call, x: Tensor) -> Tensor:
    return x


@lowering("flip")
def _flip(context: Lowering, call: Call, x: Tensor, dims: Any) -> Tensor:
    if not x.ndim:
        return x
    turned = {d % x.ndim for d in ((dims,) if isinstance(dims, int) else dims)}
    return context.view("flip", x, x.shape, lambda index: tuple(
        x.shape[d] - 1 - i if d in turned else i for d, i in enumerate(index)))


@lowering("diagonal")
def _diagonal(
    context: Lowering, call: Call, x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    dims = (dim1 % x.ndim, dim2 % x.ndim)
    start = (max(-offset, 0), max(offset, 0))

    def at(index: Index) -> Index:
        rest = list(index[:-1])
        moved = {d: index[-1] + s for d, s in zip(dims, start, strict=True)}
        return tuple(moved[d] if d in moved else rest.pop(0) for d in range(x.ndim))
    return context.view("diagonal", x, call.shape, at)


@lowering("permute")
def _permute(context: Lowering, call: Call, x: Tensor, dims: Any) -> Tensor:
    return permute(context, x, tuple(dims))


@lowering("transpose")
def _transpose(context: Lowering, call: Call, x: Tensor, dim0: int, dim1: int) -> Tensor:
    if not x.ndim:
        return x
    dims = list(range(x.ndim))
    dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return permute(context, x, tuple(dims))


@lowering("t")
def _t(context: Lowering, call: Call, x: Tensor) -> Tensor:
    return permute(context, x, tuple(reversed(range(x.ndim))))


@lowering("expand", "broadcast_to", "expand_as")
def _expand(context: Lowering, call: Call, x: Tensor, *unused: Any) -> Tensor:
    skip = len(call.shape) - x.ndim
    return context.view("expand", x, call.shape, lambda index: tuple(
        Int(0) if e == 1 else index[skip + d] for d, e in enumerate(x.shape)))


@lowering("slice")
def _slice(
    context: Lowering, call: Call, x: Tensor, dim: int = 0, start: Any = None, end: Any = None,
    step: Any = 1,
) -> Tensor:
    dim %= x.ndim
    first = _slice_start(start, x.shape[dim])

    def at(index: Index) -> Index:
        moved = first + index[dim] * as_expr(1 if step is None else step)
        return (*index[:dim], moved, *index[dim + 1:])
    return context.view("slice", x, call.shape, at)


def _slice_start(start: Any, size: Expr) -> Expr:
    first = as_expr(0 if start is None else start)
    at, extent = as_int(first), as_int(size)
    if at is not None and at < 0:
        first = first + size
        at = None if extent is None else max(at + extent, 0)
    if at is not None and extent is not None:
        return Int(min(at, extent))
    return first


@lowering("select")
def _select(context: Lowering, call: Call, x: Tensor, dim: int, position: Any) -> Tensor:
    dim %= x.ndim
    at = as_expr(position)
    if (as_int(at) or 0) < 0:
        at = at + x.shape[dim]
    return context.view(
        "select", x, call.shape, lambda index: (*index[:dim], at, *index[dim:]))


def by_strides(
    context: Lowering, x: Tensor, own: Shape, shape: Shape, strides: Shape, offset: Expr
) -> Tensor:
    """The elements at offset + sum(index*strides) of the memory of `x`, whose strides are `own`.

    Raises: Unlowerable where the memory of `x` is not dense.
    """
    if any(e == 0 for e in shape):
        return nothing(context, "as_strided", x, shape)
    order = sorted((d for d in range(x.ndim) if x.shape[d] != 1),
                   key=lambda d: -(as_int(own[d]) or 0))
    dense = tuple(x.shape[d] for d in order)
    if tuple(own[d] for d in order) != row_major(dense):
        raise Unlowerable("a strided view of memory with gaps")

    def at(index: Index) -> Index:
        inner = unflatten(linear(index, strides) + offset, dense)
        places = dict(zip(order, inner, strict=True))
        return tuple(places.get(d, Int(0)) for d in range(x.ndim))
    return context.view("as_strided", x, shape, at)
