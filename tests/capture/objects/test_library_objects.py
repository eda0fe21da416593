"""Objects of the library in frames: signatures, getters, JSON, attributes of functions."""

from __future__ import annotations

import cmath
import enum
import functools
import inspect
import json
import operator
from collections import OrderedDict
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured, check, same

X = gw.arange(4.0)

first = operator.itemgetter(0)
ends = operator.itemgetter(slice(0, 1), -1)
looks = operator.attrgetter("shape", "dtype.is_floating_point")
summed = operator.methodcaller("sum", dim=0, keepdim=True)


def test_getters_made_elsewhere_are_called() -> None:
    def f(x: Any) -> Any:
        ordered = sorted([(2, x), (1, x * 2)], key=first)
        return first(ordered)[1], ends([1, 2, 3]), looks(x), summed(x), max([(1, 5)], key=first)

    check(f, X, graphs=1)


def test_signatures_choose_arguments() -> None:
    def step(x: Any, k: float = 2, *, z: int = 1) -> Any:
        return x * k + z

    def f(x: Any) -> Any:
        parameters = inspect.signature(step).parameters
        given = {"k": 3, "z": 2, "unknown": 1}
        known = {name: value for name, value in given.items() if name in parameters}
        empty = parameters["x"].default is inspect.Parameter.empty
        return step(x, **known), list(parameters), parameters["k"].default, empty

    captured = Captured(f)
    assert captured.agrees(X)
    step.__defaults__ = (9,)
    assert captured.agrees(X) and captured(X)[2] == 9
    step.__kwdefaults__["z"] = True
    assert captured.agrees(X)
    assert captured.breaks == []


def test_signatures_of_methods_leave_out_the_object() -> None:
    class Model(nn.Module):
        def forward(self, x: Any, mask: Any = None, **rest: Any) -> Any:
            parameters = inspect.signature(self.forward).parameters
            takes_rest = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
            return x * len(parameters), sorted(parameters), takes_rest

    model = Model()
    check(lambda x: model(x), X, graphs=1)


def test_signatures_of_wrappers_show_the_wrapped_function() -> None:
    def step(x: Any, k: int = 2) -> Any:
        return x

    def other(x: Any, scale: int = 2, bias: int = 1) -> Any:
        return x

    def wrapping(function: Any) -> Any:
        @functools.wraps(function)
        def wrapper(*args: Any) -> Any:
            return function(*args)

        return wrapper

    wrapper = wrapping(wrapping(step))

    class Model(nn.Module):
        @wrapping
        def forward(self, x: Any, mask: Any = None) -> Any:
            return x * len(inspect.signature(self.forward).parameters)

    model = Model()

    def f(x: Any) -> Any:
        return model(x), [*inspect.signature(wrapper).parameters]

    captured = Captured(f)
    assert captured.agrees(X)
    wrapper.__wrapped__ = other
    assert captured.agrees(X) and captured(X)[1] == ["x", "scale", "bias"]
    wrapper.__wrapped__.__defaults__ = None
    assert captured.agrees(X)
    assert captured.breaks == []


def test_signatures_of_functions_that_the_frame_makes() -> None:
    def f(x: Any, n: int) -> Any:
        def step(y: Any, k: int = 2, *, z: float = 0.5) -> int:
            return y + n

        @functools.wraps(step)
        def wrapper(*args: Any) -> Any:
            return step(*args)

        shown = inspect.signature(wrapper)
        defaults = [parameter.default for parameter in shown.parameters.values()][1:]
        own = inspect.signature(lambda b, h, q, kv: q >= kv - n)
        return wrapper(x), defaults, list(shown.parameters), len(own.parameters), str(shown)

    check(f, X, 3, graphs=1)


def test_a_default_that_is_a_tensor_is_left_to_python() -> None:
    def f(x: Any) -> Any:
        def step(y: Any, k: Any = x) -> Any:
            return y

        return step(x) + 1, list(inspect.signature(step).parameters)

    check(f, X, breaks=None)


@pytest.mark.parametrize("name", ["__wrapped__", "__signature__"])
def test_signatures_that_functions_say_themselves_are_left_to_python(name: str) -> None:
    def step(x: Any) -> Any:
        return x

    setattr(step, name, step if name == "__wrapped__" else inspect.signature(print))

    def f(x: Any) -> Any:
        try:
            return x + 1, list(inspect.signature(step).parameters)
        except ValueError as error:
            return x + 1, type(error)

    check(f, X, breaks=None)


def test_json_of_plain_containers_is_a_constant() -> None:
    config = {"a": 1, "nested": {"b": [1, (2, None)]}, "c": OrderedDict(z=1.5)}

    def f(x: Any) -> Any:
        loaded = json.loads('{"b": [1, 2]}')
        loaded["b"].append(3)
        return x * config["a"], json.dumps(config, sort_keys=True, indent=1), loaded

    captured = Captured(f)
    assert captured.agrees(X) and captured.agrees(X)
    config["a"] = 2
    assert captured.agrees(X)
    assert captured.breaks == []


class Reduction(enum.StrEnum):
    """Members that are texts."""

    SUM = "sum"
    MEAN = "mean"


def test_members_that_are_texts_or_numbers_are_told_by_identity() -> None:
    def f(x: Any, how: Any) -> Any:
        return x.sum() if how is Reduction.SUM else x.mean(), how is not Reduction.MEAN

    captured = Captured(f)
    for how in (Reduction.SUM, Reduction.MEAN, Reduction.SUM):
        assert captured.agrees(X, how)
    assert captured.breaks == []


def test_complex_numbers_are_computed() -> None:
    check(lambda x: (x * cmath.exp(1j).real, cmath.polar(1j), cmath.isclose(1, 1)), X, graphs=1)


def test_functions_count_their_calls() -> None:
    def step(x: Any) -> Any:
        step.calls += 1  # type: ignore[attr-defined]
        step.last = x * 2  # type: ignore[attr-defined]
        return x * step.calls  # type: ignore[attr-defined]

    known: Any = step
    known.calls = 0

    def f(x: Any) -> Any:
        return step(x) + step(x) + known.last, known.calls, hasattr(step, "last")

    captured = Captured(f)
    for calls in (2, 4, 6):
        result, seen, _ = captured(X)
        assert same(result, X * (2 * calls - 1) + X * 2) and seen == known.calls == calls
        assert same(known.last, X * 2)
    assert captured.breaks == []


def test_which_function_was_written_to_is_looked_at() -> None:
    def make() -> Any:
        def counted() -> None: ...

        counted.k = 1  # type: ignore[attr-defined]
        return counted

    one, two = make(), make()
    place = {"read": two}

    def f(x: Any) -> Any:
        one.k += 5
        return x * place["read"].k

    captured = Captured(f)
    assert same(captured(X), X) and one.k == 6
    place["read"] = one
    assert same(captured(X), X * 11) and one.k == 11
    assert captured.breaks == []


def test_signatures_of_partial_methods_are_not_those_of_what_stands_for_them() -> None:
    def scale(self: Any, x: Any, k: float, *, z: int = 1) -> Any:
        return x * k + z

    class Model:
        first = functools.partialmethod(scale, k=2)
        second = functools.partialmethod(scale, z=3)
        wrong = functools.partialmethod(lambda: None)

    captured = Captured(lambda x, f: (x + 1, list(inspect.signature(f).parameters)))
    assert captured.agrees(X, scale)
    assert captured.agrees(X, Model.first) and captured.agrees(X, Model.second)
    with pytest.raises(ValueError, match="has incorrect arguments"):
        captured(X, Model.wrong)
