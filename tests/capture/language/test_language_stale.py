"""What the language tests rely on may change between calls: the result must follow."""

from __future__ import annotations

import collections
import copy
import enum

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import outcome

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])


class Named(dict):
    def __getattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        return self[name]


class Stack(list):
    def append(self, item):
        super().append(("own", item))


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def steps_of(function, *steps):
    """Each step is the arguments of one call; plain and captured must agree in all of them."""
    captured = Captured(function)
    for args in steps:
        expected = outcome(function, copy.deepcopy(args))
        assert outcome(captured, copy.deepcopy(args)) == expected
    return captured


def read_named(x, n):
    return x * n.a, list(n), n.get("b")


def use_stack(x, s):
    s.append(1)
    list.append(s, x)
    s[0] = x + 1
    return len(s), s


def use_deque(x, d):
    d.appendleft(x)
    return [v for v in d], d.maxlen


def use_set(x, s, t):
    s.add(3)
    return x * len(s), s is t, 2 in t, len(t)


def use_pair(x, a, b):
    a["k"] = x
    a.pop("z", None)
    b["k2"] = a is b
    return list(a), list(b)


def use_color(x, color):
    return x * color.value, color.name, color is Color.RED


def use_counter(x, words):
    count = collections.Counter(words)
    return x * count["a"], count.most_common(1)


def use_ids(x, a, b):
    seen = {id(a): "a"}
    return x + 1, id(b) in seen, len({a, b}) if a is not None else 0


def use_error(x, table, key):
    try:
        return x * table[key]
    except KeyError as error:
        return x + 1, error.args


CASES = [
    (read_named, [(X, Named(a=1)), (X, Named(a=2)), (X, Named(b=1, a=2)), (X, Named(a=X))]),
    (use_stack, [(X, Stack([1])), (X, Stack([1, 2])), (X, Stack([X]))]),
    (
        use_deque,
        [
            (X, collections.deque([1, 2])),
            (X, collections.deque([1, 3])),
            (X, collections.deque([1, 3], maxlen=2)),
            (X, collections.deque()),
        ],
    ),
    (use_set, [(X, {1}, {2}), (X, {1, 2}, {2}), (X, *([{1}] * 2)), (X, {3}, {1, 2})]),
    (use_pair, [(X, {}, {}), (X, {"z": 1}, {}), (X, *([{}] * 2)), (X, {"k": 1, "z": 2}, {})]),
    (use_color, [(X, Color.RED), (X, Color.BLUE), (X, Color.RED)]),
    (use_counter, [(X, "abca"), (X, "bb"), (X, ["a"])]),
    (use_ids, [(X, gw.ones(1), gw.ones(1)), (X, *([gw.ones(1)] * 2)), (X, X, gw.ones(1))]),
    (use_error, [(X, {"a": 1}, "a"), (X, {"a": 1}, "b"), (X, {"b": X}, "b"), (X, {}, 3)]),
]


@pytest.mark.parametrize(("function", "steps"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_results_follow_the_arguments(function, steps):
    steps_of(function, *steps, *reversed(steps))


def test_an_enumeration_gets_its_members_one_by_one():
    """`__init__` of a member runs while the class knows those before it."""

    def before(member, x):
        known = type(member)
        return x * 1, len(known), any(member.value % 2 == other.value % 2 for other in known)

    def seen_by(function):
        seen = []

        class Letter(enum.Enum):
            def __init__(self, _):
                seen.append(str(function(self, X)))

            A = 1
            B = 2
            C = 3

        return seen, Letter.A.value

    assert seen_by(Captured(before)) == seen_by(before)


@pytest.mark.parametrize("name", ["__doc__", "__module__"])
def test_what_a_class_says_of_itself_is_followed_whatever_it_is(name):
    class Said:
        pass

    captured = Captured(lambda x, cls: (x + 1, getattr(cls, name)))
    for value in ("text", b"bytes", 42, None, 3.5, (1,), [1]):
        setattr(Said, name, value)
        assert captured.agrees(X, Said)


def test_a_function_is_bound_to_what_cannot_be_modelled_but_not_to_none():
    captured = Captured(lambda x, f, owner: (x + 1, f.__get__(owner, int) is f))
    for owner in (memoryview(b""), None, memoryview(b""), None):
        assert captured.agrees(X, use_ids, owner)


def test_a_slot_of_another_class_is_refused_as_plainly():
    class Slotted:
        __slots__ = ("value",)

    class Other:
        value = Slotted.value

    def f(x, owner):
        return x + 1, owner.value

    with pytest.raises(TypeError) as plain:
        f(X, Other())
    with pytest.raises(TypeError) as told:
        Captured(f)(X, Other())
    assert str(told.value) == str(plain.value)
