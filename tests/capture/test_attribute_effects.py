"""Attributes that come and go in one frame."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from .captured import Captured


class Plain:
    pass


class Own:
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)


class Slotted:
    __slots__ = ("a",)


@pytest.mark.parametrize("kind", [Plain, Own, Slotted])
@pytest.mark.parametrize("before", [False, True])
def test_an_attribute_is_stored_and_deleted(kind: type, before: bool) -> None:
    def program(thing: Any, x: Any) -> Any:
        thing.a = x.shape[0]
        y = x * thing.a
        del thing.a
        return y

    captured = Captured(program)
    for _ in range(2):
        thing = kind()
        if before:
            thing.a = 1
        assert captured(thing, gw.ones(2)).tolist() == [2.0, 2.0]
        assert not hasattr(thing, "a")
    assert captured.breaks == []


def test_attributes_keep_their_order() -> None:
    def program(thing: Any, x: Any) -> Any:
        thing.a = 1
        thing.b = x + 1
        del thing.a
        thing.c = 2
        return list(vars(thing))

    assert program(Plain(), gw.ones(1)) == Captured(program)(Plain(), gw.ones(1)) == ["b", "c"]
