"""Imported modules."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.guard_text import is_of_package, module_dict, module_name
from graphwright.capture.source import AttrSource, ConstSource, InstanceAttrSource, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.class_guards import guard_member
from graphwright.capture.variables.namespaces import ABSENT, lookup
from graphwright.capture.variables.warning_filters import refuse_reads

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator


class PythonModuleVariable(VariableTracker):
    """An imported module; its attributes are guarded as globals are."""

    def __init__(self, value: types.ModuleType, source: Source) -> None:
        self.value = value
        self.source = source

    def python_type(self) -> type:
        return type(self.value)

    def describe(self) -> str:
        return f"module {module_name(self.value)}"

    def truth(self, tx: Translator) -> bool:
        return True

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        if type(self.value) is not types.ModuleType:
            return self._of_subclass(tx, type(self.value), name)
        source = AttrSource(self.source, name)
        refuse_reads(self.value, name, tx.side_effects.blocks)
        if name in self.value.__dict__:
            return tx.output.wrap(self.value.__dict__[name], source)
        if "__getattr__" in self.value.__dict__:
            return self._lazy_attribute(tx, name)
        tx.guards.missing(source)
        tx.guards.missing(AttrSource(self.source, "__getattr__"))
        raise AttributeMissing("GB0007", f"{self.describe()} has no attribute {name!r}")

    def _of_subclass(self, tx: Translator, cls: type, name: str) -> VariableTracker:
        """What the module's dict has, where the class says nothing of the name or of reads."""
        found = module_dict(self.value)
        plain = lookup(cls, "__getattribute__") is types.ModuleType.__getattribute__
        if not plain or lookup(cls, name) is not ABSENT or name not in found:
            unsupported("GB0010", f"attribute {name!r} of {self.describe()}")
        assert self.source is not None
        tx.guards.type_match(self.source, cls)
        guard_member(tx, cls, "__getattribute__")
        guard_member(tx, cls, name)
        return tx.output.wrap(found[name], InstanceAttrSource(self.source, name))

    def _lazy_attribute(self, tx: Translator, name: str) -> VariableTracker:
        """Modules of this package fill themselves on first use; after that the dict has it."""
        if not is_of_package(module_name(self.value)):
            unsupported("GB0010", f"attribute {name!r} of {self.describe()}")
        value = getattr(self.value, name, ABSENT)
        if value is ABSENT:
            raise AttributeMissing("GB0007", f"{self.describe()} has no attribute {name!r}")
        assert self.source is not None
        if name in self.value.__dict__:
            return tx.output.wrap(value, AttrSource(self.source, name))
        return tx.output.wrap(value, ConstSource(value, f"{self.value.__name__}.{name}"))
