"""Attributes that instances of classes derived from builtin ones have beside their value."""

from __future__ import annotations

import argparse
import collections
import copy
import datetime
import decimal
import functools
import types
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import same


class Number(int):
    pass


class Text(str):
    pass


class Items(tuple[int, ...]):
    pass


class Set(frozenset[int]):
    pass


class Named(collections.namedtuple("Named", "first second")):
    def total(self) -> Any:
        return self.first + self.second


class Exact(decimal.Decimal):
    pass


class Day(datetime.date):
    pass


class List(list[int]):
    pass


class Error(Exception):
    pass


def function() -> None:
    pass


MAKERS: dict[str, Callable[[], Any]] = {
    "int": lambda: Number(3), "str": lambda: Text("a"), "tuple": lambda: Items((1, 2)),
    "frozenset": lambda: Set([1]), "namedtuple": lambda: Named(1, 2),
    "Decimal": lambda: Exact(3), "date": lambda: Day(2020, 1, 1), "list": lambda: List([1]),
    "exception": lambda: Error("m"), "function": lambda: function,
    "module": lambda: types.ModuleType("made"), "namespace": argparse.Namespace,
    "partial": lambda: functools.partial(int),
}
READS: dict[str, Callable[[Any], Any]] = {
    "attribute": lambda value: value.extra,
    "getattr": lambda value: getattr(value, "extra", 0),
    "hasattr": lambda value: hasattr(value, "later"),
    "getattr of none": lambda value: getattr(value, "later", 0),
    "dict": lambda value: value.__dict__["extra"],
    "vars": lambda value: sorted(key for key in vars(value) if not key.startswith("_")),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("kind", MAKERS)
def test_they_are_read_as_they_are(kind: str, read: str) -> None:
    value, reads = MAKERS[kind](), READS[read]

    def program(x: Any) -> Any:
        return x + 1, reads(value)

    x = gw.ones(2)
    value.extra = 1
    compiled = gw.compile(program)
    assert same(compiled(x), program(x))
    value.extra, value.later = [7], 3
    assert same(compiled(x), program(x))
    value.extra.append(8)
    assert same(compiled(x), program(x))
    del value.later
    assert same(compiled(x), program(x))
    del value.extra


def test_methods_of_a_named_tuple_may_be_its_own() -> None:
    value = Named(1, 2)
    compiled = gw.compile(lambda x: x * value.total())
    assert compiled(gw.ones(1)).item() == 3.0
    value.total = lambda: 10    # type: ignore[method-assign]
    assert compiled(gw.ones(1)).item() == 10.0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_a_named_tuple_keep_them(copied: Any) -> None:
    value: Any = Named(1, 2)
    value.extra = [5]
    for run in (copied, gw.compile(lambda x: (x + 1, copied(value)))):
        found = run(value) if run is copied else run(gw.ones(1))[1]
        assert found == value and found.extra == [5]
        assert (found.extra is value.extra) == (copied is copy.copy)


CHANGES: dict[str, Callable[..., Any]] = {
    "__str__": lambda self: "own", "__bool__": lambda self: False,
    "__format__": lambda self, spec: "own", "__hash__": lambda self: 77,
    "__getitem__": lambda self, index: [7, 8][index], "__len__": lambda self: 5,
    "__iter__": lambda self: iter([9]), "__contains__": lambda self, value: True,
    "__add__": lambda self, other: "sum", "__getattr__": lambda self, name: "read",
}
USES: dict[str, Callable[[Any], Any]] = {
    "str": str, "bool": bool, "a branch": lambda value: 1 if value else 2,
    "a text": lambda value: f"{value}", "sum": lambda value: value + value,
    "item": lambda value: value[0], "items": lambda value: [*value], "len": len,
    "in": lambda value: 6 in value, "attribute": lambda value: getattr(value, "extra", 0),
    "hash": lambda value: hash(value) if value.__hash__ else 0,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", ["int", "str", "tuple", "frozenset", "namedtuple", "list"])
def test_their_class_changes(kind: str, use: str) -> None:
    value, reads = MAKERS[kind](), USES[use]

    def program(x: Any) -> Any:
        return x + 1, reads(value)

    def outcome(run: Callable[[Any], Any]) -> Any:
        try:
            return run(gw.ones(2))
        except (TypeError, IndexError) as error:
            return str(error)

    for name, change in CHANGES.items():
        compiled = gw.compile(program)
        assert same(outcome(compiled), outcome(program))
        setattr(type(value), name, change)
        try:
            assert same(outcome(compiled), outcome(program)), name
        finally:
            delattr(type(value), name)
        assert same(outcome(compiled), outcome(program)), name
