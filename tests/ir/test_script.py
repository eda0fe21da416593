"""Straight-line code of programs: what its text stands for, and when it lets go of values."""

from __future__ import annotations

import weakref
from collections import namedtuple
from typing import Any

import pytest

from graphwright.ir import Graph
from graphwright.ir.graph.python_emitter import Script
from graphwright.runtime.symbolic.expr import Sym

Pair = namedtuple("Pair", "first second")
X = Graph().placeholder("x")
SIZE = Sym("s0") * 2


def given_back(value: Any, x: Any) -> Any:
    """What the text of a value gives, where `X` is `x` and the size is what it is twice."""
    script = Script(["r0"], {"s0": (0, -1)})
    script.add(f"return {script.value(value, {X: 'r0'})}")
    return script.function()(x)


@pytest.mark.parametrize("value, expected", [
    (X, 3), (SIZE, 6), ([X, SIZE, 1], [3, 6, 1]), ((X,), (3,)), ((), ()), (Pair(X, 7), Pair(3, 7)),
    ({"a": X, 2: (SIZE,)}, {"a": 3, 2: (6,)}), (slice(None, X, SIZE), slice(None, 3, 6)),
    (-1, -1), (True, True), (None, None), (float("inf"), float("inf")), ("it's", "it's"),
    ([[X], [[SIZE]]], [[3], [[6]]]),
])
def test_nodes_and_sizes_in_containers_take_their_values(value: Any, expected: Any) -> None:
    found = given_back(value, 3)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize("value", [[1, 2], {"a": []}, (1.5, "a"), 10**6, "text" * 3, object()])
def test_a_constant_is_that_very_object_in_each_call(value: Any) -> None:
    assert given_back(value, 0) is value


def test_equal_constants_of_different_types_stay_apart() -> None:
    values = [1, 1.0, True, 0.0, -0.0, 0]
    found = given_back([X, *values], 0)[1:]
    assert [(type(v), str(v)) for v in found] == [(type(v), str(v)) for v in values]


def test_what_is_given_to_a_consumer_ends_where_the_code_frees_it() -> None:
    class Value:
        pass

    held: list[bool] = []
    script = Script(["r0"], {})
    look = script.call(lambda: held.append(seen() is not None))
    script.add(look)
    script.free(["r0"])
    script.add(look)
    values = [Value()]
    seen = weakref.ref(values[0])
    assert script.consumer()(values) is None
    assert values == [] and held == [True, False]


def test_a_script_takes_as_many_arguments_as_it_has() -> None:
    script = Script(["r0", "r1"], {})
    script.add("return r1")
    assert script.function()(1, 2) == 2
    with pytest.raises(TypeError):
        script.function()(1)
