"""A StopIteration that the user's code raises ends what draws from it, and keeps its value."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured


class Stopped(StopIteration):
    pass


class Falling:
    """Counts down; its end has a value."""

    def __init__(self, n: int, kind: type[StopIteration] = StopIteration) -> None:
        self.n, self.kind = n, kind

    def __iter__(self) -> Falling:
        return self

    def __next__(self) -> int:
        self.n -= 1
        if self.n < 0:
            raise self.kind("fallen")
        return self.n


def rising(most: int) -> Callable[..., int]:
    count = 0

    def rise(*ignored: object) -> int:
        nonlocal count
        count += 1
        if count > most:
            raise StopIteration("risen")
        return count

    return rise


def returning() -> Generator[int, None, str]:
    yield 1
    return "returned"


ITERATORS: dict[str, Callable[[], Any]] = {
    "object": lambda: Falling(2),
    "own exception": lambda: Falling(1, Stopped),
    "map": lambda: map(rising(2), [1, 2, 3, 4]),
    "map of iterator": lambda: map(rising(9), Falling(2)),
    "filter": lambda: filter(rising(1), [1, 2, 3]),
    "filter of iterator": lambda: filter(None, Falling(2)),
    "enumerate": lambda: enumerate(Falling(2)),
    "zip": lambda: zip(Falling(3), Falling(2), strict=False),
    "zip with generator": lambda: zip("abc", returning(), strict=False),
    "chain": lambda: itertools.chain(Falling(1), map(rising(1), [1, 2]), [5]),
    "callable": lambda: iter(rising(2), 9),
    "accumulate": lambda: itertools.accumulate([1, 2, 3, 4], rising(1)),
    "starmap": lambda: itertools.starmap(rising(2), [(1, 2)] * 4),
    "takewhile": lambda: itertools.takewhile(rising(2), [1, 2, 3]),
    "dropwhile": lambda: itertools.dropwhile(rising(0), [1, 2]),
    "filterfalse": lambda: itertools.filterfalse(rising(1), [1, 2, 3]),
    "sorted": lambda: iter(sorted(map(rising(2), [3, 2, 1]))),
    "dict": lambda: iter(dict(zip("abc", map(rising(2), "abc"), strict=False))),
}


def by_loop(iterator: Any) -> Any:
    return [item for item in iterator]


def by_next(iterator: Any) -> Any:
    found = []
    try:
        for _ in range(5):
            found.append(next(iterator))
    except StopIteration as stop:
        return found, type(stop), stop.args, stop.value
    return found


def by_next_with_default(iterator: Any) -> Any:
    return [next(iterator, "none") for _ in range(4)]


def by_delegation(iterator: Any) -> Any:
    def outer() -> Iterator[Any]:
        found = yield from iterator
        yield "then", found

    return list(outer())


@pytest.mark.parametrize("use", [list, by_loop, by_next, by_next_with_default, by_delegation])
@pytest.mark.parametrize("kind", ITERATORS)
def test_ends_as_in_plain_python(kind: str, use: Callable[[Any], Any]) -> None:
    made = ITERATORS[kind]

    def program(x: Any) -> Any:
        y = x + 1
        return y * 2, use(made())

    captured = Captured(program)
    assert all(captured.agrees(gw.ones(2)) for _ in range(2))
    assert captured.graphs
