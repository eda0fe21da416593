"""What is a bool, what `__init__` may return, what slots, methods and modules have."""

from __future__ import annotations

import types

import numpy as np
import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, sound

X = gw.ones(2)
program = Programs()


class Holder:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return not not self.value  # noqa: SIM208

    def itself(self):
        return self


class Returning:
    def __init__(self, value):
        return value


class Wrapped(types.ModuleType):
    pass


@program
def truth_of_a_truth_value(x):
    return x + 1, [not not value for value in (0, 1, 2, "", "a", [], None)]  # noqa: SIM208


@program
def truth_by_a_method(x):
    return x + 1, [bool(Holder(value)) for value in (0, 2, "a", [])]


@program
def bool_of_what_a_break_gives(x):
    return not not int(x.sum().item())  # noqa: SIM208


@program
def results_of_init(x):
    log = []
    for value in (None, 10):
        try:
            log.append(type(Returning(value)).__name__)
        except TypeError as error:
            log.append(str(error))
    return x + 1, log


class Slotted:
    __slots__ = ("a",)


def reads_a_slot(x, thing):
    try:
        value = thing.a
    except AttributeError:
        value = None
    return x + 1, value, hasattr(thing, "a"), getattr(thing, "a", 5)


def test_a_slot_that_was_empty_is_looked_at_again():
    captured, thing = Captured(reads_a_slot), Slotted()
    for value in (None, 4, None, 4, 5):
        if value is not None:
            thing.a = value
        elif hasattr(thing, "a"):
            del thing.a
        assert captured(X, thing)[1:] == reads_a_slot(X, thing)[1:]


@program
def methods_bind_once(x):
    first, second = Holder(1), Holder(2)
    second.again = first.itself.__get__(second, Holder)
    return x + 1, second.again().value, first.itself.__call__().value


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_truth(function):
    sound(function, X)


@pytest.mark.parametrize("value", [0, 2, 0.0, "", "text", (), [1], None])
def test_truth_of_what_is_left_alone(value):
    captured = Captured(lambda value: not not value, everywhere=True, limit=1)  # noqa: SIM208
    assert captured(value) is bool(value)


def test_the_class_of_a_module_is_the_one_it_was_given():
    module = types.ModuleType("given")

    def told(x):
        return x + 1, module.__class__, type(module)

    module.__class__ = Wrapped
    assert Captured(told)(X)[1:] == (Wrapped, Wrapped)


def test_a_branch_on_a_comparison_that_gives_no_bool():
    def told(x, number):
        x = x + 1
        if number == 3:
            return "three", x
        while number < 2:
            return "less", x
        return "more", x

    captured = Captured(told)
    for number in (14, 2, np.float64(1.5), np.float64(3), np.int64(3), np.float64(4), np.int64(1)):
        assert captured(X, number)[0] == told(X, number)[0]
