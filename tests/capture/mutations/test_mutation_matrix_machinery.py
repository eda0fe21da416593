"""What classes of records, enumerations and slots, and instructions, rely on is changed.

Each pair of a reader and a change is a case of its own: the reader is compiled, called, called
again after the change and must then give what plain Python gives. All pairs are the slow sweep;
the default run draws a sample by a printed seed.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dataclasses
import enum
import random
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graphwright.capture.frame.frontend import Frontend

from .machinery import OBJECTS, RECORDS, TUPLES, Change, Family, Reader, matched, put
from .matrix import outcome, tensor

X = tensor(3)
SAMPLE = 150


# enumerations, dicts with an order, descriptors, sequences of C


def enumeration(base: Any) -> Callable[[], tuple[Any, Any]]:
    def make() -> tuple[Any, Any]:
        class Color(base):  # type: ignore[misc]
            A = 1
            B = 2

            def doubled(self) -> Any:
                return self.value * 2

        return Color, Color.B

    return make


ENUM_READERS: dict[str, Reader] = {
    "value": lambda x, cls, thing: x * thing.value,
    "name": lambda x, cls, thing: (x + 1, thing.name),
    "of_class": lambda x, cls, thing: x * cls.B.value,
    "by_value": lambda x, cls, thing: x * cls(2).value,
    "by_name": lambda x, cls, thing: x * cls["B"].value,
    "all": lambda x, cls, thing: x * sum(member.value for member in cls),
    "number": lambda x, cls, thing: x * len(cls),
    "names": lambda x, cls, thing: (x + 1, list(cls.__members__)),
    "equal": lambda x, cls, thing: x * (thing == cls.B) + (thing is cls.A),
    "contains": lambda x, cls, thing: x * (thing in cls),
    "method": lambda x, cls, thing: x * thing.doubled(),
    "text": lambda x, cls, thing: (x + 1, repr(thing), str(thing)),
    "hashed": lambda x, cls, thing: x * {cls.B: 3}.get(thing, 4),
    "truth": lambda x, cls, thing: x + 1 if thing else x - 1,
    "private": lambda x, cls, thing: x * thing._value_,
}
ENUM_CHANGES: dict[str, Change] = {
    "value": lambda cls, thing: setattr(thing, "_value_", 11),
    "name": lambda cls, thing: setattr(thing, "_name_", "Z"),
    "property": put("value", property(lambda self: 12)),
    "name_property": put("name", property(lambda self: "Y")),
    "members": lambda cls, thing: cls._member_map_.pop("A"),
    "member_names": lambda cls, thing: cls._member_names_.reverse(),
    "fewer_names": lambda cls, thing: cls._member_names_.pop(),
    "by_value": lambda cls, thing: cls._value2member_map_.update({2: cls.A}),
    "by_name": lambda cls, thing: cls._member_map_.update(B=cls.A),
    "method": put("doubled", lambda self: 13),
    "getattr": put("__getattr__", lambda self, name: 14),
    "getattribute": put("__getattribute__", lambda self, name: 15),
    "eq": put("__eq__", lambda self, other: False),
    "hash": put("__hash__", lambda self: 1),
    "repr": put("__repr__", lambda self: "thing"),
    "str": put("__str__", lambda self: "text"),
    "bool": put("__bool__", lambda self: False),
    "missing": put("_missing_", classmethod(lambda cls, value: cls.A)),
}
ENUMS = [Family(base.__name__, enumeration(base))
         for base in (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag)]
for family in ENUMS:
    family.reads(**ENUM_READERS)
    family.changed_by(**ENUM_CHANGES)


def ordered_dict() -> tuple[Any, Any]:
    class Table(collections.OrderedDict):  # type: ignore[type-arg]
        scale = 2

    return Table, Table(a=1, b=2)


ORDERED = Family("OrderedDict", ordered_dict)
ORDERED.reads(
    item=lambda x, cls, thing: x * thing["b"],
    get=lambda x, cls, thing: x * thing.get("b", 5) + thing.get("c", 6),
    keys=lambda x, cls, thing: (x + 1, list(thing)),
    values=lambda x, cls, thing: x * sum(thing.values()),
    items=lambda x, cls, thing: (x + 1, list(thing.items())),
    length=lambda x, cls, thing: x * len(thing),
    contains=lambda x, cls, thing: x * ("a" in thing),
    made=lambda x, cls, thing: x * cls(a=3)["a"],
    attribute=lambda x, cls, thing: x * thing.scale,
    truth=lambda x, cls, thing: x + 1 if thing else x - 1,
)
ORDERED.changed_by(
    getitem=put("__getitem__", lambda self, key: 11),
    missing=put("__missing__", lambda self, key: 12),
    get=put("get", lambda self, key, default=None: 13),
    iter=put("__iter__", lambda self: iter(["z"])),
    keys=put("keys", lambda self: ["y"]),
    values=put("values", lambda self: [14]),
    items=put("items", lambda self: [(1, 15)]),
    length=put("__len__", lambda self: 16),
    contains=put("__contains__", lambda self, key: False),
    setitem=put("__setitem__", lambda self, key, value: dict.__setitem__(self, key, 17)),
    init=put("__init__", lambda self, **items: dict.update(self, a=18)),
    scale=put("scale", property(lambda self: 19)),
    moved=lambda cls, thing: thing.move_to_end("a"),
    removed=lambda cls, thing: thing.pop("a"),
    bool=put("__bool__", lambda self: False),
)


def described() -> tuple[Any, Any]:
    class Property(property):
        pass

    class Field:
        def __get__(self, thing: Any, owner: Any = None) -> Any:
            return 3

    class Pair:
        a = Property(lambda self: 1)
        b = Field()
        c = property(lambda self: self.hidden)
        hidden = 4

        @staticmethod
        def fixed() -> int:
            return 5

        @classmethod
        def of_class(cls) -> Any:
            return cls.hidden

    return Pair, Pair()


DESCRIBED = Family("descriptors", described)
DESCRIBED.reads(
    property=lambda x, cls, thing: x * thing.a,
    field=lambda x, cls, thing: x * thing.b,
    inner=lambda x, cls, thing: x * thing.c,
    static=lambda x, cls, thing: x * thing.fixed() + cls.fixed(),
    of_class=lambda x, cls, thing: x * thing.of_class(),
)
DESCRIBED.changed_by(
    get=lambda cls, thing: setattr(
        type(vars(cls)["a"]), "__get__", lambda self, thing, owner=None: 11),
    get_of_field=lambda cls, thing: setattr(
        type(vars(cls)["b"]), "__get__", lambda self, thing, owner=None: 12),
    set_of_field=lambda cls, thing: (
        setattr(type(vars(cls)["b"]), "__set__", lambda self, thing, value: None),
        vars(thing).update(b=13)),
    own=lambda cls, thing: vars(thing).update(b=14, a=15, hidden=16, fixed=lambda: 17),
    getter=put("c", property(lambda self: 18)),
    hidden=put("hidden", 19),
    static=put("fixed", staticmethod(lambda: 20)),
    unbound=put("fixed", lambda *args: 21),
    of_class=put("of_class", classmethod(lambda cls: 22)),
)


# instructions: what they look up in builtins and among the modules that are loaded


def imported(x: Any, cls: Any, thing: Any) -> Any:
    import math as found

    return x * found.tau


def imported_name(x: Any, cls: Any, thing: Any) -> Any:
    from math import tau

    return x * tau


def imported_part(x: Any, cls: Any, thing: Any) -> Any:
    import os.path

    return x * len(os.path.sep)


def imported_from_package(x: Any, cls: Any, thing: Any) -> Any:
    from collections import abc

    return x * hasattr(abc, "Mapping")


def stated(x: Any, cls: Any, thing: Any) -> Any:
    class Local:
        scale = 2

        def scaled(self, value: Any) -> Any:
            return value * self.scale

    return Local().scaled(x)


def derived(x: Any, cls: Any, thing: Any) -> Any:
    class Local(cls):  # type: ignore[misc]
        scale = 2

    return x * Local.scale


def asserted(x: Any, cls: Any, thing: Any) -> Any:
    try:
        assert x.dim() == 7, "seven"
    except AssertionError as error:
        return x + 1, type(error).__name__
    return x


def nowhere(x: Any, cls: Any, thing: Any) -> Any:
    return x * len(thing) + abs(-3) + sum(range(4)) + isinstance(thing, tuple)


MODULES = ("math", "os", "os.path", "collections", "collections.abc")


@contextlib.contextmanager
def restored() -> Iterator[None]:
    """Builtins, modules and classes of C as they were."""
    names, modules = dict(vars(builtins)), {name: sys.modules[name] for name in MODULES}
    try:
        yield
    finally:
        vars(builtins).update(names)
        sys.modules.update(modules)
        for name, value in SHARED.items():
            setattr(time.struct_time, name, value)


def other_import(name: str, *args: Any) -> Any:
    return types.SimpleNamespace(tau=2.0, path=types.SimpleNamespace(sep="abc"), abc=None)


class Built:
    scale = 7

    def scaled(self, value: Any) -> Any:
        return value * 9


def in_builtins(name: str, value: Any) -> Change:
    return lambda cls, thing: vars(builtins).update({name: value})


INSTRUCTIONS = Family("instructions", lambda: (Built, (1, 2)))
INSTRUCTIONS.reads(
    imported=imported, imported_name=imported_name, imported_part=imported_part,
    imported_from_package=imported_from_package, stated=stated, derived=derived,
    asserted=asserted, nowhere=nowhere,
)
INSTRUCTIONS.changed_by(
    other_import=in_builtins("__import__", other_import),
    no_import=lambda cls, thing: vars(builtins).pop("__import__"),
    other_build_class=in_builtins("__build_class__", lambda body, name, *bases: Built),
    no_build_class=lambda cls, thing: vars(builtins).pop("__build_class__"),
    other_assertion=in_builtins("AssertionError", ValueError),
    other_sum=in_builtins("sum", lambda values: 12),
    other_print=in_builtins("print", None),
    module=lambda cls, thing: sys.modules.update(
        math=types.SimpleNamespace(tau=3.0), os=other_import("os")),
    no_module=lambda cls, thing: sys.modules.update(math=None),
    part=lambda cls, thing: sys.modules.update({"os.path": None, "collections.abc": None}),
)


# sequences of C


SHARED = {name: vars(time.struct_time)[name] for name in ("tm_year", "tm_mon", "__match_args__")}
SEQUENCES = Family("struct_time", lambda: (time.struct_time, time.gmtime(0)))
SEQUENCES.reads(
    attribute=lambda x, cls, thing: x * thing.tm_mon,
    both=lambda x, cls, thing: x * thing.tm_year - thing.tm_mon,
    index=lambda x, cls, thing: x * thing[1],
    unpacked=lambda x, cls, thing: x * max(*thing),
    match=matched,
    made=lambda x, cls, thing: x * cls((1, 2, 3, 4, 5, 6, 7, 8, 9)).tm_mon,
)
SEQUENCES.changed_by(
    match_args=put("__match_args__", ("tm_mon", "tm_year")),
    property=put("tm_mon", property(lambda self: 7)),
    swapped=lambda cls, thing: (
        setattr(cls, "tm_mon", SHARED["tm_year"]), setattr(cls, "tm_year", SHARED["tm_mon"])),
)
EVERY_FAMILY = [
    *TUPLES, *RECORDS, *OBJECTS, *ENUMS, ORDERED, DESCRIBED, SEQUENCES, INSTRUCTIONS]
ALL = [pair for family in EVERY_FAMILY for pair in family.pairs()]


def shown(value: Any) -> str:
    """The repr of an outcome, or how that fails: the changes may make it fail."""
    try:
        return repr(value)
    except (AttributeError, TypeError) as error:
        return f"{type(value)}: {error}"


def stale(pair: tuple[Family, str, str]) -> str | None:
    """What compiled code gives that plain Python does not, before or after the change."""
    family, reader, change = pair
    with restored():
        cls, thing = family.make()
        function = family.readers[reader]
        compiled = Frontend(lambda module, examples: module).compile(function)
        for when in ("before", "after"):
            if when == "after":
                with contextlib.suppress(AttributeError, TypeError, KeyError):
                    family.changes[change](cls, thing)
            expected = outcome(function, (X, cls, thing))
            for attempt in ("first", "second"):
                found = outcome(compiled, (X, cls, thing))
                if shown(found) != shown(expected):
                    return (f"{family.name}, {reader} {when} {change}, {attempt} call: "
                            f"{shown(found)} instead of {shown(expected)}")
    return None


def check(pairs: list[tuple[Family, str, str]]) -> None:
    wrong = [text for text in map(stale, pairs) if text is not None]
    assert not wrong, "\n".join(wrong)


NAMED = [
    ("namedtuple", "both", "fields_and_property"),
    ("namedtuple", "attribute", "swapped"),
    ("namedtuple", "replaced", "make"),
    ("namedtuple", "defaults", "defaults_in_place"),
    ("instructions", "imported", "other_import"),
    ("instructions", "imported_name", "no_import"),
    ("instructions", "imported_part", "part"),
    ("instructions", "stated", "other_build_class"),
    ("instructions", "derived", "no_build_class"),
]


@pytest.mark.parametrize(("family", "reader", "change"), NAMED)
def test_changes_of_what_is_read_through(family, reader, change):
    check([pair for pair in ALL if (pair[0].name, *pair[1:]) == (family, reader, change)])


def test_a_sample_of_readers_and_changes():
    seed = random.randrange(10**6)
    print("seed", seed)
    check(random.Random(seed).sample(ALL, SAMPLE))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({family.name for family, _, _ in ALL}))
def test_all_readers_and_changes(name):
    check([pair for pair in ALL if pair[0].name == name])


@pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.name)
def test_readers_are_captured(family):
    for name, reader in family.readers.items():
        cls, thing = family.make()
        frontend = Frontend(lambda module, examples: module)
        with contextlib.suppress(TypeError, dataclasses.FrozenInstanceError):
            frontend.compile(reader)(X, cls, thing)
            assert frontend.record.graphs, name
