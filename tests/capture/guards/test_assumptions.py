"""Branches on tensors of which one side only raises: the graph goes on along the other."""

from __future__ import annotations

import math
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, outcome, sound, whole

holds = Programs()


@holds
def asserted(x: Any) -> Any:
    assert (x > 0).all(), "positive numbers are needed"
    return x.log()


@holds
def raised(x: Any) -> Any:
    y = x * 2
    if (y <= 0).any():
        raise ValueError(f"not positive: {x.shape}, " + ("one" if x.numel() == 1 else "many"))
    return y.log()


@holds
def chained(x: Any) -> Any:
    if not (x.min() > 0 and not x.isnan().any() and x.max().item() < math.inf):
        raise ValueError
    return x.sqrt()


@holds
def read_first(x: Any) -> Any:
    smallest = x.min().item()
    if not smallest > 0 or math.isnan(smallest):
        raise ValueError
    return x + smallest


@holds
def in_a_function(x: Any) -> Any:
    def checked(value: Any) -> Any:
        if not bool(value.gt(0).all()):
            raise ValueError(value.tolist())
        return value

    return [checked(x).sum(), checked(x * 2).sum()]


@holds
def handled(x: Any) -> Any:
    try:
        asserted(x)
    except AssertionError as error:
        return x - 1, str(error)
    return x + 1, None


@holds
def in_a_with_block(x: Any) -> Any:
    with gw.no_grad():
        assert (x > 0).all()
        return x + 1


@holds
def after_writes(x: Any) -> Any:
    x.mul_(2)
    x[0] += 1
    noise = gw.rand(2)
    if (x <= 1).any():
        raise ValueError(noise.tolist())
    x.add_(1)
    return x


@holds
def checked_before_a_write(x: Any) -> Any:
    positive = x > 0
    assert positive.all()
    positive.fill_(False)
    return positive


@holds
def of_a_distribution(x: Any) -> Any:
    return gw.distributions.Normal(x, x).log_prob(x), gw.distributions.Exponential(x).mean


@pytest.mark.parametrize("program", holds.all)
def test_whole(program: Any) -> None:
    captured = whole(program, gw.tensor([1.0, 2.0]))
    for numbers in ([3.0, 4.0], [1.0, -1.0], [math.nan, 1.0], [5.0, 6.0]):
        runs = []
        for function in (program, captured):
            gw.manual_seed(1)
            runs.append((outcome(function, (gw.tensor(numbers),)), gw.rand(1).item()))
        assert str(runs[0]) == str(runs[1])
    assert captured.graphs == 1


def test_both_sides_go_on_and_the_graph_ends() -> None:
    def program(x: Any) -> Any:
        if x.sum() > 0:
            x = x + 1
        if x.sum() < 0:
            return x - 1
        raise ValueError("zero")

    assert sound(program, gw.ones(3)).breaks == ["GB0001"]


def test_what_the_function_handles_itself_has_two_sides() -> None:
    def program(x: Any) -> Any:
        try:
            if x.sum() <= 0:
                raise ValueError("not positive")
        except ValueError:
            return x - 1
        return x + 1

    captured = sound(program, gw.ones(3))
    assert captured.agrees(-gw.ones(3)) and captured.breaks == ["GB0001"]


BOUNDS: dict[str, Any] = {
    "a size": lambda x, k: x.shape[0],
    "arithmetic of sizes": lambda x, k: 2 * len(x) + x.numel(),
    "a float": lambda x, k: k,
    "an int": lambda x, k: int(8 * k),
}


@pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)
def test_the_bound_may_vary_from_call_to_call(bound: Any) -> None:
    def program(x: Any, k: float) -> Any:
        assert x.max().item() * 2 <= bound(x, k), "too large"
        return x * 2

    captured = Captured(program)
    for n in range(3, 8):
        for largest in (0.5, 40.0) if n == 7 else (0.5,):
            arguments = gw.linspace(0, largest, n), 1.0 + n / 8
            assert outcome(captured, arguments) == outcome(program, arguments)
    assert captured.graphs == 2 and not captured.breaks


def test_gradients() -> None:
    def program(x: Any) -> Any:
        y = x * 2
        assert y.isfinite().all()
        return (y * y).sum()

    captured = Captured(program)
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    captured(x).backward()
    assert x.grad.tolist() == [8.0, 16.0] and not captured.breaks


@pytest.mark.parametrize("backend", ["llvm", "eager"])
def test_backends_undo_what_the_graph_wrote(backend: str) -> None:
    def program(x: Any) -> Any:
        x.mul_(2)
        assert (x > 0).all()
        return x + 1

    compiled = gw.compile(program, backend=backend, fullgraph=True)
    x = gw.ones(3)
    assert compiled(x).tolist() == [3.0] * 3 and x.tolist() == [2.0] * 3
    x = -gw.ones(3)
    with pytest.raises(AssertionError):
        compiled(x)
    assert x.tolist() == [-2.0] * 3


def test_what_is_refuted_twice_becomes_a_break() -> None:
    def program(x: Any) -> Any:
        try:
            return asserted(x) + 1
        except AssertionError:
            return x * 0

    captured = Captured(program)
    good, bad = gw.tensor([1.0, 2.0]), gw.tensor([-1.0, 2.0])
    for x in (good, bad, bad):
        assert captured.agrees(x)
    assert captured.graphs == 1 and not captured.breaks
    for x in (bad, good, bad, good):
        assert captured.agrees(x)
    assert captured.breaks[0] == "GB0001"
    before = captured.graphs
    for x in (bad, good):
        assert captured.agrees(x)
    assert captured.graphs == before


def test_fullgraph_keeps_to_what_it_assumes() -> None:
    def program(x: Any) -> Any:
        if x.isnan().any():
            raise ValueError("not a number")
        return x * 2

    captured = Captured(program, fullgraph=True)
    for value in (1.0, math.nan, math.nan, math.nan, 2.0):
        assert outcome(captured, (gw.tensor(value),)) == outcome(program, (gw.tensor(value),))
    assert captured.graphs == 1
