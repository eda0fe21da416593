"""Members of `enum.Enum` classes: constants whose own methods are inlined."""

from __future__ import annotations

import enum
import functools
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import (
    ClassSource,
    ConstSource,
    InstanceAttrSource,
    ItemSource,
    MroSource,
    Source,
)
from graphwright.capture.guards.text import class_name
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member
from graphwright.capture.trackers.containers.length_hints import length_asked
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    instance_dict,
    is_data_descriptor,
    lookup,
    mro_of,
    namespace_of,
)

if TYPE_CHECKING:
    from graphwright.capture.guards.guards import GuardBuilder
    from graphwright.capture.vm.translator import Translator

_MEMBERS = ("_member_names_", "_member_map_", "_value2member_map_")
_OPERATIONS = (
    *("__bool__", "__eq__", "__format__", "__ge__", "__gt__", "__hash__", "__le__", "__lt__"),
    *("__ne__", "__repr__", "__str__", "__getattr__", "__getattribute__"),
)


def guard_operations(guards: GuardBuilder, cls: type) -> None:
    """What members are compared and shown by."""
    for name in _OPERATIONS:
        static = _static(cls, name)
        if static is not None:
            guards.id_match(MroSource(ClassSource.of(cls), name), static)
        else:
            guards.missing(MroSource(ClassSource.of(cls), name))


_DATA = ("name", "value", "_name_", "_value_", "_sort_order_")

_PLAIN: dict[type, Any] = {int: int.__pos__, float: float.__pos__, str: str.__str__}


class EnumVariable(ConstantVariable):
    """A member, guarded by identity. What its class says in Python is run in the frame."""

    __slots__ = ()

    def describe(self) -> str:
        return _describe(self.value)

    def own(
        self, tx: Translator, name: str, *args: VariableTracker
    ) -> VariableTracker | None:
        """What the special method gives that the class has in Python, beside those of `enum`."""
        method = self.special(tx, name)
        return method.call(tx, list(args), {}).realize() if method is not None else None

    def special(self, tx: Translator, name: str) -> VariableTracker | None:
        """That method, bound."""
        cls = type(self.value)
        guard_member(tx, cls, name)
        if not _is_own(_static(cls, name)):
            return None
        return tx.bound_method(tx.class_function(cls, name), self)

    def as_constant(self) -> Any:
        """The member, for a function of C's; a break where that would run the user's code."""
        name = own_operation(type(self.value))
        if name:
            unsupported("GB0008", f"{self.describe()}, whose class has its own {name}")
        return self.value

    def as_key(self, tx: Translator) -> Any:
        cls = type(self.value)
        for name in ("__hash__", "__eq__"):
            guard_member(tx, cls, name)
            if _is_own(_static(cls, name)):
                unsupported("GB0008", f"{self.describe()} as a key, by its own {name}")
        return self.value

    def truth(self, tx: Translator) -> bool:
        for name in ("__bool__", "__len__"):
            said = self.own(tx, name)
            if said is not None:
                return tx.truth(said)
            if _static(type(self.value), name) is not None:
                break
        return super().truth(tx)

    def length(self, tx: Translator) -> VariableTracker:
        return self.own(tx, "__len__") or super().length(tx)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return self.own(tx, "__getitem__", key) or super().getitem(tx, key)

    def iterate(self, tx: Translator) -> VariableTracker:
        made = self.own(tx, "__iter__")
        if made is not None and lookup(made.python_type(), "__next__") is ABSENT:
            unsupported("GB0007", f"TypeError: iter() returned {made.describe()}, no iterator")
        return made or super().iterate(tx)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        said = self.own(tx, "__contains__", item)
        return super().contains(tx, item) if said is None else tx.truth(said)

    def call(
        self, tx: Translator, args: list[VariableTracker], kwargs: dict[str, VariableTracker]
    ) -> VariableTracker:
        method = self.special(tx, "__call__")
        return super().call(tx, args, kwargs) if method is None else method.call(tx, args, kwargs)

    def length_hint(self, tx: Translator) -> VariableTracker | None:
        return length_asked(tx, functools.partial(self.special, tx))

    def unpack_iterator(self, tx: Translator) -> list[VariableTracker]:
        return self.iterate(tx).unpack(tx)

    def _in_graph(self) -> Any:
        """A number or text that is a member is in the graph what it is besides."""
        value = super()._in_graph()
        plain = next((of for kind, of in _PLAIN.items() if isinstance(value, kind)), None)
        return plain(value) if plain is not None else value

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        cls = type(self.value)
        static = _static(cls, name)
        own = f"_{name}_" if name in ("name", "value") else name
        if name == "__dict__":
            unsupported("GB0008", f"the __dict__ of {self.describe()}")
        guard_member(tx, cls, name)
        given = InstanceAttrSource(ConstSource(self.value, self.describe()), own)
        held = instance_dict(self.value)
        shown = own == name and not is_data_descriptor(static)
        if shown or (name in _DATA and _is_library(static)):
            if own in held:
                return tx.output.wrap(held[own], given)
            tx.guards.missing(given)
        if isinstance(static, property | types.DynamicClassAttribute) and isinstance(
            static.fget, types.FunctionType
        ):
            return tx.class_function(cls, name, "fget").call(tx, [self], {})
        if isinstance(static, (types.FunctionType, classmethod, staticmethod)):
            return tx.bind(static, MroSource(ClassSource.of(cls), name), self, name)
        return super().getattr(tx, name)


def member_variable(
    guards: GuardBuilder, member: Any, source: Source | None = None
) -> EnumVariable:
    """The tracker of a member, with guards on what `enum` itself reads of it."""
    own = ConstSource(member, _describe(member))
    guard_operations(guards, type(member))
    held = instance_dict(member)
    for name in ("_name_", "_value_"):
        if name in held:
            guards.id_match(InstanceAttrSource(own, name), held[name])
    return EnumVariable(member, source or own)


def _describe(member: Any) -> str:
    """The member as it is written; its class where it has no name yet."""
    name = instance_dict(member).get("_name_", "a member that is being made")
    return f"{class_name(type(member))}.{name}"


def _static(cls: type, name: str) -> Any:
    return lookup(cls, name, absent=None)


def own_operation(cls: type) -> str | None:
    """A special method in Python, not one of `enum`, that functions of C's would run."""
    for base in mro_of(cls):
        held = namespace_of(base)
        for name in _RUN_BY_C.intersection(held):
            if _is_own(held[name]):
                return name
    return None


def _is_own(static: Any) -> bool:
    return isinstance(static, types.FunctionType) and not _is_library(static)


_NUMERIC = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "and",
            "or", "xor", "lshift", "rshift")
_RUN_BY_C = frozenset(
    [f"__{prefix}{name}__" for name in _NUMERIC for prefix in ("", "r", "i")]
    + [f"__{name}__" for name in (
        "lt", "le", "eq", "ne", "gt", "ge", "bool", "len", "length_hint", "iter", "next",
        "reversed", "contains", "getitem", "index", "int", "float", "complex", "round", "trunc",
        "floor", "ceil", "abs", "neg", "pos", "invert", "call", "dir", "fspath", "bytes",
        "enter", "exit", "instancecheck", "subclasscheck")]
)


def _is_library(static: Any) -> bool:
    function = getattr(static, "fget", static)
    code = getattr(function, "__code__", None)
    return code is None or code.co_filename == enum.__file__


def is_enumeration(cls: type) -> bool:
    """Whether `enum` itself says what the members of a class are."""
    return type(cls) is enum.EnumType


def members_of(tx: Translator, cls: Any) -> list[Any]:
    """The members of an enumeration in order: while its class is being made, there come more."""
    guard_members(tx, cls)
    names = MroSource(ClassSource.of(cls), "_member_names_")
    for i, name in enumerate(cls._member_names_):
        tx.guards.equals(ItemSource(names, i), name)
        guard_entry(tx, cls, "_member_map_", name)
    return list(cls)


def guard_entry(tx: Translator, cls: Any, table: str, key: Any) -> None:
    """What one of the tables of an enumeration has for a key, if anything."""
    known = namespace_of(cls)[table]
    if _eval_frame.is_constant(key) and key in known:
        tx.guards.id_match(ItemSource(MroSource(ClassSource.of(cls), table), key), known[key])


def guard_members(tx: Translator, cls: Any) -> None:
    """The enumeration has as many members, aliases included, and as many values as now."""
    for name in _MEMBERS:
        known = namespace_of(cls).get(name)
        if known is not None:
            tx.guards.length(MroSource(ClassSource.of(cls), name), len(known))


def find_member(tx: Translator, cls: Any, args: list[VariableTracker]) -> VariableTracker | None:
    """`cls(value)` of an enumeration."""
    if not is_enumeration(cls) or len(args) != 1 or not cls.__members__:
        return None
    missing = _static(cls, "_missing_")
    if not _is_library(getattr(missing, "__func__", missing)):
        return None
    value = args[0].realize().as_constant()
    guard_operations(tx.guards, cls)
    guard_members(tx, cls)
    found = tx.fold(cls, value)
    guard_entry(tx, cls, "_value2member_map_", value)
    return tx.constant(found)
