"""Operators between tensors and objects whose classes have methods for them."""

from __future__ import annotations

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


class Scaled:
    def __init__(self, by):
        self.by = by

    def __add__(self, other):
        return other * self.by

    def __radd__(self, other):
        return other - self.by

    def __mul__(self, other):
        return NotImplemented

    def __rmul__(self, other):
        return ("reflected", other)

    def __isub__(self, other):
        self.by = other
        return self

    def __lt__(self, other):
        return "less"

    def __gt__(self, other):
        return "greater"

    def __eq__(self, other):
        return "equal"

    def __hash__(self):
        return 1


class Plain:
    pass


@program
def on_the_left(x):
    return Scaled(3) + x, Scaled(2) < x, Scaled(1) == x


@program
def on_the_right(x):
    return x + Scaled(3), x * Scaled(1), x < Scaled(2), x == Scaled(1)


@program
def in_place(x):
    scaled, y = Scaled(3), x * 2
    scaled -= x
    y += Scaled(1)
    return scaled.by * 2, y


@program
def equality_is_identity_by_default(x):
    plain = Plain()
    return x == plain, plain != x, plain == x, x + 1


@program
def inequality_is_the_opposite_of_equality(x):
    return x != Scaled(1), Scaled(1) != x, x + 1


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_operators(function):
    whole(function, X)


def test_a_method_that_the_class_gains_is_seen():
    class Changing:
        def __radd__(self, other):
            return other * 2

    def function(x, value):
        return x + value

    captured = Captured(function)
    assert captured.agrees(X, Changing())
    Changing.__radd__ = lambda self, other: other * 3
    assert captured.agrees(X, Changing())


class Table(type):
    def __getitem__(cls, key):
        return key * 2


class Subscripted(metaclass=Table):
    def __class_getitem__(cls, key):
        return key * 3


def test_the_metaclass_subscripts_before_the_class():
    whole(lambda x: Subscripted[x], X)
