"""What depends on constants alone is computed now.

Before (`constant` is a tensor that the function closed over)::

    transpose = ops.transpose(constant, 0, 1)
    exp = ops.exp(transpose)
    mul = ops.mul(x, exp)

After::

    mul = ops.mul(x, folded)

Tensors made from numbers (`full`, `arange`) are left: kernels make them on the way; and so is what
lies on a GPU where there is none, for which the graph is only compiled.
"""

from __future__ import annotations

from graphwright.autograd import no_grad
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.ir.trace import refusals_of
from graphwright.runtime import _core
from graphwright.runtime.ops.table import Op
from graphwright.runtime.symbolic.symint import SymInt

LARGEST = 1 << 20
"""Results with more elements than this stay computed in the graph."""


def fold_constants(module: GraphModule) -> None:
    """See the module's docstring. Raises CannotLower where a node refuses its constants."""
    run = Interpreter(module)
    folded: set[Node] = set()
    with no_grad():
        for node in module.graph.nodes:
            if node.op == "get_attr":
                run.env[node] = module.attr(str(node.target))
                folded.add(node)
            elif _foldable(node, folded):
                with refusals_of(node):
                    run.env[node] = run.run_node(node)
                folded.add(node)
    for node in list(folded):
        if node.op != "get_attr" and any(user not in folded for user in node.users):
            with module.graph.inserting_before(node):
                path = module.add_attr("folded", run.env[node])
                constant = module.graph.get_attr(path)
            constant.meta = dict(node.meta)
            node.replace_all_uses_with(constant, lambda user: user not in folded)


def _foldable(node: Node, folded: set[Node]) -> bool:
    op, inputs = node.target, node.all_input_nodes
    if not isinstance(op, Op) or op.is_inplace or not inputs or not folded.issuperset(inputs):
        return False
    sizes: list[object] = []
    map_leaves(node.args, lambda a: sizes.append(a) if isinstance(a, SymInt) else None)
    value = node.meta["val"]
    if sizes or isinstance(value, tuple) or value.numel() > LARGEST:
        return False
    return value.device.type != "cuda" or _core.cuda_absence() is None
