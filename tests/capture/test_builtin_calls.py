"""Calls of builtins that fail, inside of captured functions: they fail as in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from .captured import Captured, same

X = gw.ones(3)


class NoTruth:
    __bool__ = None


class NegativeLength:
    def __len__(self) -> int:
        return -1


class OddTruth:
    def __bool__(self) -> int:
        return 3


CALLS: list[Callable[[], Any]] = [
    lambda: bool(42, 42),
    lambda: bool(x=10),
    lambda: bool(NoTruth()),
    lambda: bool(NegativeLength()),
    lambda: not OddTruth(),
    lambda: list(enumerate()),
    lambda: range(1, 2, 3, 4),
    lambda: len([1], [2]),
    lambda: sorted(),
    lambda: list(zip([1], [2, 3], strict=True)),
    lambda: isinstance(3),
    lambda: abs(),
    lambda: getattr(X),
    lambda: (int("5", base=8), 0, min([3, 1], key=lambda q: -q), max(1, 2, key=abs)),
    lambda: (dict([(1, 2)], a=3), list(zip([1], [2], strict=True)), min([], default=4)),
    lambda: (type(NoTruth), int, type(type)),
    lambda: classmethod(len, kw=1),  # type: ignore[arg-type,call-arg]
    lambda: staticmethod(),  # type: ignore[call-arg]
]


def outcome(function: Callable[..., Any]) -> Any:
    try:
        return function(X)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("position", range(len(CALLS)))
def test_fails_or_works_as_in_plain_python(position: int) -> None:
    call = CALLS[position]

    def function(x: Any) -> Any:
        y = x + 1
        return y, call()

    captured = Captured(function)
    captured.frontend.strict = False
    for _ in range(2):
        assert same(outcome(captured), outcome(function))


@pytest.mark.parametrize("n", [3, 2, 4, 6])
def test_division_by_a_number_that_varies(n: int) -> None:
    def function(x: Any, n: int) -> Any:
        y = x + n
        7 // (n % 2)
        return y

    captured = Captured(function)
    for number in (1, 3, n, 5):
        expected = outcome(lambda x, k=number: function(x, k))
        assert same(outcome(lambda x, k=number: captured(x, k)), expected)
