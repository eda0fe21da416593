"""The buffers of a schedule, and the steps that need nothing but them."""

from __future__ import annotations

from collections.abc import Iterator

from graphwright.codegen.loops import Buffer
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.lowering.nodes import (
    WRITES,
    Byproduct,
    Pointwise,
    Routine,
    Source,
    row_major,
)
from graphwright.codegen.lowering.nodes import Gemm as MatrixProduct
from graphwright.codegen.program import Gemm, RoutineCall
from graphwright.codegen.scheduler.groups import ALONE, Group
from graphwright.codegen.scheduler.materialised import (
    Anchors,
    Block,
    Matrix,
    Storage,
    buffer_extent,
)
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.expr import Expr, Int, product
from graphwright.runtime.tensor.dtypes import dtype


class Buffers(Record, frozen=False):
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


def input_buffers(graph: LoweredGraph, buffers: Buffers) -> tuple[Buffer, ...]:
    """The buffers of the inputs and constants, in the order of their positions."""
    result: list[Buffer] = []
    for source in sorted(graph.inputs, key=lambda s: s.position):
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in source.name)
        role = "constant" if source.constant else "input"
        buffer = Buffer(name, source.dtype, buffer_extent(source.shape, source.strides), role)
        buffers.taken.add(name)
        buffers.storage[source.name] = Storage(buffer, source.strides)
        result.append(buffer)
    return tuple(result)


def place_results(anchors: Anchors, buffers: Buffers) -> None:
    """Give the anchors that are results their buffers, and writes the memory of their inputs."""
    for name in anchors.chosen:
        if name in anchors.storage:
            buffers.storage[name] = anchors.storage[name]
            buffers.taken.add(anchors.storage[name].buffer.name)
    for name, node in anchors.nodes.items():
        if isinstance(node, WRITES):
            buffers.storage[name] = buffers.storage[anchors.reads.memory(name)]


def allocate_temps(anchors: Anchors, groups: list[Group], buffers: Buffers) -> None:
    """Buffers for what is stored and is not a result. Reductions that only their own kernel
    reads stay in locals."""
    home = {name: number for number, g in enumerate(groups) for name in g.members}
    outside: set[str] = set()
    for number, group in enumerate(groups):
        for name, member in group.members.items():
            read = [a.source for a in member.reads if a.source]
            read += [operand.source for operand in anchors.operands.get(name, ())]
            outside |= {s for s in read if s in home and home[s] != number}
    for group in groups:
        for name in group.members:
            node = anchors.nodes[name]
            if name in buffers.storage or name not in anchors.stored:
                continue
            if isinstance(node, (*WRITES, Source)):
                continue
            local = group.style not in ALONE and name not in outside
            if local and not isinstance(node, Pointwise):
                continue
            buffer = buffers.temp(name, node.dtype, product(node.shape))
            buffers.storage[name] = Storage(buffer, row_major(node.shape))


def title(anchors: Anchors, group: Group) -> str:
    """A name that says what a kernel does: the ops of its members."""
    parts: list[str] = []
    for name in group.members:
        part = "".join(c for c in name.split(".")[0] if c.isalnum() or c == "_")
        if part not in parts:
            parts.append(part)
    return "_".join(parts[:4])


def call_step(anchors: Anchors, group: Group, storage: dict[str, Storage]) -> RoutineCall:
    """The call of a routine, its results and operands in buffers."""
    name, *byproducts = group.members
    node = anchors.nodes[name]
    assert isinstance(node, Routine), f"{name} is not a routine"
    results: list[Buffer | None] = [None] * (1 + node.byproducts)
    for number, result in _numbered(anchors, name, byproducts):
        results[number] = storage[result].buffer
    operands: list[tuple[Buffer | None, Expr]] = []
    sizes = list(node.sizes)
    found = iter(anchors.operands[name])
    for given in node.operands:
        if given is None:
            operands.append((None, Int(0)))
            continue
        operand = next(found)
        assert isinstance(operand, Block), f"{name} is not given blocks"
        operands.append((storage[operand.source].buffer, operand.offset))
        sizes += operand.strides
    return RoutineCall(node.routine, tuple(results), tuple(operands), tuple(sizes), node.numbers)


def _numbered(
    anchors: Anchors, name: str, byproducts: list[str]
) -> Iterator[tuple[int, str]]:
    if name in anchors.stored:
        yield 0, name
    for byproduct in byproducts:
        node = anchors.nodes[byproduct]
        assert isinstance(node, Byproduct), f"{byproduct} is no byproduct"
        yield node.number, byproduct


def gemm_step(anchors: Anchors, name: str, storage: dict[str, Storage]) -> Gemm:
    """A matrix product over buffers."""
    node = anchors.nodes[name]
    assert isinstance(node, MatrixProduct), f"{name} is not a matrix product"
    a, b = anchors.operands[name]
    assert isinstance(a, Matrix) and isinstance(b, Matrix), f"{name} is no product of matrices"
    out = storage[name]
    m, n = node.shape[-2:]
    batch = node.shape[0] if len(node.shape) == 3 else Int(1)
    return Gemm(
        out.buffer, _operand_buffer(storage, a), _operand_buffer(storage, b),
        a.transposed, b.transposed,
        m, n, node.inner, a.leading, b.leading, n, batch, a.batch, b.batch,
        m * n, a.offset, b.offset)


def _operand_buffer(storage: dict[str, Storage], operand: Matrix) -> Buffer:
    return storage[operand.source].buffer
