"""Calls of cached functions on sizes that vary: what is kept is looked up before the graph runs.

The function was inlined: what it gives is known but for the numbers. Where the cache has nothing
for the numbers of a call, an object like it is made, which the cache gets after the graph; where
the cache has another than the function gives (somebody has changed it), the frame runs plainly.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.capture.assumptions import Refuted
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.source import ItemSource, LoadWriter, Reloader, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.mappings import DictVariable
from graphwright.capture.variables.sequences import ListVariable, SizeVariable, TupleVariable
from graphwright.capture.variables.symint import SymIntVariable
from graphwright.capture.variables.tensor import TensorVariable
from graphwright.runtime.records import Record

_CONSTANT, _GIVEN = "constant", "given"
Pattern = tuple[Any, Any]


class KeptSource(Source):
    """The local of the translated frame that holds what a lookup found or made."""

    in_frame_only = True
    number: int

    def name(self) -> str:
        return f"kept result {self.number}"

    def emit(self, cg: Reloader) -> None:
        cg.load_local(f"$kept{self.number}")

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at what existed before")

    def require_comparable(self) -> None:
        unsupported("GB0004", "the identity of what a cached function keeps for sizes that vary")


class Lookup(Record, eq=False):
    """One lookup: the patterns of arguments and result have places for `values`.

    containers: the types in the result that can be changed. step: of the call.
    """

    function: Source
    args: Pattern
    kwargs: Pattern
    result: Pattern
    values: tuple[Source, ...]
    containers: frozenset[type]
    step: int

    def check_writes(self, kinds: set[type]) -> None:
        """A break before the call, if the frame changes what the result may hold, too."""
        if kinds & self.containers:
            reason = Unsupported("GB0004", f"call of {self.function}, as a container changes")
            reason.blame(self.step)
            raise reason

    def emit(self, cg: Reloader) -> None:
        """Push what the cache has or gets."""
        cg.begin_call(look_up)
        self.function.emit(cg)
        cg.load_const((self.args, self.kwargs, self.result))
        for value in self.values:
            value.emit(cg)
        cg.end_call(2 + len(self.values))


def look_up(function: Any, patterns: tuple[Pattern, Pattern, Pattern], *values: Any) -> Any:
    """What a cached function keeps for the arguments, or what it would give.

    Raises Refuted where it keeps something else than it would give.
    """
    args, kwargs, result = patterns
    key = _eval_frame.cache_key(function, _fill(args, values), _fill(kwargs, values))
    kept = _eval_frame.cached_result(function, key)
    if kept is _eval_frame.MISSING:
        return _fill(result, values)
    if not _fits(kept, result, values):
        raise Refuted(f"what {function.__qualname__} keeps has changed")
    return kept


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

    values: the sources of what has places in them. containers: the types of lists and dicts.
    """

    def __init__(self, integer: Callable[[SymIntVariable], Source]) -> None:
        """`integer` gives the source of an integer that varies."""
        self.integer = integer
        self.values: dict[Source, int] = {}
        self.containers: set[type] = set()

    def place(self, source: Source) -> Pattern:
        """The pattern of what a source gives."""
        return (_GIVEN, self.values.setdefault(source, len(self.values)))

    def pattern(self, value: VariableTracker) -> Pattern | None:
        """The pattern of a tree of constants, integers that vary and objects that exist already.

        None of anything else.
        """
        value = value.realize()
        if value.is_constant():
            return (_CONSTANT, value.as_constant())
        if isinstance(value, SymIntVariable):
            return self.place(self.integer(value))
        if value.mutable and value.source is not None:
            return self.place(value.source) if not isinstance(value, TensorVariable) else None
        if type(value) is DictVariable:
            if value.kind is not dict:
                return None
            self.containers.add(dict)
            entries = [(key, self.pattern(item)) for key, (_, item) in value.entries.items()]
            return (dict, entries) if all(part is not None for _, part in entries) else None
        if type(value) in (TupleVariable, SizeVariable, ListVariable):
            assert isinstance(value, (TupleVariable, ListVariable))
            if value.mutable:
                self.containers.add(list)
            parts = [self.pattern(item) for item in value.items]
            return (value.kind, parts) if None not in parts else None
        return None


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
