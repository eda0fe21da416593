"""Instances of `nn.Module`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import AttributeMissing
from graphwright.capture.source import InstanceAttrSource, ItemSource, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.objects import ObjectVariable, instance_dict, lookup

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator


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
