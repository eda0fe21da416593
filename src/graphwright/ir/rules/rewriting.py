"""Replacing the occurrences of one graph in another by a third.

Before, with the pattern `a * b + c` and the replacement `addcmul(c, a, b)`::

    mul = x * y
    add = mul + z

After::

    addcmul = ops.addcmul(z, x, y)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.lint import follow
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.rules.matching import InternalMatch, SubgraphMatcher
from graphwright.nn.module import Module

Filter = Callable[[InternalMatch, Graph, Graph], bool]
Chooser = Callable[[InternalMatch, Graph, Graph], Graph]


@dataclass
class ReplacedPatterns:
    """One replacement: the pattern's anchor, what each of the pattern's nodes stood for, and the
    nodes that were added."""

    anchor: Node
    nodes_map: dict[Node, Any]
    replacements: list[Node]


def replace_graph(
    module: GraphModule, pattern: Graph, replacement: Graph | Chooser,
    match_filters: Sequence[Filter] = (), ignore_literals: bool = False, node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """Replace what matches `pattern` in the module's graph, matches that overlap apart.

    Args:
        replacement: a graph with as many placeholders and results as the pattern, or a function
            of (match, the module's graph, pattern) that gives one.
        match_filters: functions of the same, which must all hold where something is replaced.
        ignore_literals, node_name_match: see `SubgraphMatcher`.

    Raises: ValueError where the numbers of placeholders or results differ.
    """
    graph = module.graph
    matcher = SubgraphMatcher(pattern, ignore_literals=ignore_literals)
    matches = [match for match in matcher.match(graph, node_name_match)
               if all(accepts(match, graph, pattern) for accepts in match_filters)]
    changed: dict[Node, Node] = {}
    done: list[ReplacedPatterns] = []
    for match in matches:
        for own, value in match.nodes_map.items():
            match.nodes_map[own] = _current(value, changed)
        match.placeholder_nodes = [_current(value, changed) for value in match.placeholder_nodes]
        with_ = replacement if isinstance(replacement, Graph) else replacement(
            match, graph, pattern)
        added = _replace(graph, match, with_, changed)
        done.append(ReplacedPatterns(match.anchors[0], match.nodes_map, added))
    module.recompile()
    return done


def take_attributes(module: GraphModule, source: Module) -> None:
    """Copy from `source` what the module's graph names and the module lacks; drop what is unused.

    Raises: RuntimeError where `source` lacks it, too.
    """
    module.delete_all_unused_submodules()
    for node in module.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        path = str(node.target)
        if _lookup(module, path) is not None:
            continue
        value = _lookup(source, path)
        if value is None:
            raise RuntimeError(f"node {node} names {path!r}, which neither the module nor the "
                               "replacement has")
        module.hold(path, copy.deepcopy(value))
    module.lint()


def _lookup(owner: Module, path: str) -> Any:
    try:
        return follow(owner, path)
    except AttributeError:
        return None


def _current(value: Any, changed: dict[Node, Node]) -> Any:
    """The node that has taken the place of one."""
    while isinstance(value, Node) and value in changed:
        value = changed[value]
    return value


def _replace(
    graph: Graph, match: InternalMatch, replacement: Graph, changed: dict[Node, Node]
) -> list[Node]:
    """Put a copy of `replacement` in place of a match. Returns: the nodes that it added."""
    placeholders = replacement.placeholders
    if len(placeholders) != len(match.placeholder_nodes):
        raise ValueError(f"the pattern takes {len(match.placeholder_nodes)} arguments, the "
                         f"replacement {len(placeholders)}")
    values: dict[Node, Any] = dict(zip(placeholders, match.placeholder_nodes, strict=True))
    known = set(values)
    with graph.inserting_before(_insertion_point(graph, match.returning_nodes)):
        results = graph.graph_copy(replacement, values)
    if not isinstance(results, tuple | list):
        results = (results,)
    if len(results) != len(match.returning_nodes):
        raise ValueError(f"the pattern returns {len(match.returning_nodes)} values, the "
                         f"replacement {len(results)}")
    for old, new in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(new)
        changed[old] = new
    matched = {value for own, value in match.nodes_map.items() if own.op != "placeholder"}
    for node in [node for node in reversed(graph.nodes) if node in matched]:
        if not node.users and node.op != "output":
            graph.erase_node(node)
    return [node for own, node in values.items() if own not in known]


def _insertion_point(graph: Graph, results: Sequence[Node]) -> Node | None:
    """Before the first user of the results; right behind them where there is none."""
    users = {user for node in results for user in node.users}
    for node in graph.nodes:
        if node in users:
            return node
    last = [node for node in graph.nodes if node in results][-1]
    return last.next
