"""Common subexpressions are computed once.

Before::

    exp = ops.exp(x)
    exp_1 = ops.exp(x)
    add = ops.add(exp, exp_1)

After::

    exp = ops.exp(x)
    add = ops.add(exp, exp)

Random ops are never merged: two draws are two values, whatever their arguments.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.node import Node
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.symbolic.symint import SymInt


def merge_common(module: GraphModule) -> None:
    """See the module's docstring."""
    seen: dict[Hashable, Node] = {}
    for node in module.graph.nodes:
        if node.op == "get_attr":
            key: Hashable = ("get_attr", node.target)
        elif node.op == "call_function" and _mergeable(node.target):
            key = (node.target, key_of(node.args), key_of(node.kwargs))
        else:
            continue
        first = seen.setdefault(key, node)
        if first is not node:
            node.replace_all_uses_with(first)
            module.graph.erase_node(node)


def _mergeable(target: Any) -> bool:
    return not isinstance(target, Op) or not (target.kind is Kind.RANDOM or target.is_inplace)


def key_of(value: Any) -> Hashable:
    """A key that is equal for equal arguments only; 1, 1.0 and True, 0.0 and -0.0 differ."""
    kind = type(value)
    if kind is Node:
        return value
    if kind is SymInt:
        return ("size", value.expr)
    if kind in (tuple, list):
        return (kind, *map(key_of, value))
    if kind is dict:
        return (kind, *((k, key_of(v)) for k, v in value.items()))
    if kind is slice:
        return (kind, key_of(value.start), key_of(value.stop), key_of(value.step))
    if kind in (float, complex):
        return (kind, repr(value))
    return (kind, value if isinstance(value, Hashable) else id(value))
