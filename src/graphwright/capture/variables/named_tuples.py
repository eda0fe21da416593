"""Named tuples: those of `collections.namedtuple`, and the struct sequences of C's."""

from __future__ import annotations

import collections
import time
import types
from typing import TYPE_CHECKING

from graphwright.capture.source import AttrSource, InstanceAttrSource, MroSource, Source
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.class_guards import class_source, guard_member
from graphwright.capture.variables.namespaces import (
    is_data_descriptor,
    lookup,
    mro_of,
    namespace_of,
)
from graphwright.capture.variables.sequences import (
    COMMON,
    Args,
    Kwargs,
    SequenceMethod,
    TupleVariable,
)

if TYPE_CHECKING:
    from typing import Any

    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.translator import Translator

_FIELD_READERS = (
    type(time.struct_time.tm_year),
    type(collections.namedtuple("_Sample", "field").field),  # type: ignore[attr-defined]
)


def has_own_operations(cls: type) -> bool:
    """Whether a class made by `namedtuple`, or one of that, says itself how instances act."""
    mro = mro_of(cls)
    classes = mro[: mro.index(tuple)]
    if hasattr(cls, "n_sequence_fields"):
        return False
    held = [namespace_of(base).items() for base in classes]
    return any(_is_own(name, value) for items in held for name, value in items)


_LEFT_ALONE = ("__new__", "__doc__", "__class_getitem__", "__repr__")


def _is_own(name: str, value: object) -> bool:
    if not name.startswith("__") or name in _LEFT_ALONE:
        return False
    if isinstance(value, types.FunctionType):
        return not is_generated(value)
    return name in vars(tuple)


def is_generated(function: types.FunctionType) -> bool:
    """Whether `namedtuple` wrote a method."""
    return function.__code__.co_filename == collections.namedtuple.__code__.co_filename


def names_its_items(cls: type) -> bool:
    """Whether a class of tuples is a named tuple, or a struct sequence of C's."""
    return hasattr(cls, "_fields") or hasattr(cls, "n_sequence_fields")


def has_hidden_fields(cls: type) -> bool:
    """Whether instances may hold more than their items, as struct sequences of C do."""
    return hasattr(cls, "n_sequence_fields")


class NamedTupleVariable(TupleVariable):
    """An instance of a `namedtuple` class (or of a C struct sequence).

    held: the attributes that one from outside has of its own; None where there can be none.
    """

    mutable = True    # those of classes derived from it take attributes

    def __init__(
        self, items: list[VariableTracker], cls: type, source: Source | None = None,
        held: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(items, source)
        self.kind = cls
        self.held = held

    def is_constant(self) -> bool:
        return False

    def as_constant(self) -> Any:
        return self._like([item.as_constant() for item in self.items])

    def _like(self, values: list[Any]) -> Any:
        return self.kind(*values)

    def length(self, tx: Translator) -> VariableTracker:
        guard_member(tx, self.kind, "__len__")
        return super().length(tx)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        guard_member(tx, self.kind, "__contains__")
        return super().contains(tx, item)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        guard_member(tx, self.kind, "__getitem__")
        return super().getitem(tx, key)

    def iterate(self, tx: Translator) -> VariableTracker:
        guard_member(tx, self.kind, "__iter__")
        return super().iterate(tx)

    def unpack(self, tx: Translator) -> list[VariableTracker]:
        guard_member(tx, self.kind, "__iter__")
        return super().unpack(tx)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        of_struct = getattr(self.kind, "__match_args__", ())
        fields: tuple[str, ...] = getattr(self.kind, "_fields", of_struct)
        found = lookup(self.kind, name, absent=None)
        guard_member(tx, self.kind, name)
        if self.held is not None and self.source is not None and not is_data_descriptor(found):
            own = InstanceAttrSource(self.source, name)
            if name in self.held:
                return tx.output.wrap(self.held[name], own)
            tx.guards.missing(own)
        if name in fields and type(found) in _FIELD_READERS:
            return self.items[fields.index(name)].realize()
        if name == "_fields" and found is not None:
            return tx.constant(fields)
        if name == "_replace" and isinstance(found, types.FunctionType) and is_generated(found):
            return SequenceMethod(self, name)
        if name == "_field_defaults":
            return tx.dict_of({k: tx.constant(v) for k, v in self.kind._field_defaults.items()})  # type: ignore
        source = MroSource(class_source(self.kind), name)
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            getter = tx.output.wrap(found.fget, AttrSource(source, "fget"))
            return getter.call(tx, [self], {})
        if isinstance(found, types.FunctionType):
            return tx.bound_method(tx.output.wrap(found, source), self)
        if isinstance(found, (staticmethod, classmethod)):
            return tx.bind(found, source, self, name)
        return super().getattr(tx, name)

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
        if name == "_replace" and not args and set(kwargs) <= set(self.kind._fields):  # type: ignore
            fields: tuple[str, ...] = getattr(self.kind, "_fields", ())
            items = [kwargs.get(f, item) for f, item in zip(fields, self.items, strict=True)]
            return NamedTupleVariable(items, self.kind)
        if name in COMMON:
            return super().call_method(tx, name, args, kwargs)
        return self.getattr(tx, name).call(tx, args, kwargs)

    def reconstruct(self, cg: Reconstructor) -> None:
        """Past the class's own `__new__`: it has run, or is what is being captured."""
        cg.builder.begin_call(tuple.__new__)
        cg.builder.load_const(self.kind)
        for item in self.items:
            cg.push(item)
        cg.builder.build("tuple", len(self.items))
        cg.builder.end_call(2)
