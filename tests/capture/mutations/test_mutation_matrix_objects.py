"""Kinds of change between calls: instances, classes, imported modules."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import sys
import types
from collections.abc import Iterator

import pytest

from .matrix import Case, Cases, Step, tensor

case = Cases()


X = tensor(3, 4)
Y = tensor(3, 4, seed=1)


@case
def instance_attribute() -> Iterator[Step]:
    class Thing:
        def __init__(self):
            self.scale = 2

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    thing.scale = 3
    yield f, (X, thing)
    thing.scale = Y
    yield f, (X, thing)
    thing.__dict__["scale"] = 7
    yield f, (X, thing)
    thing.__dict__ = {"scale": 9}
    yield f, (X, thing)
    other = Thing()
    yield f, (X, other)


@case
def method_of_the_instance_itself() -> Iterator[Step]:
    class Thing:
        def __init__(self):
            self.scale = 2

        def run(self, x):
            return x * self.scale

    yield from attribute_of_self(Thing)


def attribute_of_self(cls: type) -> Iterator[Step]:
    thing = cls()
    yield cls.run, (thing, X)
    thing.scale = 5
    yield cls.run, (thing, X)


@case
def attribute_in_a_slot() -> Iterator[Step]:
    class Thing:
        __slots__ = ("scale",)

        def __init__(self):
            self.scale = 2

        def run(self, x):
            return x * self.scale

    yield from attribute_of_self(Thing)


@case
def class_attribute_and_shadowing() -> Iterator[Step]:
    class Thing:
        scale = 2

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    Thing.scale = 3
    yield f, (X, thing)
    thing.scale = 5
    yield f, (X, thing)
    Thing.scale = 11
    yield f, (X, thing)
    del thing.scale
    yield f, (X, thing)


@case
def attribute_of_a_base_class() -> Iterator[Step]:
    class Base:
        scale = 2

    class Thing(Base): ...

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    Base.scale = 3
    yield f, (X, thing)
    Thing.scale = 4
    yield f, (X, thing)


@case
def class_of_the_argument() -> Iterator[Step]:
    class Thing:
        def run(self, x):
            return x + 1

    class Other(Thing):
        def run(self, x):
            return x - 1

    def f(x, thing):
        return thing.run(x) * 2

    thing = Thing()
    yield f, (X, thing)
    yield f, (X, Other())
    thing.__class__ = Other
    yield f, (X, thing)


@case
def method_is_replaced_and_shadowed() -> Iterator[Step]:
    class Thing:
        def run(self, x):
            return x + 1

    def f(x, thing):
        return thing.run(x)

    thing = Thing()
    yield f, (X, thing)
    Thing.run = lambda self, x: x + 2
    yield f, (X, thing)
    thing.run = lambda x: x + 3
    yield f, (X, thing)
    del thing.run
    yield f, (X, thing)


@case
def bound_method_argument() -> Iterator[Step]:
    class Thing:
        def __init__(self, n):
            self.n = n

        def run(self, x):
            return x * self.n

    def f(x, method):
        return method(x)

    thing = Thing(2)
    yield f, (X, thing.run)
    thing.n = 3
    yield f, (X, thing.run)
    yield f, (X, Thing(5).run)


@case
def property_is_replaced() -> Iterator[Step]:
    class Thing:
        n = 2

        @property
        def scale(self):
            return self.n

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    thing.n = 3
    yield f, (X, thing)
    Thing.scale = property(lambda self: self.n + 10)
    yield f, (X, thing)
    Thing.scale = 99
    yield f, (X, thing)


@case
def attribute_becomes_a_property() -> Iterator[Step]:
    class Thing:
        def __init__(self):
            self.scale = 2

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    Thing.scale = property(lambda self: 7)
    yield f, (X, thing)
    del Thing.scale
    yield f, (X, thing)


@case
def getattr_of_the_class() -> Iterator[Step]:
    class Thing:
        def __init__(self):
            self.values = {"scale": 2}

        def __getattr__(self, name):
            return self.values[name]

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    thing.values["scale"] = 3
    yield f, (X, thing)
    thing.scale = 5
    yield f, (X, thing)
    del thing.scale
    Thing.__getattr__ = lambda self, name: 11
    yield f, (X, thing)


@case
def getattribute_is_added() -> Iterator[Step]:
    class Thing:
        scale = 2

    def f(x, thing):
        return x * thing.scale

    thing = Thing()
    yield f, (X, thing)
    Thing.__getattribute__ = lambda self, name: 13
    yield f, (X, thing)


@case
def static_and_class_method() -> Iterator[Step]:
    class Thing:
        n = 2

        @staticmethod
        def static(x):
            return x + 1

        @classmethod
        def of_class(cls, x):
            return x * cls.n

    def f(x, thing):
        return thing.of_class(thing.static(x))

    thing = Thing()
    yield f, (X, thing)
    Thing.n = 3
    yield f, (X, thing)
    Thing.static = staticmethod(lambda x: x - 1)
    yield f, (X, thing)
    Thing.of_class = classmethod(lambda cls, x: x - cls.n)
    yield f, (X, thing)


@case
def super_method() -> Iterator[Step]:
    class Base:
        def run(self, x):
            return x + 1

    class Thing(Base):
        def run(self, x):
            return super().run(x) * 2

    def f(x, thing):
        return thing.run(x)

    thing = Thing()
    yield f, (X, thing)
    Base.run = lambda self, x: x - 1
    yield f, (X, thing)


@case
def operator_of_a_class() -> Iterator[Step]:
    class Scale:
        def __init__(self, n):
            self.n = n

        def __call__(self, x):
            return x * self.n

        def __len__(self):
            return self.n

        def __bool__(self):
            return self.n > 2

    def f(x, scale):
        return scale(x) + len(scale) if scale else scale(x)

    scale = Scale(2)
    yield f, (X, scale)
    scale.n = 3
    yield f, (X, scale)
    Scale.__call__ = lambda self, x: x - self.n
    yield f, (X, scale)
    Scale.__len__ = lambda self: 17
    yield f, (X, scale)
    Scale.__bool__ = lambda self: False
    yield f, (X, scale)


@case
def isinstance_and_hasattr() -> Iterator[Step]:
    class Thing: ...

    class Other: ...

    def f(x, thing):
        x = x * 2 if isinstance(thing, Thing) else x * 3
        return x + 1 if hasattr(thing, "extra") else x

    thing = Thing()
    yield f, (X, thing)
    thing.extra = None
    yield f, (X, thing)
    yield f, (X, Other())
    Other.extra = 1
    yield f, (X, Other())


@case
def nested_attributes() -> Iterator[Step]:
    config = types.SimpleNamespace(model=types.SimpleNamespace(sizes=[2, 3]))

    def f(x):
        return x * config.model.sizes[1]

    yield f, (X,)
    config.model.sizes[1] = 5
    yield f, (X,)
    config.model.sizes = (7, 8)
    yield f, (X,)
    config.model = types.SimpleNamespace(sizes={1: 11})
    yield f, (X,)


@case
def dataclass_field() -> Iterator[Step]:
    @dataclasses.dataclass
    class Config:
        scale: int = 2
        name: str = "a"

    def f(x, config):
        return x * config.scale + (1 if config.name == "a" else 2)

    config = Config()
    yield f, (X, config)
    config.scale = 3
    yield f, (X, config)
    config.name = "b"
    yield f, (X, config)


@case
def named_tuple_field() -> Iterator[Step]:
    Config = collections.namedtuple("Config", "scale shift")

    def f(x, config):
        return x * config.scale + config.shift

    yield f, (X, Config(2, 1))
    yield f, (X, Config(2, 3))
    yield f, (X, Config(Y, 3))


@case
def enum_member() -> Iterator[Step]:
    class Kind(enum.Enum):
        A = 1
        B = 2

    def f(x, kind):
        return x * 2 if kind is Kind.A else x * kind.value * 3

    yield f, (X, Kind.A)
    yield f, (X, Kind.B)


@case
def partial_arguments() -> Iterator[Step]:
    def g(x, n, m=1):
        return x * n + m

    def f(x, h):
        return h(x)

    yield f, (X, functools.partial(g, n=2))
    yield f, (X, functools.partial(g, n=3))
    yield f, (X, functools.partial(g, n=3, m=4))


@case
def ordered_dict_order() -> Iterator[Step]:
    def f(x, steps):
        for name in steps:
            x = x * 2 if name == "double" else x + 1
        return x

    steps = collections.OrderedDict.fromkeys(["double", "more"])
    yield f, (X, steps)
    steps.move_to_end("double")
    yield f, (X, steps)


@case
def set_members() -> Iterator[Step]:
    def f(x, flags):
        return x * 2 if "double" in flags else x + len(flags)

    flags = {"other"}
    yield f, (X, flags)
    flags.add("double")
    yield f, (X, flags)
    flags.clear()
    yield f, (X, flags)


@case
def attribute_of_an_imported_module() -> Iterator[Step]:
    name = "graphwright_matrix_module"
    module = types.ModuleType(name)
    module.scale = 2
    sys.modules[name] = module

    def f(x):
        import graphwright_matrix_module

        return x * graphwright_matrix_module.scale

    try:
        yield f, (X,)
        module.scale = 3
        yield f, (X,)
        sys.modules[name] = types.SimpleNamespace(scale=5)
        yield f, (X,)
    finally:
        del sys.modules[name]


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
