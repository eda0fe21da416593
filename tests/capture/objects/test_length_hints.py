"""What is made a list of is asked for its length, when and where CPython asks."""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw


class Row:
    """Two items; which of its methods run is written down."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def __iter__(self) -> Iterator[Any]:
        self.log.append("iter")
        return Drawn(self.log)


class Drawn(Row):
    """An iterator, which is asked itself where Python keeps nothing but the iterator."""

    left = 2

    def __iter__(self) -> Iterator[Any]:
        self.log.append("iter of the iterator")
        return self

    def __next__(self) -> Any:
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.log.append("next")
        return (self.left, "item")

    def __len__(self) -> int:
        self.log.append("length of the iterator")
        return self.left


class Sized(Row):
    def __len__(self) -> int:
        self.log.append("len")
        return 2


class Hinted(Row):
    def __length_hint__(self) -> int:
        self.log.append("hint")
        return 17


class Both(Hinted, Sized):
    pass


class Unsure(Sized):
    def __len__(self) -> int:
        self.log.append("no length")
        raise TypeError

    def __length_hint__(self) -> Any:
        self.log.append("no hint")
        return NotImplemented


class Broken(Row):
    def __len__(self) -> int:
        self.log.append("broken")
        raise ValueError("not to be measured")


class ByIndex:
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def __getitem__(self, index: int) -> Any:
        self.log.append(f"item {index}")
        return [(0, "item"), (1, "item")][index]

    def __len__(self) -> int:
        self.log.append("len")
        return 2


class OwnList(list):  # type: ignore[type-arg]
    def __init__(self, log: list[str]) -> None:
        super().__init__([(0, "item"), (1, "item")])
        self.log = log

    def __len__(self) -> int:
        self.log.append("len")
        return 2


class Family(type):
    log: list[str]

    def __iter__(cls) -> Iterator[Any]:
        cls.log.append("iter of the class")
        return iter([(0, "item"), (1, "item")])

    def __len__(cls) -> int:
        cls.log.append("len of the class")
        return 2


def class_of_family(log: list[str]) -> Any:
    Member.log = log
    return Member


class Member(metaclass=Family):
    pass


def first_and_rest(row: Any) -> Any:
    first, *rest = row
    return first, rest


def replaced(row: Any) -> Any:
    items = [1, 2, 3, 4]
    items[::2] = row
    items[:1] = row
    return items


def added(row: Any) -> Any:
    items = [1]
    items += row
    items.extend(row)
    return items


def together(*items: Any) -> Any:
    return items


def hints(iterator: Any) -> Any:
    told = [operator.length_hint(iterator, 5)]
    for _ in iterator:
        told.append(operator.length_hint(iterator, 5))
    return [*told, operator.length_hint(iterator, 5)]


USES: dict[str, Callable[[Any], Any]] = {
    "list": list, "tuple": tuple, "sorted": sorted, "set": set, "dict": dict,
    "sum": lambda row: sum(row, ()), "fromkeys": dict.fromkeys, "deque": collections.deque,
    "any": any, "max": max,
    "added": added, "replaced": replaced, "first and rest": first_and_rest,
    "star in a call": lambda row: together(*row),
    "star among arguments": lambda row: together(1, *row, 2, *row),
    "star in a list": lambda row: [0, *row],
    "star in a tuple": lambda row: (*row,),
    "star in a set": lambda row: {0, *row},
    "list of the iterator": lambda row: list(iter(row)),
    "list of a generator": lambda row: list(item for item in row),
    "comprehension": lambda row: [item for item in row],
    "list of zip": lambda row: list(zip(row, row, strict=False)),
    "update": lambda row: {}.update(row),
    "dict of pairs": lambda row: dict([row]),
    "join": lambda row: "-".join(map(str, row)),
    "join of the value": lambda row: "-".join(row),
    "product": lambda row: list(itertools.product(row, repeat=2)),
    "permutations": lambda row: list(itertools.permutations(row)),
    "length_hint": lambda row: operator.length_hint(row, 5),
    "reversed": lambda row: list(reversed(row)),
    "reduce": lambda row: functools.reduce(operator.add, row),
    "nlargest": lambda row: heapq.nlargest(2, row),
    "fsum": lambda row: math.fsum(item[0] for item in row),
    "intersection": lambda row: {(1, "item")}.intersection(row),
    "intersection of a frozenset": lambda row: frozenset([(1, "item")]).intersection(row),
    "issubset": lambda row: {(1, "item")}.issubset(row),
    "issubset of a frozenset": lambda row: frozenset([(1, "item")]).issubset(row),
    "length_hint of the iterator": lambda row: hints(iter(row)),
    "length_hint with a name": lambda row: operator.length_hint(row, "a"),
    "union": lambda row: {1}.union(row),
}  # fmt: skip
KINDS = [Row, Drawn, Sized, Hinted, Both, Unsure, Broken, ByIndex, OwnList, class_of_family]


@pytest.mark.parametrize("use", USES)
def test_methods_run_in_pythons_order(use: str) -> None:
    take = USES[use]

    def run(x: Any, make: Callable[[list[str]], Any]) -> Any:
        log: list[str] = []
        try:
            found = take(make(log))
        except (TypeError, ValueError) as error:
            found = type(error).__name__
        return log, found, x * 2

    x = gw.ones(2)
    for make in KINDS:
        compiled = gw.compile(run, backend="eager")
        log, found, _ = run(x, make)
        assert compiled(x, make)[:2] == (log, found), make.__name__


class OfSizes:
    """As many items as a tensor has rows, which it says by a size."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __iter__(self) -> Iterator[Any]:
        return iter([1.0, 2.0])

    def __len__(self) -> int:
        return self.x.shape[0]


def test_a_length_may_be_a_size_that_varies() -> None:
    compiled = gw.compile(lambda x: x * list(OfSizes(x))[1], backend="eager", fullgraph=True)
    for size in (4, 6, 8):
        assert gw.equal(compiled(gw.ones(size)), gw.ones(size) * 2)
    assert gw.compiler.stats(compiled).graphs == 2


def test_what_a_length_raises_reaches_the_caller() -> None:
    def run(x: Any, log: list[str]) -> Any:
        return [*Broken(log), x * 2]

    log: list[str] = []
    with pytest.raises(ValueError, match="not to be measured"):
        gw.compile(run)(gw.ones(2), log)
    assert log == ["iter", "broken"]


class Numbered:
    """Has no `__iter__`; its length may change under its iterators."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        if index >= self.length:
            raise IndexError
        return index


@pytest.mark.parametrize("drawn", [0, 1, 3])
@pytest.mark.parametrize("then", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("begin", [iter, reversed])
def test_what_is_left_where_the_length_changes(begin: Any, then: int, drawn: int) -> None:
    """What is reversed counts down from the length at first, as long as that many are there."""

    def function(x: Any) -> Any:
        numbered = Numbered(3)
        iterator = begin(numbered)
        items = [next(iterator, None) for _ in range(drawn)]
        numbered.length = then
        hint = operator.length_hint(iterator)
        return x + 1, items, hint, list(iterator), operator.length_hint(iterator)

    x = gw.ones(2)
    assert gw.compile(function, fullgraph=True)(x)[1:] == function(x)[1:]


def hints_of_repetitions(x: Any) -> Any:
    iterator = itertools.repeat(x, 5)
    hints = [operator.length_hint(iterator)]
    for _ in iterator:
        hints.append(operator.length_hint(iterator, 9))
    several = itertools.repeat(None, times=2), itertools.repeat(0, -3), itertools.repeat(0)
    return x + 1, hints, [operator.length_hint(given, 12) for given in several]


def test_repetitions_tell_how_many_are_left() -> None:
    compiled = gw.compile(hints_of_repetitions, fullgraph=True)
    assert compiled(gw.ones(2))[1:] == hints_of_repetitions(gw.ones(2))[1:]
    assert compiled(gw.ones(2))[1:] == ([5, 4, 3, 2, 1, 0], [2, 0, 12])
