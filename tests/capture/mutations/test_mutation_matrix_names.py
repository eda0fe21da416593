"""Kinds of change between calls of functions and of the names that they read."""

from __future__ import annotations

import builtins
import functools
import math
import sys
import types
from collections.abc import Iterator

import pytest

import graphwright as gw
from graphwright import nn

from .matrix import Case, Cases, Step, tensor

case = Cases()
X = tensor(3, 4)
Y = tensor(3, 4, seed=1)


@case
def name_is_shadowed_in_the_module_and_in_builtins() -> Iterator[Step]:
    scope = {"__builtins__": builtins, "__file__": __file__, "__name__": __name__}
    exec("def f(x):\n    return x * abs(-2)\n", scope)
    f = scope["f"]
    yield f, (X,)
    scope["abs"] = lambda value: 3
    yield f, (X,)
    del scope["abs"]
    yield f, (X,)
    original = builtins.abs
    try:
        builtins.abs = lambda value: 5
        yield f, (X,)
    finally:
        builtins.abs = original


@case
def name_appears_in_builtins() -> Iterator[Step]:
    def f(x):
        try:
            return x * graphwright_matrix_scale
        except NameError:
            return x * 2

    yield f, (X,)
    builtins.graphwright_matrix_scale = 3
    try:
        yield f, (X,)
    finally:
        del builtins.graphwright_matrix_scale


@case
def default_is_mutated_in_place() -> Iterator[Step]:
    def g(x, table={"scale": 2}):  # noqa: B006
        return x * table["scale"]

    def f(x):
        return g(x)

    yield f, (X,)
    g.__defaults__[0]["scale"] = 3
    yield f, (X,)


@case
def number_of_defaults() -> Iterator[Step]:
    def g(x, a=2, b=3):
        return x * a + b

    def f(x):
        return g(x)

    yield f, (X,)
    g.__defaults__ = (5, 7)
    yield f, (X,)
    g.__defaults__ = (1, 2, 3)
    yield f, (X,)


@case
def partial_state() -> Iterator[Step]:
    def g(x, n, m=1):
        return x * n + m

    p = functools.partial(g, n=2)

    def f(x):
        return p(x)

    yield f, (X,)
    p.keywords["n"] = 3
    yield f, (X,)
    p.__setstate__((g, (), {"n": 4, "m": 2}, {}))
    yield f, (X,)


@case
def cell_is_bound_again() -> Iterator[Step]:
    def make():
        scale = 2

        def f(x):
            return x * scale

        def change(value):
            nonlocal scale
            scale = value

        return f, change

    f, change = make()
    yield f, (X,)
    change(3)
    yield f, (X,)
    f.__closure__[0].cell_contents = 4
    yield f, (X,)
    change(4.0)
    yield f, (X,)


@case
def cell_of_a_callee() -> Iterator[Step]:
    def make(scale):
        def g(x):
            return x * scale

        return g

    g = make(2)

    def f(x):
        return g(x)

    yield f, (X,)
    g.__closure__[0].cell_contents = 3
    yield f, (X,)
    g = make(4)
    yield f, (X,)


@case
def function_attribute() -> Iterator[Step]:
    def g(x):
        return x * g.scale

    g.scale = 2

    def f(x):
        return g(x)

    yield f, (X,)
    g.scale = 3
    yield f, (X,)


@case
def wrapped_function() -> Iterator[Step]:
    def twice(function):
        @functools.wraps(function)
        def wrapper(x):
            return wrapper.__wrapped__(x) * 2

        return wrapper

    @twice
    def g(x):
        return x + 1

    def f(x):
        return g(x)

    yield f, (X,)
    g.__wrapped__ = lambda x: x + 2
    yield f, (X,)


@case.plain
def cached_function() -> Iterator[Step]:
    state = [2]

    @functools.lru_cache
    def scale():
        return state[0]

    def f(x):
        return x * scale()

    yield f, (X,)
    state[0] = 3
    yield f, (X,)
    scale.cache_clear()
    yield f, (X,)


@case
def attribute_of_a_function_type() -> Iterator[Step]:
    class Scale:
        def __init__(self, value):
            self.value = value

        def __call__(self, x):
            return x * self.value

    scale = Scale(2)

    def f(x):
        return scale(x)

    yield f, (X,)
    scale.value = 3
    yield f, (X,)
    Scale.__call__ = lambda self, x: x - self.value
    yield f, (X,)


@case
def name_of_a_function() -> Iterator[Step]:
    def g(x):
        return x

    def f(x):
        return x * len(g.__name__)

    yield f, (X,)
    g.__name__ = "renamed"
    yield f, (X,)


@case
def function_of_a_library_module() -> Iterator[Step]:
    def f(x):
        return x * math.floor(2.5)

    yield f, (X,)
    original = math.floor
    try:
        math.floor = lambda value: 7
        yield f, (X,)
    finally:
        math.floor = original


@case
def operation_is_replaced() -> Iterator[Step]:
    def f(x):
        return gw.relu(x) + nn.functional.gelu(x)

    yield f, (X,)
    original = nn.functional.gelu
    try:
        nn.functional.gelu = lambda x: x * 3
        yield f, (X,)
    finally:
        nn.functional.gelu = original


@case
def method_of_tensor_is_replaced() -> Iterator[Step]:
    def f(x):
        return x.relu() + 1

    yield f, (X,)
    original = gw.Tensor.relu
    try:
        gw.Tensor.relu = lambda self: self * 3
        yield f, (X,)
    finally:
        gw.Tensor.relu = original


@case
def operator_of_tensor_is_replaced() -> Iterator[Step]:
    def f(x):
        return x + 1

    yield f, (X,)
    original = gw.Tensor.__add__
    try:
        gw.Tensor.__add__ = lambda self, other: self * 3
        yield f, (X,)
    finally:
        gw.Tensor.__add__ = original


@case
def module_in_sys_modules() -> Iterator[Step]:
    name = "graphwright_matrix_settings"

    def make(scale):
        module = types.ModuleType(name)
        module.scale = scale
        return module

    def f(x):
        from graphwright_matrix_settings import scale

        return x * scale

    try:
        sys.modules[name] = make(2)
        yield f, (X,)
        sys.modules[name] = make(3)
        yield f, (X,)
        sys.modules[name].scale = 4
        yield f, (X,)
    finally:
        del sys.modules[name]


@pytest.mark.parametrize("steps", case.all, ids=lambda c: c.__name__)
def test_nothing_is_stale(steps: Case) -> None:
    case.check(steps)
