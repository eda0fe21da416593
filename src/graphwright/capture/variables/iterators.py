"""Iterators that the frame itself makes: they advance while translating."""

from __future__ import annotations

import itertools
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.exceptions import raise_in_frame

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.translator import Translator


class IteratorVariable(VariableTracker):
    """Abstract: iterating an iterator gives itself."""

    mutable = True

    def iterate(self, tx: Translator) -> VariableTracker:
        return self

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if not hasattr(self.python_type(), name):
            raise AttributeMissing("GB0007", f"iterator has no attribute {name!r}")
        return IteratorMethod(self, name)

    def call_method(
        self,
        tx: Translator,
        name: str,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> VariableTracker:
        if name == "__next__" and not args:
            item = self.next(tx)
            if item is None:
                raise_in_frame(StopIteration)
            return item
        if name == "__iter__" and not args:
            return self
        unsupported("GB0004", f"call of {self.python_type().__name__}.{name}")


class IteratorMethod(VariableTracker):
    """A bound method of an iterator."""

    def __init__(self, owner: IteratorVariable, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def truth(self, tx: Translator) -> bool:
        return True

    def call(
        self, tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        return self.owner.call_method(tx, self.method, args, kwargs)


class SequenceIterator(IteratorVariable):
    """Over items that cannot change: a tuple, a range, a snapshot of keys.

    `origin` is the tracker whose `iter()` it is; without one it is rebuilt from the items left.
    """

    def __init__(
        self, items: Sequence[VariableTracker], origin: VariableTracker | None = None
    ) -> None:
        self.items = items
        self.origin = origin
        self.position = 0

    def python_type(self) -> type:
        return type(iter(()))

    def next(self, tx: Translator) -> VariableTracker | None:
        if self.position >= len(self.items):
            return None
        self.position += 1
        return self.items[self.position - 1].realize()

    def parts(self) -> list[VariableTracker]:
        return [self.origin] if self.origin is not None else list(self.items[self.position :])

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.origin is not None:
            cg.push(self.origin)
            cg.builder.emit("GET_ITER")
            cg.advance_iterator(self.position)
            return
        for item in self.items[self.position :]:
            cg.push(item)
        cg.builder.build("tuple", len(self.items) - self.position)
        cg.builder.emit("GET_ITER")


class ListIterator(IteratorVariable):
    """Over a list that may grow meanwhile, as Python allows."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.position = 0
        self.exhausted = False

    def python_type(self) -> type:
        return type(iter([]))

    def next(self, tx: Translator) -> VariableTracker | None:
        if self.exhausted or self.position >= len(self.owner.items):
            self.exhausted = True
            return None
        self.position += 1
        item: VariableTracker = self.owner.items[self.position - 1].realize()
        return item

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.exhausted:
            cg.builder.build("tuple", 0)
            cg.builder.emit("GET_ITER")
            return
        cg.push(self.owner)
        cg.builder.emit("GET_ITER")
        cg.advance_iterator(self.position)


class ReversedIterator(IteratorVariable):
    """`reversed(owner)` of a list, which may change meanwhile, or of a tuple."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.index = len(owner.items) - 1
        self.exhausted = False

    def python_type(self) -> type:
        return type(reversed([])) if issubclass(self.owner.python_type(), list) else reversed

    def next(self, tx: Translator) -> VariableTracker | None:
        if self.exhausted or not 0 <= self.index < len(self.owner.items):
            self.exhausted = True
            return None
        self.index -= 1
        item: VariableTracker = self.owner.items[self.index + 1].realize()
        return item

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.exhausted:
            unsupported("GB0015", "an exhausted reversed() is needed after the graph")
        cg.builder.begin_call(reversed)
        cg.push(self.owner)
        cg.builder.end_call(1)
        cg.set_iterator(self.index)


class ReversedSnapshot(SequenceIterator):
    """`reversed()` of anything else, which only the frame itself may use."""

    def reconstruct(self, cg: Reconstructor) -> None:
        VariableTracker.reconstruct(self, cg)


class DictIterator(IteratorVariable):
    """Over the keys, values or items of a dict; the dict must keep its size meanwhile."""

    def __init__(
        self, owner: Any, items: list[VariableTracker], origin: VariableTracker
    ) -> None:
        self.owner = owner
        self.origin = origin
        self.items = items
        self.size = len(items)
        self.position = 0

    def python_type(self) -> type:
        return type(iter({}))

    def next(self, tx: Translator) -> VariableTracker | None:
        if len(self.owner.entries) != self.size:
            unsupported("GB0006", "RuntimeError: dictionary changed size during iteration")
        if self.position >= self.size:
            return None
        self.position += 1
        return self.items[self.position - 1].realize()

    def parts(self) -> list[VariableTracker]:
        return [self.origin]

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.origin)
        cg.builder.emit("GET_ITER")
        cg.skip_items(self.position)


class EnumerateIterator(IteratorVariable):
    """`enumerate(inner, start)`."""

    def __init__(self, inner: VariableTracker, start: int) -> None:
        self.inner = inner
        self.count = start

    def python_type(self) -> type:
        return enumerate

    def next(self, tx: Translator) -> VariableTracker | None:
        item = self.inner.next(tx)
        if item is None:
            return None
        self.count += 1
        return tx.tuple_of([tx.constant(self.count - 1), item])

    def parts(self) -> list[VariableTracker]:
        return [self.inner]

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(enumerate)
        cg.push(self.inner)
        cg.builder.load_const(self.count)
        cg.builder.end_call(2)


class ZipIterator(IteratorVariable):
    """`zip(*inners, strict=strict)`."""

    def __init__(self, inners: list[VariableTracker], strict: bool) -> None:
        self.inners = inners
        self.strict = strict

    def python_type(self) -> type:
        return zip

    def next(self, tx: Translator) -> VariableTracker | None:
        items: list[VariableTracker] = []
        for inner in self.inners:
            item = inner.next(tx)
            if item is None:
                self._check_lengths(tx, items)
                return None
            items.append(item)
        return tx.tuple_of(items) if items else None

    def _check_lengths(self, tx: Translator, taken: list[VariableTracker]) -> None:
        if not self.strict:
            return
        if taken or any(inner.next(tx) is not None for inner in self.inners[1:]):
            unsupported("GB0006", "ValueError: zip() arguments have different lengths")

    def parts(self) -> list[VariableTracker]:
        return list(self.inners)

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.strict:
            unsupported("GB0015", "zip(strict=True) is needed after the graph")
        cg.builder.begin_call(zip)
        for inner in self.inners:
            cg.push(inner)
        cg.builder.end_call(len(self.inners))


class MapIterator(IteratorVariable):
    """`map(function, *inners)`."""

    def __init__(self, function: VariableTracker, inners: list[VariableTracker]) -> None:
        self.function = function
        self.inners = inners

    def python_type(self) -> type:
        return map

    def next(self, tx: Translator) -> VariableTracker | None:
        items = []
        for inner in self.inners:
            item = inner.next(tx)
            if item is None:
                return None
            items.append(item)
        return self.function.call(tx, items, {})

    def parts(self) -> list[VariableTracker]:
        return [self.function, *self.inners]

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(map)
        cg.push(self.function)
        for inner in self.inners:
            cg.push(inner)
        cg.builder.end_call(len(self.inners) + 1)


class FilterIterator(IteratorVariable):
    """`filter(function, inner)`; function is None for truth."""

    def __init__(self, function: VariableTracker | None, inner: VariableTracker) -> None:
        self.function = function
        self.inner = inner

    def python_type(self) -> type:
        return filter

    def next(self, tx: Translator) -> VariableTracker | None:
        while (item := self.inner.next(tx)) is not None:
            verdict = item if self.function is None else self.function.call(tx, [item], {})
            if tx.truth(verdict):
                return item
        return None


class CountIterator(IteratorVariable):
    """`itertools.count(start, step)`."""

    def __init__(self, start: Any, step: Any) -> None:
        self.value = start
        self.step = step

    def python_type(self) -> type:
        return itertools.count

    def next(self, tx: Translator) -> VariableTracker | None:
        self.value += self.step
        return tx.constant(self.value - self.step)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(itertools.count)
        cg.builder.load_const(self.value)
        cg.builder.load_const(self.step)
        cg.builder.end_call(2)


class ChainIterator(IteratorVariable):
    """`itertools.chain(*parts)`: each part is iterated when its turn comes."""

    def __init__(self, rest: list[VariableTracker]) -> None:
        self.rest = rest
        self.current: VariableTracker | None = None

    def python_type(self) -> type:
        return itertools.chain

    def next(self, tx: Translator) -> VariableTracker | None:
        while True:
            if self.current is None:
                if not self.rest:
                    return None
                self.current = self.rest.pop(0).iterate(tx)
            item = self.current.next(tx)
            if item is not None:
                return item
            self.current = None
