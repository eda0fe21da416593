"""How the gradients that a joint graph returns lie in memory."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.ops.strides import dense_order

Order = tuple[int, ...]


class Layout(NamedTuple):
    """order: the dims of a dense gradient, fastest first, or None; expanded: those of stride 0."""

    order: Order | None
    expanded: tuple[int, ...]


def layout_of(made: Any) -> Layout:
    """The layout of a fake tensor; of None that of nothing."""
    if not isinstance(made, FakeTensor):
        return Layout(None, ())
    shape, strides = made.shape, made.stride()
    pairs = zip(shape, strides, strict=True)
    expanded = tuple([dim for dim, (size, step) in enumerate(pairs)
                      if type(step) is int and step == 0 and not (type(size) is int and size < 2)])
    return Layout(None if expanded else dense_order(shape, strides), expanded)


def expanded_gradients(joint: object, count: int) -> list[tuple[int, ...]] | None:
    """Of each of the last `count` results of a joint graph the dims that it expands; None where
    functions of the user's own differentiate, which no graph describes."""
    if not isinstance(joint, GraphModule):
        return None
    returned = joint.graph.output_node().args[0]
    made = [node.meta.get("val") if isinstance(node, Node) else None
            for node in returned[len(returned) - count:]]
    return [layout_of(value).expanded for value in made]
