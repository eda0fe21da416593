"""Dicts that take over what an object has ask it for what plain Python asks it for, in its order.

Each object notes what it is asked; what was noted is part of the result, or of the error.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw

ASKED: list[Any] = []


class Answering:
    """`keys` by `__getattr__`."""

    def __init__(self) -> None:
        self.held = {"a": 1}

    def __getattr__(self, name: str) -> Any:
        ASKED.append(name)
        if name == "keys":
            return self.held.keys
        raise AttributeError(name)

    def __getitem__(self, key: str) -> int:
        ASKED.append(key)
        return self.held[key]


class Watching:
    """Notes each read of an attribute."""

    def __init__(self) -> None:
        self.held = {"a": 1}

    def __getattribute__(self, name: str) -> Any:
        ASKED.append(name)
        return object.__getattribute__(self, name)

    def keys(self) -> list[str]:
        return list(self.held)

    def __getitem__(self, key: str) -> int:
        return self.held[key]


class OfItsOwn:
    """`keys` of the object alone."""

    def __init__(self) -> None:
        self.keys = lambda: ["q"]

    def __getitem__(self, key: str) -> str:
        ASKED.append(key)
        return key


class Pairs:
    """No mapping, and asks whoever looks for `keys`."""

    def __getattr__(self, name: str) -> Any:
        ASKED.append(name)
        raise AttributeError(name)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter([("i", 1)])


class Refusing(Pairs):
    """A `keys` that raises something else."""

    @property
    def keys(self) -> Any:
        ASKED.append("keys")
        raise ValueError("no keys")


class Nothing(Pairs):
    """A `keys` that is None."""

    keys = None


class OwnKeys(dict):
    """A dict with another `keys`."""

    def keys(self) -> Any:
        ASKED.append("keys")
        return ["z"]

    def __getitem__(self, key: str) -> int:
        ASKED.append(key)
        return 5


class ListOfKeys(list):
    """A list with `keys`."""

    def keys(self) -> Any:
        ASKED.append("keys")
        return [0]


class OfItems:
    """`items` without `keys`."""

    def items(self) -> list[tuple[str, int]]:
        ASKED.append("items")
        return [("m", 1)]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter([("i", 1)])


class Empty:
    """Neither a mapping nor pairs."""


OBJECTS: dict[str, Callable[[], Any]] = {
    kind.__name__: kind  # type: ignore[misc]
    for kind in (Answering, Watching, OfItsOwn, Pairs, Refusing, Nothing, OfItems, Empty)
} | {
    "OwnKeys": lambda: OwnKeys(a=1),
    "ListOfKeys": lambda: ListOfKeys([("k", 2)]),
    "a list of pairs": lambda: [("k", 2)],
    "a tuple of strings": lambda: ("ab", "cd"),
    "zip": lambda: zip("ab", (1, 2), strict=True),
    "items": lambda: {"k": 2}.items(),
    "a dict": lambda: {"k": 2},
    "None": lambda: None,
    "a number": lambda: 3,
}


def keywords(**given: Any) -> dict[str, Any]:
    return given


def updated(taken: Any, given: Any) -> Any:
    taken.update(given)
    return taken


def merged(taken: Any, given: Any) -> Any:
    taken |= given
    return taken


TAKING: dict[str, Callable[[Any], Any]] = {
    "update": lambda o: updated({}, o),
    "dict()": lambda o: dict(o),
    "{**o}": lambda o: {**o},
    "f(**o)": lambda o: keywords(**o),
    "f(b=1, **o)": lambda o: keywords(b=1, **o),
    "dict(**o)": lambda o: dict(**o),
    "|": lambda o: {"x": 1} | o,
    "|=": lambda o: merged({}, o),
    "OrderedDict()": lambda o: collections.OrderedDict(o),
    "OrderedDict.update": lambda o: updated(collections.OrderedDict(), o),
    "defaultdict()": lambda o: collections.defaultdict(int, o),
    "UserDict()": lambda o: collections.UserDict(o),
}


def outcome(function: Callable[[gw.Tensor], Any]) -> tuple[Any, ...]:
    """What two calls return or raise, and what they asked."""
    found = []
    for _ in range(2):
        ASKED.clear()
        try:
            result = repr(function(gw.ones(2)))
        except (TypeError, ValueError, AttributeError) as error:
            result = f"{type(error).__name__}: {error}"
        found.append((result, list(ASKED)))
    return tuple(found)


@pytest.mark.parametrize("made", ["in the frame", "outside"])
@pytest.mark.parametrize("kind", OBJECTS)
def test_taking_over(kind: str, made: str) -> None:
    for name in TAKING:
        plain = outcome(taking(name, OBJECTS[kind], made))
        compiled = gw.compile(taking(name, OBJECTS[kind], made), backend="eager")
        assert outcome(compiled) == plain, name


def taking(name: str, make: Callable[[], Any], made: str) -> Callable[[gw.Tensor], Any]:
    take, given = TAKING[name], make()
    if made == "outside":
        return lambda x: (x + 1, take(given))
    return lambda x: (x + 1, take(make()))
