"""Types that are asked about when the program runs: protocols, unions, new types, typed dicts."""

from __future__ import annotations

import sys
from typing import Any, NewType, Protocol, TypedDict, runtime_checkable

import pytest

import graphwright as gw

from .captured import Captured, check, same

X = gw.arange(4.0)


@runtime_checkable
class Forward(Protocol):
    """What has a method `forward`."""

    def forward(self, x: Any) -> Any: ...


@runtime_checkable
class Scaled(Protocol):
    """What has an attribute `scale`."""

    scale: float


class Implements(Forward):
    """Says that it follows the protocol."""

    def forward(self, x: Any) -> Any:
        return x * 2


class Duck:
    """Does so without saying it."""

    def forward(self, x: Any) -> Any:
        return x * 3


class Undone(Duck):
    """Takes the method back."""

    forward = None  # type: ignore[assignment]


class Plain:
    """Has nothing at first."""


def test_protocols_are_followed_by_what_has_the_methods() -> None:
    things = (Implements(), Duck(), Undone(), 3)

    def f(x: Any) -> Any:
        made = [thing.forward(x) if isinstance(thing, Forward) else x for thing in things]
        kinds = [issubclass(cls, Forward) for cls in (Implements, Duck, Undone, int)]
        return made, kinds, isinstance(Duck(), Implements), isinstance(Duck(), (int, Forward))

    check(f, X, graphs=1)


def test_methods_that_come_and_go_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    thing = Plain()
    captured = Captured(lambda x: x * 2 if isinstance(thing, Forward) else x)
    assert same(captured(X), X)
    with monkeypatch.context() as patch:
        patch.setattr(Plain, "forward", Duck.forward, raising=False)
        assert same(captured(X), X * 2)
    assert same(captured(X), X)
    thing.forward = None  # type: ignore[attr-defined]
    assert captured.agrees(X)
    thing.forward = print  # type: ignore[attr-defined]
    assert same(captured(X), X * 2)
    assert captured.breaks == []


def test_attributes_of_instances_count() -> None:
    thing = Plain()
    captured = Captured(lambda x: x * thing.scale if isinstance(thing, Scaled) else x)
    assert same(captured(X), X)
    thing.scale = 3.0  # type: ignore[attr-defined]
    assert same(captured(X), X * 3)
    assert captured.breaks == []


def test_classes_registered_with_a_protocol_are_left_to_python() -> None:
    @runtime_checkable
    class Local(Protocol):
        def anything(self) -> None: ...

    captured = Captured(lambda x: (x + 1, isinstance(3, Local)))
    assert captured(X)[1] is False
    Local.register(int)
    assert captured(X)[1] is True


UserId = NewType("UserId", int)


class Options(TypedDict, total=False):
    """A dict of one known key."""

    scale: int


def test_unions_new_types_and_typed_dicts_cost_nothing() -> None:
    def f(x: Any, scale: Any) -> Any:
        if isinstance(scale, int | None) and isinstance(x, gw.Tensor | None):
            options = Options(scale=UserId(2))
            return x * options["scale"], options, isinstance(None, None | str)
        return x, None, issubclass(int, int | str)

    check(f, X, None, graphs=1)
    check(f, X, 1.5)


def test_versions_are_compared() -> None:
    def f(x: Any) -> Any:
        if sys.version_info >= (3, 11) and sys.version_info.major == 3:
            x = x * 2
        major, minor, *_ = sys.version_info
        return x, major, minor, sys.version_info, sys.float_info.epsilon

    check(f, X, graphs=1)
