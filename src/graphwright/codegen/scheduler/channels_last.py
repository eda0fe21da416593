"""Turns the axes of what follows a convolution, so that its elements lie as convolutions read
them.

    conv (n, h, w, c)   y = view (n, c, h, w) of conv   z (n, c, h, w) = relu(y)
    becomes
    conv (n, h, w, c)   y = view (n, c, h, w) of conv   z.last (n, h, w, c) = relu(y)
    z = view (n, c, h, w) of z.last

A node follows what it reads: where the channels of that come last, they are its innermost loop. No
element is moved: views disappear where their readers are written.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphwright.codegen.loops import Check, Let
from graphwright.codegen.lowering.context import substitute
from graphwright.codegen.lowering.nodes import (
    Assembly,
    Body,
    Index,
    LoopNode,
    Part,
    Pointwise,
    Read,
    Reduction,
    Routine,
    Shape,
    View,
    axis_symbols,
)
from graphwright.codegen.scheduler.affine import coefficient
from graphwright.codegen.scheduler.reads import Reads, bodies, body_leaves, mentions
from graphwright.runtime.record import replace
from graphwright.runtime.symbolic.expr import Expr, Sym

Order = tuple[int, ...]
Turning = Pointwise | Reduction | Assembly
LOOPS = (Pointwise, Reduction, Assembly)
LEAST_RANK = 3
"""Of a batch of channels with one dim of space."""


def channels_last(nodes: Mapping[str, LoopNode]) -> dict[str, LoopNode]:
    """The nodes, with those turned that follow a convolution."""
    reads, moved, found = Reads(dict(nodes)), set[str](), dict[str, LoopNode]()
    for name, node in nodes.items():
        if isinstance(node, Routine) and node.routine == "convolution":
            moved.add(name)
        elif moved and isinstance(node, LOOPS) and _follows(node, reads, moved):
            moved.add(name)
            turned = _turned(node, f"{name}.last")
            found[turned.name] = turned
            at = axis_symbols(node.shape)
            node = View(name, node.shape, node.dtype, turned.name, (at[0], *at[2:], at[1]))
        found[name] = node
    return found


def _follows(node: Turning, reads: Reads, moved: set[str]) -> bool:
    """Whether it reads channels that come last, along its second axis."""
    if len(node.shape) < LEAST_RANK or (isinstance(node, Assembly) and any(
            len(part.domain) != len(node.shape) for part in node.parts)):
        return False
    for domain, body, _ in bodies(node):
        channel = axis_symbols(domain)[_kept(node)[1]]
        if isinstance(channel, Sym) and any(
                _comes_last(leaf, channel, reads, moved)
                for leaf in body_leaves(body) if isinstance(leaf, Read)):
            return True
    return False


def _comes_last(read: Read, channel: Sym, reads: Reads, moved: set[str]) -> bool:
    """Whether neighbours along an axis are read from neighbours in memory."""
    base, index = reads.resolve(read.source, read.index)
    if base not in moved:
        return False
    routine = isinstance(reads.nodes[base], Routine)
    last, rest = (index[-1], index[:-1]) if routine else (index[1], (index[0], *index[2:]))
    return (coefficient(last, channel) == 1
            and not any(mentions(expr, {channel.name}) for expr in rest))


def _kept(node: Turning) -> Order:
    """The axes of its domains that its result has."""
    if isinstance(node, Reduction):
        return tuple(d for d in range(len(node.domain)) if d not in node.axes)
    return tuple(range(len(node.shape)))


def _turned(node: Turning, name: str) -> Turning:
    """The node with its second axis behind the others."""
    first, second, *rest = kept = _kept(node)
    if isinstance(node, Reduction):
        moved = dict(zip(kept, (first, *rest, second), strict=True))
        order = tuple(moved.get(d, d) for d in range(len(node.domain)))
        return replace(node, name=name, domain=_ordered(node.domain, order),
                       body=_renamed(node.body, _symbols(node.domain, order)))
    order = (first, *rest, second)
    shape = _ordered(node.shape, order)
    if isinstance(node, Pointwise):
        body = _renamed(node.body, _symbols(node.shape, order))
        return replace(node, name=name, shape=shape, body=body)
    parts = tuple(_turned_part(part, order) for part in node.parts)
    return replace(node, name=name, shape=shape, parts=parts)


def _turned_part(part: Part, order: Order) -> Part:
    symbols = _symbols(part.domain, order)
    index = tuple(i.at(symbols) for i in part.index)
    return replace(part, domain=_ordered(part.domain, order), index=_ordered(index, order),
                   body=_renamed(part.body, symbols),
                   serial=tuple(order.index(axis) for axis in part.serial))


def _ordered(items: Shape | Index, order: Order) -> tuple[Expr, ...]:
    return tuple(items[d] for d in order)


def _symbols(domain: Shape, order: Order) -> dict[str, Expr]:
    """What stands for the symbols of a domain when its axes come in another order."""
    new = axis_symbols(_ordered(domain, order))
    return {f"i{d}": new[place] for place, d in enumerate(order)}


def _renamed(body: Body, symbols: Mapping[str, Expr]) -> Body:
    return Body(substitute(body.value, symbols),
                tuple(_renamed_statement(stmt, symbols) for stmt in body.prologue))


def _renamed_statement(stmt: Let | Check, symbols: Mapping[str, Expr]) -> Let | Check:
    value = substitute(stmt.value, symbols)
    if isinstance(stmt, Check):
        return replace(stmt, value=value, bound=stmt.bound.at(symbols))
    return replace(stmt, value=value)
