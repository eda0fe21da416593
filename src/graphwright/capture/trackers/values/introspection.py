"""Builtins about objects themselves: what they are, hold, hash to and how they are made."""

from __future__ import annotations

import enum
import sys
import types
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ConstSource
from graphwright.capture.trackers.base import IdVariable, VariableTracker
from graphwright.capture.trackers.callables.functions import CellVariable
from graphwright.capture.trackers.classes.class_guards import (
    guard_direct_bases,
    guard_member,
    guard_subclasses,
)
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable
from graphwright.capture.trackers.classes.enums import EnumVariable
from graphwright.capture.trackers.containers.sequences import ListVariable, exactly
from graphwright.capture.trackers.values.constant import fold
from graphwright.capture.trackers.values.exceptions import (
    CallersExceptionVariable,
    TracebackVariable,
    handled_exception,
)
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup, mro_of
from graphwright.capture.trackers.values.object_methods import ObjectMethodVariable
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.vm.bytecode import PYTHON

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
Handler = Callable[["Translator", Args, Kwargs], VariableTracker]


def by_special(name: str, otherwise: Handler) -> Handler:
    """A builtin that asks an object's own method."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        owner = args[0].realize() if args else None
        if isinstance(owner, ObjectVariable) and lookup(owner.cls, name) is not ABSENT:
            if kwargs:
                unsupported("GB0008", f"keyword arguments of {name}")
            return owner.call_special(tx, name, *args[1:])
        return otherwise(tx, args, kwargs)

    return handler


class _Hashed:
    """Python makes the hash of what `__hash__` gives: never -1, never more than a word."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __hash__(self) -> int:
        return self.value


_HASHED_BY_VALUE = (int, float, complex, str, bytes, tuple, range, frozenset, type(None))


def _hash(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    (value,) = args
    value = value.realize()
    if isinstance(value, ObjectVariable):
        if value.has_method("__hash__"):
            return tx.constant(hash(_Hashed(value.call_special(tx, "__hash__").as_constant())))
        unsupported("GB0008", f"hash() of {value.describe()}, which is its address")
    if isinstance(value, EnumVariable):
        said = value.own(tx, "__hash__")
        if said is not None:
            return tx.constant(hash(_Hashed(said.as_constant())))
        if type(value.value).__hash__ in _HASHES_OF_NAMES:
            return tx.constant(hash(value.value))
    constant = value.as_constant()
    if not isinstance(constant, _HASHED_BY_VALUE):
        unsupported("GB0008", f"hash() of {value.describe()}")
    return tx.constant(fold(hash, constant))


_HASHES_OF_NAMES = (enum.Enum.__hash__, int.__hash__, str.__hash__)


def _id(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    owner = args[0].realize()
    if not owner.mutable:
        unsupported("GB0004", f"id() of {owner.describe()}")
    return tx.output.ids.setdefault(owner, IdVariable(owner))


def _vars(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) != 1:
        return _locals(tx, args, kwargs)
    return args[0].realize().getattr(tx, "__dict__")


def _locals(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """The variables that are bound, in the order of the code: arguments, others, of closures.

    Before Python 3.13 all calls of one frame give the same dict.
    """
    code = tx.code
    names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
    hidden = any(name.startswith(".") for name in names)
    if args or kwargs or tx.names is not None or hidden or not code.co_flags & CO_OPTIMIZED:
        unsupported("GB0008", "locals() of other than a function")
    if tx.shown and PYTHON < (3, 13):
        unsupported("GB0008", "another locals() of the same frame")
    tx.shown = True
    held = {name: tx.locals.get(name) for name in names}
    cells = {name: v.contents if isinstance(v, CellVariable) else v for name, v in held.items()}
    return tx.dict_of({name: value for name, value in cells.items() if value is not None})


def _dir(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if len(args) != 1 or not isinstance(args[0].realize(), ObjectVariable):
        unsupported("GB0008", "dir() of other than an object")
    owner: Any = args[0].realize()
    for name in ("__dir__", "__getattribute__", "__class__"):
        guard_member(tx, owner.cls, name)
        if lookup(owner.cls, name) is not vars(object)[name]:
            unsupported("GB0008", f"{owner.cls.__name__}.{name}")
    names = {*type.__dir__(owner.cls), *owner.attribute_names(tx)}
    return ListVariable([tx.constant(name) for name in sorted(names)])


def _object_new(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    cls = args[0].realize()
    if not isinstance(cls, ClassVariable):
        unsupported("GB0004", "object.__new__")
    own_new = lookup(cls.value, "__new__") is not object.__new__
    if (len(args) > 1 or kwargs) and (own_new or lookup(cls.value, "__init__") is object.__init__):
        unsupported("GB0007", "TypeError: object.__new__() takes exactly one argument")
    return cls.new_instance(tx)


def _type_call(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    cls, *rest = args
    cls = cls.realize()
    if not isinstance(cls, ClassVariable):
        unsupported("GB0004", "type.__call__")
    return cls.instantiate(tx, rest, kwargs)


def _method_type(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    function, owner = args
    return tx.bound_method(function.realize(), owner.realize())


def _exc_info(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    error = handled_exception(tx)
    if error is None:
        return tx.tuple_of([CallersExceptionVariable() for _ in range(3)])
    return tx.tuple_of([tx.constant_class(error.cls), error, TracebackVariable()])


def _exception(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    return handled_exception(tx) or CallersExceptionVariable()


def _namespace(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    if args:
        unsupported("GB0004", "SimpleNamespace of a mapping")
    cls = types.SimpleNamespace
    made = ObjectVariable(cls, None, None, ConstSource(cls, "SimpleNamespace"))
    tx.side_effects.track_new(made)
    for name, value in kwargs.items():
        tx.side_effects.store_attribute(made, name, value)
    return made


def _object_method(name: str) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return ObjectMethodVariable(name, None).call(tx, args, kwargs)

    return handler


def _mro(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    cls = _plain_class(exactly(1, args)[0], "mro")
    order = tuple(type.mro(cls))
    if order != mro_of(cls):
        unsupported("GB0004", f"{cls.__qualname__}.mro() while the order of bases is made")
    guard_direct_bases(tx, cls)
    return ListVariable([tx.constant_class(kind) for kind in order])


def _subclasses(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    cls = _plain_class(exactly(1, args)[0], "__subclasses__")
    return ListVariable([tx.constant_class(kind) for kind in guard_subclasses(tx, cls)])


def _plain_class(value: VariableTracker, name: str) -> type:
    value = value.realize()
    if isinstance(value, BuiltinVariable) and isinstance(value.value, type):
        return value.value
    if not isinstance(value, ClassVariable):
        unsupported("GB0004", f"type.{name} of {value.describe()}")
    return value.value


REFLECTION: dict[Any, Handler] = {
    hash: _hash,
    id: _id,
    vars: _vars,
    locals: _locals,
    dir: _dir,
    object.__new__: _object_new,
    type.__call__: _type_call,
    type.mro: _mro,
    type.__subclasses__: _subclasses,
    types.MethodType: _method_type,
    types.SimpleNamespace: _namespace,
    sys.exc_info: _exc_info,
    sys.exception: _exception,
    object.__setattr__: _object_method("__setattr__"),
    object.__delattr__: _object_method("__delattr__"),
    object.__getattribute__: _object_method("__getattribute__"),
    object.__init__: _object_method("__init__"),
}
