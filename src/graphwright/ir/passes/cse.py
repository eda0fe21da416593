"""Common subexpressions are computed once.

Before::

    exp = ops.exp(x)
    exp_1 = ops.exp(x)
    add = ops.add(exp, exp_1)

After::

    exp = ops.exp(x)
    add = ops.add(exp, exp)

Random ops are never merged: two draws are two values, whatever their arguments. Neither is a
result that no gradient reads with an equal value that one does read: the caller may write to
results before the gradients run.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import DICTS, LISTS, Node
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.symbolic.symint import SymInt


def merge_common(
    module: GraphModule, results: Collection[Node] = (), tangents: Collection[Node] = ()
) -> None:
    """See the module's docstring.

    Args:
        results: of a joint graph, the nodes that the forward gives to the caller.
        tangents: of a joint graph, the placeholders of the results' gradients.
    """
    seen: dict[Hashable, list[Node]] = {}
    given, read = set(results), _read_by_gradients(module, tangents)
    for node in module.graph.nodes:
        if node.op == "get_attr":
            key: Hashable = ("get_attr", node.target)
        elif node.op == "call_function" and _mergeable(node.target):
            key = (node.target, key_of(node.args), key_of(node.kwargs))
        else:
            continue
        equal = seen.setdefault(key, [])
        first = next((n for n in equal if not _differ_in_readers(n, node, given, read)), None)
        if first is None:
            equal.append(node)
            continue
        if node in read:
            read.add(first)
        if node in given:
            given.add(first)
        node.replace_all_uses_with(first)
        module.graph.erase_node(node)


def _read_by_gradients(module: GraphModule, tangents: Collection[Node]) -> set[Node]:
    """The nodes that gradients read, themselves or through views, and that are none."""
    late = set(tangents)
    for node in module.graph.nodes:
        if node.op != "output" and not late.isdisjoint(node.all_input_nodes):
            late.add(node)
    read: set[Node] = set()
    for node in reversed(list(module.graph.nodes) if late else []):
        if node not in late and any(n in late or (n in read and _is_view(n)) for n in node.users):
            read.add(node)
    return read


def _differ_in_readers(
    one: Node, other: Node, results: Collection[Node], read: Collection[Node]
) -> bool:
    """Whether gradients read one of two nodes, and the other is a result that none reads."""
    return ((one in results and one not in read and other in read)
            or (other in results and other not in read and one in read))


def _is_view(node: Node) -> bool:
    return isinstance(node.target, Op) and node.target.is_view


def _mergeable(target: Any) -> bool:
    return not isinstance(target, Op) or not (target.kind is Kind.RANDOM or target.is_inplace)


def key_of(value: Any) -> Hashable:
    """A key that is equal for equal arguments only; 1, 1.0 and True, 0.0 and -0.0 differ."""
    kind = type(value)
    if kind is Node:
        return value
    if kind is SymInt:
        return ("size", value.expr)
    if kind is tuple or kind in LISTS:
        return (kind, *map(key_of, value))
    if kind in DICTS:
        return (kind, *((k, key_of(v)) for k, v in value.items()))
    if kind is slice:
        return (kind, key_of(value.start), key_of(value.stop), key_of(value.step))
    if kind in (float, complex):
        return (kind, repr(value))
    return (kind, value if isinstance(value, Hashable) else id(value))
