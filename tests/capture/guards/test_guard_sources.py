"""Reading values for guards: what each source finds, without running the user's code."""

from __future__ import annotations

import builtins
import collections
import gc
import sys
import types

import pytest

from graphwright.capture.guards.source import (
    AttrSource,
    CellSource,
    ClassAttrSource,
    ClosureSource,
    CodeSource,
    ConstSource,
    DefaultsSource,
    ForeignGlobalSource,
    GlobalSource,
    InstanceAttrSource,
    ItemSource,
    KwDefaultsSource,
    ModuleSource,
    MroSource,
    TypeSource,
)

from .. import checked as helper
from ..checked import X, checked, two

SETTING = 3


def test_globals_and_builtins(monkeypatch):
    holds = checked("equals", GlobalSource("SETTING"), 3)
    assert holds(0)
    monkeypatch.setitem(vars(helper), "SETTING", 4)
    assert not holds(0)
    assert holds.why(0) == "G['SETTING']: expected 3, got 4"
    monkeypatch.delitem(vars(helper), "SETTING")
    assert not holds(0) and holds.why(0) == "G['SETTING']: expected 3, got nothing"
    shadowed = checked("id_match", GlobalSource("divmod"), divmod)
    assert shadowed(0)
    monkeypatch.setitem(vars(helper), "divmod", abs)
    assert not shadowed(0)
    monkeypatch.delitem(vars(helper), "divmod")
    monkeypatch.setattr(builtins, "divmod", abs)
    assert not shadowed(0)


def test_cells():
    def make(value):
        def inner(x):
            return x, value

        def change(new):
            nonlocal value
            value = new

        def remove():
            nonlocal value
            del value

        return inner, change, remove

    inner, change, remove = make(1)
    holds = checked("equals", CellSource("value"), 1, function=inner)
    assert holds(0)
    change(2)
    assert not holds(0)
    change(1)
    assert holds(0)
    remove()
    assert not holds(0)
    through = checked("equals", ClosureSource(X, 0), 5)
    assert through(make(5)[0]) and not through(make(6)[0]) and not through(two) and not through(1)


def test_functions():
    def f(a, b=1, *, c=2):
        return a, b, c

    code = checked("code_match", X, f)
    default = checked("equals", DefaultsSource(X, 0), 1)
    kwdefault = checked("equals", KwDefaultsSource(X, "c"), 2)
    foreign = checked("equals", ForeignGlobalSource(X, "SETTING"), 3)
    assert code(f) and default(f) and kwdefault(f) and foreign(f)
    f.__defaults__, f.__kwdefaults__ = (3,), {"c": 4}
    assert not default(f) and not kwdefault(f)
    f.__defaults__, f.__kwdefaults__ = None, None
    assert not default(f) and not kwdefault(f)
    f.__code__ = (lambda a, b=1, *, c=2: a).__code__
    assert not code(f) and not code(print)
    assert not foreign(types.FunctionType(f.__code__, {"SETTING": 4}))
    assert str(CodeSource(X)) == "L['x'].__code__"


class Plain:
    shared = 1

    def __init__(self):
        self.own = 5

    def method(self):
        return self.own


class Dynamic(Plain):
    def __getattr__(self, name):
        raise AssertionError("a guard ran user code")


class Slotted:
    __slots__ = ("own",)
    shared = 1

    def __init__(self):
        self.own = 5


@pytest.mark.parametrize("cls", [Plain, Dynamic, Slotted])
def test_instance_attributes(cls):
    holds, shared = (
        checked("equals", AttrSource(X, "own"), 5),
        checked("equals", AttrSource(X, "shared"), 1),
    )
    thing = cls()
    assert holds(thing) and shared(thing)
    thing.own = 6
    assert not holds(thing)
    del thing.own
    assert not holds(thing)
    thing.own = 5
    assert holds(thing)
    try:
        cls.shared = 2
        assert not shared(thing)
    finally:
        cls.shared = 1


@pytest.mark.parametrize("many", [0, 3, 40])
def test_instance_dict_in_each_of_its_forms(many):
    class Fresh: ...

    source = InstanceAttrSource(X, "own")
    holds, absent = checked("equals", source, 5), checked("missing", source)
    thing = Fresh()
    assert absent(thing)
    for i in range(many):
        setattr(thing, f"filler{i}", i)
    assert absent(thing)
    thing.own = 5
    assert holds(thing) and not absent(thing)
    thing.__dict__["own"] = 6
    assert not holds(thing)
    thing.__dict__["".join(["o", "wn"])] = 5
    assert holds(thing)
    thing.__dict__ = {"own": 7}
    assert not holds(thing)
    thing.__dict__ = {"own": 5, 1: 2}
    assert holds(thing)
    del thing.__dict__["own"]
    assert absent(thing)


def test_reading_does_not_make_a_dict():
    class Fresh: ...

    source = InstanceAttrSource(X, "own")
    thing = Fresh()
    thing.own = 5
    before = sys.getsizeof(thing), gc.get_referents(thing)
    assert checked("equals", source, 5)(thing) and checked("equals", AttrSource(X, "own"), 5)(
        thing
    )
    assert not any(isinstance(r, dict) for r in gc.get_referents(thing))
    assert before == (sys.getsizeof(thing), gc.get_referents(thing))


def test_shadowing():
    class Cls:
        value = 1

    thing = Cls()
    holds = checked("equals", AttrSource(X, "value"), 1)
    class_level = checked("equals", ClassAttrSource(X, "value"), 1)
    assert holds(thing) and class_level(thing)
    thing.value = 2
    assert not holds(thing) and class_level(thing)
    del thing.value
    Cls.value = property(lambda self: 1)
    assert not holds(thing) and not class_level(thing), "a property is not read"
    del Cls.value
    assert checked("missing", ClassAttrSource(X, "value"))(thing)


def test_getattribute_is_not_run():
    class Own:
        value = 1

        def __getattribute__(self, name):
            raise AssertionError

    assert not checked("equals", AttrSource(X, "value"), 1)(Own())


def test_classes_and_super():
    class Meta(type):
        flag = 9

    class Base:
        value, other = 1, 2

        @staticmethod
        def static(): ...

    class Derived(Base, metaclass=Meta):
        value = 10

    cls = TypeSource(X)
    assert checked("equals", AttrSource(cls, "value"), 10)(Derived())
    assert checked("equals", AttrSource(cls, "other"), 2)(Derived())
    assert checked("equals", AttrSource(cls, "flag"), 9)(Derived())
    assert checked("id_match", AttrSource(cls, "static"), Base.static)(Derived())
    up = checked("equals", MroSource(cls, "value", Derived), 1)
    assert up(Derived()) and not checked("equals", MroSource(cls, "value"), 1)(Derived())
    Base.value = 3
    assert not up(Derived())
    assert not up(1)


def test_bound_methods():
    thing = Plain()
    function = AttrSource(AttrSource(X, "method"), "__func__")
    assert checked("id_match", function, Plain.method)(thing)
    assert checked("id_match", ClassAttrSource(X, "method"), Plain.method)(thing)
    assert checked("id_match", AttrSource(X, "__self__"), thing)(thing.method)


def test_modules():
    module = types.ModuleType("graphwright_test_module")
    module.value = 1
    sys.modules[module.__name__] = module
    try:
        holds = checked("equals", AttrSource(ModuleSource(module.__name__), "value"), 1)
        assert holds(0)
        module.value = 2
        assert not holds(0)
    finally:
        del sys.modules[module.__name__]
    assert not holds(0)


def test_items():
    assert checked("equals", ItemSource(X, 1), 5)([4, 5]) and checked(
        "equals", ItemSource(X, 1), 5
    )((4, 5))
    assert not checked("equals", ItemSource(X, 2), 5)([4, 5])
    assert checked("equals", ItemSource(X, -1), 5)([4, 5])
    assert checked("equals", ItemSource(ItemSource(X, "k"), 0), 5)({"k": [5]})
    assert not checked("equals", ItemSource(ItemSource(X, "k"), 0), 5)(None)
    assert checked("equals", ItemSource(ConstSource({"a": 1}, "table"), "a"), 1)(0)
    assert checked("equals", ItemSource(X, 1), 5)(collections.deque([4, 5]))

    class Liar:
        def __getitem__(self, key):
            raise AssertionError

    assert not checked("equals", ItemSource(X, 1), 5)(Liar())


def test_refcounts_are_kept():
    thing = Plain()
    value = thing.own = object()
    program = checked("id_match", AttrSource(AttrSource(X, "own"), "__class__"), object).program
    before = sys.getrefcount(value), sys.getrefcount(thing), sys.getrefcount(object)
    for _ in range(100):
        assert program.check(two, (thing, None))
    assert before == (sys.getrefcount(value), sys.getrefcount(thing), sys.getrefcount(object))
