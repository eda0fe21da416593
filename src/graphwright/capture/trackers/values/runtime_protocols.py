"""`isinstance` and `issubclass` with runtime checkable protocols, which look for attributes.

What is found in the class or in the instance is guarded, and so is what is not.
"""

from __future__ import annotations

import functools
import importlib
import types
import typing
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import AttributeMissing, unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member, guard_recognition
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import ABSENT, lookup, mro_of, namespace_of
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.capture.vm.bytecode import PYTHON

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator


_ABC: Any = importlib.import_module("_abc")
PROTOCOL_TYPE: type = type(typing.Protocol)
_PLAIN_MEMBERS = (types.FunctionType, staticmethod, classmethod, type, functools.partialmethod)


def is_protocol(cls: type) -> bool:
    """Whether a class is a protocol itself, and not one that implements some."""
    return type(cls) is PROTOCOL_TYPE and bool(namespace_of(cls).get("_is_protocol", False))


def follows_protocol(
    tx: Translator, value: VariableTracker, cls: type, protocol: type
) -> bool:
    """`isinstance(value, protocol)`, for a value of class `cls`."""
    members = _members(tx, protocol)
    guard_recognition(tx, cls, (protocol,), "__instancecheck__")
    if protocol in mro_of(cls):
        return True
    return all(_has(tx, value, cls, name) for name in members)


def class_follows(tx: Translator, cls: type, protocol: type) -> bool:
    """`issubclass(cls, protocol)`, where all members of the protocol are methods."""
    members = _members(tx, protocol)
    guard_recognition(tx, cls, (protocol,), "__subclasscheck__")
    if not all(callable(lookup(protocol, name)) for name in members):
        unsupported("GB0007", f"TypeError: {protocol.__name__} has members that are no methods")
    for name in members:
        guard_member(tx, cls, name)
    return all(lookup(cls, name) not in (ABSENT, None) for name in members)


def _members(tx: Translator, protocol: type) -> list[str]:
    """The names that a protocol asks for; what the class itself holds of them is guarded."""
    if not getattr(protocol, "_is_runtime_protocol", False):
        unsupported("GB0007", f"TypeError: {protocol.__name__} is no runtime protocol")
    typings: Any = typing
    if PYTHON >= (3, 12):
        names = protocol.__protocol_attrs__  # type: ignore[attr-defined]
    else:
        names = typings._get_protocol_attrs(protocol)
    hook = namespace_of(protocol).get("__subclasshook__")
    function = getattr(hook, "__func__", hook)
    if getattr(function, "__module__", None) != "typing":
        unsupported("GB0008", f"{protocol.__name__}.__subclasshook__")
    if _ABC._get_dump(protocol)[0]:    # its registry
        unsupported("GB0008", f"{protocol.__name__}, with which classes are registered")
    for name in ("_is_runtime_protocol", "__subclasshook__"):
        guard_member(tx, protocol, name)
    return sorted(names)


def _has(tx: Translator, value: VariableTracker, cls: type, name: str) -> bool:
    """Whether the instance has the member, and not None in its place."""
    guard_member(tx, cls, name)
    static = lookup(cls, name)
    if static is None:
        return False
    if isinstance(static, _PLAIN_MEMBERS):
        return True
    if static is not ABSENT and (PYTHON >= (3, 12) or lookup(type(static), "__get__") is ABSENT):
        return True
    if not isinstance(value, ObjectVariable):
        if static is ABSENT:
            return False
        unsupported("GB0008", f"{name!r} of {value.describe()}, for a protocol")
    if PYTHON >= (3, 12) and lookup(cls, "__getattr__") is not ABSENT:
        unsupported("GB0008", f"{name!r} of {value.describe()}, for a protocol")
    try:
        found = value.getattr(tx, name)
    except AttributeMissing:
        return False
    return not (isinstance(found, ConstantVariable) and found.value is None)
