"""Seeds set by captured functions: the same numbers, and the same state of the generator after."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture

F = gw.nn.functional


def seeded(x: Any, seed: int) -> Any:
    gw.manual_seed(seed)
    return F.dropout(x, 0.5, True) + gw.rand(2, 3)


def seeded_twice_before_draws(x: Any, seed: int) -> Any:
    gw.manual_seed(seed)
    generator = gw.manual_seed(3)
    gw.cuda.manual_seed_all(3)
    return x + gw.rand(2, 3), generator is gw.default_generator


def seeded_between_draws(x: Any, seed: int) -> Any:
    y = F.dropout(x, 0.5, True)
    gw.manual_seed(seed)
    return y, gw.rand(3)


def seeded_before_a_break(x: Any, seed: int) -> Any:
    gw.manual_seed(seed)
    if x.sum() > 0:
        x = x + 1
    return x * gw.rand(3)


def seeded_beyond_words(x: Any, seed: int) -> Any:
    gw.manual_seed(seed + (1 << 70))
    return x + 1


def failing(x: Any, seed: int) -> Any:
    gw.manual_seed(seed)
    return x[gw.tensor(seed + 9) * x.shape[0]] + gw.rand(1)


def outcome(function: Any, seed: int) -> Any:
    gw.manual_seed(100)
    gw.rand(1)
    try:
        result = function(gw.ones(2, 3), seed)
    except Exception as error:
        result = type(error), str(error)
    return picture((result, gw.rand(2), gw.initial_seed()))


@pytest.mark.parametrize("compiled", [Captured, gw.compile], ids=["captured", "native"])
@pytest.mark.parametrize(
    "program",
    [seeded, seeded_twice_before_draws, seeded_between_draws, seeded_before_a_break,
     seeded_beyond_words, failing],
)  # fmt: skip
def test_numbers_are_those_of_plain_python(program: Any, compiled: Any) -> None:
    function = compiled(program)
    for seed in (0, 5, 7, -2):
        assert outcome(function, seed) == outcome(program, seed)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("program", [seeded, seeded_twice_before_draws])
def test_a_seed_before_all_draws_needs_no_break(program: Any) -> None:
    captured = Captured(program, fullgraph=True)
    for seed in range(2, 12):
        assert outcome(captured, seed) == outcome(program, seed)
    assert captured.graphs <= 2


UNREAD = {
    "before others": lambda x: (gw.randn(3), x + gw.rand(4))[1],
    "after others": lambda x: (x + gw.rand(4), F.dropout(x))[0],
    "the only ones": lambda x: (gw.randperm(5), x + 1)[1],
    "behind an eager op": lambda x: (gw.rand(4).sort()[0] + x, gw.bernoulli(x * 0.5))[0],
    "without any result": lambda x: (F.rrelu(x, training=True), x.shape)[1],
}


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", UNREAD)
def test_numbers_that_nobody_reads_are_drawn(name: str, grad: bool) -> None:
    states = []
    for function in (UNREAD[name], gw.compile(UNREAD[name])):
        gw.manual_seed(1)
        result = function(gw.ones(4, requires_grad=grad))
        if isinstance(result, gw.Tensor) and grad:
            result.sum().backward()
        states.append(gw.get_rng_state().tolist())
    assert states[0] == states[1]
