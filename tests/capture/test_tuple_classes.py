"""Classes that derive from tuple and say in `__new__` what an instance is made of."""

from __future__ import annotations

from typing import Any

import graphwright as gw

from .programs import whole


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
