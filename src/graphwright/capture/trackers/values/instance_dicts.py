"""`__dict__` of objects of user classes."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import InstanceAttrSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import SequenceMethod
from graphwright.capture.trackers.values.namespaces import (
    instance_dict,
    is_data_descriptor,
    lookup,
)
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class InstanceDictVariable(VariableTracker):
    """`value.__dict__` of an object, key by key."""

    def __init__(self, owner: ObjectVariable) -> None:
        self.owner = owner

    def python_type(self) -> type:
        return dict

    def parts(self) -> list[VariableTracker]:
        return [self.owner]

    def _find(self, tx: Translator, key: VariableTracker) -> VariableTracker | None:
        name = key.as_constant()
        owner = self.owner
        pending = tx.side_effects.attribute(owner, name)
        noted = pending is not None or tx.side_effects.is_deleted(owner, name)
        if noted and not self._is_hidden(tx, name):
            return pending.realize() if pending is not None else None
        if owner.value is None or owner.source is None:
            return None
        values = instance_dict(owner.value)
        source = InstanceAttrSource(owner.source, name)
        if name not in values:
            tx.guards.missing(source)
            return None
        return tx.output.wrap(values[name], source)

    def _is_hidden(self, tx: Translator, name: object) -> bool:
        """Whether the attribute of that name is another place: a slot, or what a descriptor says.

        What is noted of the attribute is not of this dict then.
        """
        return isinstance(name, str) and is_data_descriptor(self.owner.class_member(tx, name))

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return self._find(tx, item) is not None

    def snapshot(self, tx: Translator) -> VariableTracker:
        """A dict of what it holds now."""
        names = self.owner.attribute_names(tx)
        found = {name: self._find(tx, tx.constant(name)) for name in names}
        return tx.dict_of({name: value for name, value in found.items() if value is not None})

    def iterate(self, tx: Translator) -> VariableTracker:
        return self.snapshot(tx).iterate(tx)

    def length(self, tx: Translator) -> VariableTracker:
        return self.snapshot(tx).length(tx)

    def truth(self, tx: Translator) -> bool:
        return self.snapshot(tx).truth(tx)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        found = self._find(tx, key)
        if found is None:
            unsupported("GB0006", f"KeyError: {key.describe()}")
        return found

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        name = key.as_constant()
        if not isinstance(name, str) or self._is_hidden(tx, name):
            unsupported("GB0010", f"assignment to __dict__[{name!r}]")
        tx.side_effects.store_attribute(self.owner, name, value)

    @staticmethod
    def methods() -> dict[str, Any]:
        """The methods that are interpreted, by name."""
        names = ("get", "pop", "__contains__", "keys", "values", "items", "copy", "update")
        return dict.fromkeys(names)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return SequenceMethod(self, name)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name in ("keys", "values", "items", "copy"):
            return self.snapshot(tx).call_method(tx, name, args, kwargs)
        if name == "update":
            for key, value in tx.pairs(args):
                self.setitem(tx, key, value)
            for key, value in kwargs.items():
                self.setitem(tx, tx.constant(key), value)
            return tx.constant(None)
        if name not in self.methods() or not args:
            unsupported("GB0008", f"__dict__.{name}()")
        found = self._find(tx, args[0])
        if name == "__contains__":
            return tx.constant(found is not None)
        if found is None:
            if len(args) == 1 and name == "pop":
                unsupported("GB0006", f"KeyError: {args[0].describe()}")
            return args[1] if len(args) > 1 else tx.constant(None)
        if name == "pop":
            key = args[0].as_constant()
            if self._is_hidden(tx, key):
                unsupported("GB0010", f"__dict__.pop({key!r})")
            tx.side_effects.store_attribute(self.owner, key, None)
        return found

    def reconstruct(self, cg: Reconstructor) -> None:
        if isinstance(lookup(self.owner.cls, "__getattribute__"), types.FunctionType):
            cg.builder.begin_call(object.__getattribute__)
            cg.push(self.owner)
            cg.builder.load_const("__dict__")
            cg.builder.end_call(2)
        else:
            cg.push(self.owner)
            cg.builder.load_attr("__dict__")
