"""Compiled calls decomposed on the tape, where the whole gradient of a result is wanted.

Where output b of a graph is computed from output a, the node of the call gets only the gradient of
a that comes from outside. Once a hook on a, `retain_grad` or a gradient with respect to a needs
the rest, the captured graph runs again, op by op on the tape, and the call's node passes its
gradients on to that (see `ir.joint.retape_plan`). Otherwise nothing runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import ref

from graphwright.ir.joint.eager_tape import has_saved
from graphwright.ir.joint.retape_plan import Apart
from graphwright.runtime import _core
from graphwright.runtime.locks import Lock
from graphwright.runtime.tape.engine import RETAINING
from graphwright.runtime.tape.node import Edge, Leading, Node, gradient_edge
from graphwright.runtime.tape.saved import FREED
from graphwright.runtime.tensor.generator import restore_rng, rng_states

T = TypeVar("T")


class Foldable(Node):
    """The node of a call that may be decomposed.

    apart: how; None if no result is computed from another. ends: where the gradient of each of
    `apart.ends` goes since it was. views: the nodes of the caller's views, weakly.
    """

    __slots__ = ("apart", "ends", "views")

    apart: Apart | None
    ends: list[Edge] | None
    views: list[ref[ResultView]]

    def __init__(self, name: str, edges: Sequence[Edge], apart: Apart | None) -> None:
        if apart is not None:
            _core.skip_sequence(apart.room)
        super().__init__(name, edges)
        self.apart, self.ends, self.views = apart, None, []
        self.output_hooks = None if apart is None else {}

    def run_again(self, run: Callable[[list[Any]], T]) -> T | None:
        """What `run` makes of what the call was given, in the state that it ran in; None where
        that was released."""
        raise NotImplementedError

    def closed_ways(self) -> int:
        """The ways of `Lowered.passages` that were released, as bits of a number."""
        raise NotImplementedError

    def unfolded(self) -> None:
        """Called once the node has been decomposed."""

    def place(self, number: int) -> tuple[Any, int]:
        """Where all that arrives at an output comes together."""
        return self.end(number) or (self, number)

    def end(self, number: int) -> Edge:
        """Where all that arrives at one of `apart.ends` comes together, if not where the caller
        sees it."""
        if self.apart is not None and self.apart.interior >> number & 1:
            self.unfold()
        return None if self.ends is None else self.ends[number]

    def hands_hooks_on(self) -> bool:
        """Whether hooks on its outputs run elsewhere: where all that arrives comes together."""
        if self.apart is None:
            return False
        hooked = [(self, 0), *[(view, view.number) for view in self.living_views()]]
        if any(self.asks(node, first) for node, first in hooked):
            self.unfold()
        if self.ends is None:
            return False
        _hand_on(hooked, self.ends)
        return True

    def living_views(self) -> list[ResultView]:
        """The nodes of the caller's views that are still there."""
        return [view for view in (weak() for weak in self.views) if view is not None]

    def asks(self, node: Node, first: int) -> bool:
        """Whether there are hooks on an output of a node, its first being the end `first`, that
        others are computed from."""
        interior = 0 if self.apart is None else self.apart.interior
        return any(hooks and interior >> first + output_of(key) & 1
                   for key, hooks in (node.output_hooks or {}).items())

    def unfold(self) -> None:
        """Lead to the tape of the call's operations, unless all was released."""
        apart = self.apart
        found = None if apart is None or self.ends is not None else self.run_again(apart.rerun)
        if apart is None or found is None:
            return
        edges, begin = found
        self._release([node for node in newer(edges, begin) if has_saved(node)], apart.ways)
        ends = [_on_its_own(edge, begin) for edge in edges]
        nodes = newer(ends, self.sequence)
        if len(nodes) > apart.room:
            raise RuntimeError(f"there is no room for {len(nodes)} nodes before a compiled call's")
        for place, node in enumerate(nodes, 1):
            node.sequence = self.sequence - place
        with _UNFOLDING.now:
            if self.ends is None:
                self.edges, self.ends = ends[:len(self.outputs)], ends
        self.unfolded()

    def _release(self, nodes: Sequence[Node], ways: Sequence[int | None]) -> None:
        """Release what the rerun saved on ways that are closed."""
        closed = self.closed_ways()
        if not closed:
            return
        if len(nodes) != len(ways):
            raise RuntimeError(FREED)
        for node, way in zip(nodes, ways, strict=True):
            if way is not None and closed >> way & 1:
                node.release()


_UNFOLDING = Lock()
"""Held while a call's node gets its ends: of two threads that work them out one has its own."""


class ResultView(Leading):
    """Stands before the node of a view that the caller has of an output or input.

    number: of its end. It leads there once the call was decomposed.
    """

    __slots__ = ("call", "number")

    checked = True

    def __init__(self, call: Foldable, number: int, tensor: Any) -> None:
        edge = gradient_edge(tensor)
        assert edge is not None
        super().__init__(edge[0].name() if isinstance(edge[0], Node) else "AliasBackward0", [edge])
        self.call, self.number = call, number
        self.outputs.append((tensor.shape, tensor.dtype, tensor.device))
        self.output_hooks = {}
        call.views.append(ref(self))
        tensor.grad_fn, tensor.output_nr = self, 0

    def check(self, grads: list[Any], wanted: Sequence[bool], releases: bool) -> None:
        """Raise RuntimeError where eager execution finds a saved tensor written."""
        tangent = self.call.apart.ends[self.number].tangent if self.call.apart else -1
        if self.call.ends is not None and tangent >= 0:
            self.call.check([grads[0] if number == tangent else None
                             for number in range(len(self.call.outputs))], (), releases)

    def place(self, number: int) -> tuple[Any, int]:
        return self.call.end(self.number) or (self, number)

    def hands_hooks_on(self) -> bool:
        if not self.call.hands_hooks_on():
            return False
        assert self.call.ends is not None
        self.edges = [self.call.ends[self.number]]
        return True


def newer(edges: Sequence[Edge], begin: int) -> list[Node]:
    """The nodes behind edges that were made after a number was given, latest first."""
    found: set[Node] = set()
    pending = [edge[0] for edge in edges if edge is not None]
    while pending:
        node = pending.pop()
        if isinstance(node, Node) and node.sequence > begin and node not in found:
            found.add(node)
            pending += [edge[0] for edge in node.edges if edge is not None]
    return sorted(found, key=lambda node: -node.sequence)


def output_of(key: int) -> int:
    """The output that hooks under a key of `output_hooks` belong to."""
    return key if key >= 0 else RETAINING - key


def _hand_on(hooked: Sequence[tuple[Node, int]], ends: Sequence[Edge]) -> None:
    """Put the hooks on nodes' outputs, the first of each being the end of that number, there."""
    found: dict[Node, dict[int, dict[int, Callable[..., Any]]]] = {
        edge[0]: {} for edge in ends if edge is not None}
    for node, first in hooked:
        for key, hooks in (node.output_hooks or {}).items():
            edge = ends[first + output_of(key)]
            if edge is not None:
                place = edge[1] if key >= 0 else RETAINING - edge[1]
                found[edge[0]].setdefault(place, {}).update(hooks)
    for target, hooks_there in found.items():
        target.output_hooks = hooks_there


def _on_its_own(edge: Edge, begin: int) -> Edge:
    """An edge to a node of the rerun: one that leads to what was there before gets another."""
    if edge is None or (isinstance(edge[0], Node) and edge[0].sequence > begin):
        return edge
    return Leading("AliasBackward0", [edge]), 0


@contextmanager
def replaying(rng: Any) -> Iterator[None]:
    """Draw the random numbers of an earlier state again; go on from the present one after."""
    if rng is None:
        yield
        return
    present = rng_states()
    restore_rng(rng)
    try:
        yield
    finally:
        restore_rng(present)
