"""Weak references that exist: what they refer to is read through them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.opaque_container_sources import ReferentSource
from graphwright.capture.guards.source import Source
from graphwright.capture.trackers.base import VariableTracker

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class WeakReferenceVariable(VariableTracker):
    """A `weakref.ref`, or what weak dicts of values keep; guarded by its type."""

    mutable = True

    def __init__(self, value: weakref.ref[Any], source: Source) -> None:
        self.value = value
        self.source: Source = source

    def python_type(self) -> type:
        return type(self.value)

    def has_tensor(self) -> bool:
        return False

    def truth(self, tx: Translator) -> bool:
        return True

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """`reference()`: the object, or None where it is gone."""
        if args or kwargs:
            unsupported("GB0007", "TypeError: a weak reference takes no arguments")
        return tx.output.wrap(self.value(), ReferentSource(self.source))


def wrap_reference(
    output: OutputGraph, value: weakref.ref[Any], source: Source
) -> VariableTracker:
    """The rule of weak references."""
    output.guards.type_match(source, type(value))
    return WeakReferenceVariable(value, source)


REFERENCES: tuple[type, ...] = (weakref.ref, weakref.KeyedRef)
