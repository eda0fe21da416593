"""How a compiled call is decomposed: into the tape that eager execution would have.

A compiled call has one node on the tape. What arrives at one of its results from outside is
known there; what comes through other results, which are computed from it, is not. Where somebody
asks for all of it, the captured graph runs again, op by op, on the tape, and the node hands on to
that. This module works out, once for each graph, which results that concerns and where in a rerun
each result's gradient goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.amp import state as amp
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.joint.eager_tape import History, edge_of, has_saved, reached
from graphwright.ir.joint.joint import Joint
from graphwright.ir.lowered_graph import UNRECORDED, OutputSpec
from graphwright.runtime import _core
from graphwright.runtime.ops.strides import same_shape
from graphwright.runtime.record import Record
from graphwright.runtime.tape.node import Edge, Node, next_sequence
from graphwright.runtime.tape.saved import saved_as_it_is
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.torch_function import FUNCTIONS

PER_NODE = 2
"""How many nodes eager execution may record for one that was recorded on fake tensors: those are
mostly more, as of what gives several views at once."""


class End(Record):
    """A tensor at which gradients arrive.

    kind: "result": the graph's result `index`; "base": what that is a view of; "input": the
    graph's input `index`, which it has written. tangent: the output of the compiled forward that
    the caller's tensor is made of, as a position in `Lowered.tangents`; -1 for none.
    """

    kind: str
    index: int
    tangent: int

    def tensor(self, inputs: Sequence[Any], results: Sequence[Any]) -> Any:
        """Which tensor that is, after a run of the captured graph."""
        found = (inputs if self.kind == "input" else results)[self.index]
        return found._base if self.kind == "base" else found


class Apart(Record):
    """How to decompose a call: rerun it op by op on the tape.

    Attributes:
        captured: the graph as it came; autocast, default: the thread's state of that at its start
            and the default dtype.
        ends: one for each of `Lowered.tangents`, then those of `views`.
        views: the results that are made from outputs or inputs outside of the compiled forward,
            and the inputs that it writes: their own nodes lead to its node.
        interior: as bits of a number, those of `ends` that others are computed from.
        ways: for each node that eager execution records and on which it saves something, latest
            first, the place in `Lowered.passages` of the way that it lies on, or None.
        room: how many nodes may come between those of before the call and its own.
    """

    captured: GraphModule
    autocast: int
    default: dtypes.dtype
    ends: list[End]
    views: list[End]
    interior: int
    ways: list[int | None]
    room: int

    def rerun(self, inputs: list[Any]) -> tuple[list[Edge], int]:
        """Run the captured graph on the tape.

        Returns: where the gradient of each of `ends` goes then; and a number between those of the
        nodes that led to the inputs and those that the run has recorded.
        """
        begin = next_sequence()
        with saved_as_it_is(), dtypes.default_dtype(self.default):
            results = _core.with_grad_mode(True, self._run, inputs)
        return [edge_of(end.tensor(inputs, results)) for end in self.ends], begin

    def _run(self, inputs: list[Any]) -> Sequence[Any]:
        _core.set_overrides_enabled(False)
        _core.set_modes(_core.modes() & ~FUNCTIONS)
        amp.set_autocast(self.autocast)
        results: Sequence[Any] = Interpreter(self.captured).run(*inputs)
        return results


def apart_of(
    captured: GraphModule, history: History, joint: Joint, outputs: Sequence[OutputSpec],
    mutated: Sequence[tuple[int, int]], shapes: Sequence[Any],
) -> Apart | None:
    """How to decompose calls of a graph; None if no result is computed from another.

    Args:
        outputs, mutated: as in `History.kept`; shapes: those of the forward graph's outputs.
    """
    tangents = [_tangent_end(history, outputs, mutated, number, place, shapes[place])
                for number, place in enumerate(joint.tangents)]
    views = _views(history, joint.tangents, outputs, mutated)
    ends = [end for end in (*tangents, *views) if end is not None]
    if len(ends) < len(tangents) + len(views) or len(ends) == 1:
        return None
    tensors = [end.tensor(history.inputs, history.results) for end in ends]
    nodes, above = reached([[tensor] for tensor in tensors])
    interior = 0
    for bit, found in enumerate(_arrivals(nodes, above, tensors)):
        if found & ~_leading_here(ends, len(tangents), bit):
            interior |= 1 << bit
    if not interior:
        return None
    ways = history.ways(joint, outputs, mutated)
    return Apart(
        captured, amp.current(), dtypes.get_default_dtype(), ends, views, interior,
        [ways.get(node) for node in nodes if has_saved(node)],
        PER_NODE * len(nodes) + len(ends) + len(history.inputs))


def _tangent_end(
    history: History, outputs: Sequence[OutputSpec], mutated: Sequence[tuple[int, int]],
    number: int, place: int, shape: Any,
) -> End | None:
    """Where gradients of an output arrive; None where eager execution has no such tensor."""
    made = [(index, spec) for index, spec in enumerate(outputs)
            if spec.kind in ("fresh", "output") and spec.index == place]
    for index, spec in made:
        if not spec.views:
            return End("result", index, number)
    for index, output in mutated:
        if output == place:
            return End("input", index, number)
    for index, _ in made:
        base = history.results[index]._base
        if base is not None and same_shape(base.shape, shape):
            return End("base", index, number)
    return None


def _views(
    history: History, tangents: Sequence[int], outputs: Sequence[OutputSpec],
    mutated: Sequence[tuple[int, int]],
) -> list[End]:
    written = {index: tangents.index(place) for index, place in mutated if place in tangents}
    numbers = {place: number for number, place in enumerate(tangents)}
    found = [End("input", index, number) for index, number in written.items()]
    for index, spec in enumerate(outputs):
        if spec.views and not spec.origin & UNRECORDED:
            places = written if spec.kind == "input" else numbers
            if edge_of(history.results[index]) is not None:
                found.append(End("result", index, places.get(spec.index, -1)))
    return found


def _arrivals(
    nodes: Sequence[Node], above: dict[Node, int], tensors: Sequence[Any]
) -> list[int]:
    """For each tensor, as bits of a number, those whose gradients arrive at it."""
    arrived: dict[Any, int] = {}
    for node in nodes:
        for edge in node.edges:
            if edge is not None:
                arrived[edge] = arrived.get(edge, 0) | above[node]
    edges = [edge_of(tensor) for tensor in tensors]
    return [0 if edge is None else arrived.get(edge, 0) for edge in edges]


def _leading_here(ends: Sequence[End], count: int, bit: int) -> int:
    """The ends whose gradients arrive there in any case: views are made of what the caller has."""
    end = ends[bit]
    if bit >= count and end.kind == "result":
        return 0
    return sum(1 << other for other in range(count, len(ends))
               if ends[other].kind == "result" and ends[other].tangent == end.tangent)
