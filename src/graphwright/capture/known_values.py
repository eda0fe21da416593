"""Tensors whose values follow from the program's constants: `tensor([1, 2]).tolist()`.

Operations on nothing but such tensors and numbers are noted while the graph grows. Where Python
asks for a value, the few nodes that it depends on are run; the graph keeps them as they are.
"""

from __future__ import annotations

from typing import Any

from graphwright.capture.exc import unsupported
from graphwright.capture.run_errors import name_of
from graphwright.ir.node import Node, map_leaves, map_nodes
from graphwright.runtime import _core
from graphwright.runtime.symbolic.symint import SymInt

KNOWN = "known"
"""The key of a node's meta that holds the version of its value as the operation left it."""
_MOST_ELEMENTS = 10_000


def note_known(node: Node, result: Any, random: bool) -> None:
    """Mark a node that gives the same whenever it runs."""
    if random or not isinstance(result, _core.TensorBase) or "empty" in name_of(node.target):
        return
    if all(KNOWN in operand.meta for operand in node.all_input_nodes) and not _symbolic(node):
        node.meta[KNOWN] = result._storage._version


def _symbolic(node: Node) -> bool:
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        if isinstance(leaf, SymInt):
            found.append(leaf)
        return leaf

    map_leaves((node.args, node.kwargs), note)
    return bool(found)


def known_value(node: Node) -> Any:
    """The real tensor that the node gives; a break where nobody knows it."""
    if KNOWN not in node.meta or node.meta["val"].numel() > _MOST_ELEMENTS:
        unsupported("GB0002", "the value of a tensor that the graph computes")
    tracer, enabled = _core.set_tracer(None), _core.set_grad_enabled(False)
    try:
        return _run(node, {})
    finally:
        _core.set_tracer(tracer)
        _core.set_grad_enabled(enabled)


def _run(node: Node, values: dict[Node, Any]) -> Any:
    if node in values:
        return values[node]
    if node.meta["val"]._storage._version != node.meta[KNOWN]:
        unsupported("GB0002", "the value of a tensor that was changed in place")
    args = map_nodes(node.args, lambda operand: _run(operand, values))
    kwargs = map_nodes(node.kwargs, lambda operand: _run(operand, values))
    if isinstance(node.target, str):
        result = getattr(args[0], node.target)(*args[1:], **kwargs)
    else:
        result = node.target(*args, **kwargs)
    values[node] = result
    return result
