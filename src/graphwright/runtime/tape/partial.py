"""Passes that end before leaves: what a graph that runs hooks itself is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.engine import Key, _execute, _Run, edge_of
from graphwright.runtime.tape.node import Node


class _Partial(_Run):
    """Gradients are kept where the pass ends, before hooks see them; `.grad` is left alone."""

    def __init__(self, retain_graph: bool, wanted: dict[Key, int] | None, ends: set[Key]) -> None:
        super().__init__(retain_graph, wanted)
        self.ends = ends

    def send(self, edge: tuple[Any, int], grad: Any) -> None:
        """Add `grad` to what is pending at `edge`, or kept there."""
        key = id(edge[0]), edge[1]
        if key not in self.ends:
            super().send(edge, grad)
            return
        seen = self.results.get(key)
        self.results[key] = grad if seen is None else ops.add(seen, grad)

    def finish_leaf(self, key: int) -> None:
        """Hooks are not run."""
        self.results[key, 0] = self.leaves.pop(key)[1]


class Reached(_Partial):
    """Leaves are listed in the order in which the pass completes them, each with the sequence
    number of the node that does; nothing is freed before `release`.
    """

    def __init__(self) -> None:
        super().__init__(True, None, set())
        self.leaves_in_order: list[tuple[Any, int]] = []
        self.passed: list[Node] = []

    def release(self) -> None:
        """Free what the nodes have saved, as another pass would."""
        for node in self.passed:
            node.release()

    def counts(self) -> bool:
        return True

    def finish_leaf(self, key: int) -> None:
        self.leaves_in_order.append((self.leaves.pop(key)[0], self.latest))

    def _compute(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        self.passed.append(node)
        return super()._compute(node, grads)


def gradients_until(
    outputs: Sequence[Any], inputs: Sequence[Any], ends: Sequence[Any], grads: Sequence[Any]
) -> tuple[Any, ...]:
    """The gradients of leaves and then of `ends`, from which the pass does not go on.

    None for those that it does not reach. Nothing is freed, and no hooks run.
    """
    keys = [_key(tensor) for tensor in (*inputs, *ends)]
    run = _Partial(True, {key: i for i, key in enumerate(keys)}, set(keys[len(inputs):]))
    _execute(run, tuple(outputs), tuple(grads), False)
    return tuple([run.results.get(key) for key in keys])


def leaves_reached(outputs: Sequence[Any], grads: Sequence[Any]) -> Reached:
    """The pass that has gone to the leaves."""
    run = Reached()
    _execute(run, tuple(outputs), tuple(grads), False)
    return run


def _key(tensor: Any) -> Key:
    edge = edge_of(tensor)
    assert edge is not None
    return id(edge[0]), edge[1]
