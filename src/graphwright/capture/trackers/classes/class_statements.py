"""Class statements in the frame, and calls that make classes: the bodies are interpreted."""

from __future__ import annotations

import abc
import enum
import functools
import sys
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import TEMPLATES
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.functions import (
    CellVariable,
    NestedFunctionVariable,
    PartialVariable,
    UserFunctionVariable,
)
from graphwright.capture.trackers.callables.super import SuperVariable
from graphwright.capture.trackers.classes.class_guards import guard_bases, guard_member
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable, Handler
from graphwright.capture.trackers.classes.new_classes import (
    MadeClassVariable,
    Stand,
    WrappedVariable,
    made_class,
    standing,
)
from graphwright.capture.trackers.classes.new_enums import create_enumeration, make_enumeration
from graphwright.capture.trackers.classes.new_namedtuples import MADE_TUPLES, make_tuple_class
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.values.exceptions import Raised
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup, may_change, mro_of
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_OF_LIBRARY = (type, abc.ABCMeta)
"""The metaclasses that run no code of the program's."""


def build_class(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`__build_class__(body, name, *bases, metaclass=..., **keywords)`."""
    body, title, *bases = [arg.realize() for arg in args]
    name = title.as_constant()
    if not isinstance(body, NestedFunctionVariable):
        unsupported("GB0004", f"class {name} of {body.describe()}")
    if len(bases) == 1 and _is_function(bases[0], typing.NamedTuple):
        return make_tuple_class(tx, name, tx.run_class_body(body, {}), kwargs)
    keywords = dict(kwargs)
    kind = _metaclass(tx, name, bases, keywords.pop("metaclass", None))
    if kind.value is enum.EnumType:
        real = [_base(tx, name, base) for base in bases]
        return make_enumeration(tx, name, real, keywords, functools.partial(_run, tx, body))
    members = tx.run_class_body(body, {})
    if kind.value in _OF_LIBRARY:
        return new_class(tx, kind.value, name, bases, members, keywords)
    if lookup(kind.value, "__prepare__") is not vars(type)["__prepare__"]:
        unsupported("GB0004", f"class {name} of a metaclass with __prepare__")
    guard_member(tx, kind.value, "__prepare__")
    entries = {key: (tx.constant(key), value) for key, value in members.items()}
    given = [tx.constant(name), tx.tuple_of(bases), DictVariable(entries)]
    made = kind.call(tx, given, keywords).realize()
    cell = members.get("__classcell__")
    held = cell.contents if isinstance(cell, CellVariable) else made
    if held is not made and issubclass(made.python_type(), type):
        unsupported("GB0007", f"TypeError: __class__ of {name} is no longer that class")
    return made


def _run(
    tx: Translator, body: NestedFunctionVariable, names: dict[str, VariableTracker]
) -> dict[str, VariableTracker]:
    return tx.run_class_body(body, names)


def _is_function(value: VariableTracker, function: Any) -> bool:
    return isinstance(value, UserFunctionVariable) and value.function is function


def _metaclass(
    tx: Translator, name: str, bases: Args, given: VariableTracker | None
) -> ClassVariable:
    """The most derived one of what is given and those of the bases."""
    for base in bases:
        if not isinstance(base, (ClassVariable, BuiltinVariable)) or not isinstance(
            base.value, type
        ):
            unsupported("GB0004", f"class {name} of {base.describe()}")
    given = given.realize() if given is not None else None
    if given is None or (isinstance(given, BuiltinVariable) and given.value is type):
        found = ClassVariable(type)
    elif isinstance(given, ClassVariable) and issubclass(given.value, type):
        found = given
    else:
        unsupported("GB0004", f"class {name} of metaclass {given.describe()}")
    for base in bases:
        kind = type(base.value)  # type: ignore[attr-defined]
        if issubclass(kind, found.value):
            found = found if kind is found.value else _class(tx, kind)
        elif not issubclass(found.value, kind):
            unsupported("GB0007", f"TypeError: metaclasses of class {name} differ")
    return found


def _class(tx: Translator, kind: type) -> ClassVariable:
    found = tx.constant_class(kind)
    return found if isinstance(found, ClassVariable) else ClassVariable(kind)


def new_class(
    tx: Translator, kind: type, name: str, bases: Args, members: dict[str, VariableTracker],
    keywords: Kwargs,
) -> VariableTracker:
    """`type.__new__(kind, name, bases, members, **keywords)`."""
    if lookup(kind, "mro") is not type.mro:
        unsupported("GB0004", f"class {name} of a metaclass with mro()")
    if kind not in _OF_LIBRARY:
        guard_member(tx, kind, "mro")
    real = tuple([_base(tx, name, base) for base in bases])
    members = dict(members)
    cell = members.pop("__classcell__", None)
    own = isinstance(cell, CellVariable) and cell.push_cell is None
    if cell is not None and not own:
        unsupported("GB0004", f"class {name} of a body that ran outside of the frame")
    taking = {key: value.realize() for key, value in members.items() if _takes_name(value)}
    template = _template(kind, name, real, _namespace(tx, members, taking))
    _check_one_base(name, template)
    for key, value in taking.items():
        type.__setattr__(template, key, _instance(tx, value))
    made = made_class(tx, template)
    if isinstance(cell, CellVariable):
        cell.contents = made
    for key, value in taking.items():
        if lookup(value.python_type(), "__set_name__") is not ABSENT:
            named = tx.class_function(value.python_type(), "__set_name__")
            try:
                tx.bound_method(named, value).call(tx, [made, tx.constant(key)], {})
            except Raised:  # which Python wraps, or adds a note to
                unsupported("GB0006", f"__set_name__ of {key} raised")
    if lookup(template, "__init_subclass__", template) is not _PLAIN_HOOK:
        hook = SuperVariable(template, made).getattr(tx, "__init_subclass__")
        hook.call(tx, [], keywords)
    elif keywords:
        unsupported("GB0007", f"TypeError: {name}.__init_subclass__() takes no keyword arguments")
    return made


def _namespace(
    tx: Translator, members: dict[str, VariableTracker], taking: dict[str, VariableTracker]
) -> dict[str, Any]:
    """The namespace of a template class; values with `__set_name__` have no place in it yet."""
    namespace = {
        key: Stand() if key in taking else standing(tx, value) for key, value in members.items()
    }
    noted = members.get("__annotations__")
    if isinstance(noted, DictVariable):
        entries = noted.entries.items()
        namespace["__annotations__"] = {key: standing(tx, entry[1]) for key, entry in entries}
    if "__module__" not in namespace:
        namespace["__module__"] = tx.load_global("__name__").realize().as_constant()
    return namespace


def _base(tx: Translator, name: str, value: VariableTracker) -> type:
    """A base that stays what it is."""
    base = value.value if isinstance(value, (ClassVariable, BuiltinVariable)) else None
    if not isinstance(base, type):
        unsupported("GB0004", f"class {name} of {value.describe()}")
    if not isinstance(value, MadeClassVariable):
        guard_bases(tx, base)
        guard_member(tx, base, "__init_subclass__")
    return base


def _check_one_base(name: str, template: type) -> None:
    """A break unless all that may change is in the MRO of one class: see `templates`."""
    rest = [cls for cls in mro_of(template) if cls not in TEMPLATES and cls is not template]
    changing = [cls for cls in rest if may_change(cls)]
    if changing and set(rest[rest.index(changing[0]) :]) - set(mro_of(changing[0])):
        unsupported("GB0004", f"class {name} of several bases")


def _takes_name(value: VariableTracker) -> bool:
    """Whether it is an object whose class has the methods of a descriptor."""
    value = value.realize()
    return isinstance(value, ObjectVariable) and any(
        lookup(value.cls, method) is not ABSENT for method in _DESCRIBING
    )


def _instance(tx: Translator, value: VariableTracker) -> object:
    """An empty object of the class: a template's attributes are looked at for descriptors."""
    assert isinstance(value, ObjectVariable)
    plain = lookup(value.cls, "__new__") is object.__new__
    if not plain or lookup(value.cls, "__del__") is not ABSENT or type(value.cls) is not type:
        unsupported("GB0010", f"descriptor {value.describe()} in a class statement")
    stand: object = object.__new__(value.cls)
    tx.output.stands_for(stand, value)
    return stand


def _template(
    kind: type, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
) -> type:
    """The class, made without a call of its bases' `__init_subclass__`."""
    hooked = any(lookup(base, "__init_subclass__") is not _PLAIN_HOOK for base in bases)
    try:
        if not hooked:
            return _make(kind, name, bases, namespace)
        return _past_hook(kind, name, bases, namespace)
    except (TypeError, ValueError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")


def _make(kind: type, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
    maker = abc.ABCMeta if issubclass(kind, abc.ABCMeta) else type
    made: type = maker.__new__(kind, name, bases, namespace)
    return made


def _past_hook(
    kind: type, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
) -> type:
    """A base before the others takes the call; it is gone after that."""
    plain = all(base.__dictoffset__ for base in bases)
    silent = _Silent if plain else _SilentSlots
    made = _make(kind, name, (silent, *bases), namespace)
    made.__bases__ = bases
    return made


class _Silent:
    def __init_subclass__(cls) -> None:
        pass


class _SilentSlots:
    __slots__ = ()

    def __init_subclass__(cls) -> None:
        pass


_PLAIN_HOOK = vars(object)["__init_subclass__"]
_DESCRIBING = ("__get__", "__set__", "__delete__", "__set_name__")


def make_class(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`type(name, bases, members, **keywords)`."""
    return _new(tx, [tx.constant_class(type), *args], kwargs)


def _new(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`type.__new__(kind, name, bases, members, **keywords)`, and that of `ABCMeta`."""
    if len(args) != 4:
        unsupported("GB0004", "creation of a class")
    kind, title, bases, members = [arg.realize() for arg in args]
    if title.python_type() is not str or bases.python_type() is not tuple:
        unsupported("GB0007", "TypeError: type() of other than a name and a tuple of bases")
    if not isinstance(members, DictVariable) or members.kind is not dict:
        unsupported("GB0004", f"a class of {members.describe()}")
    if not all(type(key) is str for key in members.entries):
        unsupported("GB0004", "a class whose names are not strings")
    name, listed = title.as_constant(), bases.unpack(tx)
    found = {str(key): value for key, (_, value) in members.entries.items()}
    listed = [base.realize() for base in listed]
    own = _metaclass(tx, name, listed, kind if isinstance(kind, ClassVariable) else None)
    if own.value is not type and not isinstance(kind, ClassVariable):
        return own.call(tx, args[1:], kwargs)
    if issubclass(own.value, enum.EnumType):
        unsupported("GB0004", f"class {name}, an enumeration")
    return new_class(tx, own.value, name, listed, found, kwargs)


def _init(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`type.__init__(cls, ...)`, which does nothing."""
    if len(args) not in (2, 4):
        unsupported("GB0007", "TypeError: type.__init__() takes 1 or 3 arguments")
    return tx.constant(None)


def _init_subclass(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`object.__init_subclass__`, bound to a class."""
    if len(args) != 1 or kwargs:
        unsupported("GB0007", "TypeError: __init_subclass__() takes no arguments")
    return tx.constant(None)


def _prepare(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return DictVariable({})


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
    _require_real(tx, cls.value)
    options = {name: value.realize().as_constant() for name, value in kwargs.items()}
    if options.get("slots") and lookup(cls.value, "__init_subclass__") is not _PLAIN_HOOK:
        unsupported("GB0004", "dataclass(slots=True) of a class with __init_subclass__")
    try:
        made: type = dataclass(**options)(cls.value)
    except (TypeError, ValueError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    return cls if made is cls.value else made_class(tx, made)


def _require_real(tx: Translator, template: type) -> None:
    """A break where `dataclass` would look at values that only the translator knows."""
    members = vars(template)
    seen = [*members.values(), *members.get("__annotations__", {}).values()]
    fields = sys.modules["dataclasses"].Field
    options = [name for name in fields.__slots__ if name != "metadata"]
    made = [value for value in seen if isinstance(value, fields)]
    seen += [getattr(value, name) for value in made for name in options]
    for value in seen:
        if isinstance(value, Stand) or isinstance(tx.output.tracked(value), ObjectVariable):
            unsupported("GB0004", f"dataclass() of {template.__qualname__}, made in the frame")


MADE_CLASSES: dict[Any, Handler] = {
    __build_class__: build_class,
    type.__new__: _new,
    abc.ABCMeta.__new__: _new,
    type.__init__: _init,
    type.__prepare__: _prepare,
    _PLAIN_HOOK: _init_subclass,
    vars(enum.EnumType)["_create_"]: create_enumeration,
    abc.abstractmethod: _abstract,
    **{
        maker: _wrapped(maker)
        for maker in (property, staticmethod, classmethod, functools.cached_property)
    },
    **MADE_TUPLES,
}


def handler_of_dataclasses(function: types.FunctionType) -> Handler | None:
    """That of `dataclass` and `field`, whose module is not imported for them."""
    name = function.__name__
    if function.__module__ != "dataclasses" or name not in ("dataclass", "field"):
        return None
    if getattr(sys.modules["dataclasses"], name) is not function:
        return None
    return _dataclass if name == "dataclass" else _wrapped(function)
