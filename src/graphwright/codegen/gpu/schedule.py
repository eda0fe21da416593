"""`schedule_tiles(graph)`: from loop-level nodes to kernels over tiles of named buffers.

Nodes are fused as for CPUs, with one arrangement for all reductions: rows of tiles, whose sizes
are chosen once a kernel is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphwright.codegen.gpu.kernels import tile_kernels
from graphwright.codegen.gpu.products import with_products
from graphwright.codegen.gpu.scattered_writes import order_writes
from graphwright.codegen.gpu.split_reductions import split_reductions
from graphwright.codegen.gpu.split_scans import split_scans
from graphwright.codegen.gpu.tile_ir import TileKernel
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.lowering.nodes import WRITES, Pointwise
from graphwright.codegen.program import Gemm
from graphwright.codegen.scheduler.buffers import (
    Buffers,
    allocate_temps,
    gemm_step,
    input_buffers,
    place_results,
    title,
)
from graphwright.codegen.scheduler.groups import (
    Group,
    Grouping,
    Style,
    group_anchors,
    in_order,
)
from graphwright.codegen.scheduler.materialised import Anchors, choose_anchors
from graphwright.codegen.scheduler.merge import merge_groups
from graphwright.codegen.scheduler.schedule import Schedule
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.codegen.scheduler.writer import Names
from graphwright.runtime.record import Record, replace


class TileSchedule(Record):
    """Steps in order over the buffers of `plan`, whose own steps are none."""

    steps: tuple[TileKernel, ...]
    plan: Schedule


def schedule_tiles(
    graph: LoweredGraph, lines: Mapping[str, str] | None = None, precision: str = "ieee"
) -> TileSchedule:
    """Fuse the nodes of a graph into kernels over tiles.

    lines: of loop nodes, by name, the source lines that they come from; precision: of float32
    products, one of `PRECISIONS`.
    """
    graph = split_reductions(split_scans(order_writes(graph)))
    anchors = choose_anchors(graph)
    grouping = group_anchors(anchors, _rows)
    merge_groups(grouping)
    groups = in_order(grouping)
    buffers = Buffers()
    inputs = input_buffers(graph, buffers)
    _store_shared(anchors, groups)
    place_results(anchors, buffers)
    allocate_temps(anchors, groups, buffers)
    lines = lines or {}
    steps = list(_steps(anchors, groups, buffers, lines))
    products = {buffers.storage[name].buffer.name: _source(anchors, group, lines)
                for group in groups if group.style is Style.MATRIX for name in group.members}
    outputs = {position: anchors.storage[name].buffer
               for position, name in anchors.outputs.items()}
    plan = Schedule((), inputs, tuple(buffers.temps.values()), outputs, graph.mutated)
    kernels = with_products(steps, set(buffers.temps), products, precision)
    return TileSchedule(tuple(kernels), plan)


def _rows(state: Grouping, group: Group) -> Style:
    """The arrangement of a group with reductions."""
    return Style.ROW


def _store_shared(anchors: Anchors, groups: list[Group]) -> None:
    """Give memory to values that another kernel reads, and where inputs are overwritten to those
    that a later pass over the rows needs as they are now."""
    mutates = any(isinstance(n, WRITES) for n in anchors.nodes.values())
    home = {name: number for number, g in enumerate(groups) for name in g.members}
    for number, group in enumerate(groups):
        for member in group.members.values():
            for source in (a.source for a in member.reads if a.source in home):
                assert source is not None
                if home[source] != number:
                    anchors.stored.add(source)
                    continue
                owner = group.members[source]
                if mutates and owner.row and member.step > owner.step and isinstance(
                        anchors.nodes[source], Pointwise):
                    anchors.stored.add(source)


def _steps(
    anchors: Anchors, groups: list[Group], buffers: Buffers, lines: Mapping[str, str]
) -> Iterable[TileKernel | Gemm]:
    for number, group in enumerate(groups):
        if group.style is Style.MATRIX:
            (name,) = group.members
            yield gemm_step(anchors, name, buffers.storage)
            continue
        writing = Writing(anchors, buffers.storage, group, Names(buffers.taken), buffers.temp)
        source = _source(anchors, group, lines)
        for kernel in tile_kernels(writing, f"k{number}_{title(anchors, group)}"):
            yield replace(kernel, source=source)


def _source(anchors: Anchors, group: Group, lines: Mapping[str, str]) -> tuple[str, ...]:
    """The lines that the members come from, and what is spliced into them, in order."""
    pending, seen = list(group.members), set(group.members)
    while pending:
        for source in anchors.reads.sources(pending.pop()):
            if source not in seen and source not in anchors.chosen:
                seen.add(source)
                pending.append(source)
    return tuple(dict.fromkeys(lines[n] for n in anchors.nodes if n in seen and n in lines))
