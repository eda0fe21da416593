"""How eager execution would lay out gradients that a compiled backward gave.

A backward is compiled for gradients of results that lie like the results. One that comes laid out
otherwise, as that of a sum does, is brought into that layout; the gradients of the inputs then lie
like what they were computed from. What eager execution gives them is found by running the joint
graph on tensors without data: once for each way in which the gradients of results come, whatever
the sizes. Where the joint graph has views of what comes, eager execution copies what has no view
of that shape. A gradient that eager execution expands, such as that of what is summed, is expanded
here too, from the first of the elements that are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.joint.gradient_strides import Layout, Order, layout_of
from graphwright.ir.lowered_graph import Lowered
from graphwright.runtime.dispatch import without_autocast
from graphwright.runtime.fake.fake_tensor import FakeTensor, make_fake
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.ops.table import op
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.generator import restore_rng, rng_states

Strides = tuple[int, ...]
_MOST_KNOWN = 256


class GradientLayouts:
    """The layouts of the gradients of one compiled graph."""

    def __init__(self, lowered: Lowered) -> None:
        self._lowered = lowered
        self._replayed: GraphModule | None = None
        self.n_gradients = len(lowered.grad_inputs)
        self._layouts: dict[tuple[Any, ...], list[Layout]] = {}
        self._expanded = lowered.expanded or []
        self.expands = any(self._expanded)

    @property
    def replayed(self) -> GraphModule | None:
        """The joint graph for tangents of any layout; None where no graph describes the gradients.
        """
        if self._replayed is None and self._lowered.expanded is not None:
            joint = self._lowered.joint
            assert isinstance(joint, GraphModule)
            self._replayed = _of_any_layout(joint)
        return self._replayed

    def applied(
        self, gradients: Sequence[Any], tangents: Sequence[Strides], shapes: Sequence[Any],
        sizes: dict[str, int],
    ) -> list[Any]:
        """The gradients in the layouts that belong to tangents of these strides.

        shapes: of the tangents. sizes: the values of the graph's symbols. Gradients of what
        functions of the user's own differentiate stay as they are.
        """
        if self._lowered.expanded is None:
            return list(gradients)
        key = self._key(gradients, tangents, shapes, sizes)
        layouts = self._layouts.get(key)
        if layouts is None:
            if len(self._layouts) == _MOST_KNOWN:
                self._layouts.clear()
            layouts = self._layouts[key] = self._found(tangents, sizes)
        return [_laid_out(gradient, layout)
                for gradient, layout in zip(gradients, layouts, strict=True)]

    def expanded(self, gradients: Sequence[Any]) -> list[Any]:
        """The gradients that belong to tangents which lie like the results."""
        return [_expand(gradient, dims)
                for gradient, dims in zip(gradients, self._expanded, strict=True)]

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

    def _found(self, tangents: Sequence[Strides], sizes: dict[str, int]) -> list[Layout]:
        joint = self.replayed
        assert joint is not None
        values = [_of_this_call(node.meta["val"], sizes) for node in joint.graph.placeholders]
        first = len(values) - len(tangents)
        for place, strides in enumerate(tangents, first):
            like = values[place]
            values[place] = make_fake(like.shape, strides, like.dtype, like.device)
        random = rng_states()
        results = without_autocast(joint, *values)
        restore_rng(random)
        return [layout_of(result) for result in results[len(results) - self.n_gradients:]]


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


def _expand(gradient: Any, dims: tuple[int, ...]) -> Any:
    """A view of the first elements along `dims`, of the same shape; the others are equal."""
    if gradient is None or not dims:
        return gradient
    strides = list(gradient.stride())
    for dim in dims:
        strides[dim] = 0
    return gradient.as_strided(gradient.shape, strides)


def _laid_out(gradient: Any, layout: Layout) -> Any:
    """The same values in that layout; as they are for one that is neither dense nor expanded."""
    order = layout.order
    if gradient is None or order is None:
        return _expand(gradient, layout.expanded)
    strides, step = [0] * len(order), 1
    for dim in order:
        strides[dim] = step
        step *= gradient.shape[dim] or 1
    if gradient.stride() == tuple(strides):
        return gradient
    return with_strides(gradient, tuple(strides))


def with_strides(gradient: Any, strides: tuple[int, ...]) -> Any:
    """A copy of a gradient with these strides."""
    made = ops.empty_strided(
        gradient.shape, strides, dtype=gradient.dtype, device=gradient.device)
    return made.copy_(gradient)
