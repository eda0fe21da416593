"""The spec of a graph, executable: `lint` returns what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from graphwright.ir.node import OPS, Node

if TYPE_CHECKING:
    from graphwright.ir.graph import Graph


class GraphError(Exception):
    """A graph that is not well formed. The message names the nodes."""


def lint(graph: Graph, attrs: Mapping[str, object] | None = None) -> list[str]:
    """What is wrong with `graph`, one sentence each; empty if it is well formed.

    Checks names (unique), order (values before their users; placeholders first; the output last,
    once), users against inputs, targets against kinds, and with `attrs` that constants exist.
    """
    errors: list[str] = []
    seen: dict[Node, None] = {}
    names: set[str] = set()
    for node in graph.nodes:
        errors += [f"node {node.name}: {error}" for error in _node_errors(node, graph, seen)]
        if node.name in names:
            errors.append(f"node {node.name}: its name is used twice")
        if attrs is not None and node.op == "get_attr" and node.target not in attrs:
            errors.append(f"node {node.name}: the module has no attribute {node.target!r}")
        names.add(node.name)
        seen[node] = None
    outputs = [node for node in seen if node.op == "output"]
    if len(outputs) != 1 or next(reversed(seen)) is not outputs[0]:
        errors.append(f"the graph must end in its one output; it has {len(outputs)}")
    return errors


def check(graph: Graph, attrs: Mapping[str, object] | None = None, after: str = "") -> None:
    """Raises: GraphError if `lint` finds anything; `after` names the pass to blame."""
    errors = lint(graph, attrs)
    if errors:
        raise GraphError("\n".join([f"malformed graph{after and f' after {after}'}:", *errors]))


def _node_errors(node: Node, graph: Graph, seen: dict[Node, None]) -> list[str]:
    errors = []
    if node.op not in OPS:
        return [f"unknown kind {node.op!r}"]
    if node.graph is not graph:
        errors.append("belongs to another graph")
    if node.op == "call_function" and not callable(node.target):
        errors.append(f"target {node.target!r} is not callable")
    if node.op != "call_function" and not isinstance(node.target, str):
        errors.append(f"target {node.target!r} of a {node.op} is not a string")
    if node.op == "placeholder" and seen and next(reversed(seen)).op != "placeholder":
        errors.append("a placeholder comes after another kind of node")
    for operand in node.all_input_nodes:
        if operand not in seen:
            errors.append(f"uses {operand.name} before it is computed")
        if node not in operand.users:
            errors.append(f"is not among the users of its input {operand.name}")
    errors += [f"user {user.name} does not take it" for user in node.users
               if not user.takes(node)]
    return errors
