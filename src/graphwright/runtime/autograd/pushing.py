"""The `jvp` of Functions, in a forward mode that differentiates twice in reverse.

The first of the two passes makes cotangents of inputs, which are linear in a vector at the
outputs; only this linear map matters, so that the vector may be zero. The second pass turns the
map around: it brings tangents from the inputs to the outputs. Where a Function has a `jvp`, zeros
stand in the first pass for what `backward` would give, and the second calls `jvp` for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.autograd.function import PUSHING, FunctionNode
from graphwright.runtime.autograd.node import Node, gradient_edge
from graphwright.runtime.ops import _face as ops


def pushing(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, a first pass, in which Functions with a `jvp` give zeros.

    In captured graphs, where Functions are ops with the gradient `backward`, it is the call alone.
    """
    before, PUSHING.active = PUSHING.active, True
    try:
        return function(*args)
    finally:
        PUSHING.active = before


def _rows(node: FunctionNode, grads: list[Any]) -> list[Any]:
    """Zeros for each input that is differentiated, from which `jvp` leads to the cotangents."""
    edges = [gradient_edge(g) if isinstance(g, TensorBase) else None for g in grads]
    back = _JvpNode(node, edges)
    rows: list[Any] = [None] * len(node.edges)
    device = next(device for _, dtype, device in node.outputs if dtype)
    for slot, edge in enumerate(node.edges):
        if edge is not None:
            shape, dtype = node.inputs[slot]
            zeros = ops.zeros(shape, dtype=dtype, device=device)
            zeros.grad_fn, zeros.output_nr = back, len(back.slots)
            back.outputs.append((shape, dtype, device))
            back.slots.append(slot)
            rows[slot] = zeros
    return rows


class _JvpNode(Node):
    """Takes tangents of a Function's inputs to tangents of its outputs."""

    __slots__ = ("forward", "slots")

    def __init__(self, forward: FunctionNode, edges: list[Any]) -> None:
        super().__init__(f"{forward.function.__name__}Jvp", edges)
        self.forward = forward
        self.slots: list[int] = []

    def compute(self, grads: list[Any]) -> list[Any]:
        node = self.forward
        context = node.context
        given: list[Any] = [None] * len(node.inputs)
        for slot, tangent in zip(self.slots, grads, strict=True):
            given[slot] = tangent
        if context._materialize:
            device = self.outputs[0][2]
            for slot, about in enumerate(node.inputs):
                if about is not None and given[slot] is None:
                    given[slot] = ops.zeros(about[0], dtype=about[1], device=device)
        saved = context._saved
        context._saved = list(context._ahead) or saved
        try:
            result = node.function.jvp(context, *given)
        finally:
            context._saved = saved
        found = list(result) if isinstance(result, tuple | list) else [result]
        if len(found) != len(self.edges):
            raise RuntimeError(
                f"{node.function.__name__}.jvp returned an incorrect number of tangents "
                f"(expected {len(self.edges)}, got {len(found)})"
            )
        return found


PUSHING.__class__.rows = staticmethod(_rows)
