"""What user code does with functions: binding, partials, generic methods, clocks and dice."""

from __future__ import annotations

import functools
import random
import time
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, sound, whole

program = Programs()


def product(a: Any, b: Any = 2) -> Any:
    return a * b


class Scaler:
    """Methods made of other functions."""

    def scale(self, factor: int, x: Any) -> Any:
        return x * factor

    doubled = functools.partialmethod(scale, 2)

    def __repr__(self) -> str:
        return "Scaler()"


class Reader:
    """A method for each class of argument."""

    @functools.singledispatchmethod
    def read(self, value: Any) -> Any:
        return 1

    @read.register
    def _(self, value: int) -> Any:
        return value * 2

    @read.register
    def _(self, value: str) -> Any:
        return len(value)


SCALER, READER = Scaler(), Reader()


@program
def members_of_functions(x: Any) -> Any:
    def inner(owner: Any, y: Any = 1) -> Any:
        return y

    owner = Scaler()
    bound = inner.__get__(owner)(3), inner.__get__(None, Scaler) is inner
    facts = product.__code__.co_argcount, inner.__code__.co_varnames, product.__code__.co_name
    return product.__call__(x), bound, facts


@program
def partials_with_attributes(x: Any) -> Any:
    scaled = functools.partial(product, b=4)
    scaled.tag = x.shape[0]  # type: ignore[attr-defined]
    again = functools.partial(scaled, b=5)
    return scaled(x) * scaled.tag, hasattr(again, "tag"), again(x), scaled  # type: ignore


@program
def what_partials_hold(x: Any) -> Any:
    scaled = functools.partial(functools.partial(product, x), b=4)
    held = scaled.keywords
    same = held is scaled.keywords, scaled.args is scaled.args, scaled.func is product
    held["b"] = x.shape[0]
    return same, scaled(), functools.partial(scaled)(), [held, scaled.keywords], scaled.args


@program
def methods_made_of_others(x: Any) -> Any:
    return SCALER.doubled(x) + Scaler().doubled(x)


@program
def methods_by_class(x: Any) -> Any:
    facts = READER.read.__name__, callable(READER.read.register)
    return x * READER.read(3) + READER.read("abc") + Reader().read(1.5), facts


@program
def slices_as_values(x: Any) -> Any:
    first, second = slice(0, 2), slice(0, 2)
    return x[first], first == second, slice(1) != slice(2), bool(slice(0)), first in [second]


@pytest.mark.parametrize("program", program.all, ids=lambda p: p.__name__)
def test_in_one_graph(program: Any) -> None:
    whole(program, gw.randn(2, 3))


def random_numbers(x: Any) -> Any:
    y = x * random.random() + random.uniform(1, 2)
    return y + random.randint(0, 3) + random.choice([1, 2])


def clocks(x: Any) -> Any:
    start = time.perf_counter()
    y = x * 2
    return y, time.perf_counter() >= start, time.monotonic_ns() > 0


@pytest.mark.parametrize(("program", "breaks"), [(random_numbers, set()), (clocks, {"GB0019"})])
def test_what_changes_is_read_anew(program: Any, breaks: set[str]) -> None:
    captured, x = Captured(program), gw.ones(2, 3)
    for _ in range(3):
        random.seed(3)
        expected = program(x), random.random()
        random.seed(3)
        found = captured(x), random.random()
        assert str(found) == str(expected)
    assert set(captured.breaks) == breaks


def test_attributes_of_functions_come_before_what_their_dict_holds() -> None:
    def given(value: Any) -> Any:
        return value

    vars(given).update(__name__="other", __doc__="text", __module__=3, plain=4)

    def told(x: Any) -> Any:
        def made(value: Any) -> Any:
            return value

        vars(made).update(__name__="other", __doc__="text", plain=4)
        made.__dict__.update(__qualname__="other")
        names = [made.__name__, made.__qualname__, made.__doc__, made.plain]
        return x + 1, given.__name__, given.__doc__, given.__module__, given.plain, names

    sound(told, gw.ones(2))


class Waiting:
    """Whether a metaclass waits for another base."""

    now = False


def change_while_the_order_is_made() -> tuple[bool, bool]:
    """The class is given one base, and while its MRO is computed another one."""
    waiting = Waiting()

    class Meta(type):
        def mro(cls) -> list[type]:
            if waiting.now and cls.__name__ == "Changed":
                if Changed.__bases__ == (Second,):
                    waiting.now = False
                else:
                    Changed.__bases__ = (Second,)
            return type.mro(cls)

    class Base(metaclass=Meta):
        pass

    class First(Base):
        pass

    class Second(Base):
        pass

    class Changed(Base):
        pass

    waiting.now = True
    Changed.__bases__ = (First,)
    return waiting.now, Changed.__bases__ == (Second,)


def test_the_bases_of_a_class_are_not_those_of_its_order_while_that_is_made() -> None:
    captured = Captured(change_while_the_order_is_made, everywhere=True)
    assert captured() == change_while_the_order_is_made()
