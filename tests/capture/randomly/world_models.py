"""More globals of random programs: modules, tensors in classes, unusual classes.

It is a continuation of the text of `world`.
"""

import abc
import dataclasses
import functools
import operator  # noqa: F401

import numpy  # noqa: F401

import graphwright as gw


class Net(gw.nn.Module):
    """Parameters, a buffer that forward changes, a flag, containers of modules."""

    def __init__(self):
        super().__init__()
        self.linear = gw.nn.Linear(4, 4)
        self.layers = gw.nn.ModuleList([gw.nn.Linear(4, 4), gw.nn.ReLU()])
        self.named = gw.nn.ModuleDict({"tanh": gw.nn.Tanh(), "norm": gw.nn.LayerNorm(4)})
        self.register_buffer("seen", gw.zeros(1))
        self.scale = 1
        self.log = []

    def forward(self, t, *, times=1, keep=None):
        if self.training:
            self.seen.add_(1)
        for layer in self.layers:
            t = layer(t)
        for _, layer in self.named.items():
            t = layer(t) * times
        if keep is not None:
            keep.append(t)
        return self.linear(t) * self.scale


class Normed(Net):
    """Batch statistics while it trains."""

    def __init__(self):
        super().__init__()
        self.norm = gw.nn.BatchNorm1d(4)

    def forward(self, t, **more):
        return super().forward(self.norm(t), **more) + self.seen


class Wrapped:
    """A tensor in a class with operators."""

    def __init__(self, t):
        self.t = t

    def __add__(self, other):
        return Wrapped(self.t + getattr(other, "t", other))

    def __rmul__(self, other):
        return Wrapped(other * self.t)

    def __radd__(self, other):
        return self.t + other

    def __matmul__(self, other):
        return self.t * other

    def __getattr__(self, name):
        if name == "missing":
            raise AttributeError(name)
        return getattr(self.t, name)

    def __getitem__(self, key):
        return self.t[key]

    def __setitem__(self, key, value):
        self.t[key] = value

    def __repr__(self):
        return "Wrapped"


class Lazy:
    """Descriptors: kept, delegated, and without a setter."""

    class Half:
        def __set_name__(self, owner, name):
            self.name = f"_{name}"

        def __get__(self, instance, owner=None):
            return self if instance is None else getattr(instance, self.name) // 2

        def __set__(self, instance, value):
            setattr(instance, self.name, value)

    half = Half()

    def __init__(self, v):
        self.half = v

    @functools.cached_property
    def square(self):
        return self.half * self.half

    @property
    def fixed(self):
        return self.half + 1

    def __repr__(self):
        return "Lazy"


@functools.total_ordering
class Ranked:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other.v

    def __lt__(self, other):
        return self.v < other.v

    __hash__ = None

    def __repr__(self):
        return f"Ranked({self.v})"


@dataclasses.dataclass(frozen=True, order=True)
class Point:
    a: int
    b: int = 1
    t: object = dataclasses.field(default=None, compare=False)

    def __post_init__(self):
        if self.a == 3:
            raise ValueError("no three")


class Base(abc.ABC):
    made = 0

    def __init_subclass__(cls, /, word="none", **more):
        super().__init_subclass__(**more)
        cls.word = word

    def __new__(cls, *args):
        Base.made = (Base.made + 1) % 4
        return super().__new__(cls)

    @abc.abstractmethod
    def run(self, t):
        return t * 2

    def __repr__(self):
        return type(self).__name__


class Left(Base, word="left"):
    def __init__(self, v=1):
        self.v = v

    def run(self, t):
        return super().run(t) + self.v


class Right(Base):
    def run(self, t):
        return super().run(t) - 1


class Both(Left, Right, word="both"):
    def run(self, t):
        return super().run(t) * Base.made


class Table(dict):
    def __missing__(self, key):
        return len(self)

    def __setitem__(self, key, value):
        super().__setitem__(key, (value, 1)[0])


class Items(list):
    def append(self, value):
        super().append(value)
        super().append(0)

    def total(self):
        return sum(self)


def twice(times=2):
    """A decorator with an argument, which counts calls."""
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            wrapper.calls = (wrapper.calls + 1) % 3
            for _ in range(times):
                result = function(*args, **kwargs)
            return result

        wrapper.calls = 0
        return wrapper

    return decorate


@twice()
def shifted(t, by=1):
    return t + by


@functools.singledispatch
def kind_of(value):
    return 0


@kind_of.register
def _(value: int):
    return 1


@kind_of.register(list)
def _(value):
    return len(value)


class Mortal:
    """Says on its log when it ends."""

    def __init__(self, log):
        self.log = log

    def __del__(self):
        self.log.append("ends")


def halved_in_place(t):
    t.mul_(0.5)
    return t


def picked(tensors, *, name="a", default=None):
    found = tensors.get(name, default)
    return found[0] if isinstance(found, (list, tuple)) else found


def echo(t):
    """A coroutine of the old kind: says what it was sent."""
    total = t
    while True:
        got = yield total
        if got is None:
            return total
        total = total + got


def running(log, t):
    result = yield from echo(t)
    log.append("returned")
    return result


@gw.no_grad()
def ungraded(t):
    return t * 2
