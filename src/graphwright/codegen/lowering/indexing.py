"""Lowering of cat, gather and scatter, and padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.codegen.loops import Check, Let, Local
from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    Unlowerable,
    apply,
    both,
    broadcast,
    broadcast_index,
    computed,
    const,
    convert,
    scalar,
    within,
)
from graphwright.codegen.lowering.nodes import (
    Assembly,
    Body,
    Index,
    Part,
    Pointwise,
    Shape,
    Update,
    View,
    axis_symbols,
    bind,
    index_value,
)
from graphwright.codegen.lowering.pointwise import operand
from graphwright.codegen.lowering.rules import Call, lowering
from graphwright.runtime.ops.indexing.advanced_indexing import is_mask
from graphwright.runtime.symbolic.expr import Expr, Int, Sym
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype

Prologue = list[Let | Check]

def _position(
    context: Lowering, index: Tensor, at: Index, bound: Expr, wrap: bool, stored: bool = False
) -> tuple[Expr, Prologue]:
    """An element of an index tensor as a checked index expression; `wrap` allows negatives.

    `stored`: all of them are checked before the first is used.
    """
    if stored:
        return _stored_position(context, index, at, bound, wrap)
    value = convert(index.at(at), dtypes.int64)
    if not wrap:
        return context.check(value, bound, context.outside(wrap))
    raw = Let(context.local(), value)
    local = Local(raw.name, dtypes.int64)
    size = scalar(bound, dtypes.int64)
    negative = apply("lt", local, const(0, dtypes.int64), dtype=dtypes.bool)
    wrapped = apply("where", negative, apply("add", local, size), local, dtype=dtypes.int64)
    symbol, checks = context.check(wrapped, bound, context.outside(wrap))
    return symbol, [raw, *checks]


def _stored_position(
    context: Lowering, index: Tensor, at: Index, bound: Expr, wrap: bool
) -> tuple[Expr, Prologue]:
    whole, place = _unexpanded(context, index, at)
    own = axis_symbols(whole.shape)
    symbol, prologue = _position(context, whole, own, bound, wrap)
    body = Body(index_value(symbol), tuple(prologue))
    positions = context.add(Pointwise(
        context.unique("positions"), whole.shape, dtypes.int64, body, "positions"))
    local = Let(context.local(), convert(positions.at(place), dtypes.int64))
    return Sym(local.name, 0, bound - 1), [local]


def _unexpanded(context: Lowering, index: Tensor, at: Index) -> tuple[Tensor, Index]:
    """What `index` repeats, and where its element `at` is in it; itself if it repeats nothing."""
    node, own = context.nodes[index.name], axis_symbols(index.shape)
    extents = dict(zip(own, index.shape, strict=True))
    place, bound = own, bind(index.shape, at)
    while isinstance(node, View):
        symbols = bind(node.shape, place)
        place = tuple(i.at(symbols) for i in node.index)
        node = context.nodes[node.source]
    axes = [i for i in place if i != 0]
    full = all(extents.get(i, Int(1)) == e for i, e in zip(place, node.shape, strict=True))
    if not full or len(set(axes)) != len(axes):
        return index, at
    return Tensor(node.name, node.shape, node.dtype), tuple(i.at(bound) for i in place)


def _only_zeros(context: Lowering, index: Tensor, at: Index) -> Prologue:
    """The check of an element of an index into a tensor without dims, which counts as one long."""
    return _position(context, index, at, Int(1), wrap=False)[1]


@lowering("require_values")
def _require_values(
    context: Lowering, call: Call, x: Tensor, ok: Tensor, message: str
) -> Tensor:
    at = axis_symbols(call.shape)
    yes, no = const(0, dtypes.int64), const(1, dtypes.int64)
    state = apply("where", broadcast(ok, at, call.shape), yes, no, dtype=dtypes.int64)
    return _gathered(context, call, x, context.check(state, Int(1), message)[1], at)


def _gathered(
    context: Lowering, call: Call, x: Tensor, prologue: Prologue, index: Index
) -> Tensor:
    body = Body(x.at(index), tuple(prologue))
    return context.add(Pointwise(
        context.unique(call.op.name), call.shape, call.dtype, body, call.op.name))


@lowering("index_select")
def _index_select(context: Lowering, call: Call, x: Tensor, dim: int, index: Tensor) -> Tensor:
    dim = dim % x.ndim if x.ndim else 0
    at = axis_symbols(call.shape)
    if not x.ndim:
        every = (Int(0),) * index.ndim
        return _gathered(context, call, x, _only_zeros(context, index, every), ())
    if any(extent == 0 for d, extent in enumerate(x.shape) if d != dim):
        raise Unlowerable("rows without elements, whose positions no loop would check")
    position = (at[dim],) if index.ndim else ()
    picked, prologue = _position(context, index, position, x.shape[dim], wrap=False)
    return _gathered(context, call, x, prologue, (*at[:dim], picked, *at[dim + 1:]))


@lowering("gather")
def _gather(context: Lowering, call: Call, x: Tensor, dim: int, index: Tensor,
            *unused: Any) -> Tensor:
    at = axis_symbols(call.shape)
    if not x.ndim:
        return _gathered(context, call, x, _only_zeros(context, index, at), ())
    dim %= x.ndim
    picked, prologue = _position(context, index, at, x.shape[dim], wrap=False)
    return _gathered(context, call, x, prologue, (*at[:dim], picked, *at[dim + 1:]))


def _joined(shapes: Sequence[Shape]) -> Shape:
    """The broadcast of index tensors' shapes."""
    ndim = max((len(s) for s in shapes), default=0)
    out: list[Expr] = [Int(1)] * ndim
    for shape in shapes:
        for d, extent in enumerate(shape, ndim - len(shape)):
            if extent != 1:
                out[d] = extent
    return tuple(out)


def _advanced(
    context: Lowering, x: Tensor, indices: Sequence[Tensor | None], at: Index, joined: Shape,
    stored: bool = False,
) -> tuple[Index, Prologue]:
    """The element of `x` that x[indices][at] is: NumPy's advanced indexing."""
    used = [d for d, i in enumerate(indices) if i is not None]
    if any(map(is_mask, indices)):
        raise Unlowerable("a mask as an index: the result's shape depends on data")
    adjacent = used == list(range(used[0], used[-1] + 1))
    start = used[0] if adjacent else 0
    inner = at[start:start + len(joined)]
    rest = list(at[:start] + at[start + len(joined):])
    prologue: Prologue = []
    result: list[Expr] = []
    for d in range(x.ndim):
        index = indices[d] if d < len(indices) else None
        if index is None:
            result.append(rest.pop(0))
            continue
        position = broadcast_index(index, inner, joined)
        picked, checks = _position(context, index, position, x.shape[d], True, stored)
        prologue += checks
        result.append(picked)
    return tuple(result), prologue


@lowering("index")
def _index(context: Lowering, call: Call, x: Tensor, indices: Any) -> Tensor:
    joined = _joined([i.shape for i in indices if i is not None])
    at = axis_symbols(call.shape)
    picked, prologue = _advanced(context, x, indices, at, joined)
    return _gathered(context, call, x, prologue, picked)


@lowering("cat")
def _cat(context: Lowering, call: Call, tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    shape = call.shape
    dim %= len(shape)
    start: Expr = Int(0)
    parts: list[Part] = []
    for x in tensors:
        if x.ndim != len(shape) or any(e == 0 for e in x.shape):
            continue
        at = axis_symbols(x.shape)
        target = (*at[:dim], at[dim] + start, *at[dim + 1:])
        parts.append(Part(x.shape, target, Body(convert(x.at(at), call.dtype))))
        start = start + x.shape[dim]
    return context.add(Assembly(context.unique("cat"), shape, call.dtype, tuple(parts)))


def _initial(x: Tensor, dtype: dtype) -> Part:
    at = axis_symbols(x.shape)
    return Part(x.shape, at, Body(convert(x.at(at), dtype)))


def _scatter(
    context: Lowering, call: Call, x: Tensor, domain: Shape, index: Index, prologue: Prologue,
    value: Any, serial: tuple[int, ...], accumulate: bool = True,
) -> Tensor:
    """A copy of `x` with `value` added (or stored) at `index` for all of `domain`; `x` itself
    with that in its memory for an op in place.

    Truth values are counted: any makes the sum true.
    """
    if call.op.is_inplace:
        body = Body(convert(value, call.dtype), tuple(prologue))
        update = Part(domain, index, body, accumulate, serial)
        name = context.unique(call.op.name)
        return context.add(Update(name, x.shape, call.dtype, x.name, (update,)))
    counted = accumulate and call.dtype is dtypes.bool
    compute = dtypes.int64 if counted else computed(call.dtype)
    body = Body(convert(value, compute), tuple(prologue))
    name = context.unique(call.op.name)
    if compute is call.dtype or not accumulate:
        body = Body(convert(value, call.dtype), tuple(prologue))
        update = Part(domain, index, body, accumulate, serial)
        return context.add(Assembly(name, x.shape, call.dtype, (_initial(x, call.dtype), update)))
    update = Part(domain, index, body, accumulate, serial)
    wide = context.add(Assembly(name, x.shape, compute, (_initial(x, compute), update)))
    return context.pointwise("to_dtype", x.shape, call.dtype,
                             lambda at: convert(wide.at(at), call.dtype))


def target_of(
    context: Lowering, x: Tensor, dim: int, index: Tensor, stored: bool = False
) -> tuple[Index, Prologue]:
    """The element of `x` that each element of `index` names along `dim`, and its checks."""
    at = axis_symbols(index.shape)
    if not x.ndim:
        return (), _only_zeros(context, index, at)
    dim %= x.ndim
    picked, prologue = _position(context, index, at, x.shape[dim], False, stored)
    return (*at[:dim], picked, *at[dim + 1:]), prologue


@lowering("scatter_add", "scatter_add_")
def _scatter_add(
    context: Lowering, call: Call, x: Tensor, dim: int, index: Tensor, src: Tensor
) -> Tensor:
    target, prologue = target_of(context, x, dim, index, call.op.is_inplace)
    serial = (dim % x.ndim,) if x.ndim else tuple(range(index.ndim))
    value = src.at(axis_symbols(index.shape))
    return _scatter(context, call, x, index.shape, target, prologue, value, serial)


@lowering("scatter_src", "scatter_value", "scatter_src_", "scatter_value_")
def _scatter_store(
    context: Lowering, call: Call, x: Tensor, dim: int, index: Tensor, src: Any
) -> Tensor:
    if not x.ndim or isinstance(src, complex):
        raise Unlowerable("scatter of a complex number or into a 0-d tensor")
    dim %= x.ndim
    at = axis_symbols(index.shape)
    target, prologue = target_of(context, x, dim, index, call.op.is_inplace)
    value = src.at(at) if isinstance(src, Tensor) else operand(src, at, call, x.dtype)
    return _scatter(context, call, x, index.shape, target, prologue, value, (dim,), False)


@lowering("index_add", "index_add_")
def _index_add(
    context: Lowering, call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor,
    alpha: Any = 1,
) -> Tensor:
    if not x.ndim:
        raise Unlowerable("index_add into a 0-d tensor")
    dim %= x.ndim
    at = axis_symbols(source.shape)
    position = (at[dim],) if index.ndim else ()
    picked, prologue = _position(
        context, index, position, x.shape[dim], False, call.op.is_inplace)
    target = (*at[:dim], picked, *at[dim + 1:])
    value: Any = source.at(at)
    if alpha != 1:
        value = apply("mul", convert(value, computed(x.dtype)), const(alpha, computed(x.dtype)))
    return _scatter(context, call, x, source.shape, target, prologue, value, (dim,))


@lowering("index_put", "index_put_")
def _index_put(
    context: Lowering, call: Call, x: Tensor, indices: Any, values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    joined = _joined([i.shape for i in indices if i is not None])
    used = [d for d, i in enumerate(indices) if i is not None]
    adjacent = used == list(range(used[0], used[-1] + 1))
    start = used[0] if adjacent else 0
    kept = [x.shape[d] for d in range(x.ndim) if d not in used]
    domain = (*kept[:start], *joined, *kept[start:])
    at = axis_symbols(domain)
    target, prologue = _advanced(context, x, indices, at, joined, call.op.is_inplace)
    serial = tuple(range(start, start + len(joined)))
    value = broadcast(values, at, domain)
    return _scatter(context, call, x, domain, target, prologue, value, serial, accumulate)


@lowering("constant_pad")
def _constant_pad(context: Lowering, call: Call, x: Tensor, pad: Any, value: Any = 0) -> Tensor:
    before: list[Any] = [0] * x.ndim
    for pair in range(len(pad) // 2):
        before[x.ndim - 1 - pair] = pad[2 * pair]

    def at(index: Index) -> Any:
        mask = None
        moved = tuple(i - b for i, b in zip(index, before, strict=True))
        for i, extent in zip(moved, x.shape, strict=True):
            inside = within(i, extent)
            mask = mask if inside is None else both(inside, mask)
        return x.at(moved, mask, const(value, call.dtype) if mask is not None else None)
    return context.pointwise("constant_pad", call.shape, call.dtype, at)
