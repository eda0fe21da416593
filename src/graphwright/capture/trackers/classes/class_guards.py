"""Guards on what classes decide: their bases, their fields, how instances are recognised."""

from __future__ import annotations

import abc
import enum
import types
from typing import TYPE_CHECKING

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import (
    TEMPLATES,
    AttrSource,
    ClassSource,
    ItemSource,
    MroSource,
    RegistrationsSource,
    Source,
    SubclassesSource,
)
from graphwright.capture.trackers.values.namespaces import bases_of, lookup, may_change, mro_of
from graphwright.capture.vm.bytecode import PYTHON

if TYPE_CHECKING:
    from graphwright.capture.trackers.base import VariableTracker
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

LIBRARY_METACLASSES = (type, abc.ABCMeta, enum.EnumType)
_ACTING = (tuple, BaseException, enum.Enum)


def may_be_written(cls: type, name: str, value: VariableTracker) -> bool:
    """Whether an assignment to an attribute of the class is plain data in place of plain data."""
    if not may_change(cls) or type(cls) not in (type, abc.ABCMeta) or issubclass(cls, _ACTING):
        return False
    present = lookup(cls, name, absent=None)
    kinds = type(present), value.python_type()
    data = all(lookup(kind, "__get__", absent=None) is None for kind in kinds)
    return data and not name.startswith("__") and not hasattr(type, name)


def refuse_wrapped_descriptor(member: classmethod, name: str) -> None:
    """A break where a classmethod leaves binding to the descriptor it wraps, as until 3.12."""
    wrapped = member.__func__
    if isinstance(wrapped, types.FunctionType) or PYTHON >= (3, 13):
        return
    if lookup(type(wrapped), "__get__", absent=None) is not None:
        unsupported("GB0010", f"classmethod {name!r} of a {type(wrapped).__name__}")


def class_source(cls: type) -> Source:
    """A class that is known from a guarded value."""
    return ClassSource.of(cls)


def guard_bases(tx: Translator, cls: type) -> None:
    """Guard that the class keeps its MRO, whose classes are held weakly."""
    if not may_change(cls):
        return
    mro = AttrSource(class_source(cls), "__mro__")
    tx.guards.length(mro, len(mro_of(cls)))
    for i, base in enumerate(mro_of(cls)[1:-1], 1):
        tx.guards.id_match(ItemSource(mro, i), base)


def guard_direct_bases(tx: Translator, cls: type) -> None:
    """Guard `__bases__` and `__base__`: a metaclass's `mro()` sees them before the MRO exists."""
    guard_bases(tx, cls)
    if not may_change(cls):
        return
    bases = AttrSource(class_source(cls), "__bases__")
    tx.guards.length(bases, len(bases_of(cls)))
    for i, base in enumerate(bases_of(cls)):
        tx.guards.id_match(ItemSource(bases, i), base)


def guard_subclasses(tx: Translator, cls: type) -> list[type]:
    """The direct subclasses of a class, guarded."""
    if any(issubclass(template, cls) for template in TEMPLATES):
        unsupported("GB0004", f"{cls.__qualname__}.__subclasses__() beside classes made here")
    found: list[type] = type.__subclasses__(cls)
    listed = SubclassesSource(class_source(cls))
    tx.guards.length(listed, len(found))
    for i, kind in enumerate(found):
        tx.guards.id_match(ItemSource(listed, i), kind)
    return found


def guard_member(tx: Translator | OutputGraph, cls: type, name: str) -> None:
    """What the MRO of the class holds under a name, or that it holds nothing."""
    if not may_change(cls):
        return
    source = MroSource(class_source(cls), name)
    try:
        found = _eval_frame.mro_attribute(cls, name)
    except AttributeError:
        tx.guards.missing(source)
    else:
        tx.guards.id_match(source, found)


def guard_metaclass(tx: Translator | OutputGraph, cls: type) -> None:
    """The class keeps its metaclass, which goes on to leave equality of classes to `type`."""
    kind = type(cls)
    if not may_change(kind):
        return
    tx.guards.type_match(class_source(cls), kind)
    if kind not in LIBRARY_METACLASSES:
        for name in ("__eq__", "__hash__"):
            guard_member(tx, kind, name)


def guard_recognition(tx: Translator, cls: type, classes: tuple[type, ...], check: str) -> None:
    """`issubclass(cls, classes)`: the bases, and what metaclasses say through `check`."""
    guard_bases(tx, cls)
    for other in classes:
        guard_member(tx, type(other), check)
        if isinstance(other, abc.ABCMeta):
            tx.guards.equals(RegistrationsSource(), abc.get_cache_token())


def guard_binding(tx: Translator, static: object) -> None:
    """The class of a class attribute keeps, or still lacks, what makes it a descriptor."""
    for name in ("__get__", "__set__", "__delete__"):
        guard_member(tx, type(static), name)
