"""Classes that derive from tuple and say in `__new__` what an instance is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import graphwright as gw

from ..captured import Captured
from ..programs import sound, whole


class Point(tuple[Any, ...]):
    def __new__(cls, x: Any, y: Any = 2) -> Point:
        return super().__new__(cls, (x, y))

    @property
    def x(self) -> Any:
        return self[0]

    def total(self) -> Any:
        return sum(self)


class Tagged(tuple[Any, ...]):
    tag: str

    def __new__(cls, items: Any, tag: str) -> Tagged:
        made = tuple.__new__(cls, items)
        made.tag = tag
        return made


def points(x: Any) -> Any:
    point = Point(x)
    first, second = point
    return point.x + first * second, point.total(), len(point), isinstance(point, tuple), point


def tagged(x: Any) -> Any:
    made = Tagged([x, x * 2], "k")
    return made, made.tag, made[1] + 1, type(made) is Tagged, next(iter(made)) is x


def test_instances_made_in_the_frame() -> None:
    whole(points, gw.ones(2))
    whole(tagged, gw.ones(2))


class Shown(NamedTuple):
    """One that says how it is shown, as those that `load_state_dict` gives."""

    first: Any
    second: Any

    def __repr__(self) -> str:
        return f"<{self.first} and {self.second}>"


def shown(x: Any) -> Any:
    made = Shown(x * 2, 3)
    return made, made.first + made.second, made == (made.first, 3)


def told(x: Any) -> Any:
    return x * 2, f"{Shown(1, 2)}", repr([Shown(3, 4)])


def test_tuples_with_a_repr_of_their_own_are_made_in_the_graph() -> None:
    captured = whole(shown, gw.ones(3))
    assert isinstance(captured(gw.ones(3))[0], Shown)


def test_their_repr_is_the_own_one() -> None:
    captured = sound(told, gw.ones(3))
    assert captured(gw.ones(3))[1:] == ("<1 and 2>", "[<3 and 4>]")


def test_loading_a_state_is_part_of_the_graph() -> None:
    source, target = gw.nn.Linear(2, 3), gw.nn.Linear(2, 3)

    def copied(x: Any) -> Any:
        loaded = target.load_state_dict(source.state_dict())
        return (target(x) * 2).detach(), len(loaded.missing_keys)

    captured = Captured(copied, fullgraph=True)
    for _ in range(2):
        with gw.no_grad():
            source.weight.add_(1)
        assert captured.agrees(gw.ones(4, 2))
        assert gw.equal(source.weight, target.weight)
    assert captured.graphs == 1
