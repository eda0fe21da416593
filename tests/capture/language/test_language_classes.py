"""Instances of user classes: made, read, changed, compared, iterated and returned."""

# ruff: noqa: B024, RUF012

from __future__ import annotations

import abc
import functools
import types

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


class Base:
    shared = [1]
    count = 0

    def __init__(self, value, *, scale=2):
        self.value = value
        self.scale = scale

    def total(self, extra=0):
        return self.value * self.scale + extra

    @property
    def double(self):
        return self.value * 2

    @double.setter
    def double(self, new):
        self.value = new / 2

    @double.deleter
    def double(self):
        self.value = 0

    @classmethod
    def make(cls, value):
        return cls(value, scale=3)

    @staticmethod
    def helper(a, b=1):
        return a + b

    @functools.cached_property
    def expensive(self):
        return self.value + 100


class Child(Base):
    count = 5

    def __init__(self, value, **rest):
        super().__init__(value, **rest)
        self.child = True

    def total(self, extra=0):
        return super().total(extra) + 1

    @property
    def double(self):
        return super().double + 1

    def who(self):
        return __class__.__name__


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Positive:
    """A data descriptor."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return getattr(instance, self.name) * 10

    def __set__(self, instance, value):
        setattr(instance, self.name, value + 1)


class Constant:
    """A non-data descriptor."""

    def __get__(self, instance, owner=None):
        return (instance is None, owner.__name__)


class Described:
    field = Positive()
    constant = Constant()


class Dynamic:
    def __init__(self):
        self.known = 1

    def __getattr__(self, name):
        if name.startswith("no"):
            raise AttributeError(name)
        return name + "!"


class Watched:
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2)

    def __delattr__(self, name):
        object.__setattr__(self, "gone", name)


class Spy:
    def __getattribute__(self, name):
        if name == "secret":
            return 42
        return object.__getattribute__(self, name)


class Mapped:
    """Names are looked up in a table first, what is not there is asked of `__getattr__`."""

    def __init__(self):
        self.names = {"other": "own"}
        self.own = 2

    def __getattribute__(self, name):
        if name == "hidden":
            raise AttributeError("hidden by hand")
        names = super().__getattribute__("names")
        return super().__getattribute__(names.get(name, name))

    def __getattr__(self, name):
        if name == "refused":
            raise AttributeError(f"no {name}")
        return len(name)


class Registry(type):
    registered = ["meta"]

    def __call__(cls, *args, **kwargs):
        made = super().__call__(*args, **kwargs)
        made.registered_by = cls.__name__
        return made

    def __len__(cls):
        return 3

    @property
    def label(cls):
        return "label of " + cls.__name__


class WithMeta(metaclass=Registry):
    def __init__(self, a):
        self.a = a


class Made:
    def __new__(cls, *args):
        made = super().__new__(cls)
        made.made = True
        return made

    def __init__(self, a=1):
        self.a = a


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

    @property
    @abc.abstractmethod
    def name(self): ...


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side

    name = "square"


@program
def instances(x):
    a, b = Base(x), Child(x, scale=4)
    a.extra = 5
    a.double = x
    return (
        a,
        b,
        a.total(1),
        b.total(),
        b.double,
        Base.make(x),
        Child.make(2),
        b.who(),
        Base.helper(1),
    )


@program
def class_attributes(x):
    b = Child(x)
    b.count += 1
    return (
        x + b.count,
        Child.count,
        Base.count,
        Base.shared,
        b.shared is Base.shared,
        Child.__mro__[1] is Base,
    )


@program
def attribute_functions(x):
    b = Base(x)
    b.dyn = 3
    had = hasattr(b, "dyn"), hasattr(b, "nope"), getattr(b, "nope", None), b.dyn
    delattr(b, "dyn")
    names = sorted(vars(b)), list(b.__dict__), "value" in vars(b), "total" in dir(b)
    return (
        x + 1,
        had,
        names,
        hasattr(b, "dyn"),
        vars(b)["scale"],
        b.__class__ is Base,
        type(b) is Base,
    )


@program
def deleting(x):
    b = Base(x)
    del b.scale
    b.tmp = 1
    del b.tmp
    try:
        _ = b.scale
    except AttributeError:
        b.caught = True
    del b.double
    return b, x + 1


@program
def slots(x):
    s = Slotted(x)
    before = hasattr(s, "b")
    s.b = 2
    s.a = x + s.b
    del s.b
    return s, before, hasattr(s, "b")


@program
def existing(child, slotted, described, x):
    child.value = child.value + 1
    child.fresh = [x]
    slotted.b = child.total()
    described.field = 3
    del child.scale
    return (
        child.child,
        described.field,
        slotted.a,
        child.expensive,
        child.expensive is child.expensive,
    )


@program
def descriptors(x):
    d = Described()
    d.field = x
    return d.field, d._field, d.constant, Described.constant, isinstance(Described.field, Positive)


@program
def cached_properties(x):
    b = Base(x)
    first = b.expensive
    return first, b.expensive is first, "expensive" in vars(b), b


@program
def dynamic_attributes(x):
    d = Dynamic()
    return (
        x + d.known,
        d.anything,
        hasattr(d, "nothing"),
        getattr(d, "none", 5),
        hasattr(d, "some"),
    )


@program
def custom_writes(x):
    w = Watched()
    w.a = x
    w.b = 4
    del w.zzz
    return w.a, w.b, w.gone


@program
def getattribute(x):
    s = Spy()
    s.open = 3
    return x + s.secret, s.open


@program
def getattribute_and_getattr(x):
    m = Mapped()
    m.own += 1
    try:
        found = m.refused
    except AttributeError as error:
        said = str(error)
    found = m.other, m.hidden, m.absent, hasattr(m, "refused"), getattr(m, "refused", None), said
    return x * m.own, found


@program
def metaclasses(x):
    m = WithMeta(x)
    return (
        m,
        m.registered_by,
        WithMeta.registered,
        WithMeta.label,
        len(WithMeta),
        type(WithMeta) is Registry,
    )


@program
def own_new(x):
    return Made(x), Made().a, Made().made


@program
def abstract_classes(x):
    s = Square(x)
    return s.area(), s.name, isinstance(s, Shape), issubclass(Square, Shape)


@program
def namespaces(x):
    n = types.SimpleNamespace(a=x, b=2)
    n.c = n.a + n.b
    del n.b
    return n, n.c, hasattr(n, "b"), vars(n)["c"]


@program
def methods_as_values(x):
    b = Base(x)
    f, g = b.total, Base.total
    return (
        f(1),
        g(b, 2),
        f.__self__ is b,
        f.__func__ is g,
        f.__name__,
        [m(1) for m in (b.total, b.helper)],
        (b.total == b.total),
    )


@program
def types_called(x):
    b = Base(x)
    c = type(b)(3)
    return (
        c,
        type(x) is gw.Tensor,
        type([])((1, 2)),
        int("7"),
        isinstance(b, Base | int),
        isinstance(1, (str, int | float)),
        issubclass(Child, Base),
    )


@program
def identity_of_objects(x):
    a = Base(x)
    b = a
    pair = [a, b, Base(x)]
    return pair, a is b, pair[0] is a, pair[2] is a, a != pair[2], a in pair, pair.index(a)


@program
def cycles(x):
    a, b = Base(x), Base(1)
    a.other, b.other = b, a
    a.me = a
    return a, b, a.other.other is a


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_classes(function):
    given = (Child(X), Slotted(X), Described(), X) if function is existing else (X,)
    whole(function, *given)


class Poser:
    @property
    def __class__(self):
        return dict


class Shown:
    def __getattribute__(self, name):
        return list if name == "__class__" else object.__getattribute__(self, name)


class Undecided:
    def __bool__(self):
        raise ValueError("undecided")


@pytest.mark.parametrize("value", [Poser(), Shown(), 3, {}])
def test_isinstance_asks_the_value_what_it_is(value):
    def asks(x):
        return x + 1, [isinstance(value, kind) for kind in (dict, list, int, Poser)]

    captured = Captured(asks)
    for _ in range(2):
        assert captured(X)[1] == asks(X)[1]


def test_classes_ask_whether_methods_are_abstract():
    def makes(x, mark):
        try:
            class Made(metaclass=abc.ABCMeta):
                def run(self):
                    return 1

                run.__isabstractmethod__ = mark

            return x + 1, Made().run()
        except (TypeError, ValueError) as error:
            return x + 1, type(error)

    captured = Captured(makes)
    for mark in (True, Undecided(), False, True):
        assert captured(X, mark)[1] == makes(X, mark)[1]
