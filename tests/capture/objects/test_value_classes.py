"""Instances of user classes that derive from numbers, texts, bytes and sets."""

from __future__ import annotations

import copy

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


class Count(int):
    unit = "pieces"

    def twice(self):
        return self * 2


class Metres(float):
    def __add__(self, other):
        return Metres(float(self) + float(other))

    def __radd__(self, other):
        return ("reflected", other)

    def __repr__(self):
        return f"{float(self)} m"


class Name(str):
    def __new__(cls, text, language="en"):
        made = super().__new__(cls, text.strip())
        made.language = language
        return made

    def __eq__(self, other):
        return str.__eq__(self.lower(), other.lower())

    def __hash__(self):
        return hash(self.lower())

    def shout(self):
        return self.upper() + "!"


class Tag(str):
    pass


class Raw(bytes):
    pass


class Wave(complex):
    pass


class Colours(frozenset):
    pass


class Bag(set):
    def __init__(self, items=(), label=None):
        super().__init__(items)
        self.label = label

    def add(self, item):
        super().add(item)
        super().add(-item)


@program
def numbers(x):
    n, m = Count(3), Metres(1.5)
    return x * n, x + m, n - 1, 2**n, -n, n == 3, n < 4, n.twice(), n.unit, n.bit_length(), m.real


@program
def own_operators(x):
    total = Metres(1) + 2
    return total, type(total), x + 1, 3 + Metres(2), abs(Metres(-2)), Metres(2).is_integer()


@program
def conversions(x):
    n, m = Count("7"), Metres(2)
    known = int(n), float(n), bool(n), str(n), repr(m), f"{n:3d} {m} {m:.2f}", f"{n!r}"
    return x * int(m), known, isinstance(n, int), type(n) is Count, hash(n) == hash(7)


@program
def positions(x):
    n = Count(2)
    return [1, 2, 3][n], list(range(n)), x[n - 1], [x] * n, n * [x]


@program
def attributes(x):
    n = Count(2)
    n.weight = x * n
    del n.weight
    n.weight = x + 1
    return n, n.weight, hasattr(n, "none"), n.numerator, vars(n)


@program
def texts(x):
    name = Name(" Ada ", language="fr")
    return (
        *(name, name.shout(), name.language, name == "ADA", name != "x", name + "b", "a" + name),
        *(len(name), name[0], list(name), "d" in name, f"{name:>5}", f"{name}", name.upper()),
        *("Ada".startswith(name[:1]), name.split("d"), bool(Name(" ")), x + len(name)),
    )


@program
def other_values(x):
    wave, raw, tag = Wave(1, 2), Raw(b"ab"), Tag("t")
    more = raw, raw[0], raw + b"c", tag, tag in ("t", "u"), tag == "t"
    return x, wave, wave.imag, wave * 2, more


@program
def texts_without_places_for_values(x):
    """`%` and `format` give the object itself; what else gives an equal text gives a plain one."""
    tag = Tag("t")
    same = tag % (), tag % {}, tag.format(), tag.format(1)
    other = tag.strip(), tag[:], tag + "", Tag("t%%") % (), Tag("") % (), Tag("{{").format()
    return x, [(text is tag, type(text)) for text in (*same, *other)]


@program
def frozen_sets(x):
    colours = Colours([1, 2])
    return x + len(colours), colours, 1 in colours, colours | {3}, colours == {1, 2}, {1} & colours


@program
def sets(x):
    bag = Bag([1], label=x * 2)
    bag.add(2)
    bag |= {3}
    bag.discard(1)
    plain = (bag - {3}, {3} - bag, bag == {2, -2, 3}, 3 in bag, sorted(bag), type(bag.copy()))
    return x, bag, bag.label, len(bag), bool(bag), plain, set(bag), frozenset(bag)


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_values(function):
    whole(function, X)


@pytest.mark.parametrize(
    "value",
    [Count(3), Metres(1.5), Name("Ada"), Tag("a"), Raw(b"a"), Wave(1j), Colours([1]), Bag([1])],
)
def test_existing_values_are_guarded_by_what_they_are(value):
    def function(x, value):
        value.seen = x + 1
        return x + bool(value), type(value), value, value.seen

    kind = type(value)
    captured = Captured(function)
    for given in (value, kind(value), Name("") if kind is Name else kind()):
        assert captured.agrees(X, copy.copy(given))
    assert not captured.breaks


def test_another_value_is_another_version():
    captured = Captured(lambda x, n: x * n.twice() + (n == 3))
    assert captured.agrees(X, Count(3))
    assert captured.agrees(X, Count(3))
    assert captured.graphs == 1
    assert captured.agrees(X, Count(4))
    assert captured.graphs == 2
    assert not captured.breaks


def test_existing_sets_are_changed_by_the_methods_of_their_class():
    def function(x, bag):
        bag.add(5)
        bag.remove(1)
        return x + len(bag)

    plain, given = Bag([1, 2], label="a"), Bag([1, 2], label="a")
    captured = Captured(function)
    assert gw.equal(function(X, plain), captured(X, given))
    assert given == plain == {2, 5, -5}
    assert not captured.breaks


def test_a_method_that_the_class_gains_is_seen():
    class Plain(int):
        pass

    captured = Captured(lambda x, n: (x, n + 1, 2 + n, n == 3, f"{n}", x * n))
    assert captured.agrees(X, Plain(3))
    Plain.__add__ = lambda self, other: "added"
    assert captured.agrees(X, Plain(3))
    Plain.__str__ = lambda self: "text"
    assert captured.agrees(X, Plain(3))
    Plain.__radd__ = lambda self, other: "reflected"
    assert captured.agrees(X, Plain(3))
    Plain.__float__ = lambda self: 100.0
    Plain.__index__ = lambda self: 100
    assert captured.agrees(X, Plain(3))


class Odd(int):
    def __add__(self, other):
        return NotImplemented

    def __radd__(self, other):
        return "reflected"

    def __eq__(self, other):
        return "equal"

    __hash__ = int.__hash__


class Table(dict):
    pass


class Texts(set):
    def __iter__(self):
        return iter(["other"])


def test_the_operand_that_knows_the_other_comes_first():
    def function(x, n, one, half):
        return x, half + n, 3 + n, half == n, n == half, n != 3, one == n, [one] == [n]

    for value in (Odd(4), Count(3), Metres(2.5), Odd(1)):
        captured = Captured(function)
        assert captured(X, value, True, 2.5)[1:] == function(X, value, True, 2.5)[1:]


def test_numbers_of_one_class_are_not_asked_for_reflected_operators():
    with pytest.raises(TypeError):
        Captured(lambda x: (x + 1, Odd(3) + Odd(4)))(X)


def test_sets_see_the_members_and_no_method_of_other_sets():
    whole(lambda x: (x, set(Texts([1])), {2}.union(Texts([1])), Bag(Texts([1]))), X)


@pytest.mark.parametrize("made", [lambda: Table(a=1), lambda: Texts([1]), lambda: Bag([1])])
def test_an_iterator_of_a_new_container_outlives_the_frame(made):
    captured = Captured(lambda x: (x + 1, zip([1], made(), strict=False)))
    assert list(captured(X)[1]) == list(zip([1], made(), strict=False))
