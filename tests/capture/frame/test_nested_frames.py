"""Frames that are captured on their own, below a graph break."""

from __future__ import annotations

import copy
from collections import namedtuple
from typing import Any

import graphwright as gw
from graphwright import nn

from ..captured import Captured

Pair = namedtuple("Pair", ["left", "right"])


def test_the_constructor_of_a_named_tuple_is_captured_itself() -> None:
    def function(x: Any) -> Any:
        y = x + 1
        print(end="")
        pairs = list(map(Pair, [y, x], [x, y]))
        return pairs[0].left * pairs[1].right, type(pairs[0])

    captured = Captured(function, everywhere=True)
    for _ in range(3):
        assert captured.agrees(gw.ones(3))


def test_super_of_another_object() -> None:
    class Base:
        def method(self) -> int:
            super()
            return 1

    def function(x: Any) -> Any:
        y = x + 1
        try:
            Base.method(3)  # type: ignore[arg-type]
        except TypeError as error:
            return y, str(error)
        return y

    captured = Captured(function)
    for _ in range(2):
        assert captured.agrees(gw.ones(3))


def test_a_name_that_is_not_super() -> None:
    class Shadow:
        text = "not super"

    namespace: dict[str, Any] = {"super": Shadow}
    exec("class A:\n def f(self, x):\n  y = x + 1\n  return y, super().text\n", namespace)
    method = namespace["A"]().f
    captured = Captured(lambda x: method(x))
    for _ in range(2):
        assert captured.agrees(gw.ones(3))


def test_the_compilation_of_gradients_is_not_captured() -> None:
    weight = gw.ones(3, requires_grad=True)

    def function(x: Any) -> None:
        loss = ((x * weight).sigmoid() + weight).exp().sum()
        print(end="")
        loss.backward()

    frames = gw.explain(function)(gw.ones(3)).frames
    assert {frame.location.function.rpartition(".")[2] for frame in frames} == {"function"}


def test_how_layers_are_copied_loaded_and_found_is_not_captured() -> None:
    """Nothing is computed there, and each layer would need versions of its own."""
    model = nn.Sequential(*[nn.Sequential(nn.Linear(3, 3), nn.ReLU()) for _ in range(10)])

    def function(x: Any) -> Any:
        print(end="")
        twin = copy.deepcopy(model)
        twin.load_state_dict(model.state_dict())
        twin.add_module("last", nn.Linear(3, 2))
        return twin(x).shape, len(list(twin.parameters()))

    captured = Captured(function)
    assert captured(gw.ones(4, 3)) == ((4, 2), 22)
    assert {frame.location.function.split(".")[-1] for frame in captured.record.frames} <= {
        "function", "__call__", "forward",
    }
    assert "GB0100" not in captured.breaks
