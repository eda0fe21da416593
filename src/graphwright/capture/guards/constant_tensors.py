"""Tensors whose values follow from the program's constants: `tensor([1, 2]).tolist()`.

Operations on nothing but such tensors and numbers are noted while the graph grows. Where Python
asks for a value, the few nodes that it depends on are run; the graph keeps them as they are.
So are 0-d tensors that are integers made of sizes: `div(x.shape[0], 2, rounding_mode="floor")`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from graphwright.capture.effects.data_dependent_errors import name_of
from graphwright.capture.exc import unsupported
from graphwright.ir.graph.node import Node, map_leaves, map_nodes
from graphwright.runtime import _core
from graphwright.runtime.symbolic.nodes import Sym, as_expr
from graphwright.runtime.symbolic.symint import IntLike, SymInt
from graphwright.runtime.tensor.dtypes import bool as bool_
from graphwright.runtime.tensor.dtypes import int64

KNOWN = "known"
"""The key of a node's meta that holds the version of its value as the operation left it."""
_INTEGER = "integer"
"""The key of a node's meta that holds the integer of symbols that it gives, and its version."""
_MOST_ELEMENTS = 10_000
_MOST_SIZE = 2**31
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1


def note_known(node: Node, result: Any, random: bool) -> bool:
    """Mark a node that gives the same whenever it runs; whether it gives a known integer."""
    if random or not isinstance(result, _core.TensorBase) or "empty" in name_of(node.target):
        return False
    version = result._storage._version
    if all(KNOWN in operand.meta for operand in node.all_input_nodes) and not _symbolic(node):
        node.meta[KNOWN] = version
        return _is_whole(result)
    if result.ndim or result.dtype is not int64:
        return False
    integer = _integer(node)
    if integer is not None:
        node.meta[_INTEGER] = integer, version
    return integer is not None


def integer_of(node: Node) -> IntLike | None:
    """The integer that a 0-d tensor is known to be; None of other tensors, and not known ones."""
    result = node.meta["val"]
    if _INTEGER in node.meta:
        integer, version = node.meta[_INTEGER]
        return integer if result._storage._version == version else None
    if KNOWN in node.meta and _is_whole(result):
        return int(known_value(node).item())
    return None


def _is_whole(result: Any) -> bool:
    dtype = result.dtype
    others = dtype.is_floating_point or dtype.is_complex or dtype is bool_
    return not result.ndim and not others


def _integer(node: Node) -> IntLike | None:
    """The integer that an operation makes of such; None of another operation."""
    name = name_of(node.target)
    operands = [integer_of(arg) if isinstance(arg, Node) else arg for arg in node.args]
    if name in _KEEPING:
        return operands[0] if operands else None
    rule = _INTEGERS.get(name)
    if rule is None or len(operands) != 2 or not {*map(type, operands)} <= {int, SymInt}:
        return None
    return rule(*operands, **node.kwargs)


def _divided(top: IntLike, bottom: IntLike, rounding_mode: Any = None) -> IntLike | None:
    """Only of what has no sign: both ways of rounding give the same."""
    if rounding_mode is None or not (top >= 0 and bottom > 0):
        return None
    return top // bottom


def _arithmetic(function: Callable[[Any, Any], Any]) -> Callable[..., IntLike | None]:
    def rule(one: IntLike, other: IntLike, **options: Any) -> IntLike | None:
        result: IntLike | None = None if options else function(one, other)
        return result if result is not None and _fits(result) else None

    return rule


def _fits(number: IntLike) -> bool:
    """Whether 64 bits surely hold it, for tensors wrap around: of sizes below `_MOST_SIZE`."""
    if not isinstance(number, SymInt):
        return _LOWEST <= number <= _HIGHEST
    expr = as_expr(number)
    low, high = expr.at({
        symbol.name: Sym(symbol.name, -_MOST_SIZE, _MOST_SIZE) for symbol in expr.symbols()
    }).range()
    return low is not None and high is not None and low >= _LOWEST and high <= _HIGHEST


_INTEGERS: dict[str, Callable[..., IntLike | None]] = {
    "div": _divided,
    "floor_divide": lambda top, bottom: _divided(top, bottom, "floor"),
    "floordiv": lambda top, bottom: _divided(top, bottom, "floor"),
    **{name: _arithmetic(getattr(operator, name)) for name in ("add", "sub", "mul")},
}
_KEEPING = ("clone", "detach", "long", "to")


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
