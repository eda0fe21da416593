"""What random programs find among their globals: functions and classes with visible effects."""

from __future__ import annotations

import bisect  # noqa: F401
import collections
import contextlib
import dataclasses
import enum
import functools
import heapq
import itertools  # noqa: F401
import json  # noqa: F401
import re  # noqa: F401
import sys  # noqa: F401
import zlib  # noqa: F401

import graphwright as gw  # noqa: F401

G = [1]
H = 2
SCALE = 3


class Trouble(Exception):
    pass


class Worse(Trouble):
    def __init__(self, code, text="worse"):
        super().__init__(text)
        self.code = code

    def __str__(self):
        return f"{self.code}:{self.args[0]}"


class Shown:
    """Its text has no address."""

    def __repr__(self):
        return type(self).__name__


class Manager(Shown):
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("in")
        return len(self.log)

    def __exit__(self, kind, error, traceback):
        self.log.append("out" if kind is None else kind.__name__)
        return self.swallow


class Failing(Manager):
    def __exit__(self, kind, error, traceback):
        self.log.append("fails")
        raise Worse(len(self.log))


@contextlib.contextmanager
def managed(log):
    log.append("begin")
    try:
        yield len(log)
    finally:
        log.append("end")


@contextlib.contextmanager
def translating(log):
    try:
        yield log
    except (KeyError, IndexError, Trouble) as error:
        log.append(type(error).__name__)
        raise ValueError("translated") from error


def risky(n, limit=3):
    if n > limit:
        raise Trouble(f"{n} exceeds {limit}")
    return n + 1


def counted(n):
    for i in range(abs(n) % 4):
        yield i * 2
    return "done"


def guarded(log, n):
    try:
        for i in range(n):
            got = yield i
            if got is not None:
                log.append(got)
    except Trouble as trouble:
        log.append(str(trouble))
        yield -1
    finally:
        log.append("closed")


def delegating(log, n):
    result = yield from counted(n)
    log.append(result)
    yield from guarded(log, 2)
    return n


class Obj(Shown):
    kind = "obj"

    def __init__(self, v):
        self.v = v
        self.log = []

    def bump(self, d=1):
        self.v = self.v + d
        return self.v

    @property
    def doubled(self):
        self.log.append("doubled")
        return self.v * 2

    @doubled.setter
    def doubled(self, value):
        self.log.append("halved")
        self.v = value // 2

    @classmethod
    def made(cls, v):
        cls.count = getattr(cls, "count", 0) + 1
        return cls(v)

    @staticmethod
    def twice(t):
        return t + t


class Child(Obj):
    kind = "child"

    def bump(self, d=1):
        self.log.append("child")
        return super().bump(d) + 1


class Loud:
    """Says on its log what is done with it."""

    def __init__(self, v, log):
        self.v = v
        self.log = log

    def __eq__(self, other):
        self.log.append("eq")
        return self.v == (other.v if isinstance(other, Loud) else other)

    def __hash__(self):
        self.log.append("hash")
        return hash(self.v)

    def __lt__(self, other):
        self.log.append("lt")
        return self.v < (other.v if isinstance(other, Loud) else other)

    def __len__(self):
        self.log.append("len")
        return abs(self.v) % 3

    def __iter__(self):
        self.log.append("iter")
        return iter(range(abs(self.v) % 4))

    def __contains__(self, item):
        self.log.append("contains")
        return item == self.v

    def __getitem__(self, key):
        self.log.append("getitem")
        if key == 3:
            raise IndexError(key)
        return self.v

    def __setitem__(self, key, value):
        self.log.append("setitem")
        self.v = value

    def __add__(self, other):
        self.log.append("add")
        return NotImplemented if isinstance(other, str) else self.v + 1

    def __radd__(self, other):
        self.log.append("radd")
        return self.v + 2

    def __iadd__(self, other):
        self.log.append("iadd")
        self.v += 1
        return self

    def __call__(self, value, *rest, **more):
        self.log.append("call")
        return value

    def __index__(self):
        self.log.append("index")
        return abs(self.v) % 3

    def __getattr__(self, name):
        if name.startswith("no"):
            raise AttributeError(name)
        self.__dict__["log"].append("getattr")
        return name

    def __repr__(self):
        return f"Loud({self.v})"


class Truthful(Loud):
    def __bool__(self):
        self.log.append("bool")
        return self.v > 1

    __hash__ = Loud.__hash__


class Slotted(Shown):
    __slots__ = ("first", "second")

    def __init__(self, first):
        self.first = first


class Watched(Shown):
    """Its attributes are written through `__setattr__`."""

    def __init__(self, log):
        object.__setattr__(self, "log", log)

    def __setattr__(self, name, value):
        self.log.append(f"set {name}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self.log.append(f"del {name}")
        object.__delattr__(self, name)


@dataclasses.dataclass
class Data:
    first: object
    second: int = 2
    rest: list = dataclasses.field(default_factory=list)


Pair = collections.namedtuple("Pair", "left right", defaults=[7])


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Steps(Shown):
    """An iterator in Python."""

    def __init__(self, log, n):
        self.log = log
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        self.log.append(self.n)
        if self.n < 0:
            raise StopIteration
        return self.n


def helper(t, k=2):
    r = t * k
    return r + 1


def spread(first, *rest, scale=1, **more):
    return (first + len(rest)) * scale + len(more)


def noisy(t):
    r = t + 1
    print(end=".")
    return r * 2


def noisy_inside(t, log):
    with Manager(log):
        r = t + 1
        try:
            print("inside")
            r = r * 2
        finally:
            log.append("left")
    return r - 1


def branching(t, log):
    if t.sum() > 0:
        log.append("positive")
        return t * 2
    log.append("negative")
    return t - 1


def remembering(value, seen=[]):  # noqa: B006
    seen.append(value)
    return len(seen)


def adder(n):
    total = n

    def add(k=1):
        nonlocal total
        total += k
        return total

    return add


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        G.append(function.__name__)
        return function(*args, **kwargs)

    return wrapper


@logged
def decorated(t, factor=2):
    return t * factor


@functools.lru_cache
def cached(n):
    return n * n


def falling(n, t):
    if n <= 0:
        return t
    return falling(n - 1, t + n)


def noisily_falling(n, t):
    if n <= 0:
        print("bottom")
        return t
    return noisily_falling(n - 1, t + n) * 2


def pushed(items, value):
    heapq.heappush(items, value)
    return items[0]


async def waiting(t):
    return t * 2
