"""Results are tensors of their own, with the strides that they have in eager execution.

Before::

    def forward(self, x):
        permute = ops.permute(x, (1, 0))
        exp = ops.exp(x)
        view = ops.view(exp, (-1,))
        return (permute, exp, view)

After::

    def forward(self, x):
        permute = ops.permute(x, (1, 0))
        exp = ops.exp(x)
        view = ops.view(exp, (-1,))
        clone = ops.clone(permute)
        clone_1 = ops.clone(view)
        return (clone, exp, clone_1)

Which results share memory for the user was settled by functionalisation; here those that would
share memory with an argument or with one another become copies, and so do those of which some
elements would be in one place.
"""

from __future__ import annotations

from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.ir.joint.joint import apart_like, restrided
from graphwright.ir.passes.algebra import same_sizes
from graphwright.runtime.ops.table import TABLE, Op


def own_outputs(module: GraphModule) -> None:
    """See the module's docstring."""
    output = module.graph.output_node()
    layouts = module.meta.get("layouts", ())
    seen: set[Node] = set()
    results: list[Any] = []
    with module.graph.inserting_before(output):
        for place, result in enumerate(output.args[0]):
            if isinstance(result, Node):
                layout = layouts[place] if place < len(layouts) else None
                result = _owned(module, result, layout, seen)
            results.append(result)
    module.graph.set_results(results)


def _owned(module: GraphModule, node: Node, layout: Any, seen: set[Node]) -> Node:
    """`node`, or a copy of it where it is not a tensor of its own with the right strides."""
    value = node.meta["val"]
    root = node
    while isinstance(root.target, Op) and root.target.is_view:
        root = root.args[0]
    shares = root in seen or root.op in ("placeholder", "get_attr")
    seen.add(root)
    wanted = value.stride() if layout is None else layout
    apart = apart_like(restrided(value, wanted))
    if not shares and same_sizes(apart.stride(), value.stride()):
        return node
    copy = module.graph.call_function(TABLE["clone"], (node,))
    copy.meta = dict(node.meta)
    copy.meta["val"] = apart
    return copy
