"""Classes that the frame makes, and what lies in their templates in place of its values."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.effects.class_templates import TemplateSource, register
from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.callables.functions import (
    NestedFunctionVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.classes.classes import (
    BuiltinVariable,
    ClassVariable,
    OpaqueVariable,
    ReferenceVariable,
)
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.library.python_modules import PythonModuleVariable
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_BY_VALUE = (ClassVariable, BuiltinVariable, PythonModuleVariable, ReferenceVariable)


class MadeClassVariable(ClassVariable):
    """A class that the frame makes; `value` is its template."""

    def __init__(self, value: type, source: TemplateSource) -> None:
        super().__init__(value, source)

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        own = lookup(type(self.value), "__setattr__")
        if name.startswith("__") or own is not type.__setattr__:
            super().setattr(tx, name, value)
        type.__setattr__(self.value, name, standing(tx, value))
        tx.output.read_anew(name)


class WrappedVariable(VariableTracker):
    """What `property`, `staticmethod`, `dataclasses.field`, ... made in the frame."""

    mutable = True

    def __init__(self, maker: Callable[..., Any], args: Args, kwargs: Kwargs) -> None:
        self.maker = maker
        self.args = args
        self.kwargs = kwargs

    def python_type(self) -> type:
        if isinstance(self.maker, type):
            return self.maker
        found: type = sys.modules["dataclasses"].Field
        return found

    def parts(self) -> Iterable[VariableTracker]:
        return [*self.args, *self.kwargs.values()]

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if self.maker is property and name in _ACCESSORS:
            changed = BuiltinVariable(property, functools.partial(self._with, _ACCESSORS[name]))
            return changed
        if self.maker in (staticmethod, classmethod) and name in ("__func__", "__wrapped__"):
            return self.args[0].realize()
        return super().getattr(tx, name)

    def _with(self, place: int, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        """A property with another accessor: an explicit text about it stays."""
        if kwargs or len(args) != 1:
            unsupported("GB0007", f"a property's {_PARTS[place]} of {len(args)} values")
        given = {**dict(zip(_PARTS, self.args, strict=False)), **self.kwargs}
        if not args[0].is_none():
            given[_PARTS[place]] = args[0]
        none = tx.constant(None)
        return WrappedVariable(property, [given.get(part, none) for part in _PARTS], {})

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.maker is not staticmethod:
            return super().call(tx, args, kwargs)
        return self.args[0].realize().call(tx, args, kwargs)

    def standing(self, tx: Translator) -> Any:
        """The same, made of what stands for the parts."""
        keywords = {name: standing(tx, value) for name, value in self.kwargs.items()}
        try:
            return self.maker(*[standing(tx, value) for value in self.args], **keywords)
        except (TypeError, ValueError) as error:
            unsupported("GB0007", f"{type(error).__name__}: {error}")

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(self.maker)
        for value in self.parts():
            cg.push(value)
        cg.builder.end_call(len(self.args) + len(self.kwargs), tuple(self.kwargs))


_PARTS = ("fget", "fset", "fdel", "doc")
_ACCESSORS = {"getter": 0, "setter": 1, "deleter": 2}


class Stand:
    """Lies in a template in place of a value that is only known to the translator."""


def standing(tx: Translator, value: VariableTracker) -> Any:
    """What lies in a template for a value; looked up there, it is the value again."""
    value = value.realize()
    if isinstance(value, TupleVariable) and all(item.is_constant() for item in value.items):
        return tuple([item.as_constant() for item in value.items])
    if value.is_constant():
        return value.as_constant()
    if isinstance(value, _BY_VALUE):
        return value.value
    if isinstance(value, WrappedVariable):
        return value.standing(tx)
    if isinstance(value, OpaqueVariable):
        unsupported("GB0010", f"{value.describe()} in a class statement")
    stand: Any = Stand()
    if isinstance(value, UserFunctionVariable):
        stand = value.function
    elif isinstance(value, NestedFunctionVariable):
        stand = _function(tx, value)
    elif isinstance(value, ObjectVariable):
        _refuse_descriptor(value)
    tx.output.stands_for(stand, value)
    return stand


def _function(tx: Translator, value: NestedFunctionVariable) -> types.FunctionType:
    code = value.code
    cells = tuple([types.CellType() for _ in code.co_freevars])
    abstract = value.attributes.get("__isabstractmethod__")
    if abstract is not None and not abstract.is_constant():
        unsupported("GB0010", "whether a method is abstract, which is no constant")
    made = types.FunctionType(code, tx.globals_(), code.co_name, None, cells)
    known = {key: item for key, item in value.attributes.items() if item.is_constant()}
    made.__dict__.update({key: item.as_constant() for key, item in known.items()})
    return made


def _refuse_descriptor(value: ObjectVariable) -> None:
    for name in ("__get__", "__set__", "__delete__", "__set_name__"):
        if lookup(value.cls, name) is not ABSENT:
            unsupported("GB0010", f"descriptor {value.describe()} in a class statement")


def made_class(tx: Translator, template: type) -> MadeClassVariable:
    """The tracker of a class that the frame makes, for which the template stands."""
    made = MadeClassVariable(template, register(template, Clock.step))
    tx.output.stands_for(template, made)
    return made
