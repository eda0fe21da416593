"""What programs seldom need: identity of results, mutation while iterating, tracebacks."""

from __future__ import annotations

import enum
import linecache
import os
import sys
import traceback

import pytest

import graphwright as gw

from ..captured import Captured


def test_lists_of_strings_are_made_anew_by_each_call():
    def parts(text):
        made = text.split("/")
        os.getpid()
        return made

    compiled = gw.compile(parts)
    first = compiled("a/b/c")
    first.clear()
    assert compiled("a/b/c") == ["a", "b", "c"]
    assert compiled("a/b/c") is not first


def test_a_worklist_from_a_string_is_walked_by_each_call():
    def walk(text):
        rest, seen = text.split("/")[::-1], ""
        while rest:
            seen += rest.pop()
            os.getpid()
        return seen

    compiled = gw.compile(walk)
    assert [compiled("a/b/c") for _ in range(3)] == ["abc"] * 3


def test_keys_that_went_and_came_back_disturb_iterators():
    def exchange(table):
        for key in table:
            del table[key]
            table[key] = 0

    with pytest.raises(RuntimeError, match="dictionary keys changed during iteration"):
        exchange({0: 0})
    with pytest.raises(RuntimeError, match="dictionary keys changed during iteration"):
        gw.compile(exchange)({0: 0})


class Member(enum.Enum):
    FIRST = 1
    SECOND = 2


def test_iterators_of_constants_go_on_where_they_were():
    def rest():
        walks = iter("ab"), iter(frozenset([1])), iter(tuple[int, str]), iter(Member)
        for walk in walks:
            next(walk)
        print(end="")
        return [[str(value) for value in walk] for walk in walks]

    assert Captured(rest, tensorless=True).agrees()


def two_lines():
    return (1,
            2)


def test_code_tells_its_lines():
    def count():
        found = 0
        for _ in two_lines.__code__.co_lines():
            found += 1
        return found

    assert Captured(count, tensorless=True).agrees()


def test_the_hash_of_not_a_number_is_that_of_the_object():
    class Number(float):
        pass

    def own(x):
        value = Number("nan")
        return x + 1, hash(value) == object.__hash__(value)

    captured = Captured(own)
    for _ in range(2):
        assert captured(gw.ones(1))[1]


def test_sets_that_grow_disturb_iterators():
    def grow(members):
        for member in members:
            members.update([member + 10])

    with pytest.raises(RuntimeError, match="Set changed size during iteration"):
        gw.compile(grow)({1, 2, 3})


@pytest.mark.parametrize("pair", [((), []), ([], ())], ids=["tuple-list", "list-tuple"])
def test_tuples_and_lists_have_no_order(pair):
    with pytest.raises(TypeError, match="not supported between instances"):
        gw.compile(lambda left, right: left > right)(*pair)


def test_frozensets_hold_the_objects_themselves():
    class Member:
        pass

    def gather(members):
        return frozenset(members)

    member = Member()
    assert gw.compile(gather)([member]) == {member}


def test_objects_of_frozensets_are_read_when_running():
    class Member:
        size = 1

    def read(x, members, member, among):
        (first,) = members
        member.size += 1
        return x * first.size, first is member, member in members, member in among

    member = Member()
    captured = Captured(read)
    for size in (2, 3, 4):
        found = captured(gw.ones(1), frozenset([member]), member, frozenset([member, 2]))
        assert (found[0].item(), *found[1:]) == (size, True, True, True)


def test_exceptions_take_the_traceback_that_they_are_given():
    def catch():
        try:
            raise KeyError
        except KeyError as error:
            found = error.__traceback__
        try:
            raise IndexError().with_traceback(found)
        except IndexError as error:
            return error.__traceback__.tb_next is found

    assert catch() and gw.compile(catch)()


def test_class_patterns_check_what_the_class_declares():
    class Wrong:
        __match_args__ = ["x"]  # noqa: RUF012
        x = 1

    def fits(value):
        match value:
            case Wrong(x):
                return x

    with pytest.raises(TypeError, match="__match_args__ must be a tuple"):
        gw.compile(fits)(Wrong())


def test_mapping_patterns_check_a_key_once():
    class Keys:
        FIRST = "a"

    def fits(value):
        match value:
            case {Keys.FIRST: _, "a": _}:
                return True

    with pytest.raises(ValueError, match="checks duplicate key"):
        gw.compile(fits)({"a": 1, "b": 2})


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="classmethods chain until 3.12")
def test_classmethods_of_descriptors():
    class Of:
        @classmethod
        @property
        def name(cls):
            return cls.__name__

    assert gw.compile(lambda: Of.name)() == "Of"


def test_tracebacks_underline_the_expression_that_raised():
    def divide(a, b):
        return (a + 1) / (
            len(b) - 1)

    with pytest.raises(ZeroDivisionError) as caught:
        gw.compile(divide)(3, [0])
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.colno is not None
    assert linecache.getline(__file__, last.lineno)[last.colno :].startswith("(a + 1) / (")


@pytest.mark.parametrize("bounds", [(2.5, None, None), ("a", "b", None), (0, 3, 0)])
def test_bounds_that_no_slice_has(bounds):
    def cut(x, items, bounds):
        y = x + 1
        start, stop, step = bounds
        return items[start:stop:step], y

    captured = Captured(cut)
    for items in ([1, 2, 3], (1, 2, 3), range(3)):
        with pytest.raises((TypeError, ValueError)) as plain:
            cut(gw.ones(2), items, bounds)
        with pytest.raises(type(plain.value)) as raised:
            captured(gw.ones(2), items, bounds)
        assert str(raised.value) == str(plain.value)
        assert captured.agrees(gw.ones(2), items, (0, 2, 1))


def test_a_context_manager_is_passed_on_before_it_is_ready():
    def bare(cls):
        return object.__new__(cls)

    def fill(manager, x):
        y = x * 2
        manager._mode = False
        manager._previous = []
        return manager, y

    made, _ = Captured(fill)(bare(gw.no_grad), gw.ones(2))
    with made:
        assert not gw.is_grad_enabled()


@pytest.mark.parametrize("name", ["__traceback__", "__cause__", "__context__"])
@pytest.mark.parametrize("value", [None, 5, ValueError("x")])
def test_links_of_exceptions_take_what_python_lets_them(name, value):
    def links(x):
        error = KeyError("k")
        try:
            setattr(error, name, value)
        except TypeError as refused:
            return x + 1, str(refused)
        return x + 1, getattr(error, name)

    x = gw.ones(2)
    captured = Captured(links)
    for _ in range(2):
        assert captured(x)[1] == links(x)[1]
