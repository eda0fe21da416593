"""How eager execution would lay out gradients that a compiled backward gave.

A backward is compiled for gradients of results that lie like the results. One that comes laid out
otherwise, as that of a sum does, is brought into that layout; the gradients of the inputs then lie
like what they were computed from. What eager execution gives them is found by running the joint
graph on tensors without data: once for each way in which the gradients of results come.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.lowered import Lowered
from graphwright.runtime import _core
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.fake import FakeTensor, make_fake
from graphwright.runtime.ops.strides import is_dense
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import Tensor

Strides = tuple[int, ...]


class GradientLayouts:
    """The layouts of the gradients of one compiled graph."""

    def __init__(self, lowered: Lowered) -> None:
        joint = lowered.joint
        self.joint = joint if isinstance(joint, GraphModule) else None
        self.n_gradients = len(lowered.grad_inputs)
        self._known: dict[tuple[Any, ...], list[Strides | None]] = {}

    def applied(
        self, gradients: Sequence[Any], tangents: Sequence[Strides], sizes: dict[str, int]
    ) -> list[Any]:
        """The gradients in the layouts that belong to tangents of these strides.

        sizes: the values of the graph's symbols. Gradients of what functions of the user's own
        differentiate stay as they are.
        """
        if self.joint is None:
            return list(gradients)
        key = (*tangents, *sizes.values())
        layouts = self._known.get(key)
        if layouts is None:
            layouts = self._known[key] = self._found(self.joint, tangents, sizes)
        return [_laid_out(gradient, strides)
                for gradient, strides in zip(gradients, layouts, strict=True)]

    def _found(
        self, joint: GraphModule, tangents: Sequence[Strides], sizes: dict[str, int]
    ) -> list[Strides | None]:
        values = [_of_this_call(node.meta["val"], sizes) for node in joint.graph.placeholders]
        first = len(values) - len(tangents)
        for place, strides in enumerate(tangents, first):
            like = values[place]
            values[place] = make_fake(like.shape, strides, like.dtype, like.device)
        random = _core.rng_state()
        results = without_autocast(joint, *values)
        _core.set_rng_state(*random)
        return [result.stride() if isinstance(result, FakeTensor) else None
                for result in results[len(results) - self.n_gradients:]]


def _of_this_call(value: Any, sizes: dict[str, int]) -> Any:
    """An argument of the joint graph with numbers for its symbols."""
    if isinstance(value, SymInt):
        return value.expr.evaluate(sizes)
    if not isinstance(value, FakeTensor):
        return value
    shape, strides = [
        tuple([_of_this_call(number, sizes) for number in numbers])
        for numbers in (value.shape, value.stride())
    ]
    return make_fake(shape, strides, value.dtype, value.device)


def _laid_out(gradient: Any, strides: Strides | None) -> Any:
    """The same values in memory of those strides; as they are where those would have gaps."""
    if gradient is None or strides is None or gradient.stride() == strides:
        return gradient
    if not is_dense(gradient.shape, strides):
        return gradient
    dense = _core.empty_strided(Tensor, gradient.shape, strides, gradient.dtype)
    return dense.copy_(gradient)
