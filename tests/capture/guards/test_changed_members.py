"""Members of enumerations whose attributes change between calls: results are plain Python's."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import same


class Color(enum.Enum):
    RED = 1
    BLUE = 2

    def __init__(self, number: int) -> None:
        self.extra = number * 10

    def shown(self) -> str:
        return f"{self.name}={self.value}"

    @property
    def twice(self) -> Any:
        return self.value * 2


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Text(enum.StrEnum):
    A = "a"


value_of = operator.attrgetter("value")

READS: dict[str, Callable[[], Any]] = {
    "value": lambda: Color.RED.value,
    "the value behind it": lambda: Color.RED._value_,
    "name": lambda: Color.RED.name,
    "its own attribute": lambda: Color.RED.extra,
    "an attribute that it may have": lambda: getattr(Color.RED, "later", None),
    "whether it has one": lambda: hasattr(Color.RED, "later"),
    "a method": lambda: Color.RED.shown(),
    "a property": lambda: Color.RED.twice,
    "its dict": lambda: Color.RED.__dict__["_value_"],
    "vars": lambda: sorted(vars(Color["RED"]), key=str),
    "repr": lambda: repr(Color.RED),
    "a text": lambda: f"{Color.RED!r} {Color.RED} {Bits.A}",
    "values of all": lambda: [color.value for color in Color],
    "names of all": lambda: {color.name: color for color in Color}.keys(),
    "an order": lambda: sorted(Color, key=value_of)[0].extra,
    "a combination": lambda: (Bits.A | Bits.B).value,
    "a text's value": lambda: Text.A.value + Text.A,
}
CHANGES: list[tuple[enum.Enum, str, Any]] = [
    (Color.RED, "_value_", 9), (Color.RED, "_name_", "OTHER"), (Color.RED, "extra", [1]),
    (Color.RED, "later", 5), (Color.RED, "shown", lambda: "own"), (Bits.A, "_value_", 4),
    (Text.A, "_value_", "z"),
]


@pytest.mark.parametrize("read", READS)
def test_what_is_read_after_a_change(read: str) -> None:
    function = READS[read]

    def program(x: Any) -> Any:
        return x + 1, function()

    x = gw.ones(2)
    for member, name, value in CHANGES:
        compiled = gw.compile(program)
        before = dict(vars(member))
        assert same(compiled(x), program(x))
        setattr(member, name, value)
        try:
            assert same(compiled(x), program(x)), (member, name)
        finally:
            vars(member).clear()
            vars(member).update(before)
        assert same(compiled(x), program(x))


@pytest.mark.parametrize("name", ["later", "__getattr__"])
def test_what_their_class_gets(name: str) -> None:
    for read in ("an attribute that it may have", "whether it has one"):
        function = READS[read]
        compiled = gw.compile(lambda x, function=function: (x + 1, function()))
        before = compiled(gw.ones(1))[1]
        type.__setattr__(Color, name, lambda self, key=None: 5)
        try:
            found = compiled(gw.ones(1))[1]
            assert found == function() and found != before
        finally:
            type.__delattr__(Color, name)
        assert compiled(gw.ones(1))[1] == before


def test_what_a_member_holds_is_the_very_object() -> None:
    Color.BLUE.extra = [1]      # type: ignore[assignment]
    try:
        compiled = gw.compile(lambda x: (x + 1, Color.BLUE.extra))
        assert compiled(gw.ones(1))[1] is Color.BLUE.extra
        Color.BLUE.extra.append(2)      # type: ignore[attr-defined]
        assert compiled(gw.ones(1))[1] == [1, 2]
    finally:
        Color.BLUE.extra = 20


def test_capture_shows_no_member() -> None:
    class Silent(enum.Enum):
        A = 1

        def __str__(self) -> str:
            raise AssertionError("shown")

    assert gw.compile(lambda x: x + sum(m.value for m in Silent))(gw.ones(1)).item() == 2.0
