"""Dataclasses and enumerations, made and read inside of a frame."""

from __future__ import annotations

import dataclasses
import enum
from collections import namedtuple
from typing import NamedTuple

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


@dataclasses.dataclass
class Record:
    x: object
    y: int = 2
    items: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.sum = self.y + 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: object
    y: int = 2


@dataclasses.dataclass(order=True, slots=True)
class Ordered:
    a: int
    b: str = "b"


@dataclasses.dataclass(kw_only=True)
class Derived(Record):
    z: int = 3


class Color(enum.Enum):
    RED = 1
    BLUE = "b"

    @property
    def shout(self):
        return self.name + "!"

    def other(self):
        return Color.BLUE if self is Color.RED else Color.RED

    @classmethod
    def default(cls):
        return cls.RED


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Flags(enum.Flag):
    A = enum.auto()
    B = enum.auto()


class Text(enum.StrEnum):
    X = "x"


def run(function):
    given = {
        "existing_records": (Record(X), Frozen(X), Ordered(1)),
        "enum_arguments": (Color.RED, Level.HIGH, X),
    }
    whole(function, *given.get(function.__name__, (X,)))


@program
def records(x):
    r = Record(x, items=[1])
    s = dataclasses.replace(r, y=7)
    names = [f.name for f in dataclasses.fields(r)]
    d = Derived(x, z=4)
    return (
        r,
        s,
        s.sum,
        names,
        d,
        dataclasses.is_dataclass(r),
        Record(1) == Record(1),
        r.items is s.items,
    )


@program
def frozen_records(x):
    f = Frozen(x)
    g = dataclasses.replace(f, y=5)
    try:
        f.x = 1
    except dataclasses.FrozenInstanceError as error:
        text = str(error)
    return f, g, text, Frozen(1) == Frozen(1), hash(Frozen(1)) == hash(Frozen(1)), repr(Frozen(1))


@program
def ordered_records(x):
    a, b = Ordered(1), Ordered(2, "a")
    return x + 1, a < b, sorted([b, a])[0].a, a == Ordered(1), a, repr(a), max(a, b).b


@program
def existing_records(r, f, o):
    r.items.append(r.x + 1)
    o.a += r.y
    return f.x + f.y, o.b, dataclasses.astuple(o), dataclasses.asdict(o)


@program
def enums(x):
    return (
        x * Level.HIGH,
        Color.RED.value,
        Color.RED.name,
        Color("b"),
        Color["RED"],
        Color.RED is Color.RED,
        Color.RED == 1,
        Level.LOW < Level.HIGH,
        Color.RED.shout,
        Color.RED.other(),
        Color.default(),
        list(Color),
        len(Color),
        Color.RED in Color,
        {Color.RED: 1}[Color.RED],
        str(Color.RED),
        f"{Level.HIGH}",
        Level.HIGH + 1,
        Flags.A | Flags.B,
        Flags.A in Flags.A | Flags.B,
        isinstance(Color.RED, Color),
        Text.X + "y",
        Level(2),
        [c.value for c in Color],
        repr(Color.BLUE),
    )


@program
def enum_arguments(color, level, x):
    if color is Color.RED:
        x = x + level
    match color:
        case Color.BLUE:
            x = x * 100
        case Color.RED:
            x = x * 2
    return x, color, level.name


@program
def object_constructs(x):
    o = object()
    table = {Color.RED: x, int: 1, None: 2, gw.float32: 3}
    return o is o, o is not object(), table[int], table[Color.RED] + 1, table[x.dtype]


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_records(function):
    run(function)


class Acting(NamedTuple):
    """Says itself how it acts, in some ways."""

    x: int
    y: int = 1

    def __str__(self):
        return f"{self.x} -> {self.y}"

    def __add__(self, other):
        return "sum"

    def __len__(self):
        return 7


class Answering(namedtuple("Base", "x y")):
    def __eq__(self, other):
        return "equal"

    def __contains__(self, item):
        return True

    __hash__ = None


@pytest.mark.parametrize("made", [Acting(4), Acting(4, 5), Answering(4, 5)])
def test_named_tuples_with_own_operations(made):
    def uses(x, pair):
        fresh = type(pair)(1, 2)
        both = str(pair), str(fresh), pair == fresh, 9 in pair, len(pair), len(fresh)
        return x + pair.x, both, pair + fresh, pair.y

    captured = Captured(uses)
    for _ in range(2):
        assert captured(X, made)[1:] == uses(X, made)[1:]
