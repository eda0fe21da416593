"""From what an operation gave on fake tensors to trackers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.symbolic_strides import holds_tensors
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.named_tuples import NamedTupleVariable
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SizeVariable,
    TupleVariable,
)
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.ir.graph.node import RECOMPUTED, Node
from graphwright.runtime import _core
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.memory_format import layout, memory_format
from graphwright.runtime.tensor.size import Size

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph

_PLAIN = (
    int, float, bool, str, bytes, complex, type(None), Device, DType, layout, memory_format,
)  # fmt: skip


def wrap_result(output: OutputGraph, node: Node, result: Any) -> VariableTracker:
    """The tracker of what a node computes."""
    if isinstance(result, _core.TensorBase):
        return output.computed(node, result)
    if isinstance(result, (tuple, list)):
        items = [_item(output, node, i, item) for i, item in enumerate(result)]
        if type(result) is tuple:
            return TupleVariable(items)
        if type(result) is list:
            return ListVariable(items)
        return NamedTupleVariable(items, type(result))
    return plain_result(output, result, node.target)


def _item(output: OutputGraph, node: Node, index: int, value: Any) -> VariableTracker:
    if not holds_tensors(value):
        return plain_result(output, value, node.target)
    part = output.graph.call_function(operator.getitem, (node, index))
    part.meta.update(stack=node.meta["stack"], val=value)
    if RECOMPUTED in node.meta:
        part.meta[RECOMPUTED] = True
    return wrap_result(output, part, value)


def plain_result(output: OutputGraph, result: Any, target: Any) -> VariableTracker:
    """The tracker of a result that needs no node."""
    if isinstance(result, (tuple, list)):
        items = [plain_result(output, item, target) for item in result]
        if type(result) is Size:
            return SizeVariable(items)
        if type(result) is tuple:
            return TupleVariable(items)
        return ListVariable(items)
    if isinstance(result, SymInt):
        return SymIntVariable(result)
    if isinstance(result, _PLAIN):
        return output.constant(result)
    unsupported("GB0008", f"{target} gives a {type(result).__name__}")
