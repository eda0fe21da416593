"""Types that are asked about when the program runs: protocols, unions, new types, typed dicts."""

from __future__ import annotations

import abc
import sys
from typing import Any, ClassVar, NewType, Protocol, TypedDict, runtime_checkable

import pytest

import graphwright as gw

from ..captured import Captured, check, same

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
        return x, major, minor, sys.version_info, sys.float_info.epsilon, sys.flags.optimize

    check(f, X, graphs=1)


class Asking(type):
    """Its classes ask the metaclass what is an instance, and who is a subclass."""

    asked: ClassVar[list[str]] = []

    def __instancecheck__(cls, value):
        cls.asked.append(f"{cls.__name__} of {type(value).__name__}")
        if isinstance(value, str):
            raise ValueError(value)
        return value if isinstance(value, list) else hasattr(value, "forward")

    def __subclasscheck__(cls, kind):
        cls.asked.append(f"{cls.__name__} above {kind.__name__}")
        return kind is int


class Asked(metaclass=Asking):
    pass


class Other(Asked):
    pass


def recognised(x, value):
    Asking.asked.clear()
    try:
        found = (isinstance(value, Asked), isinstance(value, (int, Asked, Other)),
                 isinstance(value, (Other, int)), isinstance(value, int | Asked))
    except ValueError as error:
        found = error.args
    kinds = issubclass(int, Asked), issubclass(Other, (str, Asked)), issubclass(bool, (int, Asked))
    return x * len(Asking.asked), found, kinds


@pytest.mark.parametrize(
    "value", [Duck(), Plain(), Asked(), Other(), 3, [], [0], "text", None, X],
    ids=lambda value: f"{type(value).__name__}_{value}" if isinstance(value, list) else None,
)
def test_metaclasses_say_what_an_instance_is(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    captured = Captured(recognised)

    def agrees() -> bool:
        result, *found = captured(X, value)
        asked = list(Asking.asked)
        expected, *known = recognised(X, value)
        return same(result, expected) and (found, asked) == (known, Asking.asked)

    assert agrees() and agrees()
    monkeypatch.setattr(Asking, "__instancecheck__", lambda cls, value: value is None)
    assert agrees()
    monkeypatch.delattr(Asking, "__instancecheck__")
    assert agrees()
    assert captured.breaks == []


class Counting(abc.ABCMeta):
    """Has no checks of its own."""


class Counted(metaclass=Counting):
    pass


def test_metaclasses_that_leave_the_checks_alone_cost_nothing() -> None:
    things = [type("Derived", (Counted,), {})(), 3]
    captured = Captured(lambda x: x * sum([isinstance(thing, Counted) for thing in things]))
    assert captured(gw.ones(2)).tolist() == [1.0, 1.0]
    assert captured.breaks == []
