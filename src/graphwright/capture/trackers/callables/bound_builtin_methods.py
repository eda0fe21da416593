"""Bound methods of builtin types that exist already, such as `items.append` kept in a variable.

Each reading of `items.append` makes another object: such a method is identified by its name and
by the object that it is bound to, not by its own identity.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.guards.source import AttrSource, ConstSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.builtin_signatures import check_method
from graphwright.capture.trackers.values.namespaces import may_change, namespace_of

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator



class HeldMethodVariable(VariableTracker):
    """The method `name` of a builtin type, bound to `owner`."""

    def __init__(self, owner: VariableTracker, name: str, source: Source) -> None:
        self.owner = owner
        self.method = name
        self.source = source

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def describe(self) -> str:
        return f"method {self.method} of {self.owner.describe()}"

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def truth(self, tx: Translator) -> bool:
        return True

    def has_identity(self) -> bool:
        return True

    def call(
        self, tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        owner = self.owner.realize()
        check_method(owner.python_type(), self.method, len(args), tuple(kwargs))
        return owner.call_method(tx, self.method, args, kwargs)


def held_method(output: OutputGraph, value: Any, source: Source) -> HeldMethodVariable | None:
    """The tracker of a bound method that its owner's class has by its name; else None."""
    owner, name = value.__self__, value.__name__
    kind: Any = type(owner)
    found = namespace_of(kind).get(name)
    if isinstance(source, ConstSource) or may_change(kind):
        return None
    if not isinstance(found, types.MethodDescriptorType) or found.__get__(owner, kind) != value:
        return None
    output.guards.type_match(source, type(value))
    output.guards.equals(AttrSource(source, "__name__"), name)
    place = AttrSource(source, "__self__")
    output.guards.type_match(place, kind)
    return HeldMethodVariable(output.wrap_lazily(owner, place), name, source)
