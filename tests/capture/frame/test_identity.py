"""Which objects are the same is part of what a frame has learnt: it must not outlive a change."""

from __future__ import annotations

import copy
import copyreg
import functools
import math
import operator

import pytest

import graphwright as gw

from ..captured import Captured

X = gw.tensor([1.0, 2.0])


class Mark:
    """Compares by identity."""


A, B = Mark(), Mark()


class Record:
    def __init__(self, mark):
        self.mark = mark


def is_member(x, record):
    return x + 1, record.mark in (A, B)


def is_in_list(x, record):
    return x + 1, record.mark in [A, B]


def is_equal(x, record):
    return x + 1, record.mark == A


def differs(x, record):
    return x + 1, record.mark != A


def counts(x, record):
    return x + 1, [A, B, A].count(record.mark)


def selects(x, record):
    return [x + 1 for mark in (A, B, None) if mark == record.mark]


FUNCTIONS = [is_member, is_in_list, is_equal, differs, counts, selects]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("order", [(A, B, Mark()), (Mark(), A, B), (B, Mark(), A)])
def test_comparison_of_objects_follows_which_they_are(function, order):
    captured = Captured(function)
    for mark in (*order, *order):
        record = Record(mark)
        plain, own = function(X, record), captured(X, record)
        assert repr(own) == repr(plain)


NAN = math.nan


def holds_nan(x, value):
    return x + 1, value in [NAN], [value] == [NAN], [NAN, 2].count(value), value == NAN


@pytest.mark.parametrize("values", [(NAN, float("nan"), 1.0), (float("nan"), 1.0, NAN)])
def test_containers_find_the_very_object_though_it_equals_nothing(values):
    captured = Captured(holds_nan)
    for value in (*values, *values):
        assert captured(X, value)[1:] == holds_nan(X, value)[1:]


def makes_set(x, marks):
    found = set(marks)
    return x + 1, found


def makes_changed_set(x, marks):
    found = set(marks)
    found.discard(marks[0])
    return x + 1, found


def members_of_a_copy(x, found):
    member, copied = next(iter(found)), found.copy()
    return x + 1, next(iter(copied)) is member, sorted(copied)[0] is member, copied.pop() is member


@pytest.mark.parametrize("cls", [tuple, frozenset])
def test_sets_of_a_container_hold_that_container(cls):
    captured = Captured(members_of_a_copy)
    for number in (1, 1, 2):
        assert captured(X, {cls([number, "a"])})[1:] == (True, True, True)


@pytest.mark.parametrize("function", [makes_set, makes_changed_set])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_sets_of_objects_hold_those_objects(function, n):
    captured = Captured(function)
    for _ in range(6):
        marks = [Mark() for _ in range(n)]
        assert captured(X, marks)[1] == function(X, marks)[1]


def watch(*values):
    print(end="")
    return [value is values[0] for value in values]


def passes_tuple_twice(x):
    pair = (1, [2], x)
    return watch(pair, copy.copy(pair), (pair, 3)[0])


def keeps_constant_tuple(x):
    pair = ((1, 2), 3)
    print(end="")
    return watch(pair, copy.deepcopy(pair))


def made_across_a_break(x):
    pair = (x, 1)
    holder = [pair]
    print(end="")
    return watch(pair, *holder)


def made_by_calls(x):
    values = [functools.partial(watch, 1), slice(1, 2), range(3), [x].append, x.add]
    return [watch(value, value, [value][0]) for value in values]


def partial_with_attributes(x):
    made = functools.partial(watch, 1)
    made.owner = x
    print(end="")
    kept = [made]
    print(end="")
    return [kept[0] is made, made.owner is x]


def copied_by_its_item(x):
    pair = ([],)
    pair[0].append(pair)
    made = copy.deepcopy(pair)
    return [made[0][0] is made]


@pytest.mark.parametrize(
    "function",
    [
        *(passes_tuple_twice, keeps_constant_tuple, made_across_a_break, copied_by_its_item),
        *(made_by_calls, partial_with_attributes),
    ],
)
def test_an_object_of_the_frame_is_one_object(function):
    captured = Captured(function)
    for _ in range(2):
        assert captured(X) == function(X)


class ByNew:
    def __new__(cls, n):
        made = object.__new__(cls)
        made.n = n
        return made


class Registered:
    pass


def test_copies_ask_for_what_python_asks_for():
    def copies(x, value):
        try:
            return x + 1, vars(copy.copy(value))
        except TypeError as error:
            return x + 1, str(error)

    captured = Captured(copies)
    assert captured(X, ByNew(3))[1] == copies(X, ByNew(3))[1]
    assert captured(X, Registered())[1] == {}
    copyreg.pickle(Registered, lambda value: (type, ("Other", (), {})))
    try:
        assert captured(X, Registered())[1].keys() == copies(X, Registered())[1].keys()
    finally:
        del copyreg.dispatch_table[Registered]


class Marked(int):
    def __new__(cls, n=0):
        made = int.__new__(cls)
        made.n = n
        return made


class Word(str):
    def __new__(cls):
        made = super().__new__(cls, "word")
        made.seen = []
        return made


@pytest.mark.parametrize("cls", [Marked, Word])
def test_instances_of_immutable_types_are_made_anew(cls):
    captured = Captured(lambda x: (x + 1, cls(), cls()))
    creating = Captured(cls.__new__)
    made = [*captured(X)[1:], *captured(X)[1:], creating(cls), creating(cls)]
    assert len(set(map(id, made))) == 6
    assert {type(value) for value in made} == {cls}


def joins(x):
    name = "quite_a_name"
    joined = name[:5] + name[5:]
    pair = (joined, 1)
    return x + 1, operator.is_(joined, name), joined is name, pair[0] is name, joined == name


def test_a_text_put_together_is_not_the_constant_that_it_equals():
    captured = Captured(joins)
    for _ in range(3):
        assert captured(X)[1:] == joins(X)[1:] == (False, False, False, True)


def breaks():
    pass


breaks.__gw_disable__ = True


def changed_through_its_dictionary(x):
    thing = Record(7)
    table = thing.__dict__
    y = x + 1
    breaks()
    del table["mark"]
    table["other"] = y * 2
    return getattr(thing, "mark", 5), thing.other, table


def changed_beside_its_dictionary(x):
    thing = Record(7)
    table = thing.__dict__
    y = x + 1
    breaks()
    thing.mark = y * 2
    return table["mark"], list(table)


@pytest.mark.parametrize("tensorless", [False, True])
@pytest.mark.parametrize(
    "program", [changed_through_its_dictionary, changed_beside_its_dictionary]
)
def test_an_object_and_its_dictionary_are_one(program, tensorless):
    captured = Captured(program, tensorless=tensorless)
    assert all(captured.agrees(X) for _ in range(4))
    assert captured.graphs


FUNCTIONS = [
    gw.relu, gw.nn.functional.relu, gw.nn.functional.gelu, gw.tanh, gw.Tensor.relu, len, math.sin,
    operator.add, changed_beside_its_dictionary, int, gw.nn.ReLU, gw.float32, None,
]  # fmt: skip


@pytest.mark.parametrize("first", FUNCTIONS, ids=lambda f: getattr(f, "__name__", str(f)))
def test_functions_are_told_apart_without_a_break(first):
    """Those of the library, of Python and of the program: as `activation is F.relu` does."""
    def tells(x, first, second):
        among = first in (gw.tanh, gw.nn.functional.relu, len)
        return x + 1, first is second, first != second, first is gw.relu, among

    for second in (*FUNCTIONS, first):
        captured = Captured(tells)
        assert captured.agrees(X, first, second) and captured.agrees(X, second, first)
        assert captured.agrees(X, first, first) and captured.agrees(X, first, second)
        assert captured.breaks == []


def known(b):
    return b


def test_a_function_that_the_frame_makes_is_no_other() -> None:
    def f(x, other):
        def made(b):
            return b

        return made(x) + 1, made is known, made is made, made is not other, other is known

    captured = Captured(f)
    assert captured.agrees(X, known) and captured.agrees(X, lambda b: b)
    assert captured.breaks == []
