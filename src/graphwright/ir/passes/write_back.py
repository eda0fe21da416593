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
from graphwright.ir.passes.refusals import may_refuse
from graphwright.runtime.ops.table import TABLE


def may_fail(module: GraphModule) -> bool:
    """Whether values of tensors could make the graph raise."""
    return any(may_refuse(node) for node in module.graph.nodes)


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
