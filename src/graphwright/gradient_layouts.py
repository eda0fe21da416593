"""How eager execution would lay out gradients that a compiled backward gave.

A backward is compiled for gradients of results that lie like the results. One that comes laid out
otherwise, as that of a sum does, is brought into that layout; the gradients of the inputs then lie
like what they were computed from. What eager execution gives them is found by running the joint
graph on tensors without data: once for each way in which the gradients of results come, whatever
the sizes. Where the joint graph has views of what comes, eager execution copies what has no view
of that shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.ir.graph_module import GraphModule
from graphwright.ir.lowered import Lowered
from graphwright.runtime import _core
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.fake import FakeTensor, make_fake
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.ops.table import op
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import Tensor

Strides = tuple[int, ...]
Order = tuple[int, ...]
_MOST_KNOWN = 256


class GradientLayouts:
    """The layouts of the gradients of one compiled graph."""

    def __init__(self, lowered: Lowered) -> None:
        joint = lowered.joint
        self.joint = joint if isinstance(joint, GraphModule) else None
        self._replayed: GraphModule | None = None
        self.n_gradients = len(lowered.grad_inputs)
        self._orders: dict[tuple[Any, ...], list[Order | None]] = {}

    def applied(
        self, gradients: Sequence[Any], tangents: Sequence[Strides], shapes: Sequence[Any],
        sizes: dict[str, int],
    ) -> list[Any]:
        """The gradients in the layouts that belong to tangents of these strides.

        shapes: of the tangents. sizes: the values of the graph's symbols. Gradients of what
        functions of the user's own differentiate stay as they are.
        """
        if self.joint is None:
            return list(gradients)
        key = self._key(gradients, tangents, shapes, sizes)
        orders = self._orders.get(key)
        if orders is None:
            if len(self._orders) == _MOST_KNOWN:
                self._orders.clear()
            if self._replayed is None:
                self._replayed = _of_any_layout(self.joint)
            orders = self._orders[key] = self._found(self._replayed, tangents, sizes)
        return [_laid_out(gradient, order)
                for gradient, order in zip(gradients, orders, strict=True)]

    def _key(
        self, gradients: Sequence[Any], tangents: Sequence[Strides], shapes: Sequence[Any],
        sizes: dict[str, int],
    ) -> tuple[Any, ...]:
        """What the orders depend on: not the sizes, where tangents are dense or of one element."""
        nestings = [_nesting(shape, strides)
                    for shape, strides in zip(shapes, tangents, strict=True)]
        if None in nestings:
            return (*tangents, *sizes.values())
        single = [size < 2 for made in gradients if made is not None for size in made.shape]
        return (*nestings, *single)

    def _found(
        self, joint: GraphModule, tangents: Sequence[Strides], sizes: dict[str, int]
    ) -> list[Order | None]:
        values = [_of_this_call(node.meta["val"], sizes) for node in joint.graph.placeholders]
        first = len(values) - len(tangents)
        for place, strides in enumerate(tangents, first):
            like = values[place]
            values[place] = make_fake(like.shape, strides, like.dtype, like.device)
        random = _core.rng_state()
        results = without_autocast(joint, *values)
        _core.set_rng_state(*random)
        return [
            dense_order(result.shape, result.stride()) if isinstance(result, FakeTensor) else None
            for result in results[len(results) - self.n_gradients:]
        ]


def _of_any_layout(joint: GraphModule) -> GraphModule:
    """The graph with `reshape` for `view`, which some layouts have none of."""
    result = joint.copy()
    for node in result.graph.nodes:
        if node.target is op("view"):
            node.target = op("reshape")
    return result


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


def _nesting(shape: Any, strides: Strides) -> Order | None:
    """How a tangent lies, in a way that other sizes may have, too; None where it has gaps."""
    if strides and not any(strides):
        return (-1,) * len(strides)
    return dense_order(shape, strides)


def _laid_out(gradient: Any, order: Order | None) -> Any:
    """The same values with the dims in that order, fastest first; as they are for None."""
    if gradient is None or order is None:
        return gradient
    strides, step = [0] * len(order), 1
    for dim in order:
        strides[dim] = step
        step *= gradient.shape[dim] or 1
    if gradient.stride() == tuple(strides):
        return gradient
    dense = _core.empty_strided(Tensor, gradient.shape, tuple(strides), gradient.dtype)
    return dense.copy_(gradient)
