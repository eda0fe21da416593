"""Named tuples: those of `collections.namedtuple`, and the struct sequences of C's."""

from __future__ import annotations

import collections
import time
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import AttrSource, InstanceAttrSource, MroSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.classes.class_guards import class_source, guard_member
from graphwright.capture.trackers.containers.sequences import COMMON, Args, Kwargs, TupleVariable
from graphwright.capture.trackers.values.namespaces import (
    ABSENT,
    is_data_descriptor,
    lookup,
    mro_of,
    namespace_of,
)

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.translator import Translator

_OF_STRUCT: Any = type(time.struct_time.tm_year)
_FIELD: Any = type(collections.namedtuple("_Sample", "field").field)  # type: ignore[attr-defined]


def has_own_operations(cls: type) -> bool:
    """Whether a class made by `namedtuple`, or one of that, says itself how instances act."""
    mro = mro_of(cls)
    classes = mro[: mro.index(tuple)]
    if lookup(cls, "n_sequence_fields") is not ABSENT:
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


def shown_names(cls: Any) -> list[str]:
    """The names that the repr which `namedtuple` wrote shows, of whatever is in `_fields` now."""
    writer = lookup(cls, "__repr__")
    shown = dict(zip(writer.__code__.co_freevars, writer.__closure__, strict=True))["repr_fmt"]
    return [part.removesuffix("=%r") for part in shown.cell_contents[1:-1].split(", ")]


def names_its_items(cls: type) -> bool:
    """Whether a class of tuples is a named tuple, or a struct sequence of C's."""
    return lookup(cls, "_fields") is not ABSENT or lookup(cls, "n_sequence_fields") is not ABSENT


def has_hidden_fields(cls: type) -> bool:
    """Whether instances may hold more than their items, as struct sequences of C do."""
    return lookup(cls, "n_sequence_fields") is not ABSENT


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
        if has_hidden_fields(self.kind):
            return self.kind(values)
        return tuple.__new__(self.kind, values)

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
        found = lookup(self.kind, name, absent=None)
        guard_member(tx, self.kind, "__getattribute__")
        guard_member(tx, self.kind, name)
        if self.held is not None and self.source is not None and not is_data_descriptor(found):
            own = InstanceAttrSource(self.source, name)
            if name in self.held:
                return tx.output.wrap(self.held[name], own)
            tx.guards.missing(own)
        if type(found) in (_FIELD, _OF_STRUCT):
            return self._field(found).realize()
        source = MroSource(class_source(self.kind), name)
        if type(found) is property and isinstance(found.fget, types.FunctionType):
            getter = tx.output.wrap(found.fget, AttrSource(source, "fget"))
            return getter.call(tx, [self], {})
        if isinstance(found, types.FunctionType):
            return tx.bound_method(tx.output.wrap(found, source), self)
        if isinstance(found, (staticmethod, classmethod)):
            return tx.bind(found, source, self, name)
        if isinstance(found, (tuple, dict)):
            return tx.output.wrap(found, source)
        return super().getattr(tx, name)

    def _field(self, reader: Any) -> VariableTracker:
        """The item that a class attribute reads, whatever its name."""
        if type(reader) is _FIELD:
            place = reader.__reduce__()[1][0]
        elif has_hidden_fields(self.kind) and "__new__" not in namespace_of(self.kind):
            # made by C alone, like `sys.version_info`; such classes cannot be changed
            place = self.kind.__match_args__.index(reader.__name__)  # type: ignore[attr-defined]
        elif type(lookup(self.kind, "__new__")) is types.BuiltinMethodType:
            place = reader.__get__(self.kind(range(len(self.items))))
        else:
            unsupported("GB0010", f"a field of {self.describe()}, whose class has a __new__")
        if place is None or place >= len(self.items):
            unsupported("GB0010", f"a field of {self.describe()} that is none of its items")
        return self.items[place]

    def call_method(
        self, tx: Translator, name: str, args: Args, kwargs: Kwargs
    ) -> VariableTracker:
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
