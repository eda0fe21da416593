"""The gradients of a functional graph as a graph.

They are computed from the graph's inputs and the gradients of its results; the graph's
intermediate values are recomputed.

Before::

    def forward(self, x, y):
        exp = ops.exp(x)
        mul = ops.mul(exp, y)
        return (mul,)

After (the gradient of `x` alone)::

    def forward(self, x, y, tangent0):
        exp = ops.exp(x)
        mul = ops.mul(tangent0, y)
        mul_1 = ops.mul(mul, exp)
        return (mul_1,)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from graphwright.ir.control import contiguous_like
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.joint.joint import trace_joint
from graphwright.ir.trace import fresh_fake, trace
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


def needed(saved: Any, args: Sequence[Any], first: int = 0) -> tuple[int, ...]:
    """The places of the arguments that need a gradient; the op's parameters begin at `first`."""
    return tuple([place for place, arg in enumerate(args)
                  if isinstance(arg, Tensor) and saved.needs[f"t{place + first}"]])


def gradients_of(
    graph: GraphModule, wanted: Sequence[int], given: Collection[int]
) -> GraphModule:
    """The gradients of a functional graph.

    Args:
        wanted: the inputs whose gradients it returns, in row-major order.
        given: the results whose gradients it takes, in order, after the graph's own inputs.
    """
    places = list(given)
    values = [node.meta["val"] for node in graph.graph.placeholders]
    inputs = [fresh_fake(value, place in wanted) for place, value in enumerate(values)]
    joint = trace_joint(graph, inputs, places)
    outputs = [node.meta["val"] for node in graph.graph.output_node().args[0]]

    def gradients(*args: Any) -> tuple[Any, ...]:
        operands, grads = args[:len(values)], dict(zip(places, args[len(values):], strict=True))
        found: dict[int, Any] = {}
        if joint is not None:
            results = Interpreter(joint.module).run(
                *operands, *[grads[place] for place in joint.tangents])
            found = dict(zip(joint.grad_inputs, results[joint.n_forward:], strict=True))
        return tuple([_row_major(found.get(place), operands[place]) for place in wanted])

    tangents = [contiguous_like(outputs[place]) for place in places]
    result = trace(gradients, [*inputs, *tangents], keep=lambda op: True)
    result.graph.eliminate_dead_code(lambda node: False)    # what may fail has run before
    return result


def _row_major(grad: Any, like: Any) -> Any:
    if grad is None:
        return ops.zeros(like.shape, dtype=like.dtype, device=like.device)
    return ops.contiguous(grad)
