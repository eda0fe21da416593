"""The program that is run decides as the plain one does, whatever changes between its runs."""

from __future__ import annotations

import collections
import contextlib
import random
import types
from collections.abc import Callable
from typing import Any

import pytest

from graphwright.capture.guards.guards import GuardBuilder, compile
from graphwright.capture.guards.source import (
    AttrSource,
    ClassSource,
    ConstSource,
    InstanceAttrSource,
    ItemSource,
    LocalSource,
    MroSource,
)

NAMES = ("alpha", "beta", "gamma", "delta")
ROUNDS = 600


def function(thing: Any) -> Any:
    return thing


class Descriptor:
    def __init__(self, value: int) -> None:
        self.value = value

    def __get__(self, instance: object, owner: type | None = None) -> int:
        return self.value


class Data(Descriptor):
    def __set__(self, instance: object, value: int) -> None:
        self.value = value


def new_class() -> type:
    return type("Thing", (type("Base", (), {}),), {"alpha": 1})


def slotted_class() -> type:
    return type("Slotted", (), {"__slots__": ("alpha", "beta", "__dict__")})


def module_class() -> type:
    return types.ModuleType


def guarded(thing: Any, table: Any, cls: type, rng: random.Random) -> GuardBuilder:
    """Guards that hold now: on attributes, items and what the class says."""
    guards, source = GuardBuilder(), LocalSource("thing")
    if rng.random() < 0.7:
        guards.type_match(source, type(thing))
    for name in NAMES:
        own = InstanceAttrSource(source, name)
        values = getattr(thing, "__dict__", {})
        if name not in values:
            guards.missing(own)
        elif type(values[name]) is int:
            guards.equals(rng.choice([own, AttrSource(source, name)]), values[name])
        of_class = MroSource(ClassSource.of(cls), name)
        found = next((b.__dict__[name] for b in cls.__mro__ if name in b.__dict__), None)
        if found is None:
            guards.missing(of_class)
        elif rng.random() < 0.5:
            guards.id_match(of_class, found)
        item = ItemSource(ConstSource(table), name)
        if name in table:
            guards.equals(item, table[name])
        else:
            guards.missing(item)
    return guards


def change(thing: Any, table: Any, cls: type, rng: random.Random) -> None:
    """Change something, or make something anew that is equal to what was there."""
    name, value = rng.choice(NAMES), rng.randrange(3)
    made = rng.choice([value, value, Descriptor(value), Data(value)])
    actions: list[Callable[[], Any]] = [
        lambda: setattr(thing, name, value),
        lambda: delattr(thing, name),
        lambda: thing.__dict__.__setitem__(name, value),
        lambda: thing.__dict__.pop(name, None),
        lambda: thing.__dict__.update({f"other{value}": value}),
        lambda: thing.__dict__.pop(f"other{value}", None),
        lambda: setattr(thing, "__dict__", dict(thing.__dict__)),
        lambda: setattr(thing, "__dict__", dict(reversed(thing.__dict__.items()))),
        lambda: setattr(cls, name, made),
        lambda: delattr(cls, name),
        lambda: setattr(cls.__mro__[1], name, made),
        lambda: delattr(cls.__mro__[1], name),
        lambda: setattr(cls(), rng.choice(NAMES), value),
        lambda: table.__setitem__(name, value),
        lambda: table.pop(name, None),
        lambda: table.__setitem__(rng.choice([1, "x", None]), value),
        lambda: table.update({f"key{i}": i for i in range(rng.choice([3, 40]))}),
        lambda: [table.pop(key) for key in list(table) if rng.random() < 0.5],
        lambda: table.clear(),
    ]
    action = rng.choice(actions)
    with contextlib.suppress(AttributeError, TypeError):
        action()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [new_class, slotted_class, module_class])
@pytest.mark.parametrize("kind", [dict, collections.OrderedDict])
def test_both_programs_agree(make: Callable[[], type], kind: type, seed: int) -> None:
    rng = random.Random(seed)
    cls = make()
    thing = cls("module") if cls is types.ModuleType else cls()
    table: Any = kind()
    programs, answers = [], set()
    for step in range(ROUNDS):
        if step % 40 == 0:
            guards = guarded(thing, table, cls, rng)
            programs = [*programs[-3:], compile(guards.guards, function.__code__)]
        for program in programs:
            expected = program.failure(function, (thing,)) is None
            for _ in range(2):
                assert program.check(function, (thing,)) is expected, (seed, step)
            answers.add(expected)
        change(thing, table, cls, rng)
    assert answers == {True, False}
