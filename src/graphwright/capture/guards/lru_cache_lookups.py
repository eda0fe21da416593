"""Calls of cached functions on symbolic sizes: the cache is looked up before the graph runs.

The function was inlined: its result is known but for the numbers. Where the cache has nothing
for the numbers of a call, an object like it is made, which the cache gets after the graph; where
the cache has another than the function gives (somebody has changed it), the frame runs plainly.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import ItemSource, LoadWriter, Reloader, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import (
    ListVariable,
    SizeVariable,
    TupleVariable,
)
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.vm.asserted_branches import Refuted

_CONSTANT, _GIVEN = "constant", "given"
Pattern = tuple[Any, Any]


class KeptSource(Source):
    """What a lookup found or made for one call, in a local of the translated frame."""

    in_frame_only = True
    lookup: int
    call: int

    def name(self) -> str:
        return f"kept result {self.lookup}.{self.call}"

    def emit(self, cg: Reloader) -> None:
        cg.load_local(f"$kept{self.lookup}")
        cg.load_const(self.call)
        cg.subscript()

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at what existed before")

    def require_comparable(self) -> None:
        unsupported("GB0004", "the identity of a cached function's result for symbolic sizes")


class Lookup:
    """What a frame asks one cached function for, each key once and in the order of the calls.

    calls: the patterns of arguments, of keywords and, on symbolic sizes, of the result. maker: of
    these patterns. number: of the frame's lookups. step: of the first call on symbolic sizes; as
    long as there is none, nothing is looked up.
    """

    def __init__(self, number: int, function: Source, maker: PatternMaker) -> None:
        self.number = number
        self.function = function
        self.maker = maker
        self.calls: list[tuple[Pattern, Pattern, Pattern | None]] = []
        self.step: int | None = None

    def add(self, call: tuple[Pattern, Pattern], result: Pattern, step: int) -> KeptSource:
        """One more call, on symbolic sizes; where its result will be."""
        self.step = step if self.step is None else self.step
        self.calls.append((*call, result))
        return KeptSource(self.number, len(self.calls) - 1)

    def check_writes(self, kinds: set[type]) -> None:
        """A break before the call, if the frame changes what the result may hold, too."""
        if kinds & self.maker.containers:
            assert self.step is not None
            reason = Unsupported("GB0004", f"call of {self.function}, as a container changes")
            reason.blame(self.step)
            raise reason

    def emit(self, cg: Reloader) -> None:
        """Push a list of what the cache has or gets for each call."""
        cg.begin_call(look_up)
        self.function.emit(cg)
        cg.load_const(tuple(self.calls))
        for value in self.maker.values:
            value.emit(cg)
        cg.end_call(2 + len(self.maker.values))


def look_up(function: Any, calls: Sequence[Any], *values: Any) -> list[Any]:
    """What a cached function keeps for the arguments of each call, or what it would give.

    Raises Refuted where it keeps something else than it would give, where two calls have one key
    and where a call drives out what a later one finds.
    """
    _, _, size, kept_now = function.cache_info()
    room = len(calls) if size is None else size - kept_now
    keys, found = set(), []
    for args, kwargs, result in calls:
        key = _eval_frame.cache_key(function, _fill(args, values), _fill(kwargs, values))
        keys.add(key)
        kept = _eval_frame.cached_result(function, key)
        if kept is _eval_frame.MISSING:
            room -= 1
            found.append(None if result is None else _fill(result, values))
        elif room < 0 or not (result is None or _fits(kept, result, values)):
            raise Refuted(f"what {function.__qualname__} keeps has changed")
        else:
            found.append(kept)
    if len(keys) < len(calls):
        raise Refuted(f"calls of {function.__qualname__} are on the same sizes")
    return found


def symbolic_key(
    call: tuple[Pattern, Pattern], function: Any, values: tuple[Any, ...]
) -> Any:
    """The key of a call; integers of different sources are different keys."""
    args, kwargs = call
    return _eval_frame.cache_key(
        function, _fill(_plain(args), values), _fill(_plain(kwargs), values)
    )


def _plain(pattern: Pattern) -> Pattern:
    """A pattern in which sizes are tuples, which they equal: they would hold integers only."""
    kind, parts = pattern
    if kind in (_CONSTANT, _GIVEN):
        return pattern
    if kind is dict:
        return (dict, [(key, _plain(part)) for key, part in parts])
    return (tuple, [_plain(part) for part in parts])


def _fill(pattern: Pattern, values: tuple[Any, ...]) -> Any:
    kind, parts = pattern
    if kind == _CONSTANT:
        return parts
    if kind == _GIVEN:
        return values[parts]
    if kind is dict:
        made = {}
        for key, part in parts:
            made[key] = _fill(part, values)
        return made
    items = []
    for part in parts:
        items.append(_fill(part, values))
    return items if kind is list else kind(items)


def _fits(found: Any, pattern: Pattern, values: tuple[Any, ...]) -> bool:
    """Whether a tree is what the pattern gives: types, numbers, keys in their order, objects."""
    kind, parts = pattern
    if kind == _CONSTANT:
        return type(found) is type(parts) and repr(found) == repr(parts)
    if kind == _GIVEN:
        value = values[parts]
        return found is value or (type(found) is int and type(value) is int and found == value)
    if type(found) is not kind or len(found) != len(parts):
        return False
    if kind is dict:
        names = map(operator.itemgetter(0), parts)
        parts = map(operator.itemgetter(1), parts)
        return all(map(operator.eq, found, names)) and all(
            map(_fits, found.values(), parts, itertools.repeat(values))
        )
    return all(map(_fits, found, parts, itertools.repeat(values)))


for _function in (look_up, _fill, _fits):
    _eval_frame.skip_code(_function.__code__)


class PatternMaker:
    """Makes the patterns of a lookup.

    values: the sources of what has places in them. containers: the types of lists and dicts in
    results.
    """

    def __init__(self, integer: Callable[[SymIntVariable], Source]) -> None:
        """`integer` gives the source of a symbolic integer."""
        self.integer = integer
        self.values: dict[Source, int] = {}
        self.containers: set[type] = set()

    def place(self, source: Source) -> Pattern:
        """The pattern of what a source gives."""
        return (_GIVEN, self.values.setdefault(source, len(self.values)))

    def of_key(self, value: VariableTracker) -> Pattern | None:
        """The pattern of an argument of constants and symbolic integers; None of others."""
        value = value.realize()
        if value.is_constant():
            return (_CONSTANT, value.as_constant())
        if isinstance(value, SymIntVariable):
            return self.place(self.integer(value))
        if type(value) in (TupleVariable, SizeVariable):
            assert isinstance(value, TupleVariable)
            return _sequence(value, [self.of_key(item) for item in value.items])
        return None

    def of_result(self, value: VariableTracker, since: int) -> Pattern | None:
        """The pattern of a tree of constants, symbolic integers and objects that exist already.

        None of anything else, and where the tree holds a list or dict that is older than the step
        `since` or stands at two places.
        """
        made: set[VariableTracker] = set()
        pattern = self._tree(value.realize(), since, made)
        self.containers.update(container.python_type() for container in made)
        return pattern

    def _tree(
        self, value: VariableTracker, since: int, made: set[VariableTracker]
    ) -> Pattern | None:
        if value.mutable and value.source is not None:
            return self.place(value.source) if not isinstance(value, TensorVariable) else None
        if type(value) in (DictVariable, ListVariable):
            if value.born < since or value in made:
                return None
            made.add(value)
        if type(value) is DictVariable and value.kind is dict:
            entries = [(key, self._tree(item.realize(), since, made))
                       for key, (_, item) in value.entries.items()]
            return (dict, entries) if all(part is not None for _, part in entries) else None
        if type(value) in (TupleVariable, SizeVariable, ListVariable):
            assert isinstance(value, (TupleVariable, ListVariable))
            return _sequence(value, [self._tree(v.realize(), since, made) for v in value.items])
        return self.of_key(value)


def _sequence(
    value: TupleVariable | ListVariable, parts: list[Pattern | None]
) -> Pattern | None:
    return (value.kind, parts) if None not in parts else None


def kept_tree(value: VariableTracker, source: Source) -> VariableTracker:
    """A tracker of the same tree that is found where the lookup has put it."""
    value = value.realize()
    if value.mutable and value.source is not None:
        return value
    if type(value) is DictVariable:
        entries = {key: (name, kept_tree(item, ItemSource(source, key)))
                   for key, (name, item) in value.entries.items()}
        return DictVariable(entries, dict, source)
    if type(value) in (TupleVariable, SizeVariable, ListVariable):
        assert isinstance(value, (TupleVariable, ListVariable))
        items = [kept_tree(item, ItemSource(source, i)) for i, item in enumerate(value.items)]
        return type(value)(items, source)
    return value
