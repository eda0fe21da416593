"""Lists and deques from outside whose length has varied: logs, histories, replay buffers.

What they hold is not looked at. Appending to them, asking for their length or truth, and reading
an item at a known place need no more; whatever else the program does looks at all of it, and the
graph holds for this length.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.guards.source import ConstSource, ItemSource, LengthSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.deques import DequeVariable
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SequenceVariable,
    SliceVariable,
    drawn_for,
    exactly,
    index_of,
)

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


def grows(output: OutputGraph, value: Any, length: int, source: Source) -> bool:
    """Whether what a container holds is looked at only where the program does."""
    plain = type(value) in (list, collections.deque) and not isinstance(source, ConstSource)
    return plain and output.state.length_is_dynamic(length, source)


class Growing(SequenceVariable):
    """Mixed into the tracker of a kind of sequence.

    before: what it held when the frame began. added: what the frame has put behind that.
    """

    source: Source
    before: list[Any]
    added: list[VariableTracker]
    _all: list[VariableTracker] | None = None
    _size: VariableTracker | None = None

    def begin(self, output: OutputGraph, before: list[Any]) -> None:
        """Forget what it holds, as long as nobody looks."""
        self.output = output
        self.before = before
        self.added = []
        self._all = None

    @property
    def items(self) -> list[VariableTracker]:
        """All that it holds, at whose length the graph is thereby specialised."""
        if self._all is None:
            self.output.guards.length(self.source, len(self.before))
            old = [self._item(place) for place in range(len(self.before))]
            self._all = [*old, *self.added]
        return self._all

    @items.setter
    def items(self, items: list[VariableTracker]) -> None:
        self._all = items

    def _item(self, place: int) -> VariableTracker:
        return self.output.wrap_lazily(self.before[place], ItemSource(self.source, place))

    def appended(self) -> list[VariableTracker] | None:
        """What was put behind the rest; None where that was looked at."""
        return self.added if self._all is None else None

    def parts(self) -> Iterable[VariableTracker]:
        return self.added if self._all is None else self._all

    def _most(self) -> int | None:
        """The length that it does not grow beyond."""
        return None

    def length(self, tx: Translator) -> VariableTracker:
        if self._all is not None or len(self.before) < 2:    # which mean something to programs
            return super().length(tx)
        if self._size is None:
            self._size = self.output.int_input(len(self.before), LengthSource(self.source))
        total = tx.operate(operator.add, self._size, tx.constant(len(self.added)))
        most = self._most()
        if most is None or tx.truth(tx.operate(operator.le, total, tx.constant(most))):
            return total
        return super().length(tx)

    def truth(self, tx: Translator) -> bool:
        if self._all is not None or self.added:
            return bool(self.parts())
        self.output.guards.truth(self.source, bool(self.before))
        return bool(self.before)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        key = key.realize()
        if self._all is not None or isinstance(key, SliceVariable) or self._most() is not None:
            return super().getitem(tx, key)
        index = index_of(tx, key)
        if -len(self.added) <= index < 0:
            return self.added[index].realize()
        place = index + len(self.added) if index < 0 else index
        if not -len(self.before) <= place < len(self.before):
            return super().getitem(tx, key)
        self.output.guards.present(ItemSource(self.source, place))
        return self._item(place).realize()

    def put_behind(self, tx: Translator, item: VariableTracker) -> None:
        """Note what is appended, as long as nobody has looked."""
        tx.side_effects.mutate(self)
        self.added.append(item)


def _methods(known: dict[str, Callable[..., VariableTracker]]) -> dict[str, Callable[..., Any]]:
    """The methods of a growing container, by those of one that was looked at."""

    def extend(self: Any, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        for item in drawn_for(tx, self, *exactly(1, args)):    # which may look at the container
            if self.appended() is None:
                known["append"](self, tx, [item], kwargs)
            else:
                self.put_behind(tx, item)
        return tx.constant(None)

    def append(self: Any, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return extend(self, tx, [tx.tuple_of(exactly(1, args))], kwargs)

    return {**known, "append": append, "extend": extend}


class GrowingList(Growing, ListVariable):
    """A list whose length has varied."""

    def __init__(self, output: OutputGraph, before: list[Any], source: Source) -> None:
        ListVariable.__init__(self, [], source)
        self.begin(output, before)

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        return _OF_LISTS


class GrowingDeque(Growing, DequeVariable):
    """A deque whose length has varied; one that is full keeps it."""

    def __init__(
        self, output: OutputGraph, before: list[Any], maxlen: int | None, source: Source
    ) -> None:
        DequeVariable.__init__(self, [], maxlen, source)
        self.begin(output, before)

    def _most(self) -> int | None:
        return self.maxlen

    def put_behind(self, tx: Translator, item: VariableTracker) -> None:
        self._changed(tx)
        super().put_behind(tx, item)

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        return _OF_DEQUES


_OF_LISTS = _methods(ListVariable.methods())
_OF_DEQUES = _methods(DequeVariable.methods())
