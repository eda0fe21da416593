"""Tensors are found in containers and objects that a function gets, also after plain calls."""

from __future__ import annotations

import functools
import os
import random
from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tests.capture.captured import Captured, same

import graphwright as gw

X = gw.tensor([1.0, 2.0, 3.0])
Pair = namedtuple("Pair", "first second")


class Items(list):
    def __iter__(self):
        raise AssertionError("the search runs no code of the program's")


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def size(self) -> Any:
        return self.x * self.x + self.y * self.y


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Hashed(dict):
    def values(self):
        raise AssertionError("the search runs no code of the program's")


# how a container is made of a value, and how the value is read from it
CONTAINERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "list": (lambda v: [1, v], lambda held: held[1]),
    "tuple": (lambda v: (v, 1), lambda held: held[0]),
    "dict": (lambda v: {"v": v}, lambda held: held["v"]),
    "set": (lambda v: {v}, lambda held: next(iter(held))),
    "frozenset": (lambda v: frozenset([v]), lambda held: next(iter(held))),
    "deque": (lambda v: deque([v]), lambda held: held[0]),
    "OrderedDict": (lambda v: OrderedDict(v=v), lambda held: held["v"]),
    "defaultdict": (lambda v: defaultdict(int, v=v), lambda held: held["v"]),
    "UserDict": (lambda v: UserDict(v=v), lambda held: held["v"]),
    "namedtuple": (lambda v: Pair(1, v), lambda held: held.second),
    "list subclass": (lambda v: Items([v]), lambda held: held[0]),
    "dict subclass": (lambda v: Hashed(v=v), lambda held: held["v"]),
    "slots": (Slotted, lambda held: held.value),
    "instance": (lambda v: Point(v, 1), lambda held: held.x),
    "namespace": (lambda v: SimpleNamespace(v=v), lambda held: held.v),
    "dict view": (lambda v: {"v": v}.values(), lambda held: next(iter(held))),
    "partial": (lambda v: functools.partial(max, v), lambda held: held.args[0]),
    "method": (lambda v: Point(v, 1).size, lambda held: held.__self__.x),
    "closure": (lambda v: lambda: v, lambda held: held()),
    "default": (lambda v: lambda kept=v: kept, lambda held: held()),
    "101st of a list": (lambda v: [*range(100), v], lambda held: held[100]),
    "101st of a dict": (lambda v: {**dict.fromkeys(range(100)), "v": v}, lambda held: held["v"]),
}
LONG = {"101st of a dict"}      # later calls are looked into less far
UNHASHABLE = {name for name, (make, _) in CONTAINERS.items() if make(1).__hash__ is None}
CONSTANT = {"partial", "method"}    # to capture a frozenset of them is one value, not looked into
SEARCHED = [
    (outer, inner, depth)
    for outer in CONTAINERS for inner in CONTAINERS for depth in (1, 2, 3)
    if (depth > 1 or outer == inner)
    and not (depth > 1 and "set" in outer and inner in UNHASHABLE)
    and not (depth == 3 and inner == "set")
    and not (depth > 1 and outer == "frozenset" and inner in CONSTANT)
]


def _nested(outer: str, inner: str, depth: int, value: Any) -> Any:
    for name in ((outer, inner, inner)[:depth])[::-1]:
        value = CONTAINERS[name][0](value)
    return value


def _check_search(outer: str, inner: str, depth: int) -> None:
    """A graph of all three operations, before a break or behind it, also after plain calls."""
    reads = [CONTAINERS[name][1] for name in (outer, inner, inner)[:depth]]

    def read(held):
        for one in reads:
            held = one(held)
        return held

    def broken(held):
        os.getpid()
        return (read(held) * 2 + 1) / 3

    def whole(held):
        return (read(held) * 2 + 1) / 3

    for function in (broken, whole):
        for earlier in (False, True)[: 1 if LONG & {outer, inner} else 2]:
            captured = Captured(function)
            if earlier:
                captured(_nested(outer, inner, depth, 3))
                captured(_nested(outer, inner, depth, 4))
                assert captured.graphs == 0
            held = _nested(outer, inner, depth, X)
            for _ in range(2):
                assert same(captured(held), function(held))
            assert captured.ops == [3], (function.__name__, earlier)


@pytest.mark.parametrize("name", CONTAINERS)
def test_tensors_in_containers_are_captured(name):
    _check_search(name, name, 1)


def test_tensors_in_nested_containers_are_captured():
    seed = random.randrange(10**6)
    print("seed", seed)
    for outer, inner, depth in random.Random(seed).sample(SEARCHED, 25):
        _check_search(outer, inner, depth)


@pytest.mark.slow
@pytest.mark.parametrize(("outer", "inner", "depth"), SEARCHED)
def test_tensors_in_all_nested_containers_are_captured(outer, inner, depth):
    _check_search(outer, inner, depth)


def test_a_search_that_is_cut_short_counts_as_one_that_finds_tensors():
    many = [[X], *([i] for i in range(1_100))]

    def first(held):
        os.getpid()
        return held[0][0] * 2

    captured = Captured(first)
    assert captured.agrees(many)
    assert captured.graphs == 1
