"""Iterators that the frame itself makes: they advance while translating."""

from __future__ import annotations

import functools
import itertools
import types
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.builtin_attributes import builtin_member
from graphwright.capture.trackers.callables.builtin_signatures import check_method
from graphwright.capture.trackers.values.exceptions import Raised, item_of, raise_in_frame

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator


_ADVANCING = frozenset(["next", "resume", "throw"])


def _noted(advance: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(advance)
    def noting(self: IteratorVariable, tx: Translator, *args: Any) -> Any:
        tx.side_effects.touch(self)
        return advance(self, tx, *args)

    return noting


class IteratorVariable(VariableTracker):
    """Abstract: iterating an iterator gives itself. What advances it is noted as a change."""

    mutable = True

    def __init_subclass__(cls) -> None:
        for name in vars(cls).keys() & _ADVANCING:
            setattr(cls, name, _noted(vars(cls)[name]))

    def iterate(self, tx: Translator) -> VariableTracker:
        return self

    def result_at_end(self, tx: Translator) -> VariableTracker | None:
        """The value that its StopIteration has, once; None where it has none."""
        return None

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return builtin_member(tx, self.python_type(), name, IteratorMethod(self, name))

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
                stop_iteration(tx, self)
            return item
        if name == "__iter__" and not args:
            return self
        unsupported("GB0004", f"call of {self.python_type().__name__}.{name}")


def stop_iteration(tx: Translator, iterator: VariableTracker) -> NoReturn:
    """Raise the StopIteration that `next(iterator)` raises at the end."""
    ended = iterator.ended()
    if ended.stopped_with is not None:
        raise Raised(ended.stopped_with)
    value = ended.result_at_end(tx) if isinstance(ended, IteratorVariable) else None
    raise_in_frame(StopIteration, [value] if value is not None else [])


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
        check_method(self.owner.python_type(), self.method, len(args), tuple(kwargs))
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
        kind = tuple if self.origin is None else self.origin.python_type()
        if issubclass(kind, tuple):
            return type(iter(()))
        if issubclass(kind, range):
            return type(iter(range(0)))
        assert self.origin is not None
        return type(iter(self.origin.as_constant()))

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
            if not hasattr(self.python_type(), "__setstate__"):
                cg.skip_items(self.position)
            elif self.position:
                cg.set_iterator(self.position)
            return
        for item in self.items[self.position :]:
            cg.push(item)
        cg.builder.build("tuple", len(self.items) - self.position)
        cg.builder.emit("GET_ITER")


class PoolIterator(SequenceIterator):
    """What a function of itertools gives for pools of items, such as `product`.

    kind: the function, which is a type. args, kwargs: with what it is called again.
    """

    def __init__(
        self,
        items: Sequence[VariableTracker],
        kind: type,
        args: list[VariableTracker],
        kwargs: dict[str, VariableTracker],
    ) -> None:
        super().__init__(items)
        self.kind = kind
        self.args = args
        self.kwargs = kwargs

    def python_type(self) -> type:
        return self.kind

    def parts(self) -> list[VariableTracker]:
        return [*self.args, *self.kwargs.values()]

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(self.kind)
        for value in self.parts():
            cg.push(value)
        cg.builder.end_call(len(self.parts()), tuple(self.kwargs))
        cg.skip_items(self.position)


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
            cg.builder.build("list", 0)
            cg.builder.emit("GET_ITER")
            return
        _check_within(self.position, self.owner.items)
        push_iterator(cg, self.owner, list)
        if self.position:
            cg.set_iterator(self.position)


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
        over_list = issubclass(self.owner.python_type(), list)
        inherited = getattr(self.owner, "owner", None) is not None and not self.exhausted
        cg.builder.begin_call(list.__reversed__ if inherited else reversed)
        if self.exhausted:
            cg.builder.build("list" if over_list else "tuple", 0)
            cg.builder.end_call(1)
            return
        _check_within(self.index + 1, self.owner.items)
        cg.push(self.owner)
        cg.builder.end_call(1)
        cg.set_iterator(self.index)


def push_iterator(cg: Reconstructor, values: Any, kind: type) -> None:
    """`iter(values)`; of what a subclass of `kind` keeps, whose `__iter__` may be another."""
    inherited = values.python_type() is kind and getattr(values, "owner", None) is not None
    if inherited:
        cg.builder.begin_call(kind.__iter__)  # type: ignore[attr-defined]
    cg.push(values)
    if inherited:
        cg.builder.end_call(1)
    else:
        cg.builder.emit("GET_ITER")


def _check_within(position: int, items: Sequence[VariableTracker]) -> None:
    """A break where a list got shorter than its iterator was: none can be set to such a place."""
    if position > len(items):
        unsupported("GB0015", "an iterator past the end of its list is needed after the graph")


class ReversedSnapshot(SequenceIterator):
    """`reversed()` of other containers, which cannot leave the frame."""

    def reconstruct(self, cg: Reconstructor) -> None:
        VariableTracker.reconstruct(self, cg)


class DictIterator(IteratorVariable):
    """Over the keys, values or items of a dict; the dict must keep its keys meanwhile.

    kind: the name of the view's method. origin: the dict or its view. Values are those of the
    moment.
    """

    def __init__(self, owner: Any, kind: str, origin: VariableTracker) -> None:
        self.owner = owner
        self.kind = kind
        self.origin = origin
        self.keys = list(owner.entries)
        self.removals = owner.removals
        self.position = 0
        self.exhausted = False

    def python_type(self) -> type:
        return type(iter(_EMPTY_VIEWS.get(self.origin.python_type(), {})))

    def next(self, tx: Translator) -> VariableTracker | None:
        if self.exhausted:
            return None
        self._check_unchanged()
        if self.position >= len(self.keys):
            self.exhausted = True
            return None
        self.position += 1
        key, value = self.owner.entries[self._key_at(self.position - 1)]
        if self.kind == "items":
            return tx.tuple_of([key, value])
        return (key if self.kind == "keys" else value).realize()

    def _key_at(self, position: int) -> Any:
        return self.keys[position]

    def _check_unchanged(self) -> None:
        if self.owner.removals != self.removals or list(self.owner.entries) != self.keys:
            reason = Unsupported("GB0006", "RuntimeError: dictionary changed during iteration")
            reason.blame(self.born)
            raise reason

    def parts(self) -> list[VariableTracker]:
        return [self.origin]

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.exhausted:
            unsupported("GB0015", "an exhausted iterator of a dict is needed after the graph")
        self._check_unchanged()
        if cg.output.side_effects.is_filled_later(self.owner):
            unsupported("GB0015", "an iterator of a changed dict is needed after the graph")
        push_iterator(cg, self.origin, self.owner.kind)
        cg.skip_items(self.position)


class ReversedDictIterator(DictIterator):
    """`reversed()` of a dict or its view, which only the frame itself may use."""

    def python_type(self) -> type:
        return type(reversed(_EMPTY_VIEWS.get(self.origin.python_type(), {})))

    def _key_at(self, position: int) -> Any:
        return self.keys[-1 - position]

    def reconstruct(self, cg: Reconstructor) -> None:
        VariableTracker.reconstruct(self, cg)


_NONE: dict[Any, Any] = {}
_EMPTY_VIEWS: dict[type, Any] = {
    type(view): view for view in (_NONE.keys(), _NONE.values(), _NONE.items())
}


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

    def ended(self) -> VariableTracker:
        return self.inner.ended()

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
        self.last: VariableTracker = self

    def python_type(self) -> type:
        return zip

    def next(self, tx: Translator) -> VariableTracker | None:
        items: list[VariableTracker] = []
        for inner in self.inners:
            item = inner.next(tx)
            if item is None:
                self._check_lengths(tx, items)
                self.last = inner
                return None
            items.append(item)
        return tx.tuple_of(items) if items else None

    def ended(self) -> VariableTracker:
        return self.last.ended() if self.last is not self else self

    def _check_lengths(self, tx: Translator, taken: list[VariableTracker]) -> None:
        if not self.strict:
            return
        if taken:
            _unequal_lengths(tx, len(taken), "shorter")
        for place, inner in enumerate(self.inners[1:], 1):
            if inner.next(tx) is not None:
                _unequal_lengths(tx, place, "longer")

    def parts(self) -> list[VariableTracker]:
        return list(self.inners)

    def reconstruct(self, cg: Reconstructor) -> None:
        if self.strict:
            unsupported("GB0015", "zip(strict=True) is needed after the graph")
        cg.builder.begin_call(zip)
        for inner in self.inners:
            cg.push(inner)
        cg.builder.end_call(len(self.inners))


def _unequal_lengths(tx: Translator, place: int, how: str) -> NoReturn:
    """Raise `zip(strict=True)`'s ValueError for the argument at `place`, counted from 0."""
    others = " 1" if place == 1 else f"s 1-{place}"
    message = f"zip() argument {place + 1} is {how} than argument{others}"
    raise_in_frame(ValueError, [tx.constant(message)])


class MapIterator(IteratorVariable):
    """`map(function, *inners)`."""

    def __init__(self, function: VariableTracker, inners: list[VariableTracker]) -> None:
        self.function = function
        self.inners = inners
        self.last: VariableTracker = self

    def python_type(self) -> type:
        return map

    def next(self, tx: Translator) -> VariableTracker | None:
        items = []
        for inner in self.inners:
            item = inner.next(tx)
            if item is None:
                self.last = inner
                return None
            items.append(item)
        self.last = self
        return item_of(tx, self, self.function, items)

    def ended(self) -> VariableTracker:
        return self.last.ended() if self.last is not self else self

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
        self.refused = False

    def python_type(self) -> type:
        return filter

    def next(self, tx: Translator) -> VariableTracker | None:
        while (item := self.inner.next(tx)) is not None:
            verdict = item
            if self.function is not None:
                given = item_of(tx, self, self.function, [item])
                if given is None:
                    self.refused = True
                    return None
                verdict = given
            if tx.truth(verdict):
                return item
        self.refused = False
        return None

    def ended(self) -> VariableTracker:
        return self if self.refused else self.inner.ended()


class CountIterator(IteratorVariable):
    """`itertools.count(start, step)`."""

    def __init__(self, start: Any, step: Any) -> None:
        self.value = start
        self.step = step

    def python_type(self) -> type:
        return itertools.count

    def next(self, tx: Translator) -> VariableTracker | None:
        item = self.value
        self.value = item + self.step
        return tx.constant(item)

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
