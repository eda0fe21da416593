"""Generators in captured functions: the same numbers, and the same place of the stream after."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw
from graphwright import nn

from ..captured import Captured
from ..pictures import picture


def one(x: Any, g: Any, h: Any) -> Any:
    return x + gw.rand(3, generator=g)


def kinds(x: Any, g: Any, h: Any) -> Any:
    noise = gw.randn_like(x, generator=g), gw.randint(0, 9, (4,), generator=g)
    chosen = gw.multinomial(gw.ones(5), 2, generator=g), gw.randperm(6, generator=g)
    return noise, chosen, gw.bernoulli(gw.full((4,), 0.5), generator=g), gw.normal(
        gw.zeros(3), 2.0, generator=g)


def in_place(x: Any, g: Any, h: Any) -> Any:
    y = x.clone().normal_(generator=g)
    x.uniform_(-1.0, 1.0, generator=g)
    return y, x.exponential_(generator=h)


def in_turns(x: Any, g: Any, h: Any) -> Any:
    parts = []
    for _ in range(3):
        parts += [gw.rand(2, generator=g), gw.randn(2, generator=h), gw.rand(2)]
    return parts


def seeded_between(x: Any, g: Any, h: Any) -> Any:
    first = gw.rand(3, generator=g)
    same = g.manual_seed(5)
    return first, gw.rand(3, generator=same), same is g, gw.rand(1, generator=h)


def made(x: Any, g: Any, h: Any) -> Any:
    own = gw.Generator()
    other = gw.Generator(device="cpu").manual_seed(3)
    return gw.rand(2, generator=own), gw.rand(2, generator=other), own, other, own.device


def default(x: Any, g: Any, h: Any) -> Any:
    return gw.rand(3), gw.rand(3, generator=gw.default_generator), gw.rand(2, generator=g)


def shaped_like(x: Any, g: Any, h: Any) -> Any:
    return x * gw.rand(x.shape, generator=g), gw.randn(x.shape[0] * 2, generator=g)


WHOLE = [one, kinds, in_place, in_turns, seeded_between, made, default, shaped_like]


def broken_between(x: Any, g: Any, h: Any) -> Any:
    y = x + gw.rand(3, generator=g)
    if y.sum() > 1e9:
        return y
    return y * gw.rand(3, generator=g)


def read_between(x: Any, g: Any, h: Any) -> Any:
    y = x + gw.rand(3, generator=g)
    state = g.get_state()
    z = gw.rand(3, generator=g)
    g.set_state(state)
    return y, z, gw.rand(3, generator=g), g.initial_seed()


def failing(x: Any, g: Any, h: Any) -> Any:
    y = gw.rand(3, generator=g) + x
    return y[gw.tensor(9) * x.shape[0]]


def refused(x: Any, g: Any, h: Any) -> Any:
    return gw.rand(3, generator=g), g.manual_seed(1 << 70)


def outcome(function: Any, seed: int, size: int = 3, alike: bool = False) -> Any:
    gw.manual_seed(100)
    g, h = gw.Generator().manual_seed(seed), gw.Generator().manual_seed(-1)
    gw.rand(2, generator=h)
    x = gw.ones(size)
    try:
        result = function(x, g, g if alike else h)
    except Exception as error:
        result = type(error), str(error)
    states = [one.get_state() for one in (g, h, gw.default_generator)]
    return picture((_shown(result), x, gw.rand(2)), rounded=True), picture(states)


def _shown(value: Any) -> Any:
    if isinstance(value, gw.Generator):
        return value.get_state()
    return [_shown(item) for item in value] if isinstance(value, (tuple, list)) else value


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
@pytest.mark.parametrize("program", [*WHOLE, broken_between, read_between, failing, refused])
def test_numbers_are_those_of_plain_python(program: Any, compiled: Any) -> None:
    function = compiled(program)
    for seed in (0, 7, -2, (1 << 64) - 1):
        assert outcome(function, seed) == outcome(program, seed)
    assert outcome(function, 7, alike=True) == outcome(program, 7, alike=True)


@pytest.mark.parametrize("program", WHOLE)
def test_generators_need_no_break_and_one_graph_for_all_seeds(program: Any) -> None:
    captured = Captured(program, fullgraph=True)
    for seed in range(4):
        assert outcome(captured, seed) == outcome(program, seed)
    assert captured.graphs == 1


def test_sizes_that_vary_are_those_of_the_numbers() -> None:
    function = gw.compile(shaped_like)
    for size in (3, 4, 5, 7):
        assert outcome(function, 1, size) == outcome(shaped_like, 1, size)


class Noisy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(gw.ones(4))
        self.generator = gw.Generator().manual_seed(11)

    def forward(self, x: Any) -> Any:
        return x * self.weight * gw.rand(x.shape, generator=self.generator)


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
def test_backward_uses_the_numbers_that_the_forward_drew(compiled: Any) -> None:
    results = []
    for wrap in (lambda function: function, compiled):
        model, grads = Noisy(), []
        step = wrap(lambda m, x: m(x).sum())
        for _ in range(3):
            model.zero_grad()
            step(model, gw.ones(2, 4)).backward()
            grads.append(model.weight.grad.clone())
        results.append(picture((grads, model.generator.get_state()), rounded=True))
    assert results[0] == results[1]
