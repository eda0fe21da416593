"""Iterators that were there before the frame, as in loops behind a graph break.

What one gives next is read without asking it, and it goes on once the graph has run: the number of
a range is an input of the graph, the item of a container a value like those that are read from it.
What is behind that depends on how much there is, so a frame takes one only: the loop's body is a
graph that serves all its passes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import DerivedSource, LoadWriter, Reloader, Source
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.containers.iterators import IteratorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.runtime.symbolic.shape_env import LARGEST_INT

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

OVER_RANGE = type(iter(range(0)))
_OVER_CONTAINERS: tuple[type, ...] = (
    type(iter([])), type(iter(())), type(iter({})), type(iter({}.values())),
    type(iter({}.items())),
)
KINDS: tuple[type, ...] = (*_OVER_CONTAINERS, enumerate, zip)


class NextSource(DerivedSource):
    """What an iterator gives next; nothing at its end."""

    read_first = True

    def name(self) -> str:
        return f"next({self.base.name()})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.next_item)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("next_item", self.base)


class AtEndSource(DerivedSource):
    """Whether an iterator gives nothing any more."""

    read_first = True

    def name(self) -> str:
        return f"at_end({self.base.name()})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.at_end)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("at_end", self.base)


class OutsideRangeIterator(IteratorVariable):
    """The iterator of a range. advanced: whether the frame has asked it already."""

    source: Source

    def __init__(self, value: Any, source: Source) -> None:
        self.value = value
        self.source = source
        self.advanced = False

    def python_type(self) -> type:
        return OVER_RANGE

    def next(self, tx: Translator) -> VariableTracker | None:
        number = _eval_frame.next_item(self.value)
        place = NextSource(self.source)
        if number is _eval_frame.MISSING:
            tx.guards.missing(place)
            return None
        waits = bool(tx.side_effects.calls)     # for calls that may raise
        if self.advanced or waits or abs(number) >= LARGEST_INT:
            unsupported("GB0017", f"next() of an iterator over a range, {self.source}")
        tx.guards.present(place)
        tx.side_effects.mutate(self)
        self.advanced = True
        return tx.output.int_input(number, place)

    def write_back(self, cg: Reconstructor, push: Callable[[], None]) -> Callable[[], None]:
        """What takes the number from the existing iterator."""
        return lambda: cg.call_for_effect(next, push)


class OutsideIterator(IteratorVariable):
    """An iterator over a list, tuple or dict, or an enumeration or zip of such.

    step: when the frame has asked it, which it may do once, and no other one then.
    """

    source: Source

    def __init__(self, value: Any, source: Source) -> None:
        self.value = value
        self.source = source
        self.step: int | None = None

    def python_type(self) -> type:
        return type(self.value)

    def next(self, tx: Translator) -> VariableTracker | None:
        taken = any(isinstance(other, OutsideIterator) for other in tx.side_effects.mutated)
        ended = _eval_frame.at_end(self.value)
        known = ended is not _eval_frame.MISSING
        if taken or not known or tx.side_effects.calls or self._is_changed(tx.output):
            unsupported("GB0017", f"next() of {self.describe()}")
        tx.guards.equals(AtEndSource(self.source), ended)
        tx.side_effects.mutate(self)
        self.step = Clock.step
        return None if ended else tx.output.wrap(
            _eval_frame.next_item(self.value), NextSource(self.source))

    def _is_changed(self, output: OutputGraph) -> bool:
        """Whether the frame has changed what is gone through."""
        found = [output.tracked(container) for container in _containers(self.value)]
        return any(one is not None and output.side_effects.is_mutated(one) for one in found)

    def write_back(self, cg: Reconstructor, push: Callable[[], None]) -> Callable[[], None]:
        """What asks the existing iterator; a break before that if what it goes through changes."""
        if self._is_changed(cg.output):
            reason = Unsupported("GB0017", f"next() of {self.describe()}, which changes")
            assert self.step is not None
            reason.blame(self.step)
            raise reason
        nothing = cg.hold(ConstantVariable(None))
        return lambda: cg.call_for_effect(next, push, nothing)


def is_followed(value: Any) -> bool:
    """Whether it is known what an iterator of `KINDS` gives next."""
    return _eval_frame.at_end(value) is not _eval_frame.MISSING


def _containers(value: Any) -> list[Any]:
    """What an iterator goes through."""
    if type(value) is zip:
        return [each for inner in value.__reduce__()[1] for each in _containers(inner)]
    if type(value) is enumerate:
        return _containers(value.__reduce__()[1][0])
    return [held for held in gc.get_referents(value) if type(held) in (list, tuple, dict)]
