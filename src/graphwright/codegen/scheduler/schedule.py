"""`schedule(graph)`: from loop-level nodes to kernels over named buffers."""

from __future__ import annotations

from graphwright.codegen.loops import Buffer
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.lowering.nodes import WRITES, Pointwise, Source
from graphwright.codegen.program import Step
from graphwright.codegen.scheduler.buffers import (
    Buffers,
    allocate_temps,
    call_step,
    gemm_step,
    input_buffers,
    place_results,
    title,
)
from graphwright.codegen.scheduler.groups import Group, Style, group_anchors, in_order
from graphwright.codegen.scheduler.kernels import write_kernel
from graphwright.codegen.scheduler.materialised import Anchors, choose_anchors
from graphwright.codegen.scheduler.merge import merge_groups
from graphwright.codegen.scheduler.write_context import Writing
from graphwright.codegen.scheduler.writer import Names
from graphwright.runtime.record import Record

REPEAT_COST = 8
"""Within a kernel, a value of at most this cost, that of its unstored operands included, is
recomputed rather than stored."""


class Schedule(Record):
    """Steps in order over buffers; `outputs` maps result numbers to buffers.

    rounds: of each step those of the nodes that it computes, -1 for those that have none.
    """

    steps: tuple[Step, ...]
    inputs: tuple[Buffer, ...]
    temps: tuple[Buffer, ...]
    outputs: dict[int, Buffer]
    mutated: tuple[int, ...]
    rounds: tuple[frozenset[int], ...] = ()


def schedule(graph: LoweredGraph) -> Schedule:
    """Fuse the nodes of a graph into kernels and write their loops."""
    anchors = choose_anchors(graph)
    grouping = group_anchors(anchors)
    merge_groups(grouping)
    groups = in_order(grouping)
    buffers = Buffers()
    inputs = input_buffers(graph, buffers)
    _store_shared(anchors, groups)
    place_results(anchors, buffers)
    allocate_temps(anchors, groups, buffers)
    steps = tuple(_steps(anchors, groups, buffers))
    outputs = {position: anchors.storage[name].buffer
               for position, name in anchors.outputs.items()}
    rounds = _rounds(graph, anchors, groups) if graph.rounds else ()
    return Schedule(steps, inputs, tuple(buffers.temps.values()), outputs, graph.mutated, rounds)


def _rounds(
    graph: LoweredGraph, anchors: Anchors, groups: list[Group]
) -> tuple[frozenset[int], ...]:
    """The rounds of each group's nodes, those among them that are spliced into others."""
    apart = {name for group in groups for name in group.members}
    found = []
    for group in groups:
        pending, seen = list(group.members), set(group.members)
        while pending:
            more = {source for source in anchors.reads.sources(pending.pop())
                    if source not in seen and source not in apart
                    and not isinstance(anchors.nodes[source], Source)}
            seen |= more
            pending += more
        own = {graph.rounds.get(name, -1) for name in group.members}
        spliced = {graph.rounds[name] for name in seen if name in graph.rounds}
        found.append(frozenset(own | spliced))
    return tuple(found)


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


def _steps(anchors: Anchors, groups: list[Group], buffers: Buffers) -> list[Step]:
    steps: list[Step] = []
    for group in groups:
        if group.style is Style.MATRIX:
            (name,) = group.members
            steps.append(gemm_step(anchors, name, buffers.storage))
            continue
        if group.style is Style.ROUTINE:
            steps.append(call_step(anchors, group, buffers.storage))
            continue
        names = Names(buffers.taken)
        writing = Writing(anchors, buffers.storage, group, names, buffers.temp)
        steps.append(write_kernel(writing, f"k{len(steps)}_{title(anchors, group)}"))
    return steps
