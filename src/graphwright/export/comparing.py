"""Whether two recordings of a call, one of them for a special size, are the same program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.node import Node
from graphwright.runtime.symbolic.expr import Int, Sym
from graphwright.runtime.symbolic.symint import SymInt


def is_same_graph(general: Graph, special: Graph, sizes: Mapping[str, int]) -> bool:
    """Whether `special` is `general` with these sizes put in for its symbols.

    The symbols of `special` are those of `general` that are left, in order.
    """
    left = [name for name in _symbols(general) if name not in sizes]
    renamed = dict(zip(_symbols(special), left, strict=False))
    first, second = list(general.nodes), list(special.nodes)
    if len(first) != len(second):
        return False
    places = ({node: place for place, node in enumerate(first)},
              {node: place for place, node in enumerate(second)})
    return all(
        a.op == b.op and (a.op == "placeholder" or a.target == b.target)
        and _plain(a.args, places[0], sizes, {}) == _plain(b.args, places[1], {}, renamed)
        for a, b in zip(first, second, strict=True))


def _symbols(graph: Graph) -> list[str]:
    """The size symbols of a graph's inputs, in their order."""
    found: dict[str, None] = {}
    for node in graph.placeholders:
        for size in node.meta["val"].shape:
            if isinstance(size, SymInt):
                found.update(dict.fromkeys(symbol.name for symbol in size.expr.symbols()))
    return list(found)


def _plain(
    value: Any, places: Mapping[Node, int], sizes: Mapping[str, int], renamed: Mapping[str, str]
) -> Any:
    """An argument as a value that compares: nodes by place, sizes as text or numbers."""
    if isinstance(value, Node):
        return "node", places[value]
    if isinstance(value, SymInt):
        known = {symbol: Int(sizes[symbol.name]) if symbol.name in sizes
                 else Sym(renamed.get(symbol.name, symbol.name))
                 for symbol in value.expr.symbols()}
        left = value.expr.subs(known)
        return left.value if isinstance(left, Int) else str(left)
    if isinstance(value, tuple | list):
        return [_plain(part, places, sizes, renamed) for part in value]
    return value
