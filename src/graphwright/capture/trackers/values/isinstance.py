"""`isinstance` and `issubclass`: bases, protocols, and what metaclasses say themselves."""

from __future__ import annotations

import abc
import sys
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import guard_member, guard_recognition
from graphwright.capture.trackers.classes.classes import BuiltinVariable, ClassVariable
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.namespaces import lookup, mro_of
from graphwright.capture.trackers.values.runtime_protocols import (
    PROTOCOL_TYPE,
    class_follows,
    follows_protocol,
    is_protocol,
)

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
_DEEPEST = 16
_dump: Any = abc._get_dump  # type: ignore[attr-defined]
"""What an abstract class keeps: who registered, whom it knows and refuses, as of which token."""


def _classes(value: VariableTracker, depth: int = 0) -> tuple[type, ...]:
    value = value.realize()
    if isinstance(value, TupleVariable):
        if depth > _DEEPEST:
            unsupported("GB0011", "tuples of classes in tuples of classes")
        return tuple(cls for item in value.items for cls in _classes(item, depth + 1))
    if isinstance(value, (ClassVariable, BuiltinVariable)) and isinstance(value.value, type):
        return (value.value,)
    if isinstance(value, ConstantVariable) and isinstance(value.value, types.UnionType):
        members = value.value.__args__
        if all(isinstance(cls, type) for cls in members):
            return members
    unsupported("GB0008", f"isinstance() with {value.describe()}")


def _protocols(classes: tuple[type, ...]) -> tuple[list[type], tuple[type, ...]]:
    """The protocols among classes, and the others."""
    protocols = [cls for cls in classes if is_protocol(cls)]
    return protocols, tuple([cls for cls in classes if cls not in protocols])


def _says_itself(cls: type, check: str) -> bool:
    """Whether the metaclass has a check of its own, in Python; a break where it is of C."""
    own = lookup(type(cls), check)
    if own is vars(type)[check] or type(cls) is PROTOCOL_TYPE:
        return False
    asks = "__subclasscheck__"      # abstract classes do, whatever they are asked
    if own is vars(abc.ABCMeta)[check] and lookup(type(cls), asks) is vars(abc.ABCMeta)[asks]:
        return False
    if not isinstance(own, types.FunctionType):
        unsupported("GB0008", f"{type(cls).__name__}.{check}")
    return True


def _told(tx: Translator, cls: type, check: str, value: VariableTracker) -> bool:
    """What the metaclass says."""
    method = tx.class_function(type(cls), check)
    return tx.truth(method.call(tx, [tx.constant_class(cls), value], {}))


def is_instance(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`isinstance(value, classes)`."""
    check = "__instancecheck__"
    classes = _classes(args[1])
    value = args[0].realize()
    if not any(_says_itself(cls, check) for cls in classes):
        return tx.constant(_is_plainly(tx, value, classes))
    return tx.constant(any(
        value.python_type() is cls or _told(tx, cls, check, value) if _says_itself(cls, check)
        else _is_plainly(tx, value, (cls,))
        for cls in classes
    ))


def _is_plainly(tx: Translator, value: VariableTracker, classes: tuple[type, ...]) -> bool:
    check = "__instancecheck__"
    protocols, classes = _protocols(classes)
    cls = value.python_type()
    if any(follows_protocol(tx, value, cls, protocol) for protocol in protocols):
        return True
    guard_recognition(tx, cls, classes, check)
    known = any(
        other in mro_of(cls) if lookup(type(other), check) is vars(type)[check]
        else _derives(cls, other)
        for other in classes
    )
    if not known:
        _check_shows_class(tx, cls)
    return known


def _check_shows_class(tx: Translator, cls: type) -> None:
    """A break if `__class__` of its instances, which `isinstance` asks for too, may be other."""
    shown, read = lookup(cls, "__class__"), lookup(cls, "__getattribute__")
    if shown is not vars(object)["__class__"] or isinstance(read, types.FunctionType):
        unsupported("GB0010", f"__class__ of a {cls.__name__}, which overrides it")
    guard_member(tx, cls, "__class__")
    guard_member(tx, cls, "__getattribute__")


def is_subclass(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`issubclass(cls, classes)`."""
    check = "__subclasscheck__"
    classes = _classes(args[1])
    if not any(_says_itself(other, check) for other in classes):
        (cls,) = _classes(args[0])
        return tx.constant(_is_plain_subclass(tx, cls, classes))
    value = args[0].realize()
    return tx.constant(any(
        _told(tx, other, check, value) if _says_itself(other, check)
        else _is_plain_subclass(tx, _classes(value)[0], (other,))
        for other in classes
    ))


def _is_plain_subclass(tx: Translator, cls: type, classes: tuple[type, ...]) -> bool:
    protocols, classes = _protocols(classes)
    if any(class_follows(tx, cls, protocol) for protocol in protocols):
        return True
    guard_recognition(tx, cls, classes, "__subclasscheck__")
    return any(_derives(cls, other) for other in classes)


def _derives(cls: type, other: type) -> bool:
    """`issubclass(cls, other)`; a break where that runs a hook of the program's."""
    if isinstance(other, abc.ABCMeta) and not _is_known(cls, other):
        hooked = next((base for base in _asked(other) if _has_own_hook(base)), None)
        if hooked is not None:
            unsupported("GB0004", f"call of {hooked.__qualname__}.__subclasshook__")
    return issubclass(cls, other)


def _is_known(cls: type, other: abc.ABCMeta) -> bool:
    """Whether an abstract class has been asked before and remembers its answer."""
    _, known, refused, version = _dump(other)
    remembered = known | refused if version == abc.get_cache_token() else known
    return any(member() is cls for member in remembered)


def _asked(other: type) -> list[type]:
    """The classes that an abstract one asks: itself, those that derive from it or registered."""
    found, seen = [other], {id(other)}
    for asked in found:
        registered = _dump(asked)[0] if isinstance(asked, abc.ABCMeta) else ()
        for cls in (*type.__subclasses__(asked), *(member() for member in registered)):
            if cls is not None and id(cls) not in seen:
                seen.add(id(cls))
                found.append(cls)
    return found


def _has_own_hook(cls: type) -> bool:
    """Whether the class has a `__subclasshook__` that is not from the standard library."""
    hook = lookup(cls, "__subclasshook__")
    if not isinstance(hook, classmethod) or not isinstance(hook.__func__, types.FunctionType):
        return False
    module = hook.__func__.__globals__.get("__name__")
    return str(module).partition(".")[0] not in sys.stdlib_module_names
