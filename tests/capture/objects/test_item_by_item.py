"""Consumers of iterators that run code: one item is dealt with before the next is made."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured, same

Log = list[Any]


def _noting(log: Log, count: int) -> Iterator[int]:
    """Numbers, each noted when it is made."""
    for number in range(count):
        log.append(number)
        yield number


def _failing() -> Iterator[tuple[int, int]]:
    yield 1, 2
    yield 3, 4
    raise ValueError("no more")


class Iterable:
    """Three numbers, which are noted."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def __iter__(self) -> Iterator[int]:
        return _noting(self.log, 3)


class Addend:
    """Notes that it is added."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def __add__(self, other: object) -> Addend:
        self.log.append("added")
        return self


def check(function: Callable[..., Any], *make: Callable[[], Any]) -> None:
    captured = Captured(function)
    for _ in range(2):
        plain = [made() for made in make]
        given = [made() for made in make]
        x = gw.ones(2)
        assert same(captured(x, *given), function(x, *plain))
        assert same(given, plain)
    assert captured.graphs == 1


def test_a_container_that_is_filled_from_what_reads_it() -> None:
    def f(x: gw.Tensor, items: Log) -> Any:
        queue = collections.deque([7], maxlen=4)
        table: dict[int, int] = {}
        items.extend(_noting(items, 3))
        items += Iterable(items)
        items[1:2] = _noting(items, 2)
        queue.extend(len(queue) for _ in range(3))
        queue.extendleft(queue[-1] for _ in range(2))
        table.update((len(table), -len(table)) for _ in range(3))
        items.extend(items)
        return list(queue), table, x + len(items)

    check(f, lambda: [5, 6])


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_a_list_whose_length_varies(length: int) -> None:
    def f(x: gw.Tensor, items: Log) -> gw.Tensor:
        items.extend(_noting(items, 2))
        return x + 1

    captured = Captured(f)
    for size in (2, 3, 4, length):
        given, plain = [9] * size, [9] * size
        captured(gw.ones(2), given)
        f(gw.ones(2), plain)
        assert given == plain


def test_what_was_put_in_before_an_error_stays() -> None:
    def f(x: gw.Tensor, items: Log, table: dict[Any, Any], members: set[Any]) -> Any:
        queue: collections.deque[Any] = collections.deque(maxlen=1)
        for take in (items.extend, table.update, members.update, queue.extend):
            try:
                take(_failing())
            except ValueError as error:
                items.append(str(error))
        return list(queue), x + 1

    check(f, list, dict, set)


def test_functions_of_iterators_take_turns_with_them() -> None:
    def f(x: gw.Tensor, log: Log) -> Any:
        def key(number: int) -> int:
            log.append(("key", number))
            return -number

        sum((Addend(log) for _ in _noting(log, 2)), Addend(log))
        return (
            max(_noting(log, 3), key=key), min(_noting(log, 3), key=key, default=5),
            sorted(_noting(log, 2), key=key), math.prod(_noting(log, 2)), x + 1,
        )

    check(f, list)


def test_questions_stop_at_the_answer() -> None:
    def f(x: gw.Tensor, log: Log) -> Any:
        answers = [
            {1, 2}.isdisjoint(_noting(log, 4)), {0, 1}.issuperset(_noting(log, 4)),
            {1: 0}.keys().isdisjoint(_noting(log, 4)), {5}.isdisjoint(_noting(log, 2)),
        ]
        try:
            first, _ = _noting(log, 5)
            answers.append(first)
        except ValueError as error:
            answers.append(str(error))
        return answers, x + 1

    check(f, list)


def test_tuples_that_need_no_copy_are_the_very_same() -> None:
    def f(x: gw.Tensor, pair: Any, record: Any) -> Any:
        twice, none = (pair, pair), ()
        return (
            [new is pair for new in (pair * 1, True * pair, pair + none, none + pair, pair[:])],
            [new is pair for new in (pair[-2:], pair[:9], tuple(pair), pair[1:], pair * 2)],
            [new is twice for new in (twice[::-1], twice * 2, twice[1:], twice + twice)],
            [new is record for new in (record * 1, record[:], record + none)], x + 1,
        )

    point = collections.namedtuple("point", "a b")
    check(f, lambda: (1, 2), lambda: point(1, 2))


def test_a_float_is_its_own_float() -> None:
    def f(x: gw.Tensor, rate: float) -> Any:
        return float(rate) is rate, x * rate

    captured = Captured(f)
    for rate in (0.5, 0.25, 0.75):
        assert captured(gw.ones(2), rate)[0]
