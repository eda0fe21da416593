"""`cond` and `while_loop` on graphs, and their gradients.

A branch's gradient is a branch, on graphs of gradients. A loop's gradient runs the loop again and
remembers what it carried, then passes the turns in reverse.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from operator import is_
from typing import Any

from graphwright.ir.control import FAMILY, Calls, Control, contiguous_like, results_of, specs_of
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.joint.graph_gradients import gradients_of, needed
from graphwright.runtime.tensor.memory_format import contiguous_format


class Cond(Control):
    """One of two graphs runs. Arguments: the predicate, then the operands of both.

    Their results have the same types, strides included.
    """

    name = "cond"

    def __init__(self, graphs: Sequence[GraphModule]) -> None:
        super().__init__(graphs)
        self.specs = specs_of(results_of(self.graphs[0]))
        self._gradients: dict[tuple[tuple[int, ...], tuple[int, ...]], Cond] = {}

    def inputs(self, args: Sequence[Any]) -> list[Sequence[Any]]:
        return [args[1:], args[1:]]

    def run(self, calls: Calls, args: Sequence[Any]) -> tuple[Any, ...]:
        return calls[0 if args[0] else 1](*args[1:])

    def gradient(self, saved: Any, args: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
        wanted = needed(saved, args[1:], first=1)
        given = tuple([place for place, grad in enumerate(grads) if grad is not None])
        control = self._gradients.get((wanted, given))
        if control is None:
            branches = [gradients_of(graph, wanted, given) for graph in self.graphs]
            control = self._gradients[wanted, given] = Cond(branches)
        found = control(*args, *[grads[place] for place in given])
        result: list[Any] = [None] * len(args)
        for place, grad in zip(wanted, found, strict=True):
            result[1 + place] = grad
        return result


class Loop(Control):
    """A graph runs while another one's result holds.

    Arguments: the carried tensors, then what both graphs take besides. The second graph returns
    what is carried on, in row-major order, in which it also gets it.
    """

    name = "while_loop"

    def __init__(self, graphs: Sequence[GraphModule]) -> None:
        super().__init__(graphs)
        values = results_of(self.graphs[1])
        self.count = len(values)
        self.specs = specs_of([contiguous_like(value) for value in values])
        self._gradients: dict[tuple[int, ...], LoopGradient] = {}

    def inputs(self, args: Sequence[Any]) -> list[Sequence[Any]]:
        given = [*map(contiguous_like, args[:self.count]), *args[self.count:]]
        return [given, given]

    def run(self, calls: Calls, args: Sequence[Any]) -> tuple[Any, ...]:
        return deque(states(calls, args[:self.count], args[self.count:]), maxlen=1).pop()

    def gradient(self, saved: Any, args: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
        wanted = tuple([place for place in needed(saved, args) if place >= self.count])
        control = self._gradients.get(wanted)
        if control is None:
            control = self._gradients[wanted] = LoopGradient(self, wanted)
        arriving = [
            args[place].new_zeros(args[place].shape) if grads[place] is None else grads[place]
            for place in control.moving]
        found = control(*args, *arriving)
        result: list[Any] = [None] * len(args)
        for place, grad in zip((*control.moving, *wanted), found, strict=True):
            result[place] = grad
        return result


class LoopGradient(Control):
    """The gradients of a `Loop`.

    Arguments: those of the loop, then the gradients of the carried tensors at the places
    `moving`, which have a floating dtype. Results: the gradients of these at the start, then of
    the loop's arguments at the places `wanted`.
    """

    name = "while_loop_backward"

    def __init__(self, loop: Loop, wanted: Sequence[int]) -> None:
        self.loop = loop
        values = [node.meta["val"] for node in loop.graphs[1].graph.placeholders]
        self.moving = [place for place, value in enumerate(values[:loop.count])
                       if value.dtype.is_floating_point or value.dtype.is_complex]
        self.places = [*self.moving, *wanted]
        turn = gradients_of(loop.graphs[1], self.places, self.moving)
        super().__init__((*loop.graphs, turn))
        self.specs = specs_of([contiguous_like(values[place]) for place in self.places])

    def inputs(self, args: Sequence[Any]) -> list[Sequence[Any]]:
        count = len(args) - len(self.moving)
        test, body = self.loop.inputs(args[:count])
        return [test, body, [*body, *map(contiguous_like, args[count:])]]

    def run(self, calls: Calls, args: Sequence[Any]) -> tuple[Any, ...]:
        start, count = self.loop.count, len(args) - len(self.moving)
        rest = args[start:count]
        *passed, _ = states(calls, args[:start], rest)
        grads = [grad.clone(memory_format=contiguous_format) for grad in args[count:]]
        sums: list[Any] = [None] * (len(self.places) - len(self.moving))
        for state in reversed(passed):
            found = calls[2](*state, *rest, *grads)
            grads, terms = list(found[:len(self.moving)]), found[len(self.moving):]
            sums = [term if known is None else known + term
                    for known, term in zip(sums, terms, strict=True)]
        return (*grads, *[
            args[place].new_zeros(args[place].shape) if known is None else known
            for place, known in zip(self.places[len(self.moving):], sums, strict=True)])

    def gradient(self, saved: Any, args: Sequence[Any], grads: Sequence[Any]) -> list[Any]:
        raise RuntimeError("derivative for the gradient of while_loop is not implemented")


def states(
    calls: Calls, carried: Sequence[Any], rest: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    """What a loop carries at its start and after each turn."""
    now = tuple([value.clone(memory_format=contiguous_format) for value in carried])
    yield now
    while calls[0](*now, *rest)[0]:
        now = calls[1](*now, *rest)
        yield now


def cond(
    pred: Any, true_graph: GraphModule, false_graph: GraphModule, operands: Sequence[Any]
) -> tuple[Any, ...]:
    """The results of `true_graph(*operands)` where `pred`, a tensor of one element, holds, else
    of `false_graph(*operands)`."""
    return _control(Cond, true_graph, false_graph)(pred, *operands)


def while_loop(
    cond_graph: GraphModule, body_graph: GraphModule, carried: Sequence[Any],
    additional: Sequence[Any] = (),
) -> tuple[Any, ...]:
    """What `carried = body_graph(*carried, *additional)` ends with, repeated while the one result
    of `cond_graph(*carried, *additional)` holds."""
    return _control(Loop, cond_graph, body_graph)(*carried, *additional)


def _control(kind: type[Control], *graphs: GraphModule) -> Control:
    """The control of these graphs: one as long as they are the same."""
    known: Control | None = graphs[0].meta.get(FAMILY)
    if known is None or type(known) is not kind or not all(map(is_, known.graphs, graphs)):
        known = graphs[0].meta[FAMILY] = kind(graphs)
    return known
