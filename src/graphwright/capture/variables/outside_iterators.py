"""Iterators over ranges that were there before the frame, as in loops behind a graph break.

The next number is an input of the graph, and the iterator goes on once the graph has run. What is
behind that number depends on how many there are, so a frame takes one only: the loop's body is a
graph that serves all its passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.source import DerivedSource, LoadWriter, Reloader, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.iterators import IteratorVariable
from graphwright.runtime.symbolic.shape_env import LARGEST_INT

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.translator import Translator


class NextNumberSource(DerivedSource):
    """What the iterator of a range gives next; nothing at its end."""

    read_first = True

    def name(self) -> str:
        return f"next({self.base.name()})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.next_number)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("next_number", self.base)


class OutsideRangeIterator(IteratorVariable):
    """The iterator of a range. advanced: whether the frame has asked it already."""

    source: Source

    def __init__(self, value: Any, source: Source) -> None:
        self.value = value
        self.source = source
        self.advanced = False

    def python_type(self) -> type:
        return type(iter(range(0)))

    def next(self, tx: Translator) -> VariableTracker | None:
        number = _eval_frame.next_number(self.value)
        place = NextNumberSource(self.source)
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
