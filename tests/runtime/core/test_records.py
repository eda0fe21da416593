"""Records behave as frozen dataclasses with slots do."""

from __future__ import annotations

import copy
import pickle

import pytest

from graphwright.runtime.record import Record, field, field_names, replace


class Point(Record):
    x: int
    y: int = 2

    @property
    def norm(self) -> int:
        return self.x * self.x + self.y * self.y


class Named(Point):
    name: str = ""


class Draft(Record, frozen=False):
    lines: list[str] = field(default_factory=list)


class Handle(Record, eq=False):
    value: object


def test_fields_in_order_with_defaults() -> None:
    point = Point(1)
    assert (point.x, point.y, point.norm) == (1, 2, 5)
    assert Point(y=5, x=4) == Point(4, 5)
    assert field_names(Named) == ("x", "y", "name")
    assert Named(1, 3, "n").norm == 10


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        replace(Point(1), z=3)


def test_no_room_for_other_attributes() -> None:
    with pytest.raises(AttributeError):
        Point(1).z = 3  # type: ignore[attr-defined]


def test_equality_and_hash_are_by_class_and_value() -> None:
    assert Point(1) == Point(1, 2) != Point(1, 3)
    assert hash(Point(1)) == hash(Point(1, 2))
    assert Point(1) != Named(1)
    assert {Point(1): "a"}[Point(1)] == "a"
    nan = float("nan")
    assert Handle(nan) != Handle(nan)
    assert len({Handle(1), Handle(1)}) == 2


def test_drafts_are_written_to_and_have_no_hash() -> None:
    draft = Draft()
    draft.lines = ["a"]
    assert Draft().lines == []
    assert draft == Draft(["a"])
    with pytest.raises(TypeError, match="unhashable"):
        hash(draft)


def test_replace_repr_match() -> None:
    assert replace(Point(1), y=7) == Point(1, 7)
    assert repr(Named(1, name="n")) == "Named(x=1, y=2, name='n')"
    match Named(1, 2, "n"):
        case Named(x, y, name):
            assert (x, y, name) == (1, 2, "n")


def test_copies() -> None:
    point = Named(1, 2, "n")
    assert copy.deepcopy(point) == point == pickle.loads(pickle.dumps(point))
