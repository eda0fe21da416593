"""Methods that a class gains or loses after a capture which looked for them."""

from __future__ import annotations

import collections
import copy
import enum
import functools

import pytest

import graphwright as gw
from graphwright.face.api import lookup

from ..captured import Captured

X = gw.tensor([1.0, -2.0, 3.0])


def _class(*bases, **members):
    return type("Made", bases, members)


def agrees_before_and_after(function, cls, name, method):
    """Whether captures agree with `function` of a class, and again once it has the method."""
    captured = Captured(function)
    before = captured.agrees(X, cls)
    setattr(cls, name, method)
    return before and captured.agrees(X, cls)


def deleted(x, value):
    value.mark = 1
    del value.mark
    return x + 1, vars(value)


CASES = [
    ("__contains__", lambda self, item: False, [], {"__iter__": lambda self: iter([1])},
     lambda x, value: (x + 1, 1 in value)),
    ("__str__", lambda self: "text", [], {"__repr__": lambda self: "shown"},
     lambda x, value: (x + 1, f"{value}", str(value))),
    ("__format__", lambda self, spec: "formatted", [], {"__repr__": lambda self: "shown"},
     lambda x, value: (x + 1, f"{value}")),
    ("__delattr__", lambda self, name: None, [], {}, deleted),
    ("__copy__", lambda self: "copied", [], {},
     lambda x, value: (x + 1, copy.copy(value) == "copied")),
    ("__deepcopy__", lambda self, memo: "copied", [], {},
     lambda x, value: (x + 1, copy.deepcopy(value) == "copied")),
    ("__reduce_ex__", lambda self, protocol: "copied", [], {},
     lambda x, value: (x + 1, type(copy.copy(value)).__name__)),
    ("__dir__", lambda self: ["only"], [], {}, lambda x, value: (x + 1, "__init__" in dir(value))),
    ("__iter__", lambda self: iter("ab"), [list], {}, lambda x, value: (x + 1, list(value))),
    ("__iter__", lambda self: iter("ab"), [set], {}, lambda x, value: (x + 1, sorted(value))),
    ("__eq__", lambda self, other: "equal", [list], {}, lambda x, value: (x + 1, value == [])),
    ("__add__", lambda self, other: "sum", [list], {},
     lambda x, value: (x + 1, value + list("a"))),
    ("get", lambda self, key: "got", [dict], {}, lambda x, value: (x + 1, value.get(1))),
    ("__add__", lambda self, other: "sum", [int], {}, lambda x, value: (x + 1, value + 1)),
    ("upper", lambda self: "own", [str], {}, lambda x, value: (x + 1, value.upper())),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "method", "bases", "members", "function"),
    CASES,
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_gained(name, method, bases, members, function):
    cls = _class(*bases, **members)
    captured = Captured(function)
    assert captured.agrees(X, cls())
    setattr(cls, name, method)
    assert captured.agrees(X, cls())
    delattr(cls, name)
    assert captured.agrees(X, cls())


def test_the_reflected_operator_that_a_subclass_gains_comes_first():
    base = _class(__add__=lambda self, other: "left")
    derived = _class(base)
    captured = Captured(lambda x, left, right: (x + 1, left + right))
    assert captured.agrees(X, base(), derived())
    derived.__radd__ = lambda self, other: "right"
    assert captured.agrees(X, base(), derived())


def test_divmod_asks_for_its_own_methods_only():
    parts = {"__floordiv__": lambda self, other: 1, "__mod__": lambda self, other: 2}
    reflected = {"__rfloordiv__": lambda self, other: 1, "__rdivmod__": lambda self, other: "own"}
    captured = Captured(lambda x, value: (x + 1, divmod(value, 2)))
    with pytest.raises(TypeError):
        captured(X, _class(**parts)())
    assert captured.agrees(X, _class(**parts, __divmod__=lambda self, other: "own")())
    assert Captured(lambda x, value: (x + 1, divmod(2, value))).agrees(X, _class(**reflected)())


@pytest.mark.parametrize(
    ("name", "method", "function"),
    [
        ("__eq__", lambda self, other: 5, lambda x, cls: (x + 1, cls(1, 2) == (1, 2))),
        ("__len__", lambda self: 7, lambda x, cls: (x + 1, len(cls(1, 2)))),
        ("__iter__", lambda self: iter("ab"), lambda x, cls: (x + 1, list(cls(1, 2)))),
        ("__getitem__", lambda self, key: key, lambda x, cls: (x + 1, cls(3, 4)[0])),
        ("__contains__", lambda self, item: False, lambda x, cls: (x + 1, 1 in cls(1, 2))),
        ("__add__", lambda self, other: "sum", lambda x, cls: (x + 1, cls(1, 2) + tuple("a"))),
        ("__repr__", lambda self: "shown", lambda x, cls: (x + 1, repr(cls(1, 2)))),
        ("_replace", lambda self, **given: given, lambda x, cls: (x + 1, cls(1, 2)._replace(a=3))),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_named_tuples_gain(name, method, function):
    assert agrees_before_and_after(function, collections.namedtuple("Pair", "a b"), name, method)


@pytest.mark.parametrize(
    ("name", "method", "function"),
    [
        ("__eq__", lambda self, other: False, lambda x, kind: (x + 1, kind.A == kind.A)),
        ("__bool__", lambda self: False, lambda x, kind: (x + 1, bool(kind.A))),
        ("__str__", lambda self: "shown", lambda x, kind: (x + 1, str(kind.A))),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_enumerations_gain(name, method, function):
    assert agrees_before_and_after(function, enum.Enum("Kind", "A B"), name, method)


def text_of_an_error(x, kind):
    try:
        raise kind("what")
    except kind as error:
        return x + 1, str(error), repr(error)


@pytest.mark.parametrize("name", ["__str__", "__repr__"])
def test_exceptions_gain(name):
    kind = _class(ValueError)
    assert agrees_before_and_after(text_of_an_error, kind, name, lambda self: "shown")


def test_a_slot_that_is_replaced_and_a_docstring_that_is_written():
    cls = _class(__slots__=("a",))
    captured = Captured(lambda x, cls: (x + 1, hasattr(cls(), "a"), cls.__doc__))
    assert captured.agrees(X, cls)
    cls.a = 5
    assert captured.agrees(X, cls)
    cls.__doc__ = "words"
    assert captured.agrees(X, cls)


def test_a_cached_property_keeps_its_value_where_it_says():
    class Cached:
        @functools.cached_property
        def value(self):
            return 3

    def function(x, cls):
        kept = cls()
        return x + kept.value, vars(kept)

    captured = Captured(function)
    assert captured.agrees(X, Cached)
    vars(Cached)["value"].attrname = "other"
    assert captured.agrees(X, Cached)


def test_a_cached_property_without_a_name_is_refused():
    captured = Captured(lambda x, cls: (x + 1, cls().value))
    with pytest.raises(TypeError):
        captured(X, _nameless())


def test_a_cached_property_of_an_instance_without_a_dictionary_is_refused():
    class Slotted:
        __slots__ = ("other",)

        @functools.cached_property
        def value(self):
            return 3

    captured = Captured(lambda x: (x + 1, Slotted().value), tensorless=True)
    with pytest.raises(TypeError, match="No '__dict__' attribute on 'Slotted' instance"):
        captured(X)


def _nameless():
    cls = _class()
    cls.value = functools.cached_property(lambda self: 3)
    return cls


@pytest.mark.parametrize(
    ("name", "method", "function"),
    [
        ("sin", lambda self: self * 3, lambda x: x.sin() + 1),
        ("__mul__", lambda self, other: self - other, lambda x: x * 2),
        ("tripled", lambda self: self * 3, lambda x: x + hasattr(x, "tripled")),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_tensors_gain(name, method, function, monkeypatch):
    """Of a graph that calls no methods when it runs."""
    captured = Captured(function, backend=lookup("llvm"))
    assert captured.agrees(X)
    monkeypatch.setattr(gw.Tensor, name, method, raising=False)
    assert captured.agrees(X)
    monkeypatch.undo()
    assert captured.agrees(X)
