"""`collections.deque`."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.iterators import IteratorVariable, push_iterator
from graphwright.capture.trackers.containers.sequences import (
    SequenceVariable,
    drawn_for,
    exactly,
    index_of,
)
from graphwright.capture.trackers.values.exceptions import raise_in_frame

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_EMPTY = "pop from an empty deque"


class DequeVariable(SequenceVariable):
    """A deque; `items` is its contents now."""

    mutable = True
    owner: Any = None
    kind = collections.deque

    def __init__(
        self,
        items: list[VariableTracker],
        maxlen: int | None = None,
        source: Source | None = None,
    ) -> None:
        self.items = items
        self.maxlen = maxlen
        self.source = source
        self.changes = 0

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "maxlen":
            return tx.constant(self.maxlen)
        return super().getattr(tx, name)

    def iterate(self, tx: Translator) -> VariableTracker:
        return DequeIterator(self)

    def unpack(self, tx: Translator) -> list[VariableTracker]:
        return [item.realize() for item in self.items]

    def as_node(self, tx: Translator) -> Any:
        return self._in_graph()

    def as_example(self) -> Any:
        return self._in_graph()

    def _slice(self, tx: Translator, items: list[VariableTracker]) -> VariableTracker:
        message = "sequence index must be integer, not 'slice'"
        raise_in_frame(TypeError, [tx.constant(message)])

    def _position(self, tx: Translator, key: VariableTracker) -> int:
        index = index_of(tx, key)
        if not -len(self.items) <= index < len(self.items):
            raise_in_frame(IndexError, [tx.constant("deque index out of range")])
        return index

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return self.items[self._position(tx, key)].realize()

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        position = self._position(tx, key)
        tx.side_effects.mutate(self)
        self.items[position] = value

    def delitem(self, tx: Translator, key: VariableTracker) -> None:
        position = self._position(tx, key)
        self._changed(tx)
        del self.items[position]

    def _changed(self, tx: Translator) -> None:
        tx.side_effects.mutate(self)
        self.changes += 1

    def _trim(self, from_left: bool) -> None:
        while self.maxlen is not None and len(self.items) > self.maxlen:
            self.items.pop(0 if from_left else -1)

    def append(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """`deque.append`."""
        return self.extend(tx, [tx.tuple_of(exactly(1, args))], kwargs)

    def extend(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """`deque.extend`."""
        (values,) = exactly(1, args)
        for item in drawn_for(tx, self, values):
            self._changed(tx)
            self.items.append(item)
            self._trim(from_left=True)
        return tx.constant(None)

    def _appendleft(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return self._extendleft(tx, [tx.tuple_of(exactly(1, args))], kwargs)

    def _extendleft(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        (values,) = exactly(1, args)
        for item in drawn_for(tx, self, values):
            self._changed(tx)
            self.items.insert(0, item)
            self._trim(from_left=False)
        return tx.constant(None)

    def _take(self, tx: Translator, position: int) -> VariableTracker:
        if not self.items:
            raise_in_frame(IndexError, [tx.constant(_EMPTY)])
        self._changed(tx)
        return self.items.pop(position).realize()

    def _insert(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        where, item = exactly(2, args)
        index = index_of(tx, where)
        if self.maxlen is not None and len(self.items) >= self.maxlen:
            raise_in_frame(IndexError, [tx.constant("deque already at its maximum size")])
        self._changed(tx)
        self.items.insert(index, item)
        return tx.constant(None)

    def _remove(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        for position, own in enumerate(self.items):
            if tx.same_or_equal(own, *exactly(1, args)):
                self._changed(tx)
                del self.items[position]
                return tx.constant(None)
        raise_in_frame(ValueError)

    def _rotate(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        turned = collections.deque(self.items)
        turned.rotate(index_of(tx, args[0]) if args else 1)
        self._changed(tx)
        self.items[:] = turned
        return tx.constant(None)

    def _reverse(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        tx.side_effects.mutate(self)
        self.items.reverse()
        return tx.constant(None)

    def _clear(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        self._changed(tx)
        self.items.clear()
        return tx.constant(None)

    def _copy(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.owner is not None:
            copied: VariableTracker = self.owner.copied(tx)
            return copied
        return self.copied()

    def copied(self) -> DequeVariable:
        """A new deque of the same items."""
        return DequeVariable(list(self.items), self.maxlen)

    @classmethod
    def methods(cls) -> dict[str, Callable[..., VariableTracker]]:
        return _METHODS

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(collections.deque)
        for item in self.items:
            cg.push(item)
        cg.builder.build("tuple", len(self.items))
        cg.builder.load_const(self.maxlen)
        cg.builder.end_call(2)

    def write_back(self, cg: Reconstructor, push: Callable[[], None]) -> Callable[[], None]:
        """What gives the existing deque its new contents.

        Items that were put in place of others are so here: iterators of the deque stay valid.
        """
        items = [cg.hold(item) for item in self.items]

        def values() -> None:
            for item in items:
                item()
            cg.builder.build("tuple", len(items))

        def replace() -> None:
            for position, item in enumerate(items):
                item()
                push()
                cg.builder.load_const(position)
                cg.builder.store_subscript()

        def write() -> None:
            cg.call_method(push, "clear")
            cg.call_method(push, "extend", values)

        return write if self.changes else replace


_METHODS: dict[str, Callable[..., VariableTracker]] = {
    **SequenceVariable.methods(),
    "append": DequeVariable.append,
    "extend": DequeVariable.extend,
    "appendleft": DequeVariable._appendleft,
    "extendleft": DequeVariable._extendleft,
    "pop": lambda self, tx, args, kwargs: self._take(tx, -1),
    "popleft": lambda self, tx, args, kwargs: self._take(tx, 0),
    "insert": DequeVariable._insert,
    "remove": DequeVariable._remove,
    "rotate": DequeVariable._rotate,
    "reverse": DequeVariable._reverse,
    "clear": DequeVariable._clear,
    "copy": DequeVariable._copy,
    "__copy__": DequeVariable._copy,
}


class DequeIterator(IteratorVariable):
    """Over a deque, which must not grow or shrink meanwhile; its items may be other ones."""

    def __init__(self, owner: DequeVariable) -> None:
        self.owner = owner
        self.changes = owner.changes
        self.position = 0

    def python_type(self) -> type:
        return type(iter(collections.deque()))

    def next(self, tx: Translator) -> VariableTracker | None:
        if self.owner.changes != self.changes:
            unsupported("GB0006", "RuntimeError: deque mutated during iteration")
        items = self.owner.items
        if self.position >= len(items):
            return None
        self.position += 1
        return items[self.position - 1].realize()

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: Reconstructor) -> None:
        changed = self.owner.changes != self.changes
        if changed or cg.output.side_effects.is_filled_later(self.owner):
            unsupported("GB0015", "an iterator of a changed deque is needed after the graph")
        push_iterator(cg, self.owner, collections.deque)
        cg.skip_items(self.position)


def make_deque(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`deque(iterable, maxlen)`."""
    if len(args) > 2 or set(kwargs) - {"iterable", "maxlen"}:
        raise_in_frame(TypeError)
    given = dict(zip(("iterable", "maxlen"), args, strict=False)) | kwargs
    bound = given["maxlen"].realize().as_constant() if "maxlen" in given else None
    if bound is not None and (not isinstance(bound, int) or bound < 0):
        unsupported("GB0007", "an unfit maxlen of a deque")
    made = DequeVariable([], bound)
    if "iterable" in given:
        made.items = list(given["iterable"].realize().draw(tx))
        made._trim(from_left=True)
    return made
