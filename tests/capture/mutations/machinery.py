"""Named tuples, dataclasses, slots: what reads classes of a kind, and what changes them."""

from __future__ import annotations

import collections
import copy
import dataclasses
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

Reader = Callable[[Any, Any, Any], Any]
Change = Callable[[Any, Any], Any]


class Family:
    """Classes of one kind: how to make one with an instance, who reads them, what changes them."""

    def __init__(self, name: str, make: Callable[[], tuple[Any, Any]]) -> None:
        self.name = name
        self.make = make
        self.readers: dict[str, Reader] = {}
        self.changes: dict[str, Change] = {}

    def reads(self, **readers: Reader) -> None:
        self.readers.update(readers)

    def changed_by(self, **changes: Change) -> None:
        self.changes.update(changes)

    def pairs(self) -> Iterator[tuple[Family, str, str]]:
        for reader in self.readers:
            for change in self.changes:
                yield self, reader, change


def put(name: str, value: Any) -> Change:
    """Assign an attribute of the class."""
    return lambda cls, thing: setattr(cls, name, value)


def swap(cls: Any, thing: Any) -> None:
    """Exchange what the class has for two fields."""
    first, second = vars(cls)["a"], vars(cls)["b"]
    cls.a, cls.b = second, first


def of_other_class(cls: Any, thing: Any) -> None:
    other = type("Other", (cls,), {"b": property(lambda self: 11), "__slots__": ()})
    thing.__class__ = other


def made_new(cls: Any, *args: Any, **kwargs: Any) -> Any:
    return tuple.__new__(cls, (21, 22))


def matched(x: Any, cls: Any, thing: Any) -> Any:
    match thing:
        case cls(first, second):
            return x * first - second
    return x


def unpacked(x: Any, cls: Any, thing: Any) -> Any:
    first, second = thing
    return x * first - second


def tried(x: Any, cls: Any, thing: Any) -> Any:
    try:
        return x * thing.c
    except AttributeError:
        return x + 1


def written(x: Any, cls: Any, thing: Any) -> Any:
    made = cls(3, 4)
    made.b = 5
    return x * made.b - made.a


ANY_CLASS: dict[str, Change] = {
    "property": put("b", property(lambda self: 7)),
    "plain": put("b", 8),
    "removed": lambda cls, thing: delattr(cls, "b"),
    "swapped": swap,
    "getattr": put("__getattr__", lambda self, name: 6),
    "getattribute": put("__getattribute__", lambda self, name: 5),
    "match_args": put("__match_args__", ("b", "a")),
    "eq": put("__eq__", lambda self, other: True),
    "hash": put("__hash__", lambda self: 1),
    "repr": put("__repr__", lambda self: "thing"),
    "length": put("__len__", lambda self: 9),
    "bool": put("__bool__", lambda self: False),
    "init": put("__init__", lambda self, *args, **kwargs: None),
    "other_class": of_other_class,
    "module_name": put("__module__", "elsewhere"),
    "class_name": put("__name__", "Renamed"),
    "qualname": put("__qualname__", "Re.named"),
}
ANY_READER: dict[str, Reader] = {
    "attribute": lambda x, cls, thing: x * thing.b,
    "both": lambda x, cls, thing: x * thing.a - thing.b,
    "getattr": lambda x, cls, thing: x * getattr(thing, "b", 2),
    "hasattr": lambda x, cls, thing: x * hasattr(thing, "b") + hasattr(thing, "c"),
    "missing": tried,
    "made": lambda x, cls, thing: x * cls(3, 4).b,
    "made_by_name": lambda x, cls, thing: x * cls(b=4, a=3).b,
    "match": matched,
    "repr": lambda x, cls, thing: (x + 1, repr(thing)),
    "isinstance": lambda x, cls, thing: x * isinstance(thing, cls),
    "equal": lambda x, cls, thing: x * (thing == cls(1, 2)) + (thing != cls(1, 2)),
    "truth": lambda x, cls, thing: x + 1 if thing else x - 1,
    "name": lambda x, cls, thing: (x + 1, cls.__name__, cls.__qualname__, cls.__module__),
    "copy": lambda x, cls, thing: x * copy.copy(thing).b,
}


# named tuples


def plain_tuple() -> tuple[Any, Any]:
    cls = collections.namedtuple("cls", "a b", defaults=[2])
    return cls, cls(1, 2)


def typed_tuple() -> tuple[Any, Any]:
    class Pair(typing.NamedTuple):
        a: int
        b: int = 2

        def difference(self) -> int:
            return self.a - self.b

    return Pair, Pair(1)


def derived_tuple() -> tuple[Any, Any]:
    class Pair(collections.namedtuple("Base", "a b", defaults=[2])):
        def difference(self) -> int:
            return self.a - self.b

        @property
        def b(self) -> int:
            return self[1] * 3

    return Pair, Pair(1)


TUPLE_READERS: dict[str, Reader] = {
    **ANY_READER,
    "by_index": lambda x, cls, thing: x * thing[1],
    "slice": lambda x, cls, thing: x * thing[1:][0],
    "unpacked": unpacked,
    "starred": lambda x, cls, thing: x * max(*thing),
    "length": lambda x, cls, thing: x * len(thing),
    "iterated": lambda x, cls, thing: x * sum(item for item in thing),
    "contains": lambda x, cls, thing: x * (2 in thing) + (7 in thing),
    "replaced": lambda x, cls, thing: x * thing._replace(a=5).a - thing._replace(a=5)[1],
    "replaced_b": lambda x, cls, thing: x * thing._replace(b=5)[1],
    "made_of": lambda x, cls, thing: x * cls._make([3, 4])[1],
    "as_dict": lambda x, cls, thing: x * thing._asdict()["b"],
    "fields": lambda x, cls, thing: (x + 1, cls._fields, thing._fields),
    "defaults": lambda x, cls, thing: x * cls._field_defaults.get("b", 1),
    "defaults_of_instance": lambda x, cls, thing: x * thing._field_defaults.get("b", 1),
    "by_default": lambda x, cls, thing: x * cls(3)[1],
    "count": lambda x, cls, thing: x * thing.count(2) + thing.index(1),
    "added": lambda x, cls, thing: x * (thing + cls(5, 6))[2],
    "ordered": lambda x, cls, thing: x * (thing < (1, 3)),
    "hashed": lambda x, cls, thing: x * {(1, 2): 3}.get(thing, 4),
}
TUPLE_CHANGES: dict[str, Change] = {
    **{name: change for name, change in ANY_CLASS.items() if name != "other_class"},
    "fields": put("_fields", ("b", "a")),
    "fewer_fields": put("_fields", ("b",)),
    "fields_and_property": lambda cls, thing: (
        setattr(cls, "a", property(lambda self: 7)), setattr(cls, "_fields", ("b", "a"))),
    "defaults": put("_field_defaults", {"b": 9}),
    "defaults_in_place": lambda cls, thing: cls._field_defaults.update(b=9, a=8),
    "make": put("_make", classmethod(lambda cls, values: (31, 32))),
    "replace": put("_replace", lambda self, **changes: made_new(type(self))),
    "asdict": put("_asdict", lambda self: {"a": 1, "b": 41}),
    "new": put("__new__", made_new),
    "defaults_of_new": lambda cls, thing: setattr(cls.__new__, "__defaults__", (51,)),
    "getitem": put("__getitem__", lambda self, key: 61),
    "iter": put("__iter__", lambda self: iter((71, 72))),
    "contains": put("__contains__", lambda self, item: False),
    "count": put("count", lambda self, item: 81),
    "add": put("__add__", lambda self, other: (1, 2, 91)),
    "less": put("__lt__", lambda self, other: False),
}
TUPLES = [
    Family("namedtuple", plain_tuple), Family("NamedTuple", typed_tuple),
    Family("derived_namedtuple", derived_tuple),
]
for family in TUPLES:
    family.reads(**TUPLE_READERS)
    family.changed_by(**TUPLE_CHANGES)
    if family.name != "namedtuple":
        family.reads(method=lambda x, cls, thing: x * thing.difference())
        family.changed_by(method=put("difference", lambda self: 101))


# dataclasses and plain classes


def record(**options: Any) -> Callable[[], tuple[Any, Any]]:
    def make() -> tuple[Any, Any]:
        @dataclasses.dataclass(**options)
        class Pair:
            a: int
            b: int = 2

            def difference(self) -> int:
                return self.a - self.b

        return Pair, Pair(1)

    return make


def plain_class() -> tuple[Any, Any]:
    class Pair:
        __match_args__ = ("a", "b")

        def __init__(self, a: int, b: int = 2) -> None:
            self.a, self.b = a, b

        def difference(self) -> int:
            return self.a - self.b

    return Pair, Pair(1)


def slotted_class() -> tuple[Any, Any]:
    class Pair:
        __slots__ = ("a", "b")
        __match_args__ = ("a", "b")

        def __init__(self, a: int, b: int = 2) -> None:
            self.a, self.b = a, b

        def difference(self) -> int:
            return self.a - self.b

    return Pair, Pair(1)


def meta_class() -> tuple[Any, Any]:
    class Meta(type):
        shared = 5

        def made(cls) -> Any:
            return cls(8, 9)

    class Pair(metaclass=Meta):
        __match_args__ = ("a", "b")
        b = 3

        def __init__(self, a: int, b: int = 2) -> None:
            self.a = a

        def difference(self) -> int:
            return self.a - self.b

    return Pair, Pair(1)


def renew(fields: dict[str, Any]) -> Change:
    return lambda cls, thing: setattr(cls, "__dataclass_fields__", fields)


OBJECT_READERS: dict[str, Reader] = {
    **ANY_READER,
    "by_default": lambda x, cls, thing: x * cls(3).b,
    "method": lambda x, cls, thing: x * thing.difference(),
    "of_class": lambda x, cls, thing: x * (cls.b if hasattr(cls, "b") else 3),
    "written": written,
}
OBJECT_CHANGES: dict[str, Change] = {
    **ANY_CLASS,
    "setattr": put("__setattr__", lambda self, name, value: None),
    "new": put("__new__", lambda cls, *args, **kwargs: types.SimpleNamespace(a=1, b=21)),
    "method": put("difference", lambda self: 31),
    "defaults_of_init": lambda cls, thing: setattr(cls.__init__, "__defaults__", (41,)),
}
RECORD_READERS: dict[str, Reader] = {
    **OBJECT_READERS,
    "names": lambda x, cls, thing: (x + 1, [field.name for field in dataclasses.fields(cls)]),
    "is_record": lambda x, cls, thing: x * dataclasses.is_dataclass(thing),
    "as_dict": lambda x, cls, thing: x * dataclasses.asdict(thing).get("b", 3),
    "as_tuple": lambda x, cls, thing: x * dataclasses.astuple(thing)[-1],
    "replaced": lambda x, cls, thing: x * dataclasses.replace(thing, a=5).b,
    "default": lambda x, cls, thing: x * cls.__dataclass_fields__["b"].default,
    "ordered": lambda x, cls, thing: x * (thing < cls(1, 3)),
    "hashed": lambda x, cls, thing: x * {thing: 3}.get(cls(1, 2), 4),
}
RECORD_CHANGES: dict[str, Change] = {
    **OBJECT_CHANGES,
    "no_fields": renew({}),
    "field_is_gone": lambda cls, thing: cls.__dataclass_fields__.pop("a"),
    "field_of_other_name": lambda cls, thing: setattr(
        cls.__dataclass_fields__["b"], "name", "a"),
    "default_of_field": lambda cls, thing: setattr(cls.__dataclass_fields__["b"], "default", 51),
    "field_not_in_init": lambda cls, thing: setattr(cls.__dataclass_fields__["b"], "init", False),
    "field_type": lambda cls, thing: setattr(
        cls.__dataclass_fields__["b"], "_field_type", dataclasses._FIELD_CLASSVAR),
    "less": put("__lt__", lambda self, other: False),
    "post_init": put("__post_init__", lambda self: setattr(self, "a", 61)),
    "replace": put("__replace__", lambda self, **changes: self),
}
RECORDS = [
    Family("dataclass", record()), Family("frozen", record(frozen=True)),
    Family("slotted", record(slots=True)),
    Family("ordered", record(order=True, unsafe_hash=True)),
]
for family in RECORDS:
    family.reads(**RECORD_READERS)
    family.changed_by(**RECORD_CHANGES)
OBJECTS = [
    Family("plain", plain_class), Family("slots", slotted_class), Family("metaclass", meta_class)]
for family in OBJECTS:
    family.reads(**OBJECT_READERS)
    family.changed_by(**OBJECT_CHANGES)
OBJECTS[-1].reads(
    of_meta=lambda x, cls, thing: x * cls.shared,
    made_by_meta=lambda x, cls, thing: x * cls.made().a,
)
OBJECTS[-1].changed_by(
    of_meta=lambda cls, thing: setattr(type(cls), "shared", 71),
    data_of_meta=lambda cls, thing: setattr(type(cls), "b", property(lambda cls: 72)),
    getattr_of_meta=lambda cls, thing: setattr(type(cls), "__getattr__", lambda cls, name: 73),
    read_by_meta=lambda cls, thing: setattr(
        type(cls), "__getattribute__", lambda cls, name: 74),
    call_of_meta=lambda cls, thing: setattr(
        type(cls), "__call__", lambda cls, *args, **kwargs: types.SimpleNamespace(a=75, b=76)),
    instance_of_meta=lambda cls, thing: setattr(
        type(cls), "__instancecheck__", lambda cls, thing: False),
    shadowed=put("shared", 77),
    meta=lambda cls, thing: setattr(cls, "__class__", type("Meta2", (type(cls),), {"shared": 78})),
)
