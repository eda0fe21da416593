"""Recompile reasons: the user's expression, what it was, what it is."""

from __future__ import annotations

import math
import types

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.face.api import compilation_of

from ..captured import Captured

SCALE = 2
CONFIG = {"k": {"n": (1, 2)}}
HOLDER = types.SimpleNamespace(mode="sum", inner=types.SimpleNamespace(n=3))


def reason(function, change, *first, second=None):
    """Why the second call, after a change, was compiled again."""
    compiled = gw.compile(function, backend="eager", dynamic=False)
    compiled(*first)
    change()
    compiled(*(first if second is None else second))
    (found,) = compilation_of(compiled).record.recompiles
    (text,) = found.reasons
    return found.code, text


def nothing():
    pass


X = gw.ones(2, 3)


def test_arguments():
    f = lambda x, k: x + len(k)  # noqa: E731
    assert reason(f, nothing, X, "a", second=(X, "bb")) == (
        "GB0103", "k: expected 'a', got 'bb'")
    assert reason(f, nothing, X, "a", second=(gw.ones(2, 4), "a")) == (
        "GB0101", "x.shape[1]: expected 3, got 4")
    assert reason(f, nothing, X, "a", second=(X.double(), "a")) == (
        "GB0102", "x.dtype: expected graphwright.float32, got graphwright.float64")
    assert reason(f, nothing, X, "a", second=(X, ("a",))) == (
        "GB0103", "k: expected 'a', got ('a',)")
    assert reason(lambda k: k[0] + 1, nothing, [X], second=((X,),)) == (
        "GB0104", "type(k): expected list, got tuple")
    assert reason(lambda x: x[0] + 1, nothing, [X], second=([X, X],)) == (
        "GB0106", "len(x): expected 1, got 2")


def test_globals_and_what_they_hold(monkeypatch):
    def change(target, name, value):
        return lambda: monkeypatch.setitem(target, name, value)

    assert reason(lambda x: x * SCALE, change(globals(), "SCALE", 3), X) == (
        "GB0103", "SCALE: expected 2, got 3")
    assert reason(lambda x: x * CONFIG["k"]["n"][1], change(CONFIG["k"], "n", (1, 5)), X) == (
        "GB0103", "CONFIG['k']['n'][1]: expected 2, got 5")
    assert reason(
        lambda x: x * HOLDER.inner.n, lambda: monkeypatch.setattr(HOLDER.inner, "n", 4), X
    ) == ("GB0103", "HOLDER.inner.n: expected 3, got 4")
    tau = math.tau
    assert reason(
        lambda x: x * math.tau, lambda: monkeypatch.setattr(math, "tau", 6.0), X
    ) == ("GB0103", f"math.tau: expected {tau!r}, got 6.0")


def test_closures_and_functions():
    n = 2

    def change():
        nonlocal n
        n = 3

    assert reason(lambda x: x * n, change, X) == ("GB0103", "n: expected 2, got 3")


def test_parameters_of_modules():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())

    def change():
        model[0].weight = nn.Parameter(gw.ones(5, 3))
        model[0].bias = nn.Parameter(gw.ones(5))

    code, text = reason(lambda x: model(x), change, X)
    assert code == "GB0101"
    assert text.endswith(".shape[0]: expected 4, got 5") and ".__dict__" not in text


def test_modes():
    compiled = gw.compile(lambda x: x * 2, backend="eager")
    compiled(X)
    with gw.no_grad():
        compiled(X)
    (found,) = compilation_of(compiled).record.recompiles
    assert found.code == "GB0109" and "grad mode is on" in found.reasons[0]


def test_errors_of_stances_have_them_too():
    compiled = gw.compile(lambda x, k: x + len(k), backend="eager")
    compiled(X, "a")
    text = r"GB0103 recompile of .*test_reasons.py(.|\n)*k: expected"
    with gw.compiler.set_stance("fail_on_recompile"), pytest.raises(
        gw.compiler.RecompileError, match=text
    ):
        compiled(X, "b")


class Branching(nn.Module):
    def forward(self, x):
        y = x + 1
        return y if y.sum() > 1000 else y * 2


def calls_the_module(module, x):
    y = x * 2
    return module(y)


class Lazy(nn.Module):
    def forward(self, x):
        y = x + 1
        self.scale = nn.Parameter(gw.ones(3))
        return y * self.scale


def test_frames_of_the_package_are_named_by_the_users_call():
    captured = Captured(calls_the_module)
    captured(nn.Sequential(Branching()), gw.ones(3))
    line = calls_the_module.__code__.co_firstlineno + 2
    places = [frame.location for frame in captured.record.frames]
    assert {place.file for place in places} == {__file__}
    assert line in {place.line for place in places if place.function == "Sequential.forward"}


def test_breaks_before_parameters_that_are_made_name_the_line():
    captured = Captured(calls_the_module)
    captured(Lazy(), gw.ones(3))
    first, *_, last = captured.record.breaks
    assert (first.code, last.code) == ("GB0023", "GB0023")
    assert first.location.source == "return module(y)"
    assert last.location.source == "self.scale = nn.Parameter(gw.ones(3))"


def test_operations_without_a_shape_rule_are_told_to_read_values():
    captured = Captured(lambda x: gw.poisson(x) * 2)
    captured(gw.ones(3))
    assert captured.breaks[0] == "GB0002"
