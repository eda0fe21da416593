"""Operators and protocols of user classes: arithmetic, comparison, containers, iteration."""

from __future__ import annotations

import types

import numpy as np
import pytest

import graphwright as gw

from ..captured import Captured, same
from ..programs import Programs, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


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


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_protocols(function):
    whole(function, *((Vector(1, X), X) if function is existing_vector else (X,)))


class OfAnyName:
    """Has every attribute, also the one by which NumPy asks for an array."""

    def __getattr__(self, name):
        return name

    def __radd__(self, other):
        return other + 1


class Sized:
    def __len__(self):
        return 2

    def __radd__(self, other):
        return float(other) + len(self)


def test_numpy_numbers_look_for_an_array_before_the_other_operand_is_asked():
    def program(x, n, other):
        y = x + 1
        return y * (n + other)

    for other in (OfAnyName(), Sized()):
        for n in (1.5, np.float64(1.5), np.int64(2)):
            captured = Captured(program)
            for _ in range(2):
                try:
                    expected = program(gw.ones(2), n, other)
                except ValueError as error:
                    with pytest.raises(ValueError, match=str(error)):
                        captured(gw.ones(2), n, other)
                else:
                    assert same(captured(gw.ones(2), n, other), expected)


class Hiding:
    """Shows others something else than what it has."""

    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        if name == "__dict__":
            return {"hidden": object.__getattribute__(self, "__dict__")}
        return object.__getattribute__(self, name)


def test_an_object_s_own_dict_is_read_past_what_its_class_makes_of_reads():
    def returned(x, thing):
        return x + 1, object.__getattribute__(thing, "__dict__")

    def over_a_break(x, thing):
        own = object.__getattribute__(thing, "__dict__")
        y = x + 1
        print(end="")
        return y, own

    def shown(x, thing):
        return x + 1, thing.__dict__

    for function in (returned, over_a_break, shown):
        captured, thing = Captured(function), Hiding(X)
        for _ in range(2):
            found = captured(X, thing)[1]
            assert found == function(X, thing)[1]
        assert captured.graphs == 1


class Renamed:
    """A configuration whose names have others, and some of which are made when asked for."""

    names = types.MappingProxyType({"hidden": "width"})

    def __init__(self):
        self.width = 4

    def __getattribute__(self, name):
        names = super().__getattribute__("names")
        return super().__getattribute__(names.get(name, name))

    def __getattr__(self, name):
        if name.startswith("default_"):
            return len(name)
        raise AttributeError(f"no {name}")


class Prefixed:
    """Its `__getattr__` reads as `object` does, which asks no `__getattr__` again."""

    _known = 2

    def __getattr__(self, name):
        if name.startswith("_"):
            return 7
        return object.__getattribute__(self, "_" + name)


class PrefixedAbove(Prefixed):
    def __getattr__(self, name):
        return 7 if name.startswith("_") else super().__getattribute__("_" + name)


class Lacking:
    """What a property lacks is asked of `__getattr__`."""

    __slots__ = ("empty",)

    @property
    def broken(self):
        raise AttributeError("the property's own")

    def __getattr__(self, name):
        return len(name)


class Layered(gw.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = gw.nn.Parameter(gw.ones(3))

    @property
    def broken(self):
        return self.nothing


@pytest.mark.parametrize("name", ["hidden", "width", "default_size", "nothing", "_known", "known",
                                  "other", "broken", "empty", "weight", "training"])
@pytest.mark.parametrize("cls", [Renamed, Prefixed, PrefixedAbove, Lacking, Layered])
def test_attributes_are_asked_for_in_python_s_order(cls, name):
    def read(x, thing):
        try:
            found = getattr(thing, name)
        except AttributeError as error:
            found = len(type(error).__name__)
        return x * found, hasattr(thing, name), getattr(thing, name, None)

    def read_plainly(x, thing):
        try:
            return x * object.__getattribute__(thing, name)
        except AttributeError:
            return x - 1

    for program in (read, read_plainly):
        captured = Captured(program, fullgraph=True)
        for thing in (cls(), cls()):
            assert captured.agrees(X, thing)
        assert captured.graphs == 1


def test_a_fallback_that_a_class_gains_is_seen():
    class Bare:
        @property
        def broken(self):
            raise AttributeError

    def read(x, thing):
        return x * getattr(thing, "broken", 2)

    captured, thing = Captured(read), Bare()
    assert captured.agrees(X, thing)
    Bare.__getattr__ = lambda self, name: 5
    assert captured.agrees(X, thing)
