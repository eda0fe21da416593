"""Instances of user classes: made, read, changed, compared, iterated and returned."""

# ruff: noqa: RUF012

from __future__ import annotations

import abc
import functools
import types

import pytest

import graphwright as gw

from .programs import Programs, whole

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


class Vector:
    def __init__(self, *values):
        self.values = list(values)

    def __add__(self, other):
        return Vector(*[a + b for a, b in zip(self.values, other.values, strict=True)])

    def __radd__(self, other):
        return Vector(*[v + other for v in self.values])

    def __mul__(self, k):
        if not isinstance(k, (int, float)):
            return NotImplemented
        return Vector(*[v * k for v in self.values])

    __rmul__ = __mul__

    def __iadd__(self, other):
        self.values.append(other)
        return self

    def __neg__(self):
        return Vector(*[-v for v in self.values])

    def __abs__(self):
        return sum(abs(v) for v in self.values)

    def __eq__(self, other):
        return isinstance(other, Vector) and self.values == other.values

    def __hash__(self):
        return hash(tuple(self.values))

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]

    def __setitem__(self, i, v):
        self.values[i] = v

    def __delitem__(self, i):
        del self.values[i]

    def __contains__(self, v):
        return any(v == own for own in self.values)

    def __iter__(self):
        return iter(self.values)

    def __reversed__(self):
        return iter(self.values[::-1])

    def __call__(self, *args, **kwargs):
        return len(args), kwargs

    def __repr__(self):
        return f"Vector({', '.join(map(repr, self.values))})"

    def __format__(self, spec):
        return f"<{spec}>"

    def __bool__(self):
        return bool(self.values)

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.values, other.values, strict=True))

    def __index__(self):
        return len(self.values)

    def __int__(self):
        return 7

    def __float__(self):
        return 1.5

    def __round__(self, n=0):
        return n

    def __divmod__(self, k):
        return ("divmod", k)

    def __pow__(self, k):
        return ("pow", k)

    def __enter__(self):
        self.values.append("in")
        return self

    def __exit__(self, *error):
        self.values.append("out")
        return error[0] is KeyError


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


class OnlyItems:
    def __getitem__(self, i):
        if i > 2:
            raise IndexError(i)
        return i * 10


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


def run(function):
    given = {
        "existing": (Child(X), Slotted(X), Described(), X),
        "existing_vector": (Vector(1, X), X),
    }
    whole(function, *given.get(function.__name__, (X,)))


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
def arithmetic(x):
    a, b = Vector(1, 2), Vector(3, 4)
    c = a + b
    a += 9
    return (
        x + 1,
        c,
        a * 2,
        3 * a,
        -a,
        abs(b),
        5 + b,
        a == b,
        a != b,
        a < b,
        a @ Vector(1, 1, 1),
        b > a,
        b**2,
        divmod(b, 3),
    )


@program
def protocols(x):
    v = Vector(1, 2, 3)
    v[0] = 7
    del v[1]
    return (
        x * len(v),
        v[0],
        v[-1],
        3 in v,
        9 not in v,
        list(v),
        [*v],
        tuple(v),
        list(reversed(v)),
        v(1, k=2),
        repr(v),
        str(v),
        f"{v}",
        f"{v:spec}",
        f"{v!r}",
        bool(v),
        bool(Vector()),
        not v,
        [0, 1, 2, 3][v],
        int(v),
        float(v),
        round(v, 2),
        sorted([Vector(5), Vector(1)])[0][0],
        max(Vector(1), Vector(3)).values,
        sum([Vector(1)], 0).values,
        hash(v) == hash((7, 3)),
        callable(v),
        isinstance(v, Vector),
        format(v, "q"),
    )


@program
def existing_vector(v, x):
    v += 4
    v[0] = x
    return v[0], len(v), list(v)[2], 4 in v[2:]


@program
def with_tensors(x):
    v = Vector(x, x + 1) + Vector(x, 2)
    return v, v @ Vector(1, 2), abs(v)


@program
def own_iterators(x):
    c = Countdown(3)
    return (
        x * sum(c),
        list(Countdown(2)),
        next(Countdown(5)),
        [*Countdown(2)],
        list(OnlyItems()),
        20 in OnlyItems(),
        c,
    )


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
    run(function)
