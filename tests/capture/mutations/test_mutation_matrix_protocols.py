"""Kinds of change between calls: what classes say about operators, creation and text."""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graphwright.capture.frame.frontend import Frontend

from .matrix import Case, Step, run_case, tensor

X = tensor(3, 4)
_ABSENT = object()


class Base:
    """What the changed classes inherit from."""

    def __init__(self, value: int = 2) -> None:
        self.value = value


@dataclasses.dataclass
class Record:
    value: int = 2
    other: int = 3




def replaced(
    name: str, use: Callable[..., Any], *versions: Any, start: Any = _ABSENT, base: type = Base
) -> Case:
    """A case: `use(x, cls, thing)` while `cls.name` takes each of the versions."""

    def steps() -> Iterator[Step]:
        cls = type("Thing", (base,), {} if start is _ABSENT else {name: start})
        thing = cls()
        yield use, (X, cls, thing)
        for version in versions:
            setattr(cls, name, version)
            yield use, (X, cls, thing)
        if start is _ABSENT and not hasattr(type, name):
            delattr(cls, name)
            yield use, (X, cls, thing)

    return steps


def of_code(name: str, use: Callable[..., Any], start: Any, other: Any) -> Case:
    """A case: the code of the method changes, not the method."""

    def steps() -> Iterator[Step]:
        function = types.FunctionType(start.__code__, globals(), name, start.__defaults__)
        cls = type("Thing", (Base,), {name: function})
        thing = cls()
        yield use, (X, cls, thing)
        function.__code__ = other.__code__
        yield use, (X, cls, thing)

    return steps


def with_manager(x: Any, cls: Any, thing: Any) -> Any:
    with thing as value:
        x = x * value
    return x + 1


def created(x: Any, cls: Any, thing: Any) -> Any:
    return x * cls(3).value


def created_plainly(x: Any, cls: Any, thing: Any) -> Any:
    return x * getattr(cls(), "value", 9)


def assigned(x: Any, cls: Any, thing: Any) -> Any:
    made = cls(3)
    made.value = 4
    return x * made.value


def attempted(x: Any, cls: Any, thing: Any) -> Any:
    try:
        return x * len(thing)
    except TypeError:
        return x - 1


def iterated(x: Any, cls: Any, thing: Any) -> Any:
    for value in thing:
        x = x * value
    return x + 1


def matched(x: Any, cls: Any, thing: Any) -> Any:
    match thing:
        case Base(value=2):
            return x * 2
        case Base(value=value):
            return x * value
    return x


CASES: dict[str, Case] = {
    "__len__": replaced("__len__", lambda x, c, t: x * len(t), lambda s: 3, start=lambda s: 2),
    "__len__ appears": replaced("__len__", attempted, lambda s: 3),
    "__getitem__": replaced(
        "__getitem__", lambda x, c, t: x * t[1], lambda s, i: i + 5, start=lambda s, i: i),
    "__contains__": replaced(
        "__contains__", lambda x, c, t: x * 2 if 5 in t else x * 3, lambda s, i: False,
        start=lambda s, i: True),
    "__iter__": replaced(
        "__iter__", iterated, lambda s: iter([4]), start=lambda s: iter([2, 3])),
    "__call__": replaced(
        "__call__", lambda x, c, t: t(x), lambda s, x: x * 3, start=lambda s, x: x * 2),
    "callable": replaced(
        "__call__", lambda x, c, t: x * 2 if callable(t) else x * 3, lambda s, x: x),
    "__add__": replaced(
        "__add__", lambda x, c, t: x * (t + 1), lambda s, o: 7, start=lambda s, o: 6),
    "__radd__": replaced(
        "__radd__", lambda x, c, t: x * (1 + t), lambda s, o: 7, start=lambda s, o: 6),
    "__mul__ with a tensor": replaced(
        "__rmul__", lambda x, c, t: t * x, lambda s, o: o * 3, start=lambda s, o: o * 2),
    "__neg__": replaced("__neg__", lambda x, c, t: x * -t, lambda s: 7, start=lambda s: 6),
    "__lt__": replaced(
        "__lt__", lambda x, c, t: x * 2 if t < 3 else x * 3, lambda s, o: False,
        start=lambda s, o: True),
    "__eq__ appears": replaced(
        "__eq__", lambda x, c, t: x * 2 if t == 3 else x * 3, lambda s, o: True),
    "__ne__ appears": replaced(
        "__ne__", lambda x, c, t: x * 2 if t != 3 else x * 3, lambda s, o: False),
    "__bool__ appears": replaced(
        "__bool__", lambda x, c, t: x * 2 if t else x * 3, lambda s: False, lambda s: True),
    "__index__": replaced(
        "__index__", lambda x, c, t: x * [5, 6, 7][t], lambda s: 1, start=lambda s: 0),
    "__int__": replaced(
        "__int__", lambda x, c, t: x * int(t), lambda s: 3, start=lambda s: 2),
    "__float__": replaced(
        "__float__", lambda x, c, t: x * float(t), lambda s: 3.5, start=lambda s: 2.5),
    "__str__": replaced(
        "__str__", lambda x, c, t: x * len(str(t)), lambda s: "long", start=lambda s: "a"),
    "__repr__": replaced(
        "__repr__", lambda x, c, t: x * len(f"{t!r}"), lambda s: "long", start=lambda s: "a"),
    "__format__": replaced(
        "__format__", lambda x, c, t: x * len(f"{t:>3}"), lambda s, spec: "long",
        start=lambda s, spec: spec),
    "__hash__ of a key": replaced(
        "__hash__", lambda x, c, t: x * (hash(t) % 5 + 1), lambda s: 3, start=lambda s: 2),
    "__enter__": replaced(
        "__enter__", with_manager, lambda s: 3, start=lambda s: 2,
        base=type("Managed", (Base,), {"__exit__": lambda s, *error: None})),
    "__init__": replaced(
        "__init__", created, lambda s, v=5: setattr(s, "value", v + 1)),
    "__init__ becomes empty": replaced("__init__", created_plainly, lambda s, v=5: None),
    "__new__ appears": replaced(
        "__new__", created, lambda c, *a: types.SimpleNamespace(value=8)),
    "__setattr__ appears": replaced(
        "__setattr__", assigned, lambda s, n, v: object.__setattr__(s, n, v + 5)),
    "value becomes a property": replaced(
        "value", lambda x, c, t: x * t.value, property(lambda s: 9)),
    "value becomes a slot's default": replaced("value", lambda x, c, t: x * t.value, 7),
    "__getattr__ appears": replaced(
        "__getattr__", lambda x, c, t: x * getattr(t, "more", 5), lambda s, n: 6),
    "__getattribute__ appears": replaced(
        "__getattribute__", lambda x, c, t: x * t.value, lambda s, n: 6),
    "__class_getitem__": replaced(
        "__class_getitem__", lambda x, c, t: x * c[1], classmethod(lambda c, i: i + 5),
        start=classmethod(lambda c, i: i)),
    "__name__": replaced("__name__", lambda x, c, t: x * len(c.__name__), "n"),
    "__doc__": replaced(
        "__doc__", lambda x, c, t: x * len(c.__doc__ or ""), "text", start="some text"),
    "__match_args__": replaced(
        "__match_args__", matched, ("value",)),
    "matched value": replaced("value", matched, property(lambda s: 9)),
    "field of a dataclass": replaced(
        "value", lambda x, c, t: x * t.value * t.other, property(lambda s: 9, lambda s, v: None),
        base=Record),
    "__post_init__": replaced(
        "__post_init__", lambda x, c, t: x * c(4).value, lambda s: setattr(s, "value", 8),
        base=Record),
    "__eq__ of a dataclass": replaced(
        "__eq__", lambda x, c, t: x * 2 if c(1) == c(1) else x * 3, lambda s, o: False,
        base=Record),
    "code of a method": of_code(
        "scale", lambda x, c, t: x * t.scale(), lambda self: 2, lambda self: 3),
    "code of __len__": of_code(
        "__len__", lambda x, c, t: x * len(t), lambda self: 2, lambda self: 3),
    "code of __iter__": of_code(
        "__iter__", iterated, lambda self: iter([2]), lambda self: iter([3])),
    "code of __add__": of_code(
        "__add__", lambda x, c, t: x * (t + 1), lambda self, o: 2, lambda self, o: 3),
    "code of __init__": of_code(
        "__init__", created_plainly, lambda self: None,
        lambda self: setattr(self, "value", 3)),
    "code of __str__": of_code(
        "__str__", lambda x, c, t: x * len(str(t)), lambda self: "a", lambda self: "long"),
}


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_nothing_is_stale(steps: Case) -> None:
    run_case(steps, Frontend(lambda module, examples: module))


def test_managers_of_contextlib() -> None:
    def steps() -> Iterator[Step]:
        def manager(value: int) -> Any:
            @contextlib.contextmanager
            def scaled() -> Iterator[int]:
                yield value

            return scaled

        scaled = manager(2)

        def f(x: Any) -> Any:
            with scaled() as value:
                return x * value

        yield f, (X,)
        scaled = manager(3)
        yield f, (X,)

    run_case(steps, Frontend(lambda module, examples: module))
