"""Operations that may fail when the graph runs, because of the values of tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.ir.graph import Graph
from graphwright.ir.node import Node
from graphwright.runtime.fake import FakeTensor

BY_INDEX = frozenset(
    [
        *("getitem", "setitem", "__getitem__", "__setitem__", "index_select", "gather"),
        *("scatter_src", "scatter_value", "scatter_reduce", "scatter_extreme", "index_reduce"),
        *("take", "put", "masked_scatter", "repeat_positions", "repeat_interleave"),
        *("embedding", "scatter", "scatter_add", "index_add", "index_put", "take_along_dim"),
        *("nll_loss", "cross_entropy", "one_hot", "index_copy", "index_fill", "index"),
    ]
)


def unread(graph: Graph, results: Iterable[Node]) -> list[Node]:
    """Nodes that may fail by what an index holds, and whose results nobody reads.

    Backends drop what nobody reads, and with it the error; as further results they stay.
    """
    found: list[Node] = []
    live = set(results)
    for node in reversed(list(graph.nodes)):
        if node not in live and _looks_up(node):
            found.append(node)
            live.add(node)
        if node in live:
            live.update(node.all_input_nodes)
    return found


def _looks_up(node: Node) -> bool:
    """Whether a new tensor is made from places that a tensor or list says."""
    if not node.op.startswith("call_") or name_of(node.target) not in BY_INDEX:
        return False
    if not isinstance(node.meta.get("val"), FakeTensor) or str(node.target).endswith("_"):
        return False
    places = [value for given in node.args[1:] for value in _parts(given)]
    return any(isinstance(place, list) for place in places) or any(
        isinstance(other.meta.get("val"), FakeTensor)
        for other in node.all_input_nodes if other is not node.args[0]
    )


def _parts(given: Any) -> tuple[Any, ...]:
    """The indices of a subscript."""
    return given if isinstance(given, tuple) else (given,)


def name_of(target: Any) -> str:
    """The name of an operation, without the underscore of in-place forms."""
    name: str = getattr(target, "__name__", None) or getattr(target, "name", None) or str(target)
    return name if name.startswith("__") else name.rstrip("_")
