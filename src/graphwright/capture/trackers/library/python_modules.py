"""Modules: objects whose `__dict__` their functions see as globals."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import AttributeMissing, Unsupported, unsupported
from graphwright.capture.guards.source import AttrSource, ConstSource, ModuleSource, Source
from graphwright.capture.guards.text import is_of_package, module_dict, module_name
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.effects.warning_filters import refuse_reads
from graphwright.capture.trackers.values.exceptions import Raised, raise_in_frame
from graphwright.capture.trackers.values.namespaces import ABSENT
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_OF_CLASS = frozenset(["__class__", "__dict__", "__annotations__"])
"""The data descriptors of plain modules, which come before what their dicts hold."""


class PythonModuleVariable(ObjectVariable):
    """An imported module; its attributes are guarded as globals are.

    What its dict lacks, the function `__getattr__` in that dict is asked for (PEP 562), and then
    the `__getattr__` of its class.
    """

    namespace: dict[str, Any]
    value: types.ModuleType

    def __init__(self, value: types.ModuleType, source: Source) -> None:
        super().__init__(type(value), value, source)
        self.namespace = module_dict(value)

    def describe(self) -> str:
        return f"module {module_name(self.value)}"

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        refuse_reads(self.value, name, tx.side_effects.blocks)
        plain = self.cls is types.ModuleType and name not in _OF_CLASS
        if name not in self.namespace and plain and is_of_package(module_name(self.value)):
            return self._of_package(tx, name)
        if plain and name in self.namespace and not self._is_noted(tx, name):
            return self._held(tx, name)
        return super().getattr(tx, name)

    def _held(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        return tx.output.wrap(self.namespace[name], AttrSource(self.source, name))

    def _is_noted(self, tx: Translator, name: str) -> bool:
        """Whether the frame has written or deleted the attribute."""
        noted = tx.side_effects.attributes.get(self, {})
        return name in noted or (self._is_of_root(tx) and name in tx.side_effects.globals)

    def _is_of_root(self, tx: Translator) -> bool:
        """Whether the captured function is one of the module's."""
        return self.namespace is tx.output.function.__globals__

    def _found(self, tx: Translator, name: str) -> VariableTracker | None:
        if self._is_of_root(tx):
            if name == "__dict__":
                unsupported("GB0008", f"__dict__ of {self.describe()}, whose function is captured")
            if name in tx.side_effects.globals:
                return tx.side_effects.globals[name]
        return super()._found(tx, name)

    def _has_fallback(self, tx: Translator) -> bool:
        return "__getattr__" in self.namespace or super()._has_fallback(tx)

    def _guard_missing(self, tx: Translator, name: str) -> None:
        super()._guard_missing(tx, name)
        if "__getattr__" not in self.namespace:
            self._guard_absent(tx, "__getattr__")

    def _fall_back(self, tx: Translator, name: str) -> VariableTracker:
        if "__getattr__" not in self.namespace:
            return super()._fall_back(tx, name)
        asked = self._held(tx, "__getattr__")
        try:
            return asked.call(tx, [tx.constant(name)], {})
        except AttributeMissing:
            if not super()._has_fallback(tx):
                raise
        except Raised as raised:
            if not issubclass(raised.value.cls, AttributeError) or not super()._has_fallback(tx):
                raise
        return super()._fall_back(tx, name)

    def _of_package(self, tx: Translator, name: str) -> VariableTracker:
        """Modules of this package fill themselves on first use; after that the dict has it."""
        value = getattr(self.value, name, ABSENT)
        if value is ABSENT:
            raise AttributeMissing("GB0007", f"{self.describe()} has no attribute {name!r}")
        if name in self.namespace:
            return self._held(tx, name)
        return tx.output.wrap(value, ConstSource(value, f"{module_name(self.value)}.{name}"))

    def store(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if self._is_of_root(tx):
            tx.side_effects.store_global(name, value)
        else:
            super().store(tx, name, value)

    def remove(self, tx: Translator, name: str) -> None:
        if self._is_of_root(tx):
            unsupported("GB0008", f"deletion of attribute {name!r} of {self.describe()}")
        super().remove(tx, name)


def loaded_module(tx: Translator, name: str) -> VariableTracker:
    """A module that is loaded, and goes on to be found as such."""
    module = sys.modules.get(name)
    if module is None and _is_of_package(name):
        module = _imported(tx, name)
    if module is None:
        reason = Unsupported("GB0005", f"import of {name}, which is not loaded yet")
        reason.lacking = ModuleSource(name)
        raise reason
    return tx.output.wrap(module, ModuleSource(name))


def _is_of_package(name: str) -> bool:
    """Whether a module is one of this package, by its own name or another that stands for it."""
    root = sys.modules.get(name.partition(".")[0])
    return isinstance(root, types.ModuleType) and is_of_package(module_name(root))


def _imported(tx: Translator, name: str) -> types.ModuleType:
    """Import a module of this package: no program can see when that happens. A name that it lacks
    it always lacks."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        text = tx.constant(str(error))
        raise_in_frame(type(error), [text], name=tx.constant(error.name))


def _import_module(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`importlib.import_module(name, package)`."""
    given = dict(zip(("name", "package"), args, strict=False)) | kwargs
    values = {key: value.realize().as_constant() for key, value in given.items()}
    name = tx.fold(importlib.util.resolve_name, values["name"], values.get("package"))
    return loaded_module(tx, name)


def _globals(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`globals()` of a function of another module than the captured one's."""
    held = tx.globals_()
    module = sys.modules.get(held.get("__name__", ""))
    if module is None or module_dict(module) is not held:
        unsupported("GB0004", "call of globals() outside of a module that is loaded")
    return loaded_module(tx, held["__name__"]).getattr(tx, "__dict__")


PYTHON_MODULES: dict[Any, Callable[[Translator, Args, Kwargs], VariableTracker]] = {
    importlib.import_module: _import_module,
    globals: _globals,
}
