"""`schedule(graph)`: from loop-level nodes to kernels over named buffers."""

from __future__ import annotations

from graphwright.codegen.loops import Buffer
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.lowering.nodes import WRITES, Pointwise, Source, row_major
from graphwright.codegen.lowering.nodes import Gemm as MatrixProduct
from graphwright.codegen.program import Gemm, Step
from graphwright.codegen.scheduler.groups import Group, Style, group_anchors, in_order
from graphwright.codegen.scheduler.kernels import write_kernel
from graphwright.codegen.scheduler.materialised import (
    Anchors,
    Operand,
    Storage,
    buffer_extent,
    choose_anchors,
)
from graphwright.codegen.scheduler.merge import merge_groups
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.codegen.scheduler.writer import Names
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.expr import Expr, Int, product
from graphwright.runtime.tensor.dtypes import dtype

REPEAT_COST = 8
"""Within a kernel, a value of at most this cost, that of its unstored operands included, is
recomputed rather than stored."""


class Schedule(Record):
    """Steps in order over buffers; `outputs` maps result numbers to buffers."""

    steps: tuple[Step, ...]
    inputs: tuple[Buffer, ...]
    temps: tuple[Buffer, ...]
    outputs: dict[int, Buffer]
    mutated: tuple[int, ...]


class _Buffers(Record, frozen=False):
    """The buffers of one schedule, by name."""

    storage: dict[str, Storage] = field(default_factory=dict)
    temps: dict[str, Buffer] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def temp(self, hint: str, dtype: dtype, size: Expr) -> Buffer:
        """A new temporary buffer."""
        base = "".join(c if c.isalnum() else "_" for c in hint)
        name, count = base, 0
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        self.temps[name] = buffer = Buffer(name, dtype, size, "temp")
        return buffer


def schedule(graph: LoweredGraph) -> Schedule:
    """Fuse the nodes of a graph into kernels and write their loops."""
    anchors = choose_anchors(graph)
    grouping = group_anchors(anchors)
    merge_groups(grouping)
    groups = in_order(grouping)
    buffers = _Buffers()
    inputs = _input_buffers(graph, anchors, buffers)
    _store_shared(anchors, groups)
    for name in anchors.chosen:
        if name in anchors.storage:
            buffers.storage[name] = anchors.storage[name]
            buffers.taken.add(anchors.storage[name].buffer.name)
    for name, node in anchors.nodes.items():
        if isinstance(node, WRITES):
            buffers.storage[name] = buffers.storage[anchors.reads.memory(name)]
    _allocate_temps(anchors, groups, buffers)
    steps = tuple(_steps(anchors, groups, buffers))
    outputs = {position: anchors.storage[name].buffer
               for position, name in anchors.outputs.items()}
    return Schedule(steps, inputs, tuple(buffers.temps.values()), outputs, graph.mutated)


def _input_buffers(
    graph: LoweredGraph, anchors: Anchors, buffers: _Buffers
) -> tuple[Buffer, ...]:
    result: list[Buffer] = []
    for source in sorted(graph.inputs, key=lambda s: s.position):
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in source.name)
        role = "constant" if source.constant else "input"
        buffer = Buffer(name, source.dtype, buffer_extent(source.shape, source.strides), role)
        buffers.taken.add(name)
        buffers.storage[source.name] = Storage(buffer, source.strides)
        result.append(buffer)
    return tuple(result)


def _store_shared(anchors: Anchors, groups: list[Group]) -> None:
    """Give memory to values that another kernel, or a later pass of the same one, reads."""
    mutates = any(isinstance(n, WRITES) for n in anchors.nodes.values())
    home = {name: number for number, g in enumerate(groups) for name in g.members}
    for number, group in enumerate(groups):
        cost: dict[str, int] = {}
        for member in group.members.values():
            sources = [a.source for a in member.reads if a.source in home]
            for source in sources:
                if source in anchors.stored:
                    continue
                if home[source] != number:
                    anchors.stored.add(source)
                    continue
                owner = group.members[source]
                again = owner.row and member.step > owner.step
                if again and (mutates or cost.get(source, 0) > REPEAT_COST) and isinstance(
                        anchors.nodes[source], Pointwise):
                    anchors.stored.add(source)
            cost[member.name] = anchors.work[member.name] + sum(
                cost[s] for s in set(sources) if s in cost and s not in anchors.stored
                and group.members[s].row and isinstance(anchors.nodes[s], Pointwise))


def _allocate_temps(anchors: Anchors, groups: list[Group], buffers: _Buffers) -> None:
    """Buffers for what is stored and is not a result. Reductions that only their own kernel
    reads stay in locals."""
    home = {name: number for number, g in enumerate(groups) for name in g.members}
    outside: set[str] = set()
    for number, group in enumerate(groups):
        for name, member in group.members.items():
            read = [a.source for a in member.reads if a.source]
            if name in anchors.operands:
                read = [o.source for o in anchors.operands[name]]
            outside |= {s for s in read if s in home and home[s] != number}
    for group in groups:
        for name in group.members:
            node = anchors.nodes[name]
            if name in buffers.storage or name not in anchors.stored:
                continue
            if isinstance(node, (*WRITES, Source)):
                continue
            local = group.style not in (Style.MATRIX, Style.ASSEMBLY) and name not in outside
            if local and not isinstance(node, Pointwise):
                continue
            buffer = buffers.temp(name, node.dtype, product(node.shape))
            buffers.storage[name] = Storage(buffer, row_major(node.shape))


def _steps(anchors: Anchors, groups: list[Group], buffers: _Buffers) -> list[Step]:
    steps: list[Step] = []
    for group in groups:
        if group.style is Style.MATRIX:
            (name,) = group.members
            steps.append(_gemm(anchors, name, buffers.storage))
            continue
        names = Names(buffers.taken)
        writing = Writing(anchors, buffers.storage, group, names, buffers.temp)
        steps.append(write_kernel(writing, f"k{len(steps)}_{_title(anchors, group)}"))
    return steps


def _title(anchors: Anchors, group: Group) -> str:
    """A name that says what a kernel does: the ops of its members."""
    parts: list[str] = []
    for name in group.members:
        part = "".join(c for c in name.split(".")[0] if c.isalnum() or c == "_")
        if part not in parts:
            parts.append(part)
    return "_".join(parts[:4])


def _gemm(anchors: Anchors, name: str, storage: dict[str, Storage]) -> Gemm:
    node = anchors.nodes[name]
    assert isinstance(node, MatrixProduct), f"{name} is not a matrix product"
    a, b = anchors.operands[name]
    out = storage[name]
    m, n = node.shape[-2:]
    batch = node.shape[0] if len(node.shape) == 3 else Int(1)
    return Gemm(
        out.buffer, _buffer(storage, a), _buffer(storage, b), a.transposed, b.transposed,
        m, n, node.inner, a.leading, b.leading, n, batch, a.batch, b.batch,
        m * n, a.offset, b.offset)


def _buffer(storage: dict[str, Storage], operand: Operand) -> Buffer:
    return storage[operand.source].buffer
