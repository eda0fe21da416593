"""Methods of a builtin base class, reached by `super()`, stay those of the base class.

The subclass overrides them. Behind a graph break what the frame held of them (bound methods,
iterators, views) must not have become the override of that name.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from .captured import Captured


def opaque(value: Any) -> Any:
    """A graph break: its argument is needed."""
    return eval("value")


class Keyed(dict):  # type: ignore[type-arg]
    def __getitem__(self, key: Any) -> Any:
        return "own", key

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, opaque(value))

    def __iter__(self) -> Any:
        return iter(["own"])

    def keys(self) -> Any:
        return ["own"]

    def seen(self) -> Any:
        keys, places, item = super().keys(), super().__iter__(), super().__getitem__
        opaque(0)
        return list(keys), list(places), item("a")


class Listed(list):  # type: ignore[type-arg]
    def append(self, value: Any) -> None:
        super().append(opaque(value))

    def __iter__(self) -> Any:
        return iter("own")

    def __reversed__(self) -> Any:
        return iter("own")

    def seen(self) -> Any:
        forwards, backwards, add = super().__iter__(), super().__reversed__(), super().append
        opaque(0)
        seen = list(forwards), list(backwards)
        add(5)
        return *seen, super().__len__()


class Queued(collections.deque):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter("own")

    def seen(self) -> Any:
        items = super().__iter__()
        opaque(0)
        return list(items)


class Ordered(collections.OrderedDict):  # type: ignore[type-arg]
    def items(self) -> Any:
        return ["own"]

    def seen(self) -> Any:
        items = super().items()
        opaque(0)
        return list(items)


def made_outside(x: Any, value: Any) -> Any:
    return x + 1, value.seen()


def keyed_in_frame(x: Any, value: Any) -> Any:
    made = Keyed()
    made["a"] = x
    return made.seen()


def listed_in_frame(x: Any, value: Any) -> Any:
    made = Listed()
    made.append(3)
    return x + 1, made.seen()


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (made_outside, lambda: Keyed({"a": 1, "b": 2})),
        (made_outside, lambda: Listed([1, 2])),
        (made_outside, lambda: Queued([1, 2])),
        (made_outside, lambda: Ordered(a=1)),
        (keyed_in_frame, lambda: None),
        (listed_in_frame, lambda: None),
    ],
)
def test_methods_of_the_base_class(program: Any, make: Callable[[], Any]) -> None:
    captured = Captured(program, everywhere=True)
    x = gw.ones(2)
    plain = repr(program(x, make()))
    for _ in range(3):
        assert repr(captured(x, make())) == plain


def test_a_method_handed_to_native_code_is_the_base_classs() -> None:
    def program(x: Any, value: Any) -> Any:
        method = super(Keyed, value).__getitem__
        return x + 1, list(map(opaque, ["a"])), opaque(method)("a")

    captured = Captured(program)
    for _ in range(2):
        assert captured(gw.ones(1), Keyed(a=7))[1:] == (["a"], 7)


class Described:
    """What `property` says of itself, by its own text or by that of what reads it."""

    def bare(self) -> int:
        return 1

    def first(self) -> int:
        """first"""
        return 2

    def second(self) -> int:
        """second"""
        return 3


def accessors(x: Any) -> Any:
    bare, first, second = Described.bare, Described.first, Described.second
    found = [
        property(bare, None, None, "text").getter(first),
        property(first, None, None, "text").getter(second),
        property(first).getter(second),
        property(bare).getter(first),
        property(first, doc="text").setter(second),
        property(fget=first, fset=bare).deleter(second),
        property(fget=first, fset=bare).getter(None),  # type: ignore[arg-type]
    ]
    return x + 1, found


def test_properties_with_another_accessor_keep_the_rest() -> None:
    def seen(found: list[property]) -> Any:
        return [(one.__doc__, one.fget, one.fset, one.fdel) for one in found]

    captured = Captured(accessors)
    for _ in range(2):
        assert seen(captured(gw.ones(1))[1]) == seen(accessors(gw.ones(1))[1])


NONE: tuple[Any, ...] = ()
PERCENT, BRACES = "%s", "{}"


def copies(x: Any, values: Any, text: Any) -> Any:
    made = [
        values * 1,
        values + NONE,
        NONE + values,
        values[:],
        tuple(values),
        PERCENT % text,
        f"{text}",
        BRACES.format(text),
        text[:],
    ]
    kept = [values] * 5 + [text] * 4
    return x + 1, [a is b for a, b in zip(opaque(made), opaque(kept), strict=True)]


def test_what_python_does_not_copy_stays_the_same_object() -> None:
    captured = Captured(copies)
    text = "".join(["not ", "interned"])
    for values in ((1, "b"), (gw.ones(1), 2)):
        assert captured(gw.ones(1), values, text)[1] == copies(gw.ones(1), values, text)[1]


def test_a_tuple_class_is_copied() -> None:
    class Pair(tuple):  # type: ignore[type-arg]
        pass

    def program(x: Any, pair: Any) -> Any:
        same = [pair * 1, pair + NONE, NONE + pair, pair[:]]
        return x + 1, [value is pair for value in opaque(same)], [type(v) for v in same]

    captured = Captured(program)
    for _ in range(2):
        assert captured(gw.ones(1), Pair((1, 2)))[1:] == ([False] * 4, [tuple] * 4)


def test_a_compiled_function_in_a_frame_is_itself_and_no_plain_one() -> None:
    inner = gw.compile(lambda x: x * 2)

    def program(x: Any) -> Any:
        return inner(x) + 1, inner, inner.__wrapped__(x), opaque(inner)(x), bool(inner)

    captured = Captured(program)
    for _ in range(2):
        first, itself, *others = captured(gw.ones(2))
        assert first.tolist() == [3.0, 3.0]
        assert itself is inner
        assert [x.tolist() for x in others[:2]] == [[2.0, 2.0]] * 2
        assert others[2] is True


def test_attributes_of_a_compiled_function_are_its_own() -> None:
    inner = gw.compile(lambda x: x * 2)

    def program(x: Any) -> Any:
        y = inner(x)
        return y, inner.limit, len(inner.entries)

    captured = Captured(program)
    assert captured(gw.ones(2))[1:] == (inner.limit, 0)


class Counted(collections.OrderedDict):  # type: ignore[type-arg]
    pass


class Line(collections.deque):  # type: ignore[type-arg]
    pass


def test_operators_that_call_the_class_give_its_instances() -> None:
    def program(x: Any, counts: Any, line: Any) -> Any:
        return x + 1, counts | {"b": 2}, line + line, line * 2, counts == {"a": 1}

    captured = Captured(program)
    for _ in range(2):
        found = captured(gw.ones(1), Counted(a=1), Line([1]))[1:]
        assert found == (Counted(a=1, b=2), Line([1, 1]), Line([1, 1]), True)
        assert [type(value) for value in found] == [Counted, Line, Line, bool]


def test_methods_of_ordered_dicts_take_keywords() -> None:
    def program(x: Any) -> Any:
        made = collections.OrderedDict()  # type: ignore[var-annotated]
        return x + 1, made.setdefault(5, default=9), made.pop(6, default=7), list(made)

    captured = Captured(program)
    for _ in range(2):
        assert captured(gw.ones(1))[1:] == (9, 7, [5])


WORDS = re.compile(r"[a-z]+")


def test_matches_are_looked_for_in_each_call() -> None:
    def program(x: Any) -> Any:
        first = []
        for match in WORDS.finditer("one two three"):
            first.append(opaque(match).group())
        return x + 1, first

    captured = Captured(program)
    for _ in range(3):
        assert captured(gw.ones(1))[1] == ["one", "two", "three"]


def test_a_repeated_deque_is_a_deque() -> None:
    """It was a tuple of the same items; `*=` changes the deque itself."""

    def work(x: Any, kept: Any) -> Any:
        kept *= 2
        return x + 1, kept * 2, 2 * kept, kept

    deque = collections.deque([1])
    _, left, right, same = Captured(work)(gw.ones(1), deque)
    assert left == right == collections.deque([1, 1, 1, 1])
    assert same is deque and deque == collections.deque([1, 1])
