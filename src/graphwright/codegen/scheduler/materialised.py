"""Which nodes become loops of their own. The others are spliced into their readers.

Reductions, matrix products, assemblies, mutations and results always do. A pointwise node does
if it is read more than once and is not cheap to repeat, or if a reader would compute it several
times per element. Chains are cut at `MAX_DEPTH`, so that spliced expressions stay small.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from graphwright.codegen.loops import Buffer
from graphwright.codegen.lowering.graph import LoweredGraph, TensorOutput
from graphwright.codegen.lowering.nodes import (
    CALLS,
    WRITES,
    Body,
    Byproduct,
    Gemm,
    Given,
    Index,
    Lookup,
    LoopNode,
    Mutation,
    Part,
    Pointwise,
    Read,
    Routine,
    Shape,
    Source,
    Update,
    View,
    axis_symbols,
    linear,
    row_major,
)
from graphwright.codegen.scheduler.affine import apart, coefficient, volume
from graphwright.codegen.scheduler.channels_last import channels_last
from graphwright.codegen.scheduler.reads import Reads, bodies
from graphwright.runtime.record import Record, field, replace
from graphwright.runtime.symbolic.expr import Expr, Int, Sym, as_int, product

CHEAP_COST = 6
"""A pointwise node of at most this cost that reads one tensor of its size is repeated rather than
stored: reading the result back would cost as much."""
MAX_DEPTH = 16


T = TypeVar("T", "Matrix", "Block")


class Storage(Record):
    """Where a node's elements lie: buffer[sum(index * strides)]."""

    buffer: Buffer
    strides: Shape

    def at(self, index: Index) -> Expr:
        """The position of an element."""
        return linear(index, self.strides)


class Anchors(Record, frozen=False):
    """The choice: `nodes` (in order), those that must be `stored`, and the results' storage.

    `work` is the cost of the chosen, with all that is spliced into them. `readers` lists the
    readers of each of the `live` nodes.
    """

    nodes: dict[str, LoopNode]
    reads: Reads
    chosen: dict[str, None] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)
    storage: dict[str, Storage] = field(default_factory=dict)
    outputs: dict[int, str] = field(default_factory=dict)
    operands: dict[str, tuple[Matrix, ...] | tuple[Block, ...]] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)
    work: dict[str, int] = field(default_factory=dict)
    live: list[str] = field(default_factory=list)
    readers: dict[str, list[str]] = field(default_factory=dict)


class Matrix(Record):
    """A matrix operand in memory: element (b, r, c) at offset + b*batch + (r, c) by `leading`.

    Row-major with leading dimension `leading`, or its transpose.
    """

    source: str
    transposed: bool
    leading: Expr
    batch: Expr
    offset: Expr


class Block(Record):
    """An operand of a routine in memory: blocks without gaps at `offset` + `strides` of the dims
    in front of those of a block."""

    source: str
    strides: tuple[Expr, ...]
    offset: Expr


def choose_anchors(graph: LoweredGraph) -> Anchors:
    """Decide for every live node of the graph."""
    nodes = channels_last(graph.nodes)
    anchors = Anchors(nodes, Reads(nodes))
    _bind_outputs(graph, anchors)
    _bind_operands(anchors, _live(anchors))
    _store_what_moves(anchors)
    _store_rows(anchors)
    anchors.live = _live(anchors)
    anchors.readers = {name: [] for name in nodes}
    for name in anchors.live:
        for source in anchors.reads.sources(name):
            anchors.readers[source].append(name)
    anchors.uses = {name: len(found) for name, found in anchors.readers.items()}
    for name in anchors.outputs.values():
        anchors.uses[name] += 1
    choose(anchors)
    return anchors


def choose(anchors: Anchors) -> None:
    """Choose among the live nodes, all of `stored` among them."""
    anchors.chosen.clear()
    choice = _Choice(anchors)
    for name in anchors.live:
        if choice.visit(name):
            anchors.chosen[name] = None
            if not isinstance(anchors.nodes[name], Pointwise):
                anchors.stored.add(name)


class _Choice:
    """Walks the nodes in order, knowing cost, sources and depth of what is spliced so far."""

    def __init__(self, anchors: Anchors) -> None:
        self.anchors = anchors
        self.readers = anchors.readers
        self.cost: dict[str, int] = {}
        self.work: dict[str, int] = {}
        self.depth: dict[str, int] = {}
        self.tensors: dict[str, frozenset[str]] = {}

    def visit(self, name: str) -> bool:
        """Whether `name` becomes an anchor."""
        node = self.anchors.nodes[name]
        size = volume(node.domain if isinstance(node, Mutation) else node.shape)
        sources = self.anchors.reads.sources(name)
        spliced = [s for s in sources if s in self.cost]
        large = [s for s in spliced if 4 * self._size(s) > size]
        cost = self.anchors.reads.cost[name] + sum(self.cost[s] for s in large)
        depth = 1 + max((self.depth[s] for s in spliced), default=0)
        tensors = frozenset(
            s for s in sources if s not in self.cost and 4 * self._size(s) > size
        ).union(*(self.tensors[s] for s in large))
        work = self.anchors.reads.cost[name] + sum(self.work[s] for s in spliced)
        if (not isinstance(node, Pointwise) or name in self.anchors.stored
                or self._pays(name, cost, depth, tensors)):
            self.anchors.work[name] = work
            return True
        self.work[name] = work
        self.cost[name], self.depth[name], self.tensors[name] = cost, depth, tensors
        return False

    def _size(self, name: str) -> int:
        return volume(self.anchors.nodes[name].shape)

    def _pays(self, name: str, cost: int, depth: int, tensors: frozenset[str]) -> bool:
        if cost <= CHEAP_COST and len(tensors) <= 1:
            return depth > MAX_DEPTH
        return depth > MAX_DEPTH or self.anchors.uses[name] > 1 or (
            cost > CHEAP_COST and self._repeated(name))

    def _repeated(self, name: str) -> bool:
        """Whether a reader has more elements than the node: splicing would repeat its work."""
        own = volume(self.anchors.nodes[name].shape)
        return any(
            volume(domain) > own
            for reader in self.readers[name]
            for domain, _, _ in bodies(self.anchors.nodes[reader]))


def buffer_extent(shape: Shape, strides: Shape) -> Expr:
    """How many elements of memory a strided tensor spans."""
    if any(e == 0 for e in shape):
        return Int(0)
    return linear(tuple(e - 1 for e in shape), strides) + 1


def _bind_outputs(graph: LoweredGraph, anchors: Anchors) -> None:
    """Give each result a buffer: that of the node behind it, or that of a copy."""
    for position, spec in enumerate(graph.outputs):
        if not isinstance(spec, TensorOutput):
            continue
        size = buffer_extent(spec.shape, spec.strides)
        buffer = Buffer(f"out{position}", spec.dtype, size, "output")
        symbols = axis_symbols(spec.shape)
        base, index = anchors.reads.resolve(spec.source, symbols)
        strides = _own_strides(anchors, base, index, spec, symbols)
        if strides is None:
            base = f"copy.{position}"
            read = Read(spec.source, symbols, spec.dtype)
            anchors.nodes[base] = Pointwise(base, spec.shape, spec.dtype, Body(read), "copy")
            anchors.reads.note(base)
            strides = spec.strides
        anchors.storage[base] = Storage(buffer, strides)
        anchors.stored.add(base)
        anchors.outputs[position] = base


def _own_strides(
    anchors: Anchors, base: str, index: Index, spec: TensorOutput, symbols: Index
) -> Shape | None:
    """The strides with which node `base` can write the result in place, if it can.

    Not where the result is a part of what the node computes: its buffer would be too small.
    """
    node = anchors.nodes[base]
    if isinstance(node, (Source, *WRITES)) or base in anchors.storage:
        return None
    want = linear(symbols, spec.strides)
    contiguous = row_major(node.shape)
    extent = buffer_extent(spec.shape, spec.strides)
    if linear(index, contiguous) == want and buffer_extent(node.shape, contiguous) == extent:
        return contiguous
    if isinstance(node, (*CALLS, Byproduct)):
        return None
    places = {e: d for d, e in enumerate(symbols) if isinstance(e, Sym)}
    if len({i for i in index if isinstance(i, Sym)}) != sum(e != 1 for e in node.shape):
        return None
    if len(places) != sum(e != 1 for e in node.shape) or any(
            i not in places for i, e in zip(index, node.shape, strict=True) if e != 1):
        return None
    own = zip(index, node.shape, strict=True)
    if any(isinstance(i, Sym) and spec.shape[places[i]] != e for i, e in own):
        return None
    return tuple(spec.strides[places[i]] if isinstance(i, Sym) else Int(1) for i in index)


def _live(anchors: Anchors) -> list[str]:
    """What results and mutations need, in order, without sources, views and empty tensors."""
    needed: set[str] = set()
    pending = list(anchors.outputs.values())
    pending += [n.name for n in anchors.nodes.values() if isinstance(n, WRITES)]
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending += anchors.reads.sources(name)
    return [n for n, node in anchors.nodes.items()
            if n in needed and not isinstance(node, (Source, View))
            and all(e != 0 for e in node.shape)]


def _bind_operands(anchors: Anchors, live: list[str]) -> None:
    """Find the operands of calls in memory, or add copies for them."""
    for name in live:
        node = anchors.nodes[name]
        if isinstance(node, Gemm):
            a, b = (_bound(anchors, name, number, side, _matrix)
                    for number, side in enumerate((node.a, node.b)))
            anchors.nodes[name] = replace(node, a=a.source, b=b.source)
            anchors.operands[name] = (a, b)
        elif isinstance(node, Routine):
            _bind_routine(anchors, node)


def _bind_routine(anchors: Anchors, node: Routine) -> None:
    found: list[Block] = []
    operands: list[Given | None] = []
    for number, given in enumerate(node.operands):
        if given is not None:
            find = partial(_block, dense=given.dense, apart=given.apart)
            found.append(_bound(anchors, node.name, number, given.source, find))
            given = replace(given, source=found[-1].source)
        operands.append(given)
    anchors.nodes[node.name] = replace(node, operands=tuple(operands))
    anchors.operands[node.name] = tuple(found)


def _bound(
    anchors: Anchors, reader: str, number: int, side: str,
    find: Callable[[Anchors, str], T | None],
) -> T:
    """What `find` finds an operand to be, or a copy of it, which is then stored."""
    operand = find(anchors, side)
    if operand is None:
        copy = f"{reader}.operand{number}"
        _copy_before(anchors, reader, copy, side)
        operand = find(anchors, copy)
    assert operand is not None, f"the copy of {side} does not lie in memory as it should"
    if not isinstance(anchors.nodes[operand.source], Source):
        anchors.stored.add(operand.source)
    return operand


def _store_what_moves(anchors: Anchors) -> None:
    """New values that are made of other elements of what they overwrite are stored first, and so
    are those that may end the run."""
    nodes = anchors.nodes
    buffered = {n for n, node in nodes.items() if not isinstance(node, (Pointwise, View))}
    for name, node in list(nodes.items()):
        if isinstance(node, Update):
            _store_values(anchors, node, buffered)
        if not isinstance(node, Mutation):
            continue
        if anchors.reads.is_checked(name, buffered) or _reads_elsewhere(anchors, node, buffered):
            value, here = f"{name}.value", axis_symbols(node.domain)
            _insert_before(
                anchors, name, Pointwise(value, node.domain, node.dtype, node.body, "copy"))
            nodes[name] = replace(node, body=Body(Read(value, here, node.dtype)))
            anchors.reads.note(name)
            anchors.stored.add(value)


def _store_rows(anchors: Anchors) -> None:
    """What is looked up is in memory."""
    for node in anchors.nodes.values():
        for _, body, _ in bodies(node):
            for stmt in body.prologue:
                if isinstance(stmt, Lookup):
                    source = anchors.reads.base(stmt.source)
                    if not isinstance(anchors.nodes[source], Source):
                        anchors.stored.add(source)


def _store_values(anchors: Anchors, node: Update, buffered: set[str]) -> None:
    """As `_store_what_moves`, of writes at indices in tensors: any may hit what others read."""
    parts: list[Part] = []
    memory = anchors.reads.memory(node.name)
    for number, part in enumerate(node.parts):
        sources = {a.source for a in anchors.reads.spliced_part(node.name, number, buffered)}
        sources -= {None, node.name}
        if any(anchors.reads.memory(source) == memory for source in sources if source):
            value = f"{node.name}.value{number}"
            body = Body(part.body.value)
            _insert_before(
                anchors, node.name, Pointwise(value, part.domain, node.dtype, body, "copy"))
            anchors.stored.add(value)
            read = Read(value, axis_symbols(part.domain), node.dtype)
            part = replace(part, body=Body(read, part.body.prologue))
        parts.append(part)
    anchors.nodes[node.name] = replace(node, parts=tuple(parts))
    anchors.reads.note(node.name)
    anchors.stored.update(
        source for source in anchors.reads.sources(node.name)
        if isinstance(anchors.nodes[source], Pointwise)
        and anchors.reads.is_checked(source, buffered))


def _reads_elsewhere(anchors: Anchors, node: Mutation, buffered: set[str]) -> bool:
    """Whether a new value is made of elements that other iterations may overwrite."""
    reads = anchors.reads
    memory, axes = reads.memory(node.name), [
        s for s in axis_symbols(node.domain) if isinstance(s, Sym)]
    return any(
        access.source is not None and reads.memory(access.source) == memory
        and access.index != node.index and not apart(access.index, node.index, axes, reads.locals)
        for access in reads.spliced(node.name, buffered))


def _copy_before(anchors: Anchors, reader: str, copy: str, side: str) -> None:
    node = anchors.nodes[side]
    body = Body(Read(side, axis_symbols(node.shape), node.dtype))
    _insert_before(anchors, reader, Pointwise(copy, node.shape, node.dtype, body, "copy"))


def _insert_before(anchors: Anchors, reader: str, node: Pointwise) -> None:
    order = list(anchors.nodes)
    anchors.nodes[node.name] = node
    place = order.index(reader)
    for later in order[place:]:
        anchors.nodes[later] = anchors.nodes.pop(later)
    anchors.reads.note(node.name)


def _steps(anchors: Anchors, name: str) -> tuple[str, list[Expr], Expr] | None:
    """Where a tensor lies: its source, its stride along each dim and its offset there; None if
    it is not at multiples of its index."""
    symbols = axis_symbols(anchors.nodes[name].shape)
    base, index = anchors.reads.resolve(name, symbols)
    node = anchors.nodes[anchors.reads.memory(base)]
    strides = node.strides if isinstance(node, Source) else row_major(node.shape)
    if base in anchors.storage:
        strides = anchors.storage[base].strides
    position = linear(index, strides)
    steps: list[Expr] = []
    for symbol in symbols:
        step = coefficient(position, symbol) if isinstance(symbol, Sym) else Int(0)
        if step is None:
            return None
        steps.append(step)
    return base, steps, position.subs({s: 0 for s in symbols if isinstance(s, Sym)})


def _matrix(anchors: Anchors, name: str) -> Matrix | None:
    """The matrix (or batch of matrices) `name` as it lies in memory, if BLAS can take it."""
    shape, place = anchors.nodes[name].shape, _steps(anchors, name)
    if place is None:
        return None
    base, steps, offset = place
    batch, (rows, columns) = (steps[0] if len(steps) == 3 else Int(0)), steps[-2:]
    leading = _leading(shape[-2], shape[-1], rows, columns)
    if leading is not None:
        return Matrix(base, False, leading, batch, offset)
    leading = _leading(shape[-1], shape[-2], columns, rows)
    if leading is not None:
        return Matrix(base, True, leading, batch, offset)
    return None


def _block(anchors: Anchors, name: str, dense: int, apart: bool) -> Block | None:
    """The tensor as it lies in memory, if its last `dense` dims have no gaps; see `Given`."""
    shape, place = anchors.nodes[name].shape, _steps(anchors, name)
    if place is None:
        return None
    base, steps, offset = place
    first = len(shape) - dense
    want = row_major(shape)
    if any(extent != 1 and step != other for extent, step, other in zip(
            shape[first:], steps[first:], want[first:], strict=True)):
        return None
    if apart:
        block = product(shape[first:])
        leading = _leading(shape[first - 1], block, steps[first - 1], Int(1))
        if leading is None:
            return None
        steps[first - 1] = leading
    return Block(base, tuple(steps[:first]), offset)


def _leading(rows: Expr, columns: Expr, row_step: Expr, column_step: Expr) -> Expr | None:
    """The leading dimension of a row-major matrix with these steps, None if it is not one."""
    if columns != 1 and column_step != 1:
        return None
    if rows == 1:
        return columns
    low = (row_step - columns).range()[0]
    known = as_int(row_step - columns)
    if (known is not None and known < 0) or row_step == 0:
        return None
    return row_step if known is not None or (low is not None and low >= 0) else None
