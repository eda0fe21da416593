"""More globals of random programs: functions outside of graphs, loggers, what is asynchronous.

It is a continuation of the text of `world_settings`.
"""

import copy  # noqa: F401
import enum
import functools
import io  # noqa: F401
import logging
import typing  # noqa: F401
import warnings

import graphwright as gw


class Listed(logging.Handler):
    """Writes what is logged, and from which line, to a global list."""

    def emit(self, record):
        G.append((record.levelname, record.getMessage(), record.lineno))  # noqa: F821


LOGGER = logging.Logger("random programs", logging.INFO)
LOGGER.addHandler(Listed())


def warning_of(text):
    warnings.warn(text, UserWarning, stacklevel=2)
    return len(text)


@gw.compiler.disable
def unseen(t, log):
    log.append("unseen")
    return t * 2 + 1


@gw.compiler.allow_in_graph
def whole(t, by=2):
    return (t * by).tanh()


def placed(t, /, by, *, log=None):
    """Its first argument has no name, its last one nothing but a name."""
    if log is not None:
        log.append(by)
    return t * by


class Scaled(gw.autograd.Function):
    """Two results, of which one is not differentiable; an argument that is no tensor."""

    @staticmethod
    def forward(ctx, t, other, factor):
        ctx.factor = factor
        ctx.save_for_backward(other)
        sign = t.sign()
        ctx.mark_non_differentiable(sign)
        return t * other * factor, sign

    @staticmethod
    def backward(ctx, grad, _):
        wanted = grad * ctx.saved_tensors[0] * ctx.factor
        return wanted, grad.sum() if ctx.needs_input_grad[1] else None, None


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    BOTH = READ | WRITE


class Guarded(Obj):  # noqa: F821
    """Says which of its attributes are read."""

    def __getattribute__(self, name):
        if name in ("v", "bump"):
            object.__getattribute__(self, "log").append(f"get {name}")
        return object.__getattribute__(self, name)

    @functools.singledispatchmethod
    def kind_of(self, value):
        return "other"

    @kind_of.register
    def _(self, value: int):
        return "int"

    by_two = functools.partialmethod(Obj.bump, 2)  # noqa: F821

    def __class_getitem__(cls, key):
        return f"{cls.__name__}[{key}]"

    def __format__(self, spec):
        return f"<{spec}>"


class Registry(type):
    """A metaclass that counts its calls, and finds classes by name."""

    def __call__(cls, *args, **kwargs):
        G[0] = (G[0] + 1) % 5  # noqa: F821
        return super().__call__(*args, **kwargs)

    def __getitem__(cls, name):
        return getattr(cls, name)

    def __contains__(cls, name):
        return hasattr(cls, name)


class Registered(Shown, metaclass=Registry):  # noqa: F821
    factor = 2

    def __init__(self, t):
        self.t = t

    def run(self):
        return self.t * type(self).factor


class Waiter:
    """Asynchronous: a manager and an iterator that never really wait."""

    def __init__(self, log, n):
        self.log = log
        self.n = n

    async def __aenter__(self):
        self.log.append("aenter")
        return self.n

    async def __aexit__(self, kind, error, traceback):
        self.log.append("aexit")

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.n -= 1
        if self.n < 0:
            raise StopAsyncIteration
        return self.n


async def ticking(t, n):
    for i in range(n):
        yield t + i


async def gathered(t, log, n):
    async with Waiter(log, n % 3) as found:
        async for i in Waiter(log, found):
            t = t + i
    parts = [part async for part in ticking(t, 2)]
    return parts[-1] * await waiting(t)  # noqa: F821


def finished(coroutine):
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
