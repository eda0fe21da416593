"""Who reads what: the users of each node with views resolved, and the reads of a node after all
operands without buffers of their own are spliced into it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from graphwright.codegen.loops import Apply, Check, IndexOf, Let, Philox
from graphwright.codegen.lowering.nodes import (
    CALLS,
    WRITES,
    Assembly,
    Attention,
    Body,
    Byproduct,
    Gemm,
    Index,
    Lookup,
    LoopNode,
    Mutation,
    Pointwise,
    Read,
    Reduction,
    Routine,
    Scan,
    Shape,
    Update,
    View,
    axis_symbols,
    bind,
    index_at,
)
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.tensor.dtypes import int64

CHEAP = {
    "add", "sub", "mul", "neg", "abs", "max", "min", "eq", "ne", "lt", "le", "gt", "ge", "and",
    "or", "xor", "not", "where", "cast", "bitcast", "fma", "shl", "shr", "isnan", "isinf",
    "floor", "ceil", "round", "trunc", "sign",
}
MEDIUM = {"div", "sqrt", "rsqrt", "reciprocal"}
PHILOX_COST = 24
CALL_COST = 12
MEDIUM_COST = 4
LOOKUP_COST = 100


def bodies(node: LoopNode) -> Iterator[tuple[Shape, Body, Index]]:
    """The node's bodies with their domains and the index expressions that they write to."""
    if isinstance(node, (Pointwise, Scan)):
        yield node.shape, node.body, ()
    elif isinstance(node, (Reduction, Mutation)):
        yield node.domain, node.body, ()
    elif isinstance(node, Attention):
        lead, rows = node.shape[:-2], node.shape[-2]
        yield (*lead, rows, node.depth), node.query, ()
        yield (*lead, node.keys, node.depth), node.key, ()
        if not node.levels:
            yield (*lead, node.keys, node.shape[-1]), node.value, ()
        if node.mask is not None:
            yield (*lead, rows, node.keys), node.mask, ()
    elif isinstance(node, (Assembly, Update)):
        for part in node.parts:
            yield part.domain, part.body, part.index


CALLED = (*CALLS, Byproduct)
"""What has no bodies."""


def called_with(node: Gemm | Routine | Byproduct) -> tuple[str, ...]:
    """The nodes that a call, or a byproduct of one, needs."""
    if isinstance(node, Byproduct):
        return (node.of,)
    if isinstance(node, Gemm):
        return node.a, node.b
    return tuple(operand.source for operand in node.operands if operand is not None)


def leaves(value: Any) -> Iterator[Any]:
    """The Reads, IndexOfs and Philoxes of a value, masks included."""
    if isinstance(value, Apply):
        for arg in value.args:
            yield from leaves(arg)
    elif isinstance(value, Read):
        if value.mask is not None:
            yield from leaves(value.mask)
        yield value
    elif isinstance(value, (IndexOf, Philox)):
        yield value


def body_leaves(body: Body) -> Iterator[Any]:
    """The leaves of a body's prologue and value."""
    for stmt in body.prologue:
        yield from leaves(stmt.value)
        if isinstance(stmt, Lookup):
            yield Read(stmt.source, stmt.index, stmt.element.dtype)
            yield IndexOf(stmt.length, int64)
    yield from leaves(body.value)


def value_cost(value: Any) -> int:
    """A rough number of cheap operations that computing the value takes."""
    if isinstance(value, Apply):
        own = 1 if value.op in CHEAP else MEDIUM_COST if value.op in MEDIUM else CALL_COST
        if value.op == "cast" and value.dtype is value.args[0].dtype:
            own = 0
        return own + sum(value_cost(a) for a in value.args)
    return PHILOX_COST if isinstance(value, Philox) else 0


def body_cost(body: Body) -> int:
    """The cost of a body without what it reads."""
    return value_cost(body.value) + sum(
        value_cost(s.value) + (LOOKUP_COST if isinstance(s, Lookup) else 0)
        for s in body.prologue if isinstance(s, Let))


class Access(Record):
    """What a spliced body touches: `source` at `index`, both over the reader's own symbols.

    `source` is None for an index expression that is used as a value.
    """

    source: str | None
    index: Index


class Reads:
    """The reading relation of a lowered graph; `buffered` are the nodes that own memory."""

    def __init__(self, nodes: dict[str, LoopNode]) -> None:
        self.nodes = nodes
        self.cost: dict[str, int] = {}
        self.locals: set[str] = set()
        self._leaves: dict[str, list[list[Any]]] = {}
        for name in nodes:
            self.note(name)

    def note(self, name: str) -> None:
        """Take in a node that is new, or that has another body now."""
        found = [body for _, body, _ in bodies(self.nodes[name])]
        self.cost[name] = sum(map(body_cost, found))
        self._leaves[name] = [list(body_leaves(body)) for body in found]
        for stmt in (stmt for body in found for stmt in body.prologue):
            if isinstance(stmt, Let):
                self.locals.add(stmt.name)
            if isinstance(stmt, Lookup):
                self.locals.add(stmt.place.name)

    def resolve(self, name: str, index: Index) -> tuple[str, Index]:
        """Follow views: the node that really holds element `index` of `name`, and where."""
        node = self.nodes[name]
        while isinstance(node, View):
            index = index_at(node.index, node.shape, index)
            node = self.nodes[node.source]
        return node.name, index

    def base(self, name: str) -> str:
        """The node behind views."""
        node = self.nodes[name]
        while isinstance(node, View):
            node = self.nodes[node.source]
        return node.name

    def memory(self, name: str) -> str:
        """The input whose memory a mutation leaves; any other node itself."""
        node = self.nodes[name]
        while isinstance(node, WRITES):
            node = self.nodes[node.target]
        return node.name

    def sources(self, name: str) -> list[str]:
        """The nodes that `name` reads directly, views dissolved, in order, with repetitions."""
        node = self.nodes[name]
        if isinstance(node, CALLED):
            return [self.base(operand) for operand in called_with(node)]
        return [self.base(leaf.source) for part in self._leaves[name] for leaf in part
                if isinstance(leaf, Read)]

    def is_checked(self, name: str, buffered: Collection[str]) -> bool:
        """Whether `name`, with everything outside `buffered` spliced into it, may end the run."""
        pending, seen = [name], {name}
        while pending:
            current = pending.pop()
            if any(isinstance(stmt, Check) for _, body, _ in bodies(self.nodes[current])
                   for stmt in body.prologue):
                return True
            new = {s for s in self.sources(current) if s not in seen and s not in buffered}
            seen |= new
            pending += new
        return False

    def spliced(self, name: str, buffered: Collection[str]) -> list[Access]:
        """What `name` touches with everything outside `buffered` spliced into it."""
        found: dict[Access, None] = {}
        for number in range(len(self._leaves[name])):
            found |= dict.fromkeys(self.spliced_part(name, number, buffered))
        return list(found)

    def spliced_part(self, name: str, number: int, buffered: Collection[str]) -> list[Access]:
        """The same for one part of an assembly (number 0: the body of any other node)."""
        domain, _, target = list(bodies(self.nodes[name]))[number]
        found: dict[Access, None] = {Access(name, target): None} if target else {}
        visited: set[tuple[str, Index]] = set()
        symbols = bind(domain, axis_symbols(domain))
        for leaf in self._leaves[name][number]:
            self._collect(leaf, symbols, buffered, found, visited)
        return list(found)

    def _collect(
        self, leaf: Any, symbols: dict[str, Expr], buffered: Collection[str],
        found: dict[Access, None], visited: set[tuple[str, Index]],
    ) -> None:
        if not isinstance(leaf, Read):
            found[Access(None, (leaf.index.at(symbols),))] = None
            return
        name, index = self.resolve(leaf.source, tuple(i.at(symbols) for i in leaf.index))
        if name in buffered:
            found[Access(name, index)] = None
            return
        if (name, index) in visited:
            return
        visited.add((name, index))
        for part, (domain, _, _) in zip(
                self._leaves[name], bodies(self.nodes[name]), strict=True):
            inner = bind(domain, index)
            for sub in part:
                self._collect(sub, inner, buffered, found, visited)


def mentions(expr: Expr, names: frozenset[str] | set[str]) -> bool:
    """Whether the expression depends on a symbol of these names."""
    return any(s.name in names for s in expr.symbols())
