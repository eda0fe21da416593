"""Members of enumerations: constants, whose class and attributes may change all the same."""

from __future__ import annotations

import enum
import types
from typing import TYPE_CHECKING

from graphwright.capture.source import AttrSource, ConstSource, MroSource, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.class_guards import class_source, guard_member
from graphwright.capture.variables.constant import ConstantVariable
from graphwright.capture.variables.objects import (
    ABSENT,
    bind_class_attribute,
    instance_dict,
    lookup,
)

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

_STORED = {"value": "_value_", "name": "_name_"}


class EnumVariable(ConstantVariable):
    """One member, guarded by identity; its attributes are guarded as they are read."""

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        cls = type(self.value)
        static = lookup(cls, name)
        member = self.source or ConstSource(self.value, str(self.value))
        if name in _STORED and static is enum.Enum.__dict__[name]:
            guard_member(tx, cls, name)
            return self._own(tx, member, _STORED[name])
        if isinstance(static, property) and isinstance(static.fget, types.FunctionType):
            getter = AttrSource(MroSource(class_source(cls), name), "fget")
            return tx.output.wrap(static.fget, getter).call(tx, [self], {})
        if name in instance_dict(self.value):
            guard_member(tx, cls, name)
            return self._own(tx, member, name)
        if isinstance(static, (types.FunctionType, staticmethod, classmethod)):
            source = MroSource(class_source(cls), name)
            return bind_class_attribute(tx, static, source, self, name)
        if static is not ABSENT:
            guard_member(tx, cls, name)
        return super().getattr(tx, name)

    def _own(self, tx: Translator, member: Source, name: str) -> VariableTracker:
        return tx.output.wrap(instance_dict(self.value)[name], AttrSource(member, name))
