"""Where a pattern, itself a graph, occurs in another graph.

The pattern's placeholders stand for anything; its other nodes match nodes of the same kind and
target whose arguments match. A match can be replaced as one: what it computes is used outside
only where the pattern returns it, and no path leads out of it and back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.node import DICTS, Node

Found = dict[Node, Any]


@dataclass
class InternalMatch:
    """One occurrence of a pattern.

    Attributes:
        anchors: the pattern's results that nothing else in it uses.
        nodes_map: what each of the pattern's nodes stands for; for placeholders any value.
        placeholder_nodes: what stands for the pattern's placeholders, in order.
        returning_nodes: what stands for the nodes that the pattern returns, in order.
    """

    anchors: list[Node]
    nodes_map: Found = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)


class SubgraphMatcher:
    """Finds the occurrences of `pattern`.

    Args:
        pattern: a graph with an output and at least one node that computes something.
        match_output: whether the pattern's output has to be the graph's.
        match_placeholder: whether placeholders match placeholders only.
        remove_overlapping_matches: of matches that share nodes, find only the first.
        ignore_literals: whether arguments that are no nodes may differ.

    Raises: ValueError if the pattern computes nothing, or has a placeholder that it does not use.
    """

    def __init__(
        self, pattern: Graph, match_output: bool = False, match_placeholder: bool = False,
        remove_overlapping_matches: bool = True, ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        output = pattern.output_node()
        self.pattern_placeholder_nodes = pattern.placeholders
        self.pattern_returning_nodes = output.all_input_nodes
        sinks = [node for node in output.all_input_nodes if len(node.users) == 1]
        self.pattern_anchors = [output] if match_output else sinks
        if not any(node.op not in ("placeholder", "output") for node in pattern.nodes):
            raise ValueError("a pattern without any operation matches nothing")
        unused = [node.name for node in self.pattern_placeholder_nodes if not node.users]
        if unused:
            raise ValueError(f"the pattern does not use its argument {unused[0]}")

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """All matches in `graph`, in the order of the nodes that the anchors match.

        A node whose name contains `node_name_match`, unless that is empty, matches any target.
        """
        order = {node: place for place, node in enumerate(graph.nodes)}
        matches: list[InternalMatch] = []
        taken: set[Node] = set()
        for found in self._anchored(graph, node_name_match, 0, {}):
            inside = {node for own, node in found.items()
                      if own.op not in ("placeholder", "output")}
            if self.remove_overlapping_matches and not taken.isdisjoint(inside):
                continue
            if self._is_closed(found, inside) and _is_convex(inside, order):
                taken |= inside
                matches.append(InternalMatch(
                    list(self.pattern_anchors), found,
                    [found[node] for node in self.pattern_placeholder_nodes],
                    [found[node] for node in self.pattern_returning_nodes]))
        return matches

    def _anchored(
        self, graph: Graph, name: str, number: int, found: Found
    ) -> Iterator[Found]:
        """The ways to match the anchors from `number` on, given those before."""
        if number == len(self.pattern_anchors):
            yield found
            return
        for node in graph.nodes:
            extended = self._matched(self.pattern_anchors[number], node, found, name)
            if extended is not None:
                yield from self._anchored(graph, name, number + 1, extended)

    def _matched(self, pattern: Node, node: Node, found: Found, name: str = "") -> Found | None:
        """`found` with this pair and what it implies; None if they do not match."""
        if pattern in found:
            return found if found[pattern] is node else None
        if pattern.op == "placeholder" and not self.match_placeholder:
            return {**found, pattern: node}
        if any(node is other for other in found.values()) or not self._alike(pattern, node, name):
            return None
        found = {**found, pattern: node}
        if pattern.op == "placeholder":
            return found
        return self._all((pattern.args, pattern.kwargs), (node.args, node.kwargs), found)

    def _alike(self, pattern: Node, node: Node, name: str) -> bool:
        if name and name in node.name:
            return True
        if pattern.op != node.op:
            return False
        if pattern.op == "get_attr":
            return _value_kind(pattern) is _value_kind(node)
        return pattern.op in ("placeholder", "output") or pattern.target == node.target

    def _all(self, pattern: Any, value: Any, found: Found | None) -> Found | None:
        """`found` with what it takes for arguments to match; None if they do not."""
        if found is None:
            return None
        if isinstance(pattern, Node):
            if isinstance(value, Node):
                return self._matched(pattern, value, found)
            if pattern.op != "placeholder" or self.match_placeholder:
                return None
            if pattern in found:
                return found if found[pattern] == value else None
            return {**found, pattern: value}
        if isinstance(value, Node):
            return None
        if isinstance(pattern, tuple | list) and isinstance(value, tuple | list):
            return self._each(pattern, value, found)
        if type(pattern) in DICTS and type(value) in DICTS:
            if pattern.keys() != value.keys():
                return None
            return self._each(list(pattern.values()), [value[key] for key in pattern], found)
        if isinstance(pattern, slice) and isinstance(value, slice):
            bounds = [(part.start, part.stop, part.step) for part in (pattern, value)]
            return self._each(bounds[0], bounds[1], found)
        same = type(pattern) is type(value) and pattern == value
        return found if same or self.ignore_literals else None

    def _each(
        self, patterns: Sequence[Any], values: Sequence[Any], found: Found | None
    ) -> Found | None:
        if len(patterns) != len(values):
            return None
        for pattern, value in zip(patterns, values, strict=True):
            found = self._all(pattern, value, found)
        return found

    def _is_closed(self, found: Found, inside: set[Node]) -> bool:
        """Whether only what the pattern returns is used outside of the match."""
        returned = {found[node] for node in self.pattern_returning_nodes}
        output = found.get(self.pattern.output_node())
        return all(user in inside or user is output
                   for node in inside - returned for user in node.users)


def _value_kind(node: Node) -> type | None:
    """The type of what a `get_attr` node reads; None if nobody knows."""
    owner = node.graph.owning_module
    return None if owner is None else type(owner.attr(str(node.target)))


def _is_convex(inside: set[Node], order: dict[Node, int]) -> bool:
    """Whether no path leads from the nodes over others back to them."""
    end = max([order[node] for node in inside], default=0)
    pending = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while pending:
        node = pending.pop()
        if node in inside:
            return False
        if node not in seen and order[node] < end:
            seen.add(node)
            pending += node.users
    return True
