"""More globals of random programs: classes to match, hooks that change what they see, caches.

It is a continuation of the text of `world_further`.
"""

import copy
import functools
import types  # noqa: F401
import typing

import graphwright as gw


class Shape:
    __match_args__ = ("name", "size")

    def __init__(self, name, size=1):
        self.name = name
        self.size = size

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.size})"

    def __copy__(self):
        return type(self)(self.name, self.size)

    def __deepcopy__(self, memo):
        G[0] = (G[0] + 1) % 5  # noqa: F821
        return type(self)(copy.deepcopy(self.name, memo), self.size)


class Square(Shape):
    __match_args__ = ("size",)

    @property
    def area(self):
        return self.size * self.size


class Record(typing.NamedTuple):
    t: object
    n: int = 2

    def scaled(self):
        return self.t * self.n


def described(value):
    match value:
        case Square(size) if size > 2:
            return "large", size
        case Square() | Shape(size=3):
            return "a square, or three"
        case Shape(str() as name, size):
            return name, size
        case Record(n=n):
            return "record", n
        case {"k": int() | float() as k, **rest}:
            return k, sorted(rest, key=str)
        case [first, [second, *_], *rest]:
            return first, second, len(rest)
        case [first, *rest]:
            return first, len(rest)
        case True | None:
            return "constant"
        case int(n) | float(n):
            return "number", n
        case str():
            return value.upper()
    return "other"


@functools.lru_cache(maxsize=2)
def of_shape(shape, by=1):
    G.append(len(shape))  # noqa: F821
    return sum(shape) * by


@functools.cache
def of_none():
    return [0]


class Memory:
    """A callable that keeps what it was last called with, and how often."""

    def __init__(self):
        self.last = None
        self.calls = 0

    def __call__(self, t):
        before, self.last = self.last, t.detach()
        self.calls += 1
        return t if before is None or before.shape != t.shape else t + before * 0.5


def shifting(by):
    def hook(module, inputs, output):
        return output + by

    return hook


def scaling_inputs(module, args):
    return tuple(arg * 2 for arg in args)


def doubled_gradient(grad):
    return grad * 2


class Step(gw.nn.Module):
    """Counts its calls in a buffer, and keeps an average of what it sees."""

    def __init__(self, n=0):
        super().__init__()
        self.register_buffer("average", gw.zeros(4))
        self.register_buffer("loose", gw.ones(1), persistent=False)
        self.weight = gw.nn.Parameter(gw.ones(4) * 2)
        self.count = n

    def forward(self, t):
        self.count += 1
        if self.training:
            with gw.no_grad():
                self.average.mul_(0.5).add_(t.detach().mean(0), alpha=0.5)
        else:
            self.loose = self.loose + 1
        return t * self.weight + self.average * self.count


def tallied(log):
    """A coroutine of the old kind that catches what is thrown into it."""
    total = 0
    while True:
        try:
            got = yield total
        except KeyError as error:
            log.append(error.args)
            total = -1
        except GeneratorExit:
            log.append("exit")
            raise
        else:
            if got is None:
                return total
            total += got


def summed(log, t):
    total = yield from tallied(log)
    yield t * total
    return total
