"""Results that would share memory with an argument, or with one another, become copies.

Before::

    def forward(self, x):
        permute = ops.permute(x, (1, 0))
        return (permute, permute, x)

After::

    def forward(self, x):
        permute = ops.permute(x, (1, 0))
        clone = ops.clone(permute)
        clone_1 = ops.clone(permute)
        clone_2 = ops.clone(x)
        return (clone, clone_1, clone_2)

Which results share memory for the user was settled by functionalisation; what is an output of
the graph after that is a tensor of its own, without gaps in its memory.
"""

from __future__ import annotations

from typing import Any

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.joint import dense_like
from graphwright.ir.node import Node
from graphwright.runtime.ops.table import TABLE, Op


def own_outputs(module: GraphModule) -> None:
    """See the module's docstring."""
    output = module.graph.output_node
    seen: set[Node] = set()
    results: list[Any] = []
    with module.graph.inserting_before(output):
        for result in output.args[0]:
            if isinstance(result, Node) and (result in seen or _shares(result)):
                result = _copy(module, result)
            results.append(result)
            if isinstance(result, Node):
                seen.add(result)
    module.graph.set_results(results)


def _shares(node: Node) -> bool:
    return node.op in ("placeholder", "get_attr") or (
        isinstance(node.target, Op) and node.target.is_view)


def _copy(module: GraphModule, node: Node) -> Node:
    dense = dense_like(node.meta["val"])
    name = "clone" if dense.stride() == node.meta["val"].stride() else "contiguous"
    copy = module.graph.call_function(TABLE[name], (node,))
    copy.meta = dict(node.meta)
    copy.meta["val"] = dense
    return copy


