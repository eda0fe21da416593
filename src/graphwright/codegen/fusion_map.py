"""Which nodes of a graph each step of its program computes, for people who look at a compilation.

The compiler itself forgets it: the graph is lowered and grouped once more, which has the same
result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphwright.codegen.lowering.graph import CPU_RULES, GraphLowering
from graphwright.codegen.lowering.nodes import LoopNode, Read, Source, View
from graphwright.codegen.lowering.rules import Rule
from graphwright.codegen.scheduler.groups import group_anchors, in_order
from graphwright.codegen.scheduler.materialised import choose_anchors
from graphwright.codegen.scheduler.merge import merge_groups
from graphwright.codegen.scheduler.reads import CALLED, bodies, body_leaves, called_with


class TracedLowering(GraphLowering):
    """Also notes in `became` which loop nodes each node of the graph became."""

    def __init__(
        self, module: Any, fake_inputs: Sequence[Any], strict: bool,
        rules: Mapping[str, Rule] = CPU_RULES,
    ) -> None:
        super().__init__(module, fake_inputs, strict, rules)
        self.became: dict[str, list[str]] = {}

    def call_function(self, node: Any) -> None:
        before = len(self.context.nodes)
        super().call_function(node)
        made = list(self.context.nodes)[before:]
        found = getattr(self.env[node], "name", None)
        self.became[node.name] = made or ([] if found is None else [found])


def fused_nodes(
    module: Any, fake_inputs: Sequence[Any], strict: bool = False,
    rules: Mapping[str, Rule] = CPU_RULES,
) -> tuple[frozenset[str], ...]:
    """The names of the graph's nodes in each step of the program that `compile_graph` makes of it.

    A node that is spliced into several kernels is in each of them.

    Raises: CannotLowerNode for a node without a lowering.
    """
    lowering = TracedLowering(module, fake_inputs, strict, rules)
    graph = lowering.run()
    anchors = choose_anchors(graph)
    grouping = group_anchors(anchors)
    merge_groups(grouping)
    origins: dict[str, list[str]] = {}
    for name, made in lowering.became.items():
        for loop_node in made:
            origins.setdefault(loop_node, []).append(name)
    for name, node in anchors.nodes.items():
        if isinstance(node, View) and node.source not in origins:   # made by the scheduler
            origins[node.source] = origins.get(name, [])
    return tuple(
        frozenset(
            origin for name in _spliced(anchors.nodes, group.members, anchors.chosen)
            for origin in origins.get(name, ()))
        for group in in_order(grouping))


def _spliced(
    nodes: Mapping[str, LoopNode], members: Iterable[str], chosen: Mapping[str, None]
) -> set[str]:
    """The members of a group, and what is spliced into them."""
    pending, found = list(members), set[str]()
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        pending += [source for source in _sources(nodes[name])
                    if source not in chosen and not isinstance(nodes[source], Source)]
    return found


def _sources(node: LoopNode) -> Iterator[str]:
    """The nodes that a node reads directly, views among them."""
    if isinstance(node, CALLED):
        yield from called_with(node)
    elif isinstance(node, View):
        yield node.source
    for _, body, _ in bodies(node):
        yield from (leaf.source for leaf in body_leaves(body) if isinstance(leaf, Read))
