"""Attributes that captured functions write in classes: counters, caches and settings."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture


class Base:
    """Counts its instances, in the class of each."""

    total = 0
    name = "base"

    def __init__(self) -> None:
        type(self).total += 1

    @classmethod
    def bump(cls, count: int) -> int:
        cls.total += count
        return cls.total


class Child(Base):
    """Has a count of its own from its first instance on."""


class Cache:
    """Keeps a tensor."""

    kept: Any = None


def counted(x: Any) -> Any:
    first, second = Base(), Child()
    Child.bump(2)
    Base.name = "written"
    before = first.total
    first.total = 50
    facts = first.name, second.name, before, first.total, hasattr(Child, "name")
    return x * Base.total + Child.total + second.total, facts


def cached(x: Any) -> Any:
    if Cache.kept is None or Cache.kept.shape != x.shape:
        Cache.kept = x * 2
    return Cache.kept + 1, Cache.kept is Cache.kept


def replaced_method(x: Any) -> Any:
    Base.bump = classmethod(lambda cls, count: 7)  # type: ignore[method-assign,assignment]
    return x * Child.bump(1)


def broken_between(x: Any) -> Any:
    Base.total += 1
    y = x * Base.total
    if y.sum() > 0:
        Base.total += 10
    return y + Child.total


@pytest.fixture(autouse=True)
def fresh(monkeypatch: Any) -> None:
    """Classes are after each run what they were before."""
    for name in ("total", "name", "bump"):
        monkeypatch.setattr(Base, name, Base.__dict__[name])
    monkeypatch.setattr(Child, "total", 0, raising=False)
    monkeypatch.setattr(Cache, "kept", None)


def states(function: Any, monkeypatch: Any) -> Any:
    """Results of four calls, and the classes after each."""
    found = []
    with monkeypatch.context() as patch:
        for cls, name in ((Base, "total"), (Base, "name"), (Base, "bump"), (Cache, "kept")):
            patch.setattr(cls, name, cls.__dict__[name])
        patch.delattr(Child, "total")
        for rows in (2, 2, 3, 3):
            result = picture(function(gw.ones(rows)))
            classes = [{n: v for n, v in vars(c).items() if n in ("total", "name", "kept")}
                       for c in (Base, Child, Cache)]  # fmt: skip
            found.append((result, picture(classes)))
        if "total" in vars(Child):
            del Child.total
        patch.setattr(Child, "total", 0, raising=False)
    return found


@pytest.mark.parametrize(
    ("program", "whole"),
    [(counted, True), (cached, True), (replaced_method, False), (broken_between, False)],
)
def test_classes_are_written_as_by_plain_python(
    program: Any, whole: bool, monkeypatch: Any
) -> None:
    expected = states(program, monkeypatch)
    captured = Captured(program)
    assert states(captured, monkeypatch) == expected
    assert (not captured.breaks) == whole
    assert captured.graphs <= 6
