"""Kinds of change between calls of classes: metaclasses, descriptors, bases, enums, slots."""

from __future__ import annotations

import abc
import collections
import enum
import types
from collections.abc import Iterator
from typing import ClassVar

import pytest

from .matrix import Case, Cases, Step, tensor

case = Cases()
X = tensor(3, 4)
Y = tensor(3, 4, seed=1)


@case
def attribute_of_the_metaclass() -> Iterator[Step]:
    class Meta(type):
        scale = 2

    class Thing(metaclass=Meta):
        pass

    def f(x):
        return x * Thing.scale

    yield f, (X,)
    Meta.scale = 3
    yield f, (X,)
    Thing.scale = 4
    yield f, (X,)
    Meta.scale = property(lambda cls: 5)
    yield f, (X,)


@case
def reads_by_the_metaclass() -> Iterator[Step]:
    class Meta(type):
        pass

    class Thing(metaclass=Meta):
        scale = 2

    def f(x):
        return x * Thing.scale

    yield f, (X,)
    Meta.__getattribute__ = lambda cls, name: 3
    yield f, (X,)
    del Meta.__getattribute__
    yield f, (X,)


@case
def an_attribute_of_the_metaclass_becomes_a_descriptor() -> Iterator[Step]:
    class Attribute:
        pass

    class Meta(type):
        scale = Attribute()

    class Thing(metaclass=Meta):
        scale = 2

    def f(x):
        return x * Thing.scale

    yield f, (X,)
    Attribute.__get__ = lambda attribute, instance, owner: 3
    yield f, (X,)
    Attribute.__set__ = lambda attribute, instance, value: None
    yield f, (X,)


@case
def method_of_the_metaclass() -> Iterator[Step]:
    class Meta(type):
        def scale(cls):
            return 2

    class Thing(metaclass=Meta):
        pass

    def f(x):
        return x * Thing.scale()

    yield f, (X,)
    Meta.scale = lambda cls: 3
    yield f, (X,)
    Thing.scale = staticmethod(lambda: 4)
    yield f, (X,)


@case
def descriptor_gains_set() -> Iterator[Step]:
    class Plain:
        pass

    class Thing:
        value = Plain()

    thing = Thing()
    thing.__dict__["value"] = 2

    def f(x):
        return x * thing.value

    yield f, (X,)
    Plain.__get__ = lambda self, instance, owner: 3
    yield f, (X,)
    Plain.__set__ = lambda self, instance, value: None
    yield f, (X,)
    del Plain.__set__
    yield f, (X,)


@case
def class_attribute_gains_get() -> Iterator[Step]:
    class Member:
        pass

    class Thing:
        value = Member()

    thing, member = Thing(), Thing.value

    def f(x):
        return x * (2 if thing.value is member else 3) * (5 if Thing.value is member else 7)

    yield f, (X,)
    Member.__get__ = lambda self, instance, owner: 3
    yield f, (X,)
    del Member.__get__
    yield f, (X,)


@case
def assigned_class_attribute_gains_set() -> Iterator[Step]:
    class Member:
        pass

    class Thing:
        value = Member()

    def f(x):
        thing = Thing()
        thing.value = 2
        return x * (1 + len(vars(thing)))

    yield f, (X,)
    Member.__set__ = lambda self, instance, value: None
    yield f, (X,)
    del Member.__set__
    yield f, (X,)


@case
def descriptor_is_replaced() -> Iterator[Step]:
    class Constant:
        def __init__(self, value):
            self.value = value

        def __get__(self, instance, owner):
            return self.value

    class Thing:
        scale = Constant(2)

    thing = Thing()

    def f(x):
        return x * thing.scale + 1

    yield f, (X,)
    Thing.__dict__["scale"].value = 3
    yield f, (X,)
    Thing.scale = Constant(4)
    yield f, (X,)
    Constant.__get__ = lambda self, instance, owner: 7
    yield f, (X,)


@case
def getattr_is_added() -> Iterator[Step]:
    class Thing:
        pass

    thing = Thing()

    def f(x):
        return x * getattr(thing, "scale", 2)

    yield f, (X,)
    Thing.__getattr__ = lambda self, name: 3
    yield f, (X,)
    Thing.__getattr__ = lambda self, name: 4
    yield f, (X,)
    del Thing.__getattr__
    yield f, (X,)


@case
def getattr_of_a_module() -> Iterator[Step]:
    module = types.ModuleType("graphwright_matrix_settings")

    def f(x):
        return x * getattr(module, "scale", 2)

    yield f, (X,)
    module.__getattr__ = lambda name: 3
    yield f, (X,)
    module.scale = 4
    yield f, (X,)


@case
def class_of_a_module_object() -> Iterator[Step]:
    module = types.ModuleType("graphwright_matrix_settings")
    module.scale = 2

    def f(x):
        return x * module.scale

    yield f, (X,)

    class Other(types.ModuleType):
        @property
        def scale(self):
            return 5

    module.__class__ = Other
    yield f, (X,)


@case
def bases_of_a_class() -> Iterator[Step]:
    class Old:
        scale = 2

    class New:
        scale = 3

    class Thing(Old):
        pass

    thing = Thing()

    def f(x):
        return x * thing.scale

    yield f, (X,)
    Thing.__bases__ = (New,)
    yield f, (X,)
    New.scale = 4
    yield f, (X,)


@case
def subclasses_that_are_made_and_gone() -> Iterator[Step]:
    class Base:
        pass

    class First(Base):
        pass

    def f(x):
        return x * 2 + len(Base.__subclasses__())

    yield f, (X,)
    Second = type("Second", (Base,), {})
    yield f, (X,)
    First.__bases__ = (Second,)
    yield f, (X,)
    First.__bases__ = (Base,)
    yield f, (X,)


@case
def isinstance_after_bases_change() -> Iterator[Step]:
    class Old:
        pass

    class New:
        pass

    class Thing(Old):
        pass

    def f(x, thing):
        return x * 2 if isinstance(thing, Old) else x * 3

    thing = Thing()
    yield f, (X, thing)
    Thing.__bases__ = (New,)
    yield f, (X, thing)


@case
def isinstance_by_the_metaclass() -> Iterator[Step]:
    class Meta(type):
        pass

    class Kind(metaclass=Meta):
        pass

    def f(x, thing):
        return x * 2 if isinstance(thing, Kind) else x * 3

    thing = types.SimpleNamespace()
    yield f, (X, thing)
    Meta.__instancecheck__ = lambda cls, value: True
    yield f, (X, thing)


@case
def registered_with_an_abstract_class() -> Iterator[Step]:
    class Thing:
        pass

    class Kind(abc.ABC):  # noqa: B024
        pass

    def f(x, thing):
        return x * 2 if isinstance(thing, Kind) else x * 3

    thing = Thing()
    yield f, (X, thing)
    Kind.register(Thing)
    yield f, (X, thing)


@case
def truth_of_an_object() -> Iterator[Step]:
    class Thing:
        pass

    thing = Thing()

    def f(x):
        return x * 2 if thing else x * 3

    yield f, (X,)
    Thing.__len__ = lambda self: 0
    yield f, (X,)
    Thing.__bool__ = lambda self: True
    yield f, (X,)


@case
def equality_of_objects() -> Iterator[Step]:
    class Thing:
        pass

    a, b = Thing(), Thing()

    def f(x):
        return x * 2 if a == b else x * 3

    yield f, (X,)
    Thing.__eq__ = lambda self, other: True
    yield f, (X,)


@case
def attribute_in_the_middle_of_the_mro() -> Iterator[Step]:
    class Base:
        scale = 2

    class Middle(Base):
        pass

    class Thing(Middle):
        pass

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    Middle.scale = 3
    yield f, (X, thing)
    del Middle.scale
    yield f, (X, thing)


@case
def super_of_a_changed_base() -> Iterator[Step]:
    class Base:
        def scale(self):
            return 2

    class Middle(Base):
        pass

    class Thing(Middle):
        def scale(self):
            return super().scale() + 1

    def f(x, thing):
        return x * thing.scale()

    thing = Thing()
    yield f, (X, thing)
    Middle.scale = lambda self: 5
    yield f, (X, thing)


@case
def class_attribute_is_a_list() -> Iterator[Step]:
    class Thing:
        scales: ClassVar[list[int]] = [2, 3]

    def f(x):
        return x * Thing.scales[0] * len(Thing.scales)

    yield f, (X,)
    Thing.scales[0] = 5
    yield f, (X,)
    Thing.scales.append(5)
    yield f, (X,)


@case
def enum_class_is_changed() -> Iterator[Step]:
    class Mode(enum.Enum):
        FAST = 1
        SLOW = 2

    holder = types.SimpleNamespace(Mode=Mode)

    def f(x, mode):
        return x * mode.value if mode is holder.Mode.FAST else x - mode.value

    yield f, (X, Mode.FAST)
    yield f, (X, Mode.SLOW)
    Mode.FAST._value_ = 5
    yield f, (X, Mode.FAST)

    class Other(enum.Enum):
        FAST = 1

    holder.Mode = Other
    yield f, (X, Mode.FAST)


@case
def property_of_an_enum() -> Iterator[Step]:
    class Mode(enum.Enum):
        FAST = 1

        @property
        def scale(self):
            return 2

    def f(x, mode):
        return x * mode.scale

    yield f, (X, Mode.FAST)
    Mode.scale = property(lambda self: 3)
    yield f, (X, Mode.FAST)


@case
def method_of_an_enum() -> Iterator[Step]:
    class Mode(enum.IntEnum):
        FAST = 2

        def scale(self):
            return self.value + 1

    def f(x, mode):
        return x * mode.scale()

    yield f, (X, Mode.FAST)
    Mode.scale = lambda self: 7
    yield f, (X, Mode.FAST)


@case
def field_of_a_named_tuple_class() -> Iterator[Step]:
    class Pair(collections.namedtuple("Pair", "first second")):
        @property
        def total(self):
            return self.first + self.second

    def f(x, pair):
        return x * pair.total + pair.first

    yield f, (X, Pair(2, 3))
    Pair.total = property(lambda self: 11)
    yield f, (X, Pair(2, 3))
    Pair.first = property(lambda self: 13)
    yield f, (X, Pair(2, 3))


@case
def slots_and_their_deletion() -> Iterator[Step]:
    class Thing:
        __slots__ = ("scale",)

    thing = Thing()
    thing.scale = 2

    def f(x):
        return x * thing.scale if hasattr(thing, "scale") else x - 1

    yield f, (X,)
    thing.scale = 3
    yield f, (X,)
    del thing.scale
    yield f, (X,)


@case
def instance_dict_is_replaced() -> Iterator[Step]:
    class Thing:
        pass

    thing = Thing()
    thing.scale = 2

    def f(x):
        return x * thing.scale

    yield f, (X,)
    thing.__dict__ = {"other": 1, "scale": 3}
    yield f, (X,)
    thing.__dict__.clear()
    Thing.scale = 4
    yield f, (X,)
    thing.__dict__["scale"] = 5
    yield f, (X,)


@case
def key_that_equals_an_attribute() -> Iterator[Step]:
    class Name(str):
        __slots__ = ()

    class Thing:
        scale = 2

    thing = Thing()

    def f(x):
        return x * thing.scale

    yield f, (X,)
    thing.__dict__[Name("scale")] = 3
    yield f, (X,)


@case
def attributes_in_another_order() -> Iterator[Step]:
    class Thing:
        scale = 2

    def f(x, thing):
        return x * thing.scale + thing.offset

    first, second, third = Thing(), Thing(), Thing()
    first.offset = 1
    second.scale, second.offset = 3, 2
    third.offset, third.scale = 5, 4
    for thing in (first, second, third, first, third, second):
        yield f, (X, thing)
    del second.scale
    yield f, (X, second)


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
