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
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.function import PUSHING, FunctionNode
from graphwright.runtime.tape.node import Node, gradient_edge


def pushing(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, a first pass, in which Functions with a `jvp` give zeros.

    In captured graphs, where Functions are ops with the gradient `backward`, it is the call alone.
    """
    before, PUSHING.rows = PUSHING.rows, _rows
    try:
        return function(*args)
    finally:
        PUSHING.rows = before


def _rows(node: FunctionNode, grads: list[Any]) -> list[Any]:
    """Zeros for each input that is differentiated, from which `jvp` leads to the cotangents."""
    edges = [gradient_edge(g) if isinstance(g, TensorBase) else None for g in grads]
    back = _JvpNode(node, edges)
    rows: list[Any] = [None] * len(node.edges)
    device = next(device for _, dtype, device in node.outputs if dtype)
    for slot, edge in enumerate(node.edges):
        if edge is not None:
            shape, dtype = node.inputs[slot]
            zeros: Any = ops.zeros(shape, dtype=dtype, device=device)
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
        given = self._tangents(grads)
        saved = context._saved
        context._saved = list(context._ahead) or saved
        try:
            result = node.function.jvp(context, *given)
        finally:
            context._saved = saved
        found = list(result) if isinstance(result, tuple | list) else [result]
        _check(node, found)
        return found

    def _tangents(self, grads: list[Any]) -> list[Any]:
        """The tangent of each argument of forward; zeros for tensors that have none, if wanted."""
        node = self.forward
        given: list[Any] = [None] * len(node.inputs)
        for slot, tangent in zip(self.slots, grads, strict=True):
            given[slot] = tangent
        if node.context._materialize:
            device = self.outputs[0][2]
            for slot, about in enumerate(node.inputs):
                if about is not None and given[slot] is None:
                    given[slot] = ops.zeros(about[0], dtype=about[1], device=device)
        return given


def _check(node: FunctionNode, tangents: list[Any]) -> None:
    """Raise RuntimeError unless there is a tangent, or None, of its shape for each output."""
    name = f"{node.function.__name__}.jvp"
    if len(tangents) != len(node.outputs):
        raise RuntimeError(
            f"{name} returned an invalid number of forward gradients (expected "
            f"{len(node.outputs)} but got {len(tangents)})"
        )
    for number, (tangent, (shape, _, _)) in enumerate(zip(tangents, node.outputs, strict=True)):
        if tangent is None:
            continue
        if not isinstance(tangent, TensorBase):
            raise RuntimeError(
                f"{name} expected Tensor or None (got {type(tangent).__name__}) for output "
                f"{number}"
            )
        if tuple(tangent.shape) != tuple(shape):
            raise RuntimeError(
                f"{name} returned a forward gradient of a different size than that of output "
                f"{number}: it is of size {list(shape)}, the forward gradient of size "
                f"{list(tangent.shape)}"
            )
