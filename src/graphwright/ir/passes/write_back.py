"""New values of arguments that were mutated are written by the graph itself, at its end.

Before, with `mutated = [(0, 1)]`::

    def forward(self, x, y):
        add = ops.add(x, y)
        mul = ops.mul(add, 2)
        return (mul, add)

After, with `mutated = [(0, -1)]`::

    def forward(self, x, y):
        add = ops.add(x, y)
        mul = ops.mul(add, 2)
        copy_ = ops.copy_(x, add)
        return (mul,)

A new value through which gradients flow, or which the backward graph needs, stays an output: the
caller puts it into the argument, where the tape sees it. So do all where the graph may fail in its
middle, at an index out of range: a call that raises has changed nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.node import Node
from graphwright.runtime.ops.table import TABLE, Kind, Op

_SURE = frozenset(
    [Kind.POINTWISE, Kind.REDUCTION, Kind.VIEW, Kind.CONTRACTION, Kind.RANDOM, Kind.CREATION]
)
_DIVIDES = frozenset(["div", "remainder", "fmod", "floor_divide"])


def may_fail(module: GraphModule) -> bool:
    """Whether values of tensors could make the graph raise."""
    return any(_may_fail(node) for node in module.graph.nodes)


def _may_fail(node: Node) -> bool:
    op = node.target
    if not isinstance(op, Op) or op.name in ("copy_", "cat", "constant_pad"):
        return False
    if op.name in _DIVIDES:
        return not node.meta["val"].dtype.is_floating_point
    return op.kind not in _SURE


def write_back(
    module: GraphModule, mutated: list[tuple[int, int]], keep: Collection[int]
) -> dict[int, int]:
    """See the module's docstring. `mutated` pairs arguments with outputs; `keep` are outputs.

    Returns: the outputs that are left, old index to new.
    """
    output = module.graph.output_node
    results = list(output.args[0])
    arguments = module.graph.placeholders
    written = {place: index for index, place in mutated if place not in keep}
    with module.graph.inserting_before(output):
        for place, index in written.items():
            copy = module.graph.call_function(TABLE["copy_"], (arguments[index], results[place]))
            copy.meta["val"] = arguments[index].meta["val"]
    left = [place for place in range(len(results)) if place not in written]
    module.graph.set_results([results[place] for place in left])
    return {old: new for new, old in enumerate(left)}
