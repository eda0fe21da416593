"""Guard programs over one small function, for tests."""

from __future__ import annotations

from collections.abc import Callable

from graphwright.capture.guards import guards
from graphwright.capture.guards.guards import GuardBuilder
from graphwright.capture.guards.source import LocalSource

X, Y = LocalSource("x"), LocalSource("y")
SETTING = 3


def two(x, y=None):
    return x, y, SETTING


class Checked:
    """A program over `two`, called with values for x and y."""

    def __init__(self, *build: Callable[[GuardBuilder], None], function=two):
        builder = GuardBuilder()
        for step in build:
            step(builder)
        self.function = function
        self.program = guards.compile(builder.guards, function.__code__)

    def __call__(self, *slots: object) -> bool:
        n = self.function.__code__.co_argcount
        slots = slots + (None,) * (n - len(slots))
        holds = self.program.check(self.function, slots)
        assert holds == (guards.explain_failure(self.program, self.function, slots) is None)
        return holds

    def why(self, *slots: object) -> str:
        slots = slots + (None,) * (self.function.__code__.co_argcount - len(slots))
        return str(guards.explain_failure(self.program, self.function, slots))


def checked(kind: str, *args: object, function=two) -> Checked:
    return Checked(lambda b: getattr(b, kind)(*args), function=function)
