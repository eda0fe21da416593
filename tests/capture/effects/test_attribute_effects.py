"""Attributes that come and go in one frame."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured


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


@pytest.mark.parametrize("kind", [Plain, Own, Slotted])
@pytest.mark.parametrize("before", [False, True])
def test_an_attribute_that_may_be_missing_is_deleted(kind: type, before: bool) -> None:
    def program(thing: Any, x: Any) -> Any:
        try:
            del thing.a
        except AttributeError:
            return x + 1
        return x - 1

    captured = Captured(program)
    for _ in range(2):
        thing = kind()
        if before:
            thing.a = 1
        assert captured(thing, gw.ones(1)).item() == (0 if before else 2)
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


class Kept:
    """A descriptor that keeps its values under its own name in the `__dict__`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return vars(instance)[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance.log.append("set")
        vars(instance)[self.name] = value

    def __delete__(self, instance: Any) -> None:
        instance.log = [*instance.log, "deleted"]
        vars(instance).pop(self.name)


class Holder(Slotted):
    first = Kept()

    def __init__(self) -> None:
        self.log: list[str] = []
        self.first = 1


def deleted(thing: Any) -> Any:
    del thing.first
    return "first" in vars(thing)


def set_and_deleted(thing: Any) -> Any:
    for value in range(2):
        thing.first = value
        del thing.first
    return "first" in vars(thing)


def popped(thing: Any) -> Any:
    return vars(thing).pop("first"), vars(thing).pop("first", None)


def in_a_slot(thing: Any) -> Any:
    thing.a = 2
    return "a" in vars(thing), vars(thing).get("a"), thing.a


@pytest.mark.parametrize("program", [deleted, set_and_deleted, popped, in_a_slot])
def test_the_dict_is_another_place_than_the_attribute_of_a_descriptor(program: Any) -> None:
    captured = Captured(lambda thing, x: (program(thing), x + 1))
    for _ in range(2):
        ours, plain = Holder(), Holder()
        assert captured(ours, gw.ones(1))[0] == program(plain)
        assert vars(ours) == vars(plain)


def test_what_is_written_in_the_dict_stays_there_when_the_class_gains_a_descriptor() -> None:
    class Later:
        pass

    def program(thing: Any, x: Any) -> Any:
        vars(thing)["a"] = x.shape[0]
        return x + 1

    captured = Captured(program)
    for _ in range(2):
        thing = Later()
        captured(thing, gw.ones(2))
        assert vars(thing) == {"a": 2}
        Later.a = property(lambda self: 5)  # type: ignore[attr-defined]
