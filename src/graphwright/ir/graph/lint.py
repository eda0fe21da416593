"""The spec of a graph, executable: `lint` returns what is wrong with it."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from graphwright.ir.graph.node import OPS, Node

if TYPE_CHECKING:
    from graphwright.ir.graph.graph import Graph


class GraphError(RuntimeError):
    """A graph that is not well formed. The message names the nodes."""


def follow(owner: object, path: str) -> Any:
    """The attribute at a dotted path. Raises: AttributeError if there is none."""
    return reduce(getattr, path.split("."), owner)


def _lacks(owner: object, path: object) -> bool:
    try:
        follow(owner, str(path))
    except AttributeError:
        return True
    return False


def lint(graph: Graph, owner: object = None) -> list[str]:
    """What is wrong with `graph`, one sentence each; empty if it is well formed.

    Checks names (unique), order (values before their users; placeholders first; the output last,
    once), users against inputs, targets against kinds, and that `owner` has the constants and
    submodules, unless it is None.
    """
    errors: list[str] = []
    seen: dict[Node, None] = {}
    names: set[str] = set()
    taken = used = 0
    for node in graph.nodes:
        inputs = node.all_input_nodes
        plain = node.op == "call_function" and node.graph is graph and callable(node.target)
        for operand in inputs:
            if operand not in seen or node not in operand.users:
                plain = False
        if not plain:       # most nodes are
            found = _node_errors(node, inputs, graph, seen)
            errors += [f"node {node.name}: {error}" for error in found]
        taken += len(inputs)
        used += len(node.users)
        if node.name in names:
            errors.append(f"node {node.name}: its name is used twice")
        named = node.op in ("get_attr", "call_module")
        if owner is not None and named and _lacks(owner, node.target):
            errors.append(f"node {node.name}: the module has no attribute {node.target!r}")
        names.add(node.name)
        seen[node] = None
    if taken != used:
        errors += [f"node {node.name}: user {user.name} does not take it"
                   for node in seen for user in node.users if not user.takes(node)]
    outputs = [node for node in seen if node.op == "output"]
    if len(outputs) != 1 or next(reversed(seen)) is not outputs[0]:
        errors.append(f"the graph must end in its one output; it has {len(outputs)}")
    return errors


def check(graph: Graph, owner: object = None, after: str = "") -> None:
    """Raises: GraphError if `lint` finds anything; `after` names the pass to blame."""
    errors = lint(graph, owner)
    if errors:
        raise GraphError("\n".join([f"malformed graph{after and f' after {after}'}:", *errors]))


def check_writes(graph: Graph) -> None:
    """Raises: GraphError unless every write goes to an argument, or a view of one that was made
    since the write before, and nothing is read through views that are older than a write.

    Then the graph's text shows what each node reads, as it does without writes.
    """
    errors: list[str] = []
    written: dict[Node, int] = {}
    made: dict[Node, tuple[Node, int]] = {}
    for node in graph.nodes:
        for operand in node.all_input_nodes:
            memory, time = made.get(operand, (operand, 0))
            if operand in made and time != written.get(memory, 0):
                errors.append(f"node {node.name}: reads {operand.name}, a view made before its "
                              f"memory {memory.name} was written")
        source = node.args[0] if node.args and isinstance(node.args[0], Node) else None
        if source is None:
            continue
        memory = made[source][0] if source in made else source
        if getattr(node.target, "is_view", False):
            made[node] = memory, written.get(memory, 0)
        elif getattr(node.target, "is_inplace", False):
            if memory.op != "placeholder":
                errors.append(f"node {node.name}: writes {memory.name}, which is no argument")
            written[memory] = written.get(memory, 0) + 1
    if errors:
        raise GraphError("\n".join(["writes out of order:", *errors]))


def _node_errors(
    node: Node, inputs: list[Node], graph: Graph, seen: dict[Node, None],
) -> list[str]:
    errors: list[str] = []
    if node.op not in OPS:
        return [f"unknown kind {node.op!r}"]
    if node.graph is not graph:
        errors.append("belongs to another graph")
    if node.op == "call_function" and not callable(node.target):
        errors.append(f"target {node.target!r} is not callable")
    elif node.op != "call_function" and not isinstance(node.target, str):
        errors.append(f"target {node.target!r} of a {node.op} is not a string")
    if node.op == "placeholder" and seen and next(reversed(seen)).op != "placeholder":
        errors.append("a placeholder comes after another kind of node")
    for operand in inputs:
        if operand not in seen:
            errors.append(f"uses {operand.name} before it is computed")
        if node not in operand.users:
            errors.append(f"is not among the users of its input {operand.name}")
    return errors
