"""Methods of `object` itself."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class ObjectMethodVariable(VariableTracker):
    """A method of `object` itself, bound: `super().__init__`, `object.__setattr__`."""

    def __init__(self, name: str, owner: VariableTracker | None) -> None:
        self.method = name
        self.owner = owner

    def python_type(self) -> type:
        return types.MethodWrapperType

    def describe(self) -> str:
        return f"object.{self.method}"

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner, *rest = [self.owner, *args] if self.owner is not None else args
        owner = owner.realize()
        if not isinstance(owner, ObjectVariable) or kwargs:
            unsupported("GB0004", f"object.{self.method}")
        if self.method == "__init__" and not rest:
            return tx.constant(None)
        if self.method == "__getattribute__" and len(rest) == 1:
            return owner.find(tx, rest[0].as_constant())
        if self.method == "__delattr__" and len(rest) == 1:
            owner.remove(tx, rest[0].as_constant())
            return tx.constant(None)
        if self.method == "__setattr__" and len(rest) == 2:
            owner.store(tx, rest[0].as_constant(), rest[1])
            return tx.constant(None)
        unsupported("GB0004", f"call of object.{self.method}")

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner] if self.owner is not None else []
