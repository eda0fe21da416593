"""Instances of `nn.Module`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import AttributeMissing
from graphwright.capture.guards.source import InstanceAttrSource, ItemSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.namespaces import ABSENT, instance_dict, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator


def original_of(value: object) -> Any:
    """The module that a compiled one stands for, whose attributes it shares; None for others."""
    found = lookup(type(value), "_original")
    shared = found is not ABSENT and instance_dict(found) is instance_dict(value)
    return found if shared and instance_dict(value) else None


class NNModuleVariable(ObjectVariable):
    """An `nn.Module`: parameters, buffers and submodules are found without inlining."""

    KINDS = ("_parameters", "_buffers", "_modules")

    def __init__(
        self, cls: type, value: object, source: Source, plain_getattr: Callable[..., Any]
    ) -> None:
        super().__init__(cls, value, source)
        self.plain_getattr = plain_getattr

    def _missing(self, tx: Translator, name: str) -> VariableTracker:
        if lookup(self.cls, "__getattr__") is not self.plain_getattr:
            return super()._missing(tx, name)
        assert self.source is not None
        state = instance_dict(self.value)
        self._guard_absent(tx, name)
        tx.guards.missing(self._class_source(name))
        tx.guards.id_match(self._class_source("__getattr__"), self.plain_getattr)
        for kind in self.KINDS:
            members = state.get(kind)
            if not isinstance(members, dict) or tx.side_effects.attribute(self, kind) is not None:
                return super()._missing(tx, name)
            tracked = tx.output.tracked(members)
            if tracked is not None and tx.side_effects.is_mutated(tracked):
                return super()._missing(tx, name)
            source = ItemSource(InstanceAttrSource(self.source, kind), name)
            if name in members:
                return tx.output.wrap(members[name], source)
            tx.guards.missing(source)
        raise AttributeMissing.of(self.cls, name)


class CompiledModuleVariable(NNModuleVariable):
    """What `compile` made of a module: its attributes are those of the original."""

    OWN = ("__class__", "__call__", "_original", "_compilation", "__deepcopy__", "__reduce__")

    def __init__(
        self, value: object, source: Source, plain_getattr: Callable[..., Any],
        original: VariableTracker,
    ) -> None:
        super().__init__(type(value), value, source, plain_getattr)
        self.original = original

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        return super().getattr(tx, name) if name in self.OWN else self.original.getattr(tx, name)

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        self.original.setattr(tx, name, value)

    def delattr(self, tx: Translator, name: str) -> None:
        self.original.delattr(tx, name)
