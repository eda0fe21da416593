"""What depends on numbers alone is computed now, where ONNX has no form for it.

Before::

    arange = ops.arange(0, 8, 1, float32)
    i0 = ops.i0(arange)
    mul = ops.mul(x, i0)

After::

    mul = ops.mul(x, folded)
"""

from __future__ import annotations

import operator
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.onnx.exporting.ops import has_form
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.symbolic.symint import SymInt


def fold_constants(module: GraphModule, opset: int) -> None:
    """See the module's docstring."""
    known: set[Node] = set()
    lacking: list[Node] = []
    for node in module.graph.nodes:
        if node.op == "get_attr" or _depends_on(node, known):
            known.add(node)
            if isinstance(node.target, Op) and not has_form(node, opset):
                lacking.append(node)
    if not lacking:
        return
    run = Interpreter(module)
    with no_grad():
        for node in module.graph.nodes:
            if node in known:
                run.env[node] = run.run_node(node)
    for node in lacking:
        for part in (node, *[user for user in node.users if user.target is operator.getitem]):
            if not isinstance(run.env[part], tuple):
                _replace(module, part, run.env[part])
    module.graph.eliminate_dead_code(lambda node: False)


def _replace(module: GraphModule, node: Node, value: Any) -> None:
    with module.graph.inserting_before(node):
        constant = module.graph.get_attr(module.add_attr("folded", value))
    constant.meta = dict(node.meta)
    node.replace_all_uses_with(constant)


def _depends_on(node: Node, known: set[Node]) -> bool:
    """Whether a node is computed from numbers and known nodes, the same in every run."""
    if node.op != "call_function" or not known.issuperset(node.all_input_nodes):
        return False
    if isinstance(node.target, Op) and node.target.kind is Kind.RANDOM:
        return False
    sizes: list[Any] = []
    map_leaves(node.args, lambda one: sizes.append(one) if isinstance(one, SymInt) else None)
    return not sizes
