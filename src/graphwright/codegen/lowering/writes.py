"""Lowering of writes through views: to a copy, or to an argument's own memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.codegen.lowering.context import (
    Lowering,
    Tensor,
    convert,
)
from graphwright.codegen.lowering.nodes import (
    Assembly,
    Body,
    Index,
    Part,
    Shape,
    View,
    axis_symbols,
    bind,
)
from graphwright.codegen.lowering.rules import Call, lower_call, lowering
from graphwright.runtime.fake.fake_tensor import fake_kernel, make_fake
from graphwright.runtime.ops.strides import contiguous_strides, infer_size
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.symbolic.expr import Expr, Int, Sym


def resolved(context: Lowering, view: Tensor, x: Tensor) -> Index:
    """The index of the element of `x` that each element of `view`, a view of it, is."""
    node, index = context.nodes[view.name], axis_symbols(view.shape)
    while node.name != x.name:
        assert isinstance(node, View), f"{view.name} is no view of {x.name}"
        symbols = bind(node.shape, index)
        index = tuple(i.at(symbols) for i in node.index)
        node = context.nodes[node.source]
    return index


@lowering("view_scatter")
def _view_scatter(
    context: Lowering, call: Call, x: Tensor, src: Tensor, views: Sequence[Any]
) -> Tensor:
    """A copy with a part replaced. A copy that nothing else reads gets the next part, too."""
    view = _viewed(context, call, x, views)
    index = resolved(context, view, x)
    at = axis_symbols(view.shape)
    written = Part(view.shape, index, Body(convert(src.at(at), call.dtype)))
    known = context.nodes[x.name]
    if call.sole and isinstance(known, Assembly):
        parts = known.parts
    else:
        parts = tuple(_left(x, view.shape, index))
    return context.add(
        Assembly(context.unique("view_scatter"), x.shape, call.dtype, (*parts, written))
    )


def _viewed(context: Lowering, call: Call, x: Tensor, views: Sequence[Any]) -> Tensor:
    """`x` through the views, of which only the shapes matter."""
    val = call.val
    for name, *args in views:
        dense = make_fake(val.shape, contiguous_strides(val.shape), val.dtype, val.device)
        if name == "view":
            args = [infer_size(name, dense.shape, args[0])]
        val = fake_kernel(TABLE[name], (dense, *args))
        result = lower_call(context, Call(name, TABLE[name], (x, *args), val))
        assert isinstance(result, Tensor), f"{name} is no view"
        x = result
    return x


def _left(x: Tensor, shape: Shape, index: Index) -> Iterator[Part]:
    """Copies of what a write at `index` leaves of `x`: around a box, else of all of it."""
    box = _box(shape, index)
    if box is None:
        yield _copied(x, x.shape, (Int(0),) * x.ndim)
        return
    for dim, (start, extent) in enumerate(box):
        before = [e for _, e in box[:dim]]
        after = x.shape[dim + 1 :]
        offsets = tuple(s for s, _ in box[:dim])
        rest = (Int(0),) * len(after)
        for first, count in ((Int(0), start), (start + extent, x.shape[dim] - start - extent)):
            if count != 0:
                yield _copied(x, (*before, count, *after), (*offsets, first, *rest))


def _copied(x: Tensor, domain: Shape, offsets: Index) -> Part:
    index = tuple(i + o for i, o in zip(axis_symbols(domain), offsets, strict=True))
    return Part(domain, index, Body(x.at(index)))


def _box(shape: Shape, index: Index) -> list[tuple[Expr, Expr]] | None:
    """(start, extent) along each dimension where `index` counts through a box without gaps."""
    axes = {s: e for s, e in zip(axis_symbols(shape), shape, strict=True) if isinstance(s, Sym)}
    box: list[tuple[Expr, Expr]] = []
    seen: set[Sym] = set()
    for place in index:
        found = [s for s in place.symbols() if s in axes]
        start = place - found[0] if found else place
        if (
            len(found) > 1
            or not seen.isdisjoint(found)
            or any(s in found for s in start.symbols())
        ):
            return None
        seen.update(found)
        box.append((start, axes[found[0]] if found else Int(1)))
    return box if len(seen) == len(axes) else None
