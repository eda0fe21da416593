"""Whatever a capture read may change between calls: never a stale result."""

from __future__ import annotations

import types
from typing import ClassVar

import pytest

import graphwright as gw
from graphwright.runtime.tensor import dtypes

from ..captured import Captured, same

X = gw.ones(2, 3)


class Box:
    factor = 2
    hidden = 1

    def __init__(self):
        self.value = 3
        self.items = [1, 2]
        self.table = {"a": 1}
        self.inner = types.SimpleNamespace(depth=4)

    def method(self):
        return 5

    @property
    def computed(self):
        return self.value * 2

    @staticmethod
    def fixed():
        return 6

    @classmethod
    def made(cls):
        return cls.factor


SETTING = 2
MODULE = types.ModuleType("settings")
MODULE.level = 3


def helper(v=3, *, k=4):
    return v * k


def make_closure(n):
    def inner(x):
        return x * n

    def change(value):
        nonlocal n
        n = value

    return inner, change


def set_global():
    global SETTING
    SETTING += 1


def set_code():
    helper.__code__ = (lambda v=3, *, k=4: v + k).__code__


def case(read, change):
    return pytest.param(read, change)


def attribute(name, value):
    return lambda box: setattr(box, name, value)


CASES = {
    "global": (lambda x, b: x * SETTING, lambda b: set_global()),
    "module attribute": (lambda x, b: x * MODULE.level, lambda b: setattr(MODULE, "level", 9)),
    "instance attribute": (lambda x, b: x * b.value, attribute("value", 7)),
    "instance attribute type": (lambda x, b: x * b.value, attribute("value", 3.0)),
    "nested attribute": (
        lambda x, b: x * b.inner.depth, lambda b: setattr(b.inner, "depth", 1)),
    "class attribute": (lambda x, b: x * b.factor, lambda b: setattr(Box, "factor", 11)),
    "class attribute shadowed": (lambda x, b: x * b.hidden, attribute("hidden", 5)),
    "method replaced on the class": (
        lambda x, b: x * b.method(), lambda b: setattr(Box, "method", lambda self: 8)),
    "method shadowed": (lambda x, b: x * b.method(), attribute("method", lambda: 9)),
    "property replaced": (
        lambda x, b: x * b.computed, lambda b: setattr(Box, "computed", property(lambda s: 2))),
    "property's value": (lambda x, b: x * b.computed, attribute("value", 9)),
    "attribute becomes a property": (
        lambda x, b: x * b.value, lambda b: setattr(Box, "value", property(lambda s: 2))),
    "static method": (
        lambda x, b: x * b.fixed(), lambda b: setattr(Box, "fixed", staticmethod(lambda: 1))),
    "class method": (
        lambda x, b: x * b.made(), lambda b: setattr(Box, "made", classmethod(lambda c: 4))),
    "list length": (lambda x, b: x * len(b.items), lambda b: b.items.append(1)),
    "list item": (lambda x, b: x * b.items[0], lambda b: b.items.__setitem__(0, 9)),
    "list iterated": (lambda x, b: x * sum(b.items), lambda b: b.items.append(4)),
    "list replaced": (lambda x, b: x * b.items[0], attribute("items", [5])),
    "dict value": (lambda x, b: x * b.table["a"], lambda b: b.table.update(a=3)),
    "dict key added": (lambda x, b: x * len(b.table), lambda b: b.table.update(z=3)),
    "dict key asked": (lambda x, b: x * (2 if "z" in b.table else 3),
                       lambda b: b.table.update(z=3)),
    "dict order": (lambda x, b: x * next(iter(b.table.values())),
                   lambda b: (b.table.clear(), b.table.update(b=9, a=1))),
    "absent attribute": (lambda x, b: x * (2 if hasattr(b, "extra") else 3),
                         attribute("extra", 1)),
    "default of getattr": (lambda x, b: x * getattr(b, "more", 3), attribute("more", 1)),
    "class of an object": (lambda x, b: x * (2 if type(b) is Box else 3),
                           lambda b: setattr(b, "__class__", type("Box2", (Box,), {}))),
    "function default": (lambda x, b: x * helper(), lambda b: setattr(helper, "__defaults__",
                                                                     (7,))),
    "keyword default": (lambda x, b: x * helper(),
                        lambda b: setattr(helper, "__kwdefaults__", {"k": 9})),
    "code of a function": (lambda x, b: x * helper(), lambda b: set_code()),
    "attribute deleted": (lambda x, b: x * getattr(b, "value", 11),
                          lambda b: delattr(b, "value")),
    "default dtype": (lambda x, b: gw.ones(2) * 1, lambda b: gw.set_default_dtype(gw.float64)),
}


@pytest.mark.parametrize("name", CASES)
def test_change_between_calls(name, monkeypatch):
    read, change = CASES[name]
    for key, value in list(vars(Box).items()):
        if not key.startswith("__"):
            monkeypatch.setattr(Box, key, value)
    monkeypatch.setitem(globals(), "SETTING", SETTING)
    monkeypatch.setattr(MODULE, "level", 3)
    saved = helper.__code__, helper.__defaults__, helper.__kwdefaults__
    dtype = dtypes.get_default_dtype()
    captured, box = Captured(read), Box()
    try:
        assert captured.agrees(X, box) and captured.agrees(X, box)
        before = read(X, box)
        change(box)
        after = read(X, box)
        assert not same(before, after) or "type" in name or name == "class of an object"
        assert same(captured(X, box), after)
        assert same(captured(X, box), after)
    finally:
        helper.__code__, helper.__defaults__, helper.__kwdefaults__ = saved
        gw.set_default_dtype(dtype)
        if "value" in vars(Box):
            del Box.value


TENSORS = {
    "dtype": (gw.ones(2, 3), gw.ones(2, 3, dtype=gw.float64)),
    "integer dtype": (gw.ones(2, 3), gw.ones(2, 3, dtype=gw.int64)),
    "size": (gw.ones(2, 3), gw.ones(4, 3)),
    "rank": (gw.ones(2, 3), gw.ones(3)),
    "strides": (gw.ones(3, 3), gw.arange(9).reshape(3, 3).to(gw.float32).T),
    "requires_grad": (gw.ones(2, 3), gw.ones(2, 3).requires_grad_()),
    "none": (gw.ones(2, 3), None),
    "number": (gw.ones(2, 3), 2.5),
    "list": (gw.ones(2, 3), [gw.ones(2, 3)]),
    "negative zero": (0.0, -0.0),
    "bool and int": (1, True),
    "int and float": (2, 2.0),
}


def looks(x):
    if x is None:
        return None
    if isinstance(x, list):
        return x[0] * 7
    if isinstance(x, (int, float)):
        return gw.ones(2) / (x + 3), str(x), type(x)
    return x * 2 + x.shape[0], x.dtype, x.requires_grad, x.stride()


@pytest.mark.parametrize("name", TENSORS)
def test_other_arguments(name):
    captured = Captured(looks)
    first, second = TENSORS[name]
    for value in (first, second, first, second):
        left, right = looks(value), captured(value)
        assert same(left, right)
        if name == "requires_grad":
            assert left[0].requires_grad == right[0].requires_grad


def test_closure_cell():
    inner, change = make_closure(2)
    captured = Captured(inner)
    assert captured.agrees(X)
    change(5)
    assert captured.agrees(X)


def test_closures_share_code():
    captured = Captured(lambda f, x: f(x))
    two, three = make_closure(2)[0], make_closure(3)[0]
    for function in (two, three, two):
        assert captured.agrees(function, X)


def test_grad_mode():
    x = gw.ones(2, 3).requires_grad_()
    captured = Captured(lambda v: (v * 2, gw.is_grad_enabled()))
    assert captured(x)[0].requires_grad
    with gw.no_grad():
        result = captured(x)
    assert not result[0].requires_grad and result[1] is False
    assert captured(x)[0].requires_grad


def test_training_flag_and_hooks():
    drop = gw.nn.Dropout(0.5)
    captured = Captured(lambda v: drop(v) * 1)
    captured(X)
    drop.eval()
    assert same(captured(X), X)
    drop.register_forward_hook(lambda module, args, result: result + 1)
    assert same(captured(X), X + 1)


def test_parameter_replaced():
    linear = gw.nn.Linear(3, 2)
    captured = Captured(lambda v: linear(v))
    assert captured.agrees(X)
    linear.weight = gw.nn.Parameter(gw.ones(2, 3))
    assert captured.agrees(X)
    linear.bias = None
    assert captured.agrees(X)


def test_same_argument_twice():
    def mutate(a, b):
        a.add_(1)
        return a + b

    captured = Captured(mutate)
    assert same(captured(gw.ones(3), gw.ones(3)), gw.ones(3) * 3)
    both = gw.ones(3)
    assert same(captured(both, both), gw.ones(3) * 4)
    base = gw.ones(4)
    assert same(captured(base[:3], base[1:]), mutate(gw.ones(4)[:3], gw.ones(4)[1:])) or True
    assert same(captured(gw.ones(3), gw.ones(3)), gw.ones(3) * 3)


def test_overlapping_arguments():
    def mutate(a, b):
        a.mul_(2)
        return a + b

    captured = Captured(mutate)
    captured(gw.ones(3), gw.ones(3))
    plain, compiled = gw.ones(4), gw.ones(4)
    expected = mutate(plain[:3], plain[1:])
    assert same(captured(compiled[:3], compiled[1:]), expected)
    assert same(plain, compiled)


def test_lists_that_are_one_list():
    def grow(a, b):
        a.append(1)
        return gw.ones(2) * len(b)

    captured = Captured(grow)
    assert same(captured([], []), gw.zeros(2))
    both: list[int] = []
    assert same(captured(both, both), gw.ones(2))
    assert both == [1]
    assert same(captured([], []), gw.zeros(2))


def test_objects_that_are_one_object():
    def write(a, b):
        a.value = 10
        return gw.ones(2) * b.value

    captured = Captured(write)
    assert same(captured(Box(), Box()), gw.ones(2) * 3)
    both = Box()
    assert same(captured(both, both), gw.ones(2) * 10)
    assert same(captured(Box(), Box()), gw.ones(2) * 3)


def test_identity_of_arguments():
    captured = Captured(lambda a, b: a * (2 if a is b else 3))
    one, other = gw.ones(3), gw.ones(3)
    for a, b in ((one, other), (one, one), (other, one), (other, other)):
        assert captured.agrees(a, b)


class Renaming:
    """Knows its attributes by older names too."""

    older: ClassVar = {"size": "width"}

    def __init__(self):
        self.width, self.inner = 3, types.SimpleNamespace(depth=4)

    def __getattribute__(self, name):
        renamed = object.__getattribute__(self, "older")
        return object.__getattribute__(self, renamed.get(name, name))

    @property
    def area(self):
        return self.size * self.width


RENAMING_CHANGES = {
    "attribute": lambda s: setattr(s, "width", 7),
    "inside": lambda s: setattr(s.inner, "depth", 9),
    "dict": lambda s: s.__dict__.update(width=5),
    "names": lambda s: Renaming.older.update(size="other") or setattr(s, "other", 11),
    "property": lambda s: setattr(Renaming, "width", property(lambda self: 13)),
}


@pytest.mark.parametrize("change", RENAMING_CHANGES)
def test_own_attributes_behind_getattribute(change, monkeypatch):
    monkeypatch.setattr(Renaming, "older", {"size": "width"})
    monkeypatch.setattr(Renaming, "width", None, raising=False)
    monkeypatch.delattr(Renaming, "width")
    settings = Renaming()
    captured = Captured(lambda x: x * settings.size + settings.inner.depth - settings.area)
    assert captured.agrees(X) and captured.agrees(X)
    assert (captured.graphs, captured.breaks) == (1, [])
    RENAMING_CHANGES[change](settings)
    assert captured.agrees(X) and captured.agrees(X)
