"""Class statements in the frame: their bodies are interpreted, their classes do not leave it."""

from __future__ import annotations

import abc
import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.templates import TemplateSource, register
from graphwright.capture.variables.base import Clock, VariableTracker
from graphwright.capture.variables.class_guards import guard_bases, guard_member
from graphwright.capture.variables.classes import (
    BuiltinVariable,
    ClassVariable,
    Handler,
    OpaqueVariable,
    ReferenceVariable,
)
from graphwright.capture.variables.functions import (
    CellVariable,
    NestedFunctionVariable,
    PartialVariable,
    UserFunctionVariable,
)
from graphwright.capture.variables.mappings import DictVariable
from graphwright.capture.variables.namespaces import ABSENT, lookup
from graphwright.capture.variables.objects import ObjectVariable
from graphwright.capture.variables.python_modules import PythonModuleVariable
from graphwright.capture.variables.sequences import TupleVariable

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_BY_VALUE = (ClassVariable, BuiltinVariable, PythonModuleVariable, ReferenceVariable)


class MadeClassVariable(ClassVariable):
    """A class that the frame makes; `value` is its template."""

    def __init__(self, value: type, source: TemplateSource) -> None:
        super().__init__(value, source)

    def setattr(self, tx: Translator, name: str, value: VariableTracker) -> None:
        if name.startswith("__") or type(self.value) is not type:
            super().setattr(tx, name, value)
        setattr(self.value, name, _standing(tx, value))
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
        keywords = {name: _standing(tx, value) for name, value in self.kwargs.items()}
        try:
            return self.maker(*[_standing(tx, value) for value in self.args], **keywords)
        except (TypeError, ValueError) as error:
            unsupported("GB0007", f"{type(error).__name__}: {error}")

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.builder.begin_call(self.maker)
        for value in self.parts():
            cg.push(value)
        cg.builder.end_call(len(self.args) + len(self.kwargs), tuple(self.kwargs))


_PARTS = ("fget", "fset", "fdel", "doc")
_ACCESSORS = {"getter": 0, "setter": 1, "deleter": 2}


class _Stand:
    """Lies in a template in place of a value that is only known to the translator."""


def build_class(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`__build_class__(body, name, *bases)`, of at most one base."""
    body, title, *bases = [arg.realize() for arg in args]
    name = title.as_constant()
    if kwargs or len(bases) > 1 or not isinstance(body, NestedFunctionVariable):
        unsupported("GB0004", f"class {name} with keywords or several bases")
    base = _base(tx, name, bases[0]) if bases else object
    members = tx.run_class_body(body)
    cell = members.pop("__classcell__", None)
    namespace = {key: _standing(tx, value) for key, value in members.items()}
    noted = members.get("__annotations__")
    if isinstance(noted, DictVariable):
        entries = noted.entries.items()
        namespace["__annotations__"] = {key: _standing(tx, entry[1]) for key, entry in entries}
    try:
        template = type(base)(name, (base,) if bases else (), namespace)
    except (TypeError, ValueError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    made = MadeClassVariable(template, register(template, Clock.step))
    tx.output.stands_for(template, made)
    if isinstance(cell, CellVariable):
        cell.contents = made
    return made


def _base(tx: Translator, name: str, value: VariableTracker) -> type:
    """A base whose metaclass runs no code of the user's."""
    base = value.value if isinstance(value, (ClassVariable, BuiltinVariable)) else None
    if not isinstance(base, type) or type(base) not in (type, abc.ABCMeta):
        unsupported("GB0004", f"class {name} of {value.describe()}")
    if lookup(base, "__init_subclass__") is not vars(object)["__init_subclass__"]:
        unsupported("GB0004", f"class {name} of {base.__qualname__}, which has __init_subclass__")
    if not isinstance(value, MadeClassVariable):
        guard_bases(tx, base)
        guard_member(tx, base, "__init_subclass__")
    return base


def _standing(tx: Translator, value: VariableTracker) -> Any:
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
    stand: Any = _Stand()
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


def _wrapped(maker: Callable[..., Any]) -> Handler:
    return lambda tx, args, kwargs: WrappedVariable(maker, args, kwargs)


def _abstract(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`abc.abstractmethod(function)`, of a function that the frame makes."""
    function = args[0].realize()
    if not isinstance(function, NestedFunctionVariable):
        unsupported("GB0004", f"abstractmethod() of {function.describe()}")
    function.attributes["__isabstractmethod__"] = tx.constant(True)
    return function


def _dataclass(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`dataclasses.dataclass` of a class that the frame makes."""
    dataclass = sys.modules["dataclasses"].dataclass
    if not args:
        return PartialVariable(BuiltinVariable(dataclass, _dataclass), [], kwargs)
    cls = args[0].realize()
    if not isinstance(cls, MadeClassVariable):
        unsupported("GB0004", f"dataclass() of {cls.describe()}")
    _require_real(cls.value)
    options = {name: value.realize().as_constant() for name, value in kwargs.items()}
    try:
        made: type = dataclass(**options)(cls.value)
    except (TypeError, ValueError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    if made is not cls.value:
        unsupported("GB0004", "dataclass(slots=True), which makes another class")
    return cls


def _require_real(template: type) -> None:
    """A break where `dataclass` would look at values that only the translator knows."""
    members = vars(template)
    seen = [*members.values(), *members.get("__annotations__", {}).values()]
    fields = sys.modules["dataclasses"].Field
    options = [name for name in fields.__slots__ if name != "metadata"]
    made = [value for value in seen if isinstance(value, fields)]
    seen += [getattr(value, name) for value in made for name in options]
    if any(isinstance(value, _Stand) for value in seen):
        unsupported("GB0004", f"dataclass() of {template.__qualname__}, made in the frame")


MADE_CLASSES: dict[Any, Handler] = {
    __build_class__: build_class,
    abc.abstractmethod: _abstract,
    **{
        maker: _wrapped(maker)
        for maker in (property, staticmethod, classmethod, functools.cached_property)
    },
}


def handler_of_dataclasses(function: types.FunctionType) -> Handler | None:
    """That of `dataclass` and `field`, whose module is not imported for them."""
    name = function.__name__
    if function.__module__ != "dataclasses" or name not in ("dataclass", "field"):
        return None
    if getattr(sys.modules["dataclasses"], name) is not function:
        return None
    return _dataclass if name == "dataclass" else _wrapped(function)
