"""What no result needs is erased.

Before::

    exp = ops.exp(x)
    neg = ops.neg(exp)
    return (exp,)

After::

    exp = ops.exp(x)
    return (exp,)

Arguments stay. Writes to memory stay, and so do ops that may raise by what tensors hold. Random
ops go: each has its own number, so that those that remain draw what they would have drawn, and the
graph's meta says how many there were.
"""

from __future__ import annotations

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.passes.keep_data_checks import may_refuse
from graphwright.runtime.ops.table import Op


def eliminate_dead_code(module: GraphModule) -> None:
    """See the module's docstring."""
    module.graph.eliminate_dead_code(is_impure)


def is_impure(node: Node) -> bool:
    """Whether a node does more than give a value."""
    if node.op == "call_function":
        return may_refuse(node) or (isinstance(node.target, Op) and node.target.is_inplace)
    return node.op in ("call_module", "call_method")
