"""Attributes of builtin values: what is no method is not taken for one."""

from __future__ import annotations

import collections
import enum
import functools
import itertools
from typing import Any, NamedTuple

import pytest

import graphwright as gw

from .programs import Programs, sound, whole

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
