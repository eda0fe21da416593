"""`functools.singledispatch`: the implementation for the first argument's class is called."""

from __future__ import annotations

import abc
import types
import weakref
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ClosureSource, ItemSource, Source
from graphwright.capture.trackers.base import VariableTracker

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

WRAPPER = "singledispatch.<locals>.wrapper"
DISPATCH = "singledispatch.<locals>.dispatch"


def implementation(
    tx: Translator, function: types.FunctionType, source: Source, args: list[VariableTracker]
) -> VariableTracker:
    """What a generic function calls for these arguments, guarded against registrations."""
    if not args:
        unsupported("GB0007", "TypeError: a generic function needs an argument")
    dispatch, inner = _cell(function, source, "dispatch")
    return chosen(tx, dispatch, inner, args[0].realize().python_type())


def chosen(
    tx: Translator, dispatch: Any, source: Source, kind: type
) -> VariableTracker:
    """What `function.dispatch(kind)` of a generic function gives.

    A break where abstract classes are registered: other classes can join them later. And where
    the cache is not the one that `functools` makes, which nobody sees being used.
    """
    cache, cache_place = _cell(dispatch, source, "dispatch_cache")
    if type(cache) is not weakref.WeakKeyDictionary:
        unsupported("GB0004", "call of a generic function with a cache of its own")
    tx.guards.type_match(cache_place, weakref.WeakKeyDictionary)
    registry, place = _cell(dispatch, source, "registry")
    if any(isinstance(cls, abc.ABCMeta) for cls in registry):
        unsupported("GB0004", "call of a generic function that knows abstract classes")
    found = dispatch(kind)
    key = next(cls for cls, known in registry.items() if known is found)
    tx.guards.length(place, len(registry))
    return tx.output.wrap(found, ItemSource(place, key))


def _cell(function: types.FunctionType, source: Source, name: str) -> tuple[Any, Source]:
    """The contents of a closure's cell, and where they are."""
    index = function.__code__.co_freevars.index(name)
    return function.__closure__[index].cell_contents, ClosureSource(source, index)  # type: ignore[index]
