"""Functions that a frame makes and that outlive it, made in functions of another module."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured

X = gw.tensor([1.0, 2.0, 3.0])
ELSEWHERE = """
scale = 2.0

def scaler(bias, *, power=1):
    count = 0

    def apply(x, extra=bias, *, twice=False) -> "a tensor":
        "Scales."
        nonlocal count
        count += 1
        return (x * scale + extra) ** power + count * twice

    apply.kind = "affine"
    return apply

def maker():
    return lambda x: scaler(x)

def plain():
    def constant():
        return scale
    return constant
"""


@pytest.fixture
def elsewhere() -> Iterator[Any]:
    module = types.ModuleType("elsewhere_of_tests")
    sys.modules[module.__name__] = module
    exec(compile(ELSEWHERE, "<elsewhere>", "exec", dont_inherit=True), vars(module))
    yield module
    del sys.modules[module.__name__]


def test_a_function_has_the_globals_of_its_maker(elsewhere: Any) -> None:
    captured = Captured(lambda x: (elsewhere.scaler(x + 1, power=2), elsewhere.plain(), x * 2))
    for _ in range(2):
        made, plain, _ = captured(X)
        assert made.__globals__ is plain.__globals__ is vars(elsewhere)
        assert (made.__name__, made.__qualname__) == ("apply", "scaler.<locals>.apply")
        assert (made.__module__, made.__doc__) == (elsewhere.__name__, "Scales.")
        assert (made.kind, made.__kwdefaults__) == ("affine", {"twice": False})
        assert made.__annotations__ == {"return": "a tensor"}
        for count in (1, 2):
            assert gw.equal(made(X, twice=True), (X * 2 + X + 1) ** 2 + count)
        elsewhere.scale = 4.0
        assert plain() == 4.0
        elsewhere.scale = 2.0
    assert (captured.graphs, captured.breaks) == (1, [])


def test_functions_that_made_functions_make(elsewhere: Any) -> None:
    captured = Captured(lambda x: elsewhere.maker()(x + 1))
    made = captured(X)
    assert gw.equal(made(X), X * 2 + X + 1 + 0)
    assert made.__globals__ is vars(elsewhere)
    assert captured.breaks == []


class Watched(gw.nn.Module):
    """Puts hooks on its parts in its first call."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = gw.nn.Linear(3, 3), gw.nn.Linear(3, 3)
        self.seen: list[Any] = []
        self.watches = False

    def forward(self, x: Any) -> Any:
        if not self.watches:
            seen = self.seen

            def watch(module: Any, args: Any, output: Any) -> None:
                seen.append(output)

            for _, module in self.named_children():
                module.register_forward_hook(watch)
            self.watches = True
        return self.second(self.first(x))


def test_hooks_of_modules_are_put_on_in_the_graph() -> None:
    model = Watched()
    captured = gw.compile(model)
    for calls in (1, 2, 3):
        result = captured(X)
        assert len(model.seen) == 2 * calls
        assert gw.equal(model.seen[-1], result)
    stats = gw.compiler.stats(captured)
    assert (stats.breaks, stats.fallbacks) == (0, 0)
    other = gw.nn.Linear(3, 3)
    handle = other.register_forward_hook(lambda *args: None)
    assert handle.id not in model.first._forward_hooks
