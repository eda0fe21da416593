"""How many instructions are translated where calls break: each a few times, however deep they are.

The function that holds a break, and those that lead to it, are captured one after another. What
the first of them found is known to the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import graphwright as gw
from graphwright import nn
from graphwright.capture.frame import budget

from ..captured import Captured

X = gw.ones(2, 4)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """One number, that of the instructions translated so far."""
    counted, count = [0], budget.Budget.count

    def counting(self: budget.Budget) -> None:
        counted[0] += 1
        count(self)

    monkeypatch.setattr(budget.Budget, "count", counting)
    yield counted


class Inner(nn.Module):
    def __init__(self, breaks: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.breaks = breaks

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        if self.breaks:
            print(end="")
        return y.relu()


class Residual(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner
        self.norm = nn.LayerNorm(4)

    def forward(self, x: Any) -> Any:
        return x + self.inner(self.norm(x))


class Blocks(nn.Module):
    """Blocks whose innermost call, at depth 3, may break; or a break behind all of them."""

    def __init__(self, count: int, breaks: bool) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Residual(Residual(Inner(breaks))) for _ in range(count)])
        self.breaks = not breaks

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        if self.breaks:
            print(end="")
        return x * 2


class Each(nn.Module):
    """The same blocks called line by line, so that no two breaks are at one place."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Residual(Residual(Inner(True))) for _ in range(count)])
        lines = [f"    x = self.blocks[{i}](x)" for i in range(count)]
        text = "\n".join(["def forward(self, x):", *lines, "    return x"])
        scope: dict[str, Any] = {}
        exec(compile(text, "<each>", "exec"), scope)
        self.run = scope["forward"]

    def forward(self, x: Any) -> Any:
        return self.run(self, x)


def wrapped(module: nn.Module, depth: int) -> nn.Module:
    """The module below calls of as many functions, each with code of its own."""
    for level in range(depth):
        text = f"def forward(self, x):\n    y = x * {level + 2}\n    return self.inner(y) + y\n"
        scope: dict[str, Any] = {}
        exec(compile(text, f"<level {level}>", "exec"), scope)
        module = type(f"Level{level}", (Residual,), scope)(module)
    return module


def translated(module: nn.Module, steps: list[int]) -> int:
    """How many instructions the first call of a module takes; it and the next agree with Python's,
    and the next takes none."""
    captured = Captured(lambda x: module(x))
    steps[0] = 0
    assert captured.agrees(X)
    first = steps[0]
    assert captured.agrees(X)
    assert steps[0] == first
    return first


def test_a_break_behind_many_blocks_translates_them_twice(steps: list[int]) -> None:
    """Once by the caller, which finds the break, and once by the function that holds it."""
    whole = translated(Blocks(30, False), steps)
    clean = Blocks(30, False)
    clean.breaks = False
    once = translated(clean, steps)
    assert 1.9 * once <= whole <= 2.1 * once


@pytest.mark.parametrize("breaks", [True, False])
def test_callers_add_what_they_are_and_not_what_they_call(
    breaks: bool, steps: list[int]
) -> None:
    lengths = [translated(wrapped(Blocks(10, breaks), depth), steps) for depth in (0, 4, 8)]
    assert lengths[1] - lengths[0] <= 400
    assert lengths[2] - lengths[0] <= 800


def test_the_work_grows_with_the_number_of_breaks_and_not_its_square(steps: list[int]) -> None:
    few, many = [translated(Each(count), steps) for count in (10, 30)]
    assert many <= 3 * few


def test_blocks_of_a_loop_are_translated_together(steps: list[int]) -> None:
    """All of them are calls of the same functions: the first ones are translated, no others."""
    few, many = [translated(Blocks(count, True), steps) for count in (5, 30)]
    assert few == many


def test_each_function_still_breaks_where_it_does() -> None:
    module = wrapped(Blocks(2, False), 2)
    captured = Captured(lambda x: module(x))
    captured(X)
    places = {entry.location.source for entry in captured.record.breaks}
    assert places == {'print(end="")'}
    assert captured.breaks == ["GB0003"] * 4
    assert captured.graphs == 6


# a break is expected of that call only


def prints_if(flag: bool, x: Any) -> Any:
    y = x + 1
    if flag:
        print(end="")
    return y * 2


def both(x: Any) -> Any:
    return prints_if(True, x) + prints_if(False, x)


def test_another_call_of_the_function_is_one_graph() -> None:
    captured = Captured(both)
    assert captured.agrees(X)
    assert captured.agrees(X)
    assert captured.breaks == ["GB0003", "GB0003"]


class Switched(nn.Module):
    def __init__(self, breaks: bool) -> None:
        super().__init__()
        self.breaks = breaks

    def forward(self, x: Any) -> Any:
        return prints_if(self.breaks, x)


class Reading(nn.Module):
    """Reads an attribute that only Python can, which calls another module on its way."""

    def __init__(self) -> None:
        super().__init__()
        self.plain, self.breaking = Switched(False), Switched(True)

    def forward(self, x: Any) -> Any:
        return self.breaking(x) + self.plain(x)


def test_a_module_of_the_same_class_that_does_not_break_is_one_graph() -> None:
    module = Reading()
    captured = Captured(lambda x: module(x))
    assert captured.agrees(X)
    assert captured.agrees(X)
    # the function, the module, its part and what that calls
    assert captured.breaks == ["GB0003"] * 4


# calls that are too long without a tensor


def counts(x: Any) -> Any:
    total = 0
    for number in range(budget.MOST_WITHOUT_TENSORS):
        total += number
    return x + total


def leads(x: Any) -> Any:
    return counts(x) * 2


def to_it(x: Any) -> Any:
    return leads(x) - 1


def test_a_loop_that_is_too_long_is_tried_once(steps: list[int]) -> None:
    captured = Captured(to_it)
    assert captured.agrees(X)
    assert steps[0] <= 1.2 * budget.MOST_WITHOUT_TENSORS
    assert set(captured.breaks) == {"GB0018"}
