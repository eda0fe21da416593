"""Class statements inside of captured functions."""

from __future__ import annotations

import abc
import dataclasses
import functools
import gc
import types
import weakref
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..pictures import picture
from ..programs import Programs, sound, whole

whole_program = Programs()
broken_program = Programs()
OFFSETS = [1]


class Base:
    """A class that exists before the frames run."""

    factor = 2

    def __init__(self, value: Any) -> None:
        self.value = value

    def scaled(self) -> Any:
        return self.value * self.factor


@whole_program
def a_comprehension_over_what_the_class_reads_of_the_function(x: Any) -> Any:
    items = [1, 5, 3]

    class Above:
        length = len([item for item in items[:2] if item > len(items)])
        again = [items for items in items] + items

    return x * Above.length, Above.again, items


@whole_program
def attributes_and_methods(x: Any) -> Any:
    seen: list[int] = []

    class Item(Base):
        """A text."""

        names = seen
        count: int = 3
        shifted = x + 1
        double = staticmethod(lambda a: a * 2)
        for step in range(3):
            count += step
        del step

        def __init__(self, value: Any, extra: int = count) -> None:
            super().__init__(value)
            self.extra = extra
            self.names.append(extra)

        def scaled(self) -> Any:
            return super().scaled() + self.extra + self.shifted

        def __add__(self, other: Any) -> Any:
            return Item(self.value + other.value)

        def __call__(self, y: Any) -> Any:
            return y + OFFSETS[0]

    item = Item(x)
    total = (item + Item(x, 1)).scaled() + item(x) + Item.double(3) + Item.count
    return total, seen, Item.names is seen, Item.__name__, Item.__doc__


@whole_program
def descriptors(x: Any) -> Any:
    class Item:
        def __init__(self) -> None:
            self._value = 1
            self.reads = 0

        @property
        def value(self) -> int:
            return self._value

        @value.setter
        def value(self, value: int) -> None:
            self._value = value + 1

        @functools.cached_property
        def large(self) -> Any:
            self.reads += 1
            return x * 10

        @classmethod
        def made(cls) -> Any:
            return cls()

        @staticmethod
        def twice(y: Any) -> Any:
            return y * 2

    item = Item.made()
    item.value = 4
    return item.twice(x) * item.value + item.large + item.large, item.reads


@whole_program
def special_methods(x: Any) -> Any:
    class Item:
        def __init__(self) -> None:
            self.__hidden = 3

        def __len__(self) -> int:
            return self.__hidden

        def __iter__(self) -> Any:
            yield from range(len(self))

        def __getattr__(self, name: str) -> int:
            return len(name)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *args: Any) -> bool:
            return True

    with Item() as item:
        raise ValueError
    return x * len(item) + item.missing, [*item]


@whole_program
def nested_and_in_loops(x: Any) -> Any:
    results = []
    for i in range(3):

        class Outer:
            value = i

            class Inner(list):  # type: ignore[type-arg]
                def total(self) -> int:
                    return sum(self) + i  # noqa: B023

        Outer.value += 1
        results.append((Outer.value, Outer.Inner([1, 2]).total()))
    return x * results[2][1], results


@whole_program
def decorated(x: Any) -> Any:
    def tagged(cls: Any) -> Any:
        cls.tag = 5
        return cls

    @tagged
    class Item:
        def scaled(self) -> Any:
            return x * self.tag  # type: ignore[attr-defined]

        alias = scaled

    return Item().alias(), Item.__qualname__, Item.__module__, {Item: 1}[Item]


@whole_program
def kinship(x: Any) -> Any:
    class Parent(Base):
        pass

    class Child(Parent):
        factor = 5

        def scaled(self) -> Any:
            return super().scaled() + 1

    child = Child(x)
    Child.count = 4  # type: ignore[attr-defined]
    Child.count += 1  # type: ignore[attr-defined]
    facts = (
        isinstance(child, Base), isinstance(child, Child), type(child) is Child,
        issubclass(Child, Parent), not isinstance(x, Child), Child.__mro__[1] is Parent,
    )  # fmt: skip
    return child.scaled() + child.count, all(facts)


@whole_program
def records(x: Any) -> Any:
    @dataclasses.dataclass(frozen=True, order=True)
    class Point:
        row: int
        tags: list[int] = dataclasses.field(default_factory=list, compare=False)
        data: Any = dataclasses.field(default=None, compare=False)

        def twice(self) -> int:
            return self.row * 2

    point = Point(1, data=x)
    point.tags.append(2)
    other = dataclasses.replace(point, row=3)
    names = [field.name for field in dataclasses.fields(point)]
    return point.data * other.row, point < other, point == Point(1), names, point.twice()


@whole_program
def exceptions(x: Any) -> Any:
    class Stop(Exception):
        pass

    try:
        for i in range(5):
            if i == 3:
                raise Stop(i)
    except Stop as stop:
        return x * stop.args[0]


@whole_program
def modules(x: Any) -> Any:
    class Net(nn.Module):
        def forward(self, y: Any) -> Any:
            return y.relu() * 2

    return Net()(x)


@whole_program
def abstract_classes(x: Any) -> Any:
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self) -> Any: ...

    class Square(Shape):
        def area(self) -> Any:
            return x * x

    return Square().area() + isinstance(Square(), Shape)


@broken_program
def leaves_the_frame(x: Any) -> Any:
    y = x + 1

    class Item:
        value = 3

    return y * Item.value, Item, Item()


@broken_program
def instance_leaves_the_frame(x: Any) -> Any:
    y = x + 1

    class Item:
        value = 3

    item = Item()
    item.data = y * 2  # type: ignore[attr-defined]
    return [item]


@broken_program
def method_leaves_the_frame(x: Any) -> Any:
    class Item:
        def scaled(self) -> Any:
            return x * 2

    item = Item()
    return x + 1, item.scaled


@broken_program
def is_needed_after_a_break(x: Any) -> Any:
    class Item:
        value = 3

    y = x * Item.value
    if y.sum() > 0:
        y = y + 1
    return y * Item.value


@broken_program
def record_with_a_mutable_default(x: Any) -> Any:
    try:

        @dataclasses.dataclass
        class Point:
            tags: list[int] = []  # noqa: RUF008

    except ValueError as error:
        return x + 1, str(error)


@broken_program
def record_with_metadata(x: Any) -> Any:
    @dataclasses.dataclass
    class Point:
        data: Any = dataclasses.field(default=None, metadata={"unit": "m"})

    return x + 1, dataclasses.fields(Point)[0].metadata["unit"]


@whole_program
def class_with_a_metaclass(x: Any) -> Any:
    class Item(metaclass=abc.ABCMeta):  # noqa: B024
        value = 3

    return x * Item.value


@broken_program
def class_with_two_bases(x: Any) -> Any:
    class Mixed(Base, dict):  # type: ignore[type-arg]
        pass

    return x * Mixed.factor


@pytest.mark.parametrize("program", whole_program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


@pytest.mark.parametrize("program", broken_program.all, ids=lambda p: p.__name__)
def test_classes_that_leave_are_made_by_plain_python(program: Any) -> None:
    assert sound(program, gw.randn(2, 3)).breaks


def test_each_call_makes_another_class() -> None:
    captured = Captured(leaves_the_frame)
    first, second = (captured(gw.ones(2))[1] for _ in range(2))
    assert first is not second
    assert type(captured(gw.ones(2))[2]).__name__ == "Item"


def test_an_exception_of_the_frame_leaves_it() -> None:
    def program(x: Any) -> Any:
        class Stop(Exception):
            pass

        y = x + 1
        raise Stop(y)

    captured = Captured(program)
    kinds = []
    for _ in range(3):
        with pytest.raises(Exception, match="tensor") as found:
            captured(gw.ones(2))
        kinds.append(found.type)
    assert len(set(kinds)) == 3
    assert {kind.__name__ for kind in kinds} == {"Stop"}


def tripled(item: Any, value: Any) -> None:
    item.value = value * 3


def test_what_is_inherited_is_guarded(monkeypatch: Any) -> None:
    captured = Captured(kinship, fullgraph=True)
    x = gw.ones(2)
    for change in (
        lambda: None,
        lambda: monkeypatch.setattr(Base, "scaled", lambda self: self.value * 7),
        lambda: monkeypatch.setattr(Base, "__init__", tripled),
        lambda: monkeypatch.setattr(Base, "count", 9, raising=False),
        lambda: monkeypatch.setattr(Base, "__getattr__", lambda self, n: 1, raising=False),
    ):
        change()
        assert picture(captured(x)) == picture(kinship(x))


def test_templates_end_with_their_translation() -> None:
    class Noted(Base):
        pass

    def program(x: Any, base: Any) -> Any:
        class Item(base):  # type: ignore[misc]
            pass

        return Item(x).scaled()

    captured = Captured(program, fullgraph=True)
    captured(gw.ones(2), Noted)
    assert Noted.__subclasses__() == []
    gc.collect()
    assert captured(gw.ones(2), Noted).tolist() == [2.0, 2.0]
    known = weakref.ref(Noted)
    del Noted, captured
    gc.collect()
    assert known() is None


def test_bases_do_not_list_templates() -> None:
    class Noted(Base):
        pass

    def program(x: Any) -> Any:
        class Plain:
            pass

        class Item(Noted):
            plain = Plain()

        return x + 1, [known.__name__ for known in Noted.__subclasses__()], Item.__name__

    gc.collect()
    gc.disable()
    try:
        for run in (Captured(program), program):
            before = len(object.__subclasses__()), len(Noted.__subclasses__())
            assert run(gw.ones(2))[1:] == (["Item"], "Item")
            gc.collect()
            assert (len(object.__subclasses__()), len(Noted.__subclasses__())) == before
    finally:
        gc.enable()


def test_a_metaclass_that_makes_another_class_of_the_body_is_refused() -> None:
    """The cell of `__class__` is then of the other class (CPython's issue 23722)."""
    class Meta(type):
        def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            made = super().__new__(mcs, name, bases, namespace)
            type("Other", (), namespace)
            return made

    def program(x: Any) -> Any:
        class Item(metaclass=Meta):
            def own(self) -> type:
                return __class__    # type: ignore[name-defined, no-any-return]

        return x + 1, Item.__name__

    for run in (program, Captured(program)):
        with pytest.raises(TypeError, match="__class__ set to"):
            run(gw.ones(2))


def test_the_cell_of_a_body_that_ran_elsewhere_is_filled() -> None:
    def program(x: Any, cell: types.CellType) -> Any:
        type("Other", (), {"__classcell__": cell})
        return x + 1

    for run in (program, Captured(program)):
        cell = types.CellType()
        run(gw.ones(2), cell)
        assert cell.cell_contents.__name__ == "Other"
