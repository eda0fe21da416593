"""What it costs to save a value for the backward, and to compute it a second time there.

Costs count bytes of memory traffic, the scarce resource of most of these graphs; arithmetic is
expressed in the bytes that could be moved meanwhile.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from graphwright.ir.graph.node import Node
from graphwright.ir.passes.keep_data_checks import may_refuse
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.symbolic.symint import hint_of
from graphwright.utils.flop_counter import FORMULAS, WITH_RESULT

FLOPS = 8
"""Floating point operations of a product in the time of a byte."""
SEQUENTIAL = 8
"""How much longer the steps of a recurrence take than one product of all of them."""
PLAIN, LONG = 0.25, 6.0
"""Bytes in the time of an element of a plain operation, and of a long one such as `exp`."""
LAUNCH = 1 << 15
"""Bytes in the time that the start of one more kernel takes."""
PASSES = 4
"""How often an operation without a better estimate is taken to go through its memory."""

_LONG = frozenset((
    "exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "asinh", "acosh", "atanh", "tanh", "sigmoid", "erf", "erfc", "erfinv",
    "normal_cdf", "pow", "atan2", "fmod", "remainder", "lgamma", "digamma"))
_REPEATABLE = frozenset((
    Kind.POINTWISE, Kind.REDUCTION, Kind.VIEW, Kind.CONTRACTION, Kind.INDEXING, Kind.CREATION))
_GATHERS = frozenset((
    "contiguous", "clone", "im2col", "constant_pad", "cat", "view_scatter", "index_select",
    "gather"))


def bytes_of(node: Node) -> int:
    """The size of a node's value in bytes, at the sizes of the trace; 0 of what is no tensor."""
    return sum(_bytes(value) for value in _tensors(node))


def _tensors(node: Node) -> tuple[Any, ...]:
    value = node.meta.get("val")
    values = value if isinstance(value, tuple) else (value,)
    return tuple(each for each in values if hasattr(each, "numel"))


def _bytes(value: Any) -> int:
    return int(value.dtype.itemsize * hint_of(value.numel()))


def is_view(node: Node) -> bool:
    """Whether a node's value shares the memory of its first operand."""
    return isinstance(node.target, Op) and node.target.is_view


def is_drawn(node: Node) -> bool:
    """Whether a node draws random numbers."""
    return isinstance(node.target, Op) and node.target.kind is Kind.RANDOM


def is_fused(node: Node) -> bool:
    """Whether a node's loops become part of its readers' kernels: its value needs no memory."""
    op = node.target
    return isinstance(op, Op) and (
        op.is_view or op.kind in (Kind.POINTWISE, Kind.CREATION) or op.name in _GATHERS)


def can_repeat(node: Node) -> bool:
    """Whether a second run of the node, later, surely gives the same."""
    op = node.target
    return op is operator.getitem or (isinstance(op, Op) and not op.is_inplace and (
        op.kind in _REPEATABLE or (op.kind is Kind.OTHER and not may_refuse(node))))


def work(node: Node) -> float:
    """What running a node takes, without the store of a result that is fused into its reader."""
    op = node.target
    if not isinstance(op, Op) or op.is_view or op.kind is Kind.CREATION:
        return 0.0
    size = bytes_of(node)
    if op.kind is Kind.POINTWISE:
        elements = sum(hint_of(value.numel()) for value in _tensors(node))
        return float(elements * (LONG if op.name in _LONG else PLAIN))
    read = sum(bytes_of(source) for source in node.all_input_nodes)
    if op.name in _GATHERS:
        return float(read + size)
    if op.kind is Kind.REDUCTION:
        return float(LAUNCH + read + size)
    flops = _flops(node, op)
    return LAUNCH + 2 * size + (flops / FLOPS if flops else PASSES * (read + size))


def _flops(node: Node, op: Op) -> int:
    formula = FORMULAS.get(op.name)
    if formula is None:
        return 0
    args = [arg.meta["val"] if isinstance(arg, Node) else arg for arg in node.args]
    out = {"out": _tensors(node)[0]} if op.name in WITH_RESULT else {}
    flops = int(hint_of(formula(*args, **out)))
    return flops * SEQUENTIAL if op.name == "recurrence" else flops


def is_stored(node: Node, reads: Callable[[Node], bool]) -> bool:
    """Whether the value is in memory anyway: it is made, or read where `reads` is true of the
    reader, by an operation that is not part of their kernels."""
    if not is_fused(node):
        return True
    pending = list(node.users)
    while pending:
        user = pending.pop()
        if is_view(user):
            pending += user.users
        elif reads(user) and isinstance(user.target, Op) and not is_fused(user) and (
                user.target.kind is not Kind.REDUCTION):
            return True
    return False
