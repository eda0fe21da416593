"""Attributes of builtin values: what is no method is not taken for one."""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import types
from typing import Any, NamedTuple

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, sound, whole

program = Programs()


class Plain:
    """A class without anything."""


class Mode(enum.Enum):
    """One member."""

    TRAIN = 1


class Pair(NamedTuple):
    """Two values."""

    first: Any
    second: Any = 2

    @staticmethod
    def added(value: Any) -> Any:
        return value + 1

    @classmethod
    def alone(cls, value: Any) -> Any:
        return cls(value)


def numbers() -> Any:
    yield 1


@program
def classes_of_values(x: Any) -> Any:
    values: list[Any] = [
        [1], (1,), {}, {1}, frozenset([1]), range(3), numbers(), "a", 1, 2.5, None, b"a",
        collections.deque([1]), collections.OrderedDict(), collections.defaultdict(int),
        collections.Counter(), slice(1), lambda: 0, numbers, Plain(), functools.partial(numbers),
        iter([]), enumerate([]), zip(), map(str, []), {}.keys(), {}.items(), Pair(1), Mode.TRAIN,
        x, x.shape, x.dtype, itertools.count(), itertools.chain(), ValueError("a"), Ellipsis,
    ]  # fmt: skip
    found = [(v.__class__ is type(v), v.__class__.__name__, isinstance(v, v.__class__))
             for v in values]  # fmt: skip
    return x + 1, found, getattr(x, "__class__") is gw.Tensor  # noqa: B009


@program
def names_of_classes_only(x: Any) -> Any:
    values: list[Any] = [[1], (1,), {}, {1}, "a", 1, Plain(), Pair(1), range(2), x]
    names = ("__name__", "__qualname__", "mro", "__mro__", "__bases__", "__subclasses__")
    return x + 1, [[hasattr(value, name) for name in names] for value in values]


@program
def members_that_are_no_methods(x: Any) -> Any:
    items, table, members = [1], {"a": 1}, {1}
    facts = (
        items.__hash__ is None, table.__hash__ is None, members.__hash__ is None,
        items.__doc__ == list.__doc__, table.__doc__ == dict.__doc__, Plain().__doc__,
        range(2, 9, 3).start, range(2, 9, 3).step, slice(1, 2).stop,
        collections.deque([1], maxlen=3).maxlen, (1).real, (2 + 1j).imag, Pair(1).second,
    )  # fmt: skip
    return x + 1, facts


TABLE: Any = types.MappingProxyType({"a": 1, "b": [2]})


@program
def methods_of_named_tuples(x: Any) -> Any:
    pair = Pair(x)
    return pair.added(x), pair.alone(3), Pair.alone(x).second, Pair.added(1)


@program
def mappings_to_read(x: Any) -> Any:
    own: Any = types.MappingProxyType({"x": x})
    found = [*TABLE], TABLE["b"], TABLE.get("c", 3), "a" in TABLE, len(TABLE), {**TABLE}
    members = Mode.__members__["TRAIN"], list(Mode.__members__), hash(Mode.TRAIN) == hash("TRAIN")
    return own["x"] * TABLE["a"], dict(own.items()), found, members


@program
def what_a_class_holds_itself(x: Any) -> Any:
    own = vars(Plain), Pair.__dict__, type(Plain()).__dict__
    try:
        own[0]["nothing"]
    except KeyError as error:
        told = error.args
    facts = ["__doc__" in own[0], "add" in own[1], "mro" in own[2], own[0].get("add", 3), told]
    return x + 1, facts, own[1]["_fields"], own[0]["__doc__"]


@program
def attributes_of_tensors(x: Any) -> Any:
    y, unused = x * 2, x + 3
    y.scale, y.label, unused.label = x.sum(), "y", "none"
    x.seen = [y]
    x.passing = 1
    del x.passing
    found = hasattr(x, "passing"), hasattr(y, "label"), getattr(x, "label", None), y.label
    return y.scale * 2, y, x.seen[0] is y, found


class Shape:
    """With subclasses, which have some themselves."""


class Round(Shape):
    """A direct one."""


class Circle(Round):
    """One of that."""


@program
def subclasses_and_orders_of_classes(x: Any) -> Any:
    found, waiting = [], Shape.__subclasses__()
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        found.append(kind)
    return x + len(found), found, Circle.mro(), type.__subclasses__(Round), type.mro(Round)


@pytest.mark.parametrize("program", program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


def generator_state(x: Any) -> Any:
    items = numbers()
    before = items.gi_frame is None, items.gi_running, items.gi_yieldfrom is None
    taken = list(items)
    return x + 1, before, taken, items.gi_frame is None, items.__name__


def text_of_a_missing_attribute(x: Any) -> Any:
    texts = []
    for value in ([], {}, collections.OrderedDict(), collections.deque(), iter([]), numbers()):
        try:
            value.nothing  # type: ignore[attr-defined] # noqa: B018
        except AttributeError as error:
            texts.append(str(error))
    return x + 1, texts


@pytest.mark.parametrize("program", [generator_state, text_of_a_missing_attribute])
def test_what_is_not_modelled_is_left_to_python(program: Any) -> None:
    sound(program, gw.randn(2, 3))


def test_attributes_of_tensors_outlive_the_graph() -> None:
    def program(x: Any) -> Any:
        x.calls = getattr(x, "calls", 0) + 1
        y = x * x.calls
        y.parent = x
        return y

    captured, x = Captured(program, fullgraph=True), gw.ones(2)
    for step in range(1, 4):
        y = captured(x)
        assert y.tolist() == [float(step)] * 2
        assert (y.parent is x, x.calls) == (True, step)


def test_a_class_that_comes_to_hold_a_name_is_seen() -> None:
    class Base:
        shared = 1

    class Own(Base):
        pass

    captured = Captured(lambda x: x + ("shared" in Own.__dict__), fullgraph=True)
    assert captured(gw.zeros(1)).item() == 0
    Own.shared = 2
    assert captured(gw.zeros(1)).item() == 1
    del Own.shared
    assert captured(gw.zeros(1)).item() == 0
    del Base.shared
    assert captured(gw.zeros(1)).item() == 0
    Own.shared = 3
    assert captured(gw.zeros(1)).item() == 1


def test_a_dict_behind_a_proxy_that_changes_is_seen() -> None:
    table = {"factor": 2}
    shown = types.MappingProxyType(table)
    captured = Captured(lambda x: x * shown["factor"] + len(shown), fullgraph=True)
    assert captured(gw.ones(1)).item() == 3
    table["factor"] = 5
    assert captured(gw.ones(1)).item() == 6
    table["more"] = 0
    assert captured(gw.ones(1)).item() == 7
