"""Frozen dataclasses as keys of dicts: found by their class and the values of their fields."""

from __future__ import annotations

import enum
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.guards.source import AttrSource, ClassSource, MroSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.namespaces import lookup
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.runtime.tensor.dtypes import dtype as DType

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator


class RecordKey:
    """Stands for a frozen dataclass among the keys of a dict; equal where the records are."""

    def __init__(self, cls: type, values: tuple[Any, ...]) -> None:
        self.cls = cls
        self.values = values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordKey):
            return NotImplemented
        return self.cls is other.cls and self.values == other.values

    def __hash__(self) -> int:
        return hash((self.cls, self.values))


def is_record(cls: type) -> bool:
    """Whether instances are equal where their fields are, by what `dataclass` wrote."""
    params = lookup(cls, "__dataclass_params__", absent=None)
    if params is None or not (params.frozen and params.eq):
        return False
    return all(_is_generated(cls, name) for name in ("__eq__", "__hash__"))


def _is_generated(cls: type, name: str) -> bool:
    method = lookup(cls, name)
    return isinstance(method, types.FunctionType) and method.__code__.co_filename == "<string>"


def _fields(cls: Any) -> list[Any]:
    """`dataclasses.fields(cls)`, without the module, which whoever made the class has imported."""
    found = cls.__dataclass_fields__.values()
    return [field for field in found if field._field_type.name == "_FIELD"]


def _names(cls: type) -> list[str]:
    """The fields that are compared; it is assumed that those are hashed."""
    return [field.name for field in _fields(cls) if field.compare]


def is_known_record(value: Any) -> bool:
    """Whether all that the hash of an existing key depends on can be guarded."""
    cls = type(value)
    if not is_record(cls) or any(field.hash is not None for field in _fields(cls)):
        return False
    return all(_is_known(object.__getattribute__(value, name)) for name in _names(cls))


def _is_known(value: Any) -> bool:
    kind = type(value)
    fixed = issubclass(kind, (type, enum.Enum, DType)) and kind.__hash__ in _HASHES
    return fixed or _eval_frame.is_constant(value) or is_known_record(value)


_HASHES = tuple([kind.__hash__ for kind in (object, type, int, str, enum.Enum, DType)])


def wrap_record_key(output: OutputGraph, value: Any, source: Source) -> RecordKey:
    """What finds an existing key, with guards on its class and fields."""
    cls = type(value)
    output.guards.type_match(source, cls)
    for name in ("__eq__", "__hash__"):
        output.guards.id_match(MroSource(ClassSource.of(cls), name), lookup(cls, name))
    values = []
    for name in _names(cls):
        part, place = object.__getattribute__(value, name), AttrSource(source, name)
        if is_record(type(part)):
            values.append(wrap_record_key(output, part, place))
        else:
            values.append(_value(output, part, place))
    return RecordKey(cls, tuple(values))


def _value(output: OutputGraph, part: Any, place: Source) -> Any:
    if _eval_frame.is_constant(part):
        output.guards.equals(place, part)
    else:
        output.guards.id_match(place, part)
    return part


def record_key(tx: Translator, key: VariableTracker) -> RecordKey | None:
    """The RecordKey of a frozen dataclass that the frame uses as a key; None for other values."""
    if not isinstance(key, ObjectVariable) or not is_record(key.cls):
        return None
    for name in ("__eq__", "__hash__"):
        tx.guards.id_match(MroSource(ClassSource.of(key.cls), name), lookup(key.cls, name))
    values = []
    for name in _names(key.cls):
        part = key.getattr(tx, name).realize()
        values.append(record_key(tx, part) or part.as_key(tx))
    return RecordKey(key.cls, tuple(values))
