"""Classes that captured functions make with keywords, metaclasses, or calls of `type`."""

from __future__ import annotations

import abc
import dataclasses
import enum
import types
from collections import namedtuple
from typing import Any, NamedTuple

import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs, sound, whole

whole_program = Programs()
broken_program = Programs()


class Keyed:
    """Takes a keyword of its subclasses."""

    def __init_subclass__(cls, key: Any = None, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.key = key  # type: ignore[attr-defined]


class Registering:
    """Keeps its subclasses."""

    known: dict[str, type] = {}  # noqa: RUF012

    def __init_subclass__(cls) -> None:
        cls.known["last"] = cls


class Slotted:
    __slots__ = ("held",)

    def __init_subclass__(cls) -> None:
        cls.extra = 5  # type: ignore[attr-defined]


class Empty:
    __slots__ = ()

    def __init_subclass__(cls) -> None:
        cls.extra = 6  # type: ignore[attr-defined]


class Counting(type):
    """Counts what its classes define."""

    names: list[str] = []  # noqa: RUF012

    def __new__(
        mcs, name: str, bases: Any, namespace: dict[str, Any], flag: int = 0
    ) -> Any:
        made = super().__new__(mcs, name, bases, namespace)
        made.flag = flag  # type: ignore[attr-defined]
        mcs.names.append(name)
        return made

    def __init__(cls, name: str, bases: Any, namespace: dict[str, Any], flag: int = 0) -> None:
        super().__init__(name, bases, namespace)
        cls.size = len(namespace)


class Level(enum.Enum):
    """An enumeration without members."""

    def doubled(self) -> Any:
        return self.value * 2


@whole_program
def keywords_go_to_the_hook_of_the_base(x: Any) -> Any:
    kinds: list[Any] = []

    class Base:
        def __init_subclass__(cls, key: Any = None, **keywords: Any) -> None:
            super().__init_subclass__(**keywords)
            cls.key = key  # type: ignore[attr-defined]
            kinds.append(key)

    class Item(Base, key=3):
        def scaled(self, y: Any) -> Any:
            return y * self.key  # type: ignore[attr-defined]

    class Other(Item):
        pass

    return Item().scaled(x), Other.key, kinds  # type: ignore[attr-defined]


@whole_program
def keywords_go_to_the_hook_of_an_outer_base(x: Any) -> Any:
    class Item(Keyed, key=x + 1):
        def name(self) -> str:
            return __class__.__name__  # type: ignore[name-defined]

    return Item.key * 2, Item().name(), Item.__bases__ == (Keyed,)  # type: ignore[attr-defined]


@whole_program
def hook_of_a_base_with_slots(x: Any) -> Any:
    class Of(Slotted):
        pass

    class Without(Empty):
        __slots__ = ("z",)

    of, without = Of(), Without()
    of.held, of.more = 2, 3  # type: ignore[attr-defined]
    without.z = 4  # type: ignore[attr-defined]
    total = of.held + of.more + without.z  # type: ignore[attr-defined]
    return x * Of.extra + Without.extra, total  # type: ignore[attr-defined]


@whole_program
def hook_sees_the_class_that_methods_name(x: Any) -> Any:
    class Base:
        def __init_subclass__(cls) -> None:
            cls.seen = cls.me()  # type: ignore[attr-defined]

    class Item(Base):
        @staticmethod
        def me() -> str:
            return __class__.__name__  # type: ignore[name-defined]

    return x + 1, Item.seen  # type: ignore[attr-defined]


@whole_program
def hook_misses_an_argument(x: Any) -> Any:
    class Base:
        def __init_subclass__(cls, key: Any) -> None:
            pass

    try:

        class Item(Base):
            pass

    except TypeError as error:
        return x + 1, str(error)


@whole_program
def names_are_told_before_the_hook(x: Any) -> Any:
    log: list[str] = []

    class Told:
        def __set_name__(self, owner: type, name: str) -> None:
            log.append(f"{owner.__name__}.{name}")

    class Base:
        def __init_subclass__(cls) -> None:
            log.append("hook")

    class Item(Base):
        first = Told()
        second = Told()

    return x + 1, log


@whole_program
def descriptors_of_the_frame(x: Any) -> Any:
    class Scaled:
        def __init__(self, default: Any) -> None:
            self.default = default

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = f"_{name}"

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return self if instance is None else getattr(instance, self.name, self.default)

        def __set__(self, instance: Any, value: Any) -> None:
            setattr(instance, self.name, value * 2)

    class Item:
        first = Scaled(1)
        second = Scaled(x)

    item = Item()
    item.first = 5
    return item.first * item.second, Item.first.name


@whole_program
def metaclass_of_the_library(x: Any) -> Any:
    class Shape(metaclass=abc.ABCMeta):
        @abc.abstractmethod
        def area(self) -> Any: ...

    class Square(Shape):
        def area(self) -> Any:
            return x * x

    return Square().area(), type(Square) is abc.ABCMeta


@whole_program
def metaclass_with_its_own_making(x: Any) -> Any:
    class Item(metaclass=Counting, flag=4):
        value = 3

    class Child(Item):
        pass

    total = Item.flag + Item.value + Child.flag  # type: ignore[attr-defined]
    named = [name for name in Counting.names if name in ("Item", "Child")]
    Counting.names.clear()
    return x * total, Child.size > 0, named, type(Child) is Counting


@whole_program
def metaclass_of_the_frame(x: Any) -> Any:
    class Kind(type):
        def __init__(cls, name: str, bases: Any, namespace: Any) -> None:
            super().__init__(name, bases, namespace)
            cls.title = name.upper()

        def __call__(cls, *args: Any) -> Any:
            made = super().__call__(*args)
            made.tag = cls.title
            return made

        def __len__(cls) -> int:
            return 3

        @property
        def half(cls) -> str:
            return cls.__name__[:2]

    class Item(metaclass=Kind):
        pass

    item = Item()
    return x * len(Item), item.tag, Item.half, isinstance(Item, Kind)  # type: ignore[attr-defined]


@whole_program
def calls_of_type(x: Any) -> Any:
    total = x
    for step in range(2):
        made: Any = type(f"Item{step}", (object,), {"step": step, "more": lambda self, y: y + 1})
        total = made().more(total) + made.step
    kind: Any = type(Keyed)("Kind", (Keyed,), {"__doc__": "A text."}, key=5)
    return total * kind.key, kind.__doc__, kind.__module__, kind.__qualname__, made.__name__


@whole_program
def call_of_type_with_a_base_that_has_a_metaclass(x: Any) -> Any:
    class Base(metaclass=Counting):
        pass

    made: Any = type("Made", (Base,), {"a": 1}, flag=2)
    Counting.names.clear()
    return x * made.flag, type(made) is Counting


@whole_program
def call_of_new_class(x: Any) -> Any:
    made: Any = types.new_class("Made", (Keyed,), {"key": 4}, lambda names: names.update(k=1))
    return x * made.key + made.k


@whole_program
def records_with_slots(x: Any) -> Any:
    @dataclasses.dataclass(slots=True)
    class Point:
        a: Any
        b: int = 3

    point = Point(x)
    return point.a * point.b, hasattr(point, "__dict__"), Point.__slots__, Point.__name__


@whole_program
def named_tuples(x: Any) -> Any:
    class Point(NamedTuple):
        """A text."""

        a: Any
        b: Any = x
        c: int = 3

        @property
        def total(self) -> Any:
            return self.a + self.c

    first = Point(1)
    second = first._replace(a=5)
    shown = repr(Point(1, 2, 3)), Point.__doc__, Point._fields, Point._make([1, 2, 3]).c
    return first.b * second.a, first.total, shown, first[0], Point(1, 2) == (1, 2, 3)


@whole_program
def named_tuples_made_by_a_call(x: Any) -> Any:
    Pair = namedtuple("Pair", "a b", defaults=[4])

    class Point(namedtuple("Point", ["a", "b"])):
        __slots__ = ()

        def total(self) -> Any:
            return self.a + self.b

    pair = Pair(x)
    return pair.a * pair.b, Point(1, 2).total(), Pair.__module__


@whole_program
def enumerations(x: Any) -> Any:
    class Color(enum.Enum):
        RED = 1
        BLUE = 2
        AZURE = 2

        def scaled(self, y: Any) -> Any:
            return y * self.value

        @property
        def double(self) -> int:
            return self.value * 2

        @classmethod
        def default(cls) -> Any:
            return cls.BLUE

    total = Color.RED.scaled(x) + Color.default().double
    for color in Color:
        total = total + color.value
    known = {Color.RED: total, Color.BLUE: x}
    found = Color(2) is Color["BLUE"] is Color.AZURE, Color.RED == Color.BLUE, len(Color)
    shown = str(Color.RED), repr(Color.BLUE), f"{Color.RED}", list(Color.__members__)
    kinds = isinstance(Color.RED, Color), type(Color.RED) is Color, issubclass(Color, enum.Enum)
    return known[Color.RED], found, shown, kinds, Color.RED in Color, Color.__qualname__


@whole_program
def enumeration_does_not_have_the_value(x: Any) -> Any:
    class Color(enum.Enum):
        RED = 1

    try:
        Color(5)
    except ValueError as error:
        return x + 1, str(error)


@whole_program
def enumeration_in_a_match(x: Any) -> Any:
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    match Color(2):
        case Color.RED:
            return x
        case Color.BLUE:
            return x * 2


@whole_program
def enumerations_of_numbers_and_texts(x: Any) -> Any:
    class Size(enum.IntEnum):
        SMALL = 1
        LARGE = SMALL + 1
        HUGE = enum.auto()

    class Name(enum.StrEnum):
        FIRST = enum.auto()
        SECOND = "bee"

    class Mixed(str, enum.Enum):  # noqa: UP042
        A = "a"

    sizes = [size.value for size in Size], Size.SMALL < Size.HUGE, Size.HUGE + 1
    names = Name.FIRST == "first", f"{Name.SECOND}", len(Name.SECOND)
    mixed = Mixed.A == "a", str(Mixed.A), f"{Mixed.A}", Mixed.A.upper(), Mixed("a") is Mixed.A
    return x * Size.HUGE, x.sum(Size.SMALL), sizes, names, mixed


@whole_program
def enumerations_of_flags(x: Any) -> Any:
    class Flag(enum.Flag, boundary=enum.KEEP):
        A = enum.auto()
        B = enum.auto()
        C = enum.auto()
        AB = A | B

    class Mask(enum.IntFlag):
        R = 4
        W = 2

    both = Flag.A | Flag.C
    shown = str(both), repr(both), [flag.name for flag in both], (~Flag.A).value
    same = (Flag.A | Flag.B) is Flag.AB, Mask.R | Mask.W == 6
    return x * both.value, Flag.A in both, same, shown


@whole_program
def enumerations_of_an_outer_one(x: Any) -> Any:
    @enum.unique
    class Own(Level):
        LOW = 1
        HIGH = 4

    return x * Own.HIGH.doubled(), isinstance(Own.LOW, Level)


@whole_program
def enumerations_made_by_a_call(x: Any) -> Any:
    Color = enum.Enum("Color", "RED BLUE", start=5)
    Size = enum.IntEnum("Size", {"SMALL": 1, "LARGE": 2})
    Flag = enum.Flag("Flag", ["A", "B"])
    shown = Color.__module__, Color.__qualname__, repr(Color.RED), str(Size.SMALL)
    return x * Color.BLUE.value, Size.LARGE + 1, Flag.B.value, shown


@broken_program
def class_that_the_hook_keeps(x: Any) -> Any:
    class Item(Registering):
        value = 3

    return x * Registering.known["last"].value  # type: ignore[attr-defined]


@broken_program
def member_leaves_the_frame(x: Any) -> Any:
    class Color(enum.Enum):
        RED = 1

    return x + 1, (Color.RED, 1), frozenset([Color.RED])


@broken_program
def named_tuple_leaves_the_frame(x: Any) -> Any:
    class Point(NamedTuple):
        a: Any

    return Point(x + 1)


@broken_program
def metaclass_that_orders_the_bases(x: Any) -> Any:
    class Kind(type):
        def mro(cls) -> Any:
            return [*super().mro()[:1], Slotted, object]

    class Item(Slotted, metaclass=Kind):
        pass

    return x + 1, Item.__mro__[1] is Slotted


@broken_program
def keywords_that_nobody_takes(x: Any) -> Any:
    try:

        class Item(object, key=2):  # type: ignore[call-arg]  # noqa: UP004
            pass

    except TypeError as error:
        return x + 1, str(error)


@broken_program
def enumeration_with_its_own_members(x: Any) -> Any:
    class Planet(enum.Enum):
        EARTH = (1, 2)
        MARS = (3, 4)

        def __init__(self, mass: int, radius: int) -> None:
            self.mass = mass
            self.radius = radius

    return x * Planet.MARS.radius


@broken_program
def enumeration_of_tensors(x: Any) -> Any:
    class Held(enum.Enum):
        X = x

    return Held.X.value + 1


@broken_program
def class_with_two_bases_that_may_change(x: Any) -> Any:
    class Both(Keyed, Slotted):
        pass

    return x * Both.extra  # type: ignore[attr-defined]


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_made_by_plain_python(program: Any) -> None:
    assert sound(program, gw.randn(2, 3)).breaks


def with_keyword(x: Any) -> Any:
    class Item(Keyed, key=3):
        pass

    return x * Item.key  # type: ignore[attr-defined]


def with_metaclass(x: Any) -> Any:
    class Item(metaclass=Counting):
        pass

    return x * Item.flag  # type: ignore[attr-defined]


def of_level(x: Any) -> Any:
    class Own(Level):
        LOW = 3

    return x * Own.LOW.doubled()


def hook(cls: Any, key: int) -> None:
    cls.key = key * 2


def plain_new(mcs: Any, name: str, bases: Any, namespace: Any) -> Any:
    made = type.__new__(mcs, name, bases, namespace)
    made.flag = 7
    return made


def negated(self: Any) -> Any:
    return -self.value


def other_init(self: Any, *args: Any) -> None:
    self._value_ = 11


CHANGES = [
    (with_keyword, Keyed, "__init_subclass__", classmethod(hook)),
    (with_metaclass, Counting, "__new__", plain_new),
    (of_level, Level, "doubled", negated),
    (of_level, Level, "__init__", other_init),
]


@pytest.mark.parametrize(("program", "owner", "name", "value"), CHANGES)
def test_what_makes_a_class_is_guarded(
    program: Any, owner: Any, name: str, value: Any, monkeypatch: Any
) -> None:
    captured, x = Captured(program), gw.ones(2)
    assert picture(captured(x)) == picture(program(x))
    monkeypatch.setattr(owner, name, value, raising=False)
    assert picture(captured(x)) == picture(program(x))
