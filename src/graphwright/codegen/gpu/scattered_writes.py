"""Writes at indices in tensors, as programs that run in any order can do them.

Where several elements may go to one place, the last of them wins, as if they had been written one
after the other: every place first learns the greatest number of an element that goes there::

    y = x; y[index[i]] = value[i]      (for each i)
    ->
    y.last = -1; y.last[index[i]] max= i
    y[j] = value[y.last[j]] if y.last[j] >= 0 else x[j]

Sums of integers are atomic additions in memory of at least 32 bits. Floats are added as integers,
too, so that the sum is the same in whatever order, every time::

    y = x; y[index[i]] += value[i]     (for each i)
    ->
    y.greatest = 0; y.greatest[index[i]] max= exponent(value[i])
    y.sum = 0; y.sum[index[i]] += int64(value[i] * 2**(S - y.greatest[index[i]]))
    y[j] = x[j] + y.sum[j] * 2**(y.greatest[j] - S)

with S such that all sums fit: of n terms each has 61 - log2(n) bits below the greatest exponent,
of float64 twice as many, in two sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphwright.codegen.gpu.fixed_point import FixedPoint
from graphwright.codegen.loops import Let, Local
from graphwright.codegen.lowering.context import (
    apply,
    computed,
    const,
    convert,
    masked,
    substitute,
)
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.lowering.nodes import (
    Assembly,
    Body,
    LoopNode,
    Mutation,
    Part,
    Pointwise,
    Read,
    Shape,
    Update,
    axis_symbols,
    index_value,
    linear,
    row_major,
)
from graphwright.codegen.lowering.views import unflatten
from graphwright.runtime.record import replace
from graphwright.runtime.symbolic.expr import Expr, Sym, as_int, product
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype

ADDABLE = ("float32", "float64", "int32", "int64")
"""Dtypes that memory adds to atomically; of floats only where an element has one term."""


def order_writes(graph: LoweredGraph) -> LoweredGraph:
    """The graph with writes that may be done in any order."""
    nodes: dict[str, LoopNode] = {}
    for name, node in graph.nodes.items():
        if isinstance(node, (Assembly, Update)):
            nodes |= {made.name: made for made in _ordered(node)}
        else:
            nodes[name] = node
    return replace(graph, nodes=nodes)


def _ordered(node: Assembly | Update) -> Iterator[LoopNode]:
    """What a node becomes; the last one has its name."""
    for number, part in enumerate(node.parts):
        if part.accumulate and _is_shared(part) and node.dtype.is_floating_point:
            yield from _summed_floats(node, number)
            return
        if part.accumulate and node.dtype.name not in ADDABLE:
            yield from _summed(node, number)
            return
        if part.serial and not part.accumulate:
            yield from _last_of(node, number)
            return
    yield node


def _whole(node: Assembly | Update, dtype: dtype, value: Any) -> Part:
    """A part that writes every element."""
    return Part(node.shape, axis_symbols(node.shape), Body(value))


def _before(node: Assembly | Update, number: int) -> tuple[list[LoopNode], Any]:
    """Nodes for the parts before a part, and what an element is after them."""
    at = axis_symbols(node.shape)
    earlier = node.parts[:number]
    if isinstance(node, Assembly) and len(earlier) == 1 and earlier[0].index == at \
            and earlier[0].domain == node.shape and not earlier[0].body.prologue:
        return [], earlier[0].body.value
    if isinstance(node, Update):
        if not earlier:
            return [], Read(node.target, at, node.dtype)
        base = replace(node, name=f"{node.name}.before{number}", parts=earlier)
        return [*_ordered(base)], Read(base.name, at, node.dtype)
    assert earlier, f"{node.name} begins with a part that does not write all of it"
    made = Assembly(f"{node.name}.before{number}", node.shape, node.dtype, earlier)
    return [*_ordered(made)], Read(made.name, at, node.dtype)


def _after(node: Assembly | Update, number: int, body: Body) -> Iterator[LoopNode]:
    """The node with `body` as its elements after part `number`, and then its later parts."""
    later = node.parts[number + 1:]
    name = f"{node.name}.then{number}" if later else node.name
    if isinstance(node, Update):
        at = axis_symbols(node.shape)
        target = f"{node.name}.before{number}" if number else node.target
        yield Mutation(name, node.shape, node.dtype, target, node.shape, at, body)
        if later:
            yield from _ordered(replace(node, target=name, parts=later))
        return
    yield Pointwise(name, node.shape, node.dtype, body)
    if later:
        copied = _whole(node, node.dtype, Read(name, axis_symbols(node.shape), node.dtype))
        yield from _ordered(replace(node, parts=(copied, *later)))


# -- the last of several --------------------------------------------------------------------------

def _number_type(domain: Shape) -> dtype:
    """The dtype that counts the elements of a domain."""
    count = as_int(product(list(domain)))
    return dtypes.int32 if count is not None and count < 1 << 31 else dtypes.int64


def _last_of(node: Assembly | Update, number: int) -> Iterator[LoopNode]:
    part = node.parts[number]
    at, kind = axis_symbols(part.domain), _number_type(part.domain)
    before, base = _before(node, number)
    yield from before
    none = const(-1, kind)
    which = convert(index_value(linear(at, row_major(part.domain))), kind)
    greatest = Part(part.domain, part.index, Body(which, part.body.prologue), True, part.serial,
                    "max")
    last = Assembly(f"{node.name}.last{number}", node.shape, kind,
                    (_whole(node, kind, none), greatest))
    yield last
    local = f"{node.name}.at{number}".replace(".", "_")
    read = convert(Read(last.name, axis_symbols(node.shape), kind), dtypes.int64)
    found = apply("ge", Local(local, dtypes.int64), const(0, dtypes.int64), dtype=dtypes.bool)
    place = unflatten(Sym(local, 0, product(list(part.domain)) - 1), part.domain)
    bound = {s.name: e for s, e in zip(at, place, strict=True) if isinstance(s, Sym)}
    value = masked(substitute(part.body.value, bound), found)
    chosen = apply("where", found, value, base, dtype=node.dtype)
    yield from _after(node, number, Body(chosen, (Let(local, read),)))


# -- sums -----------------------------------------------------------------------------------------

def _summed(node: Assembly | Update, number: int) -> Iterator[LoopNode]:
    """A sum in memory of a wider dtype, which is cast from there."""
    part = node.parts[number]
    kind = node.dtype
    wide = computed(kind) if kind.is_floating_point else dtypes.int32
    before, base = _before(node, number)
    yield from before
    terms = replace(part, body=Body(convert(part.body.value, wide), part.body.prologue))
    total = Assembly(f"{node.name}.sum{number}", node.shape, wide,
                     (_whole(node, wide, const(0, wide)), terms))
    yield total
    added = Read(total.name, axis_symbols(node.shape), wide)
    value = convert(apply("add", convert(base, wide), added), kind)
    yield from _after(node, number, Body(value))


def _summed_floats(node: Assembly | Update, number: int) -> Iterator[LoopNode]:
    """A sum of integers, by whose greatest exponent the terms are scaled."""
    part = node.parts[number]
    before, base = _before(node, number)
    yield from before
    terms = FixedPoint(computed(node.dtype), _terms(part))
    at = axis_symbols(node.shape)
    greatest = _collected(node, f"greatest{number}", dtypes.int32, part, "max",
                          terms.exponent(part.body.value))
    yield greatest
    of_target = convert(Read(greatest.name, part.index, dtypes.int32), dtypes.int64)
    sums = [_collected(node, f"sum{number}.{n}", dtypes.int64, part, "sum", word)
            for n, word in enumerate(terms.words(part.body.value, of_target))]
    yield from sums
    own = convert(Read(greatest.name, at, dtypes.int32), dtypes.int64)
    total = terms.value(own, [Read(s.name, at, dtypes.int64) for s in sums])
    value = apply("add", convert(base, dtypes.float64), total)
    yield from _after(node, number, Body(convert(value, node.dtype)))


def _collected(
    node: Assembly | Update, suffix: str, kind: dtype, part: Part, fold: str, value: Any
) -> Assembly:
    """A fold of values at the places that a part writes, from 0 on."""
    folded = replace(part, body=Body(value, part.body.prologue), fold=fold)
    return Assembly(f"{node.name}.{suffix}", node.shape, kind,
                    (_whole(node, kind, const(0, kind)), folded))


def _terms(part: Part) -> Expr:
    """How many terms an element may have at most."""
    return product([part.domain[axis] for axis in part.serial])


def _is_shared(part: Part) -> bool:
    """Whether an element may have several terms."""
    return _terms(part) != 1
