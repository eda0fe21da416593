"""`replace_pattern`: rewriting a graph by example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphwright.fx._symbolic_trace import symbolic_trace
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.rules.rewriting import (
    Chooser,
    Filter,
    ReplacedPatterns,
    replace_graph,
    take_attributes,
)
from graphwright.nn.module import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Traceable = Callable[..., Any] | Graph | GraphModule


class Match(NamedTuple):
    """A match: the pattern's last node, and what each of the pattern's nodes stood for."""

    anchor: Node
    nodes_map: dict[Node, Any]


def replace_pattern(gm: GraphModule, pattern: Traceable, replacement: Traceable) -> list[Match]:
    """Put `replacement` wherever `pattern` occurs in the graph of `gm`; of overlaps, the first.

    Both are functions, modules or graphs with as many arguments; the arguments of the pattern
    stand for any value. Submodules and tensors that the replacement brings are copied into `gm`.

    Returns: the matches, in order.

    Raises: ValueError where the numbers of arguments or results differ, and for a pattern without
        operations or with an argument that it does not use.

    Example::

        replace_pattern(gm, lambda a, b: gw.relu(a + b), lambda a, b: gw.clamp(a + b, min=0))
    """
    found = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(one.anchor, one.nodes_map) for one in found]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Traceable, replacement: Traceable | None = None,
    match_filters: Sequence[Filter] | None = None, ignore_literals: bool = False,
    replacement_callback: Chooser | None = None, node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern` where all of `match_filters` hold; see `graphwright.ir.rules.rewriting`.

    `replacement_callback`, a function of (match, graph, pattern's graph), gives the graph to put
    in place of a match, if there is no one `replacement`.
    """
    chosen: Graph | Chooser
    if replacement_callback is not None:
        chosen = replacement_callback
    elif replacement is not None:
        chosen = _graph_of(replacement)
    else:
        raise ValueError("replace_pattern needs a replacement, or a replacement_callback")
    found = replace_graph(
        gm, _graph_of(pattern), chosen, match_filters or (), ignore_literals, node_name_match)
    if isinstance(replacement, Module):
        take_attributes(gm, replacement)
    return found


def _graph_of(traceable: Traceable) -> Graph:
    if isinstance(traceable, Graph):
        return traceable
    if isinstance(traceable, GraphModule):
        return traceable.graph
    return symbolic_trace(traceable).graph
