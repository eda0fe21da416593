"""Calls of builtins that fail, inside of captured functions: they fail as in plain Python."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured, same

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
    lambda: sorted([1, 2], reverse=None),
    lambda: sorted([1, 2], reverse=1 << 40),
    lambda: [2, 1].sort(reverse="yes"),
    lambda: (sorted([1, 2], reverse=2), sorted([2, 1], reverse=False), [1, 2].sort(reverse=0)),
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

METHODS: list[Callable[[], Any]] = [
    lambda: {}.keys(0),  # type: ignore[call-arg]
    lambda: {}.items(x=2),  # type: ignore[call-arg]
    lambda: {}.get(1, 2, 3),  # type: ignore[call-overload]
    lambda: {}.get(),  # type: ignore[call-overload]
    lambda: {}.pop(),  # type: ignore[call-overload]
    lambda: {}.setdefault(1, 2, 3),  # type: ignore[call-arg]
    lambda: {}.clear(1),  # type: ignore[call-arg]
    lambda: {}.copy(1),  # type: ignore[call-arg]
    lambda: {}.__len__(1),  # type: ignore[call-arg]
    lambda: [].count(),  # type: ignore[call-arg]
    lambda: [].append(1, 2),  # type: ignore[call-arg]
    lambda: [].insert(1),  # type: ignore[call-arg]
    lambda: [].pop(1, 2),  # type: ignore[call-arg]
    lambda: [].reverse(1),  # type: ignore[call-arg]
    lambda: [].__iter__(1),  # type: ignore[call-arg]
    lambda: (1,).count(1, 2),  # type: ignore[call-arg]
    lambda: {1}.add(),  # type: ignore[call-arg]
    lambda: {1}.copy(1),  # type: ignore[call-arg]
    lambda: {1}.pop(1),  # type: ignore[call-arg]
    lambda: deque([1]).popleft(1),  # type: ignore[call-arg]
    lambda: (n for n in [1]).__next__(1),  # type: ignore[call-arg]
    lambda: (n for n in [1]).close(1),  # type: ignore[call-arg]
    lambda: (n for n in [1]).throw(),  # type: ignore[call-overload]
    lambda: iter([1]).__next__(1),  # type: ignore[call-arg]
    lambda: ([2, 1].sort(key=abs), {1: 2}.pop(1), {1}.union([2], [3]), [3].index(3, 0, 1)),
    lambda: (deque([1, 2]).popleft(), {1: 2}.get(3), OrderedDict(a=1).pop("b", default=2)),
]

SUMS: list[Callable[[Any, float], Any]] = [
    lambda x, k: sum([0.1] * 10),
    lambda x, k: sum([1.0, 1e100, 1.0, -1e100]),
    lambda x, k: sum([1, 2.5, True, 0.1, 0.2], 0.3),
    lambda x, k: sum([0.1, 0.2, 0.3], start=1 << 70),
    lambda x, k: sum([k, 0.1, k, 0.2, k, 0.7]),
    lambda x, k: sum([0.1, 0.2, 0.3, k], k),
    lambda x, k: sum([k, k]),
    lambda x, k: sum([0.1, 0.2, 0.3, x, 0.1, 0.2]),
    lambda x, k: sum([(x * k).mean().item() / 10 for _ in range(10)]) + 1,
    lambda x, k: sum([0.1, x.mean().item(), k, 1e100, x.numel(), -1e100], start=k),
    lambda x, k: sum([x.mean().item(), float("inf"), 0.1, 0.2]),
    lambda x, k: sum([0.1, x.mean().item(), 0.2, x, 0.1, 0.2]),
    lambda x, k: sum([], ""),  # type: ignore[call-overload]
    lambda x, k: (round(number=2.5), round(number=-8.0, ndigits=-1)),
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


@pytest.mark.parametrize("position", range(len(METHODS)))
def test_methods_take_as_many_arguments_as_in_plain_python(position: int) -> None:
    call = METHODS[position]

    def function(x: Any) -> Any:
        y = x + 1
        return y, call()

    captured = Captured(function)
    for _ in range(2):
        assert same(outcome(captured), outcome(function))


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("position", range(len(SUMS)))
def test_sums_of_numbers_are_those_of_python(position: int, dynamic: bool | None) -> None:
    call = SUMS[position]

    def function(x: Any, k: float) -> Any:
        y = x + 1
        return y, call(y, k)

    captured = Captured(function, dynamic=dynamic)
    for number in (0.1, 0.7, 1e16, -0.3):
        expected = outcome(lambda x, k=number: function(x, k))
        assert same(outcome(lambda x, k=number: captured(x, k)), expected)


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
