"""A captured graph of a branch as the functional graph that `ir.control` runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.passes.dce import eliminate_dead_code
from graphwright.ir.passes.functionalise import functionalise
from graphwright.ir.passes.normalise import normalise


def functional(module: GraphModule, inputs: Sequence[Any], needs_grad: bool) -> GraphModule:
    """The graph with ops of the table only, none of which writes to memory.

    Args:
        inputs: fake values of its arguments.
        needs_grad: whether gradients flow through it.

    Raises: CannotLower where a result is no tensor of the graph's own, an argument is written, or
        an op refuses its arguments.
    """
    found = functionalise(normalise(module, inputs), inputs, needs_grad)
    if found.mutated:
        raise CannotLower("an argument is changed in place")
    if any(spec.kind != "fresh" or spec.views for spec in found.outputs):
        raise CannotLower("a result shares memory with another, or with an argument")
    eliminate_dead_code(found.module)
    return found.module
