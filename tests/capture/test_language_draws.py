"""Python's and NumPy's random floats: drawn when the frame begins, and inputs of its graph."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.capture import _eval_frame

from .captured import Captured
from .programs import Programs, outcome

whole_program = Programs()
broken_program = Programs()


@whole_program
def scaled(x: Any) -> Any:
    return x * random.random() + random.uniform(1, b=2), random.gauss(0, 1)


@whole_program
def mixed(x: Any) -> Any:
    share = np.random.beta(0.4, 0.4)
    return share * x + (1 - share) * x.flip(0), share, -np.random.rand() * 2


@whole_program
def in_order(x: Any) -> Any:
    first = random.random()
    x.mul_(2)
    assert (x < 100).all()
    second = random.random()
    return first, second, first is None, f"{first:.3f}", [first] * 2, x


@whole_program
def not_used(x: Any) -> Any:
    random.random()
    return x + 1


@broken_program
def branch(x: Any) -> Any:
    for _ in range(3):
        if random.random() < 0.5:
            continue
        x = x * 2
    return x, random.random()


@broken_program
def other_draws(x: Any) -> Any:
    items = [1, 2, 3]
    random.shuffle(items)
    return x + random.randint(1, 4), random.choice(items), np.random.randint(3), np.random.rand(2)


@broken_program
def seeded(x: Any) -> Any:
    y = x * random.random()
    random.seed(3)
    return y, random.random(), random.Random(4).random()


@broken_program
def refused(x: Any) -> Any:
    return x * random.uniform(1)


def with_states(function: Callable[..., Any], x: Any) -> Any:
    """What a function gives and leaves behind, with both generators where it found them."""
    states = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        states.append(outcome(function, (x.clone(),)))
        states.append((random.random(), random.gauss(0, 1), np.random.rand()))
    return str(states)


@pytest.mark.parametrize("program", whole_program.all)
def test_whole(program: Any) -> None:
    captured = Captured(program, fullgraph=True)
    for x in (gw.ones(3), gw.full((3,), 100.0), gw.ones(3) * 2):
        assert with_states(captured, x) == with_states(program, x)
    assert captured.graphs == 1


@pytest.mark.parametrize("program", broken_program.all)
def test_sound(program: Any) -> None:
    captured = Captured(program)
    for x in (gw.ones(3), gw.ones(3) * 2):
        assert with_states(captured, x) == with_states(program, x)


def test_a_graph_that_fails_draws_the_same_again() -> None:
    def program(x: Any, index: Any, own: Any) -> Any:
        return random.random() * x[index] + random.gauss(0, 1) * gw.rand(1, generator=own)

    captured = Captured(program)
    for index in (0, 7, 1):
        runs = []
        for function in (program, captured):
            random.seed(5)
            own = gw.Generator().manual_seed(6)
            found = outcome(function, (gw.ones(3), gw.tensor([index]), own))
            following = random.random(), random.gauss(0, 1), gw.rand(1, generator=own).item()
            runs.append(str((found, following)))
        assert runs[0] == runs[1]


def test_a_state_is_kept_without_numbers_of_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """`getstate()` makes 625 of them."""
    def never() -> None:
        raise AssertionError("getstate() beside a graph")

    captured = Captured(lambda x: x * random.random() + random.gauss(0, 1), fullgraph=True)
    monkeypatch.setattr(random.getstate.__self__, "getstate", never)
    assert [captured(gw.ones(2)).shape for _ in range(3)] == [(2,)] * 3


def test_the_words_of_a_generator_are_all_of_its_state_but_one_number() -> None:
    generator = random.Random(7)
    generator.gauss(0, 1)
    words, expected = _eval_frame.generator_state(generator), generator.getstate()
    assert words is not None
    later = [generator.random() for _ in range(700)]
    _eval_frame.set_generator_state(generator, words)
    assert generator.getstate() == expected
    assert [generator.random() for _ in range(700)] == later


def test_only_generators_of_python_have_words() -> None:
    assert _eval_frame.generator_state(random.SystemRandom()) is not None
    for other in (object(), 3, np.random.RandomState(1)):
        assert _eval_frame.generator_state(other) is None
        with pytest.raises(TypeError):
            _eval_frame.set_generator_state(other, b"")
    with pytest.raises(TypeError):
        _eval_frame.set_generator_state(random.Random(1), b"short")


def explores(x: Any, share: float) -> Any:
    if random.random() < share:
        return x + 1
    return x + 2


def test_what_cannot_fail_does_not_keep_the_generators_state(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A draw alone comes before the break: copying the state costs more than such a frame."""
    captured = Captured(explores)
    state = random.getstate()
    expected = [explores(gw.ones(2), 0.5).tolist() for _ in range(6)]
    random.setstate(state)
    kept: list[Any] = []
    monkeypatch.setattr(_eval_frame, "generator_state", kept.append)
    assert [captured(gw.ones(2), 0.5).tolist() for _ in range(6)] == expected
    assert not kept


def test_draws_of_a_test_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands in for `Random.random` is called by the program, and not by its translation."""
    def program(x: Any) -> Any:
        return x * random.expovariate(2.0) + random.gammavariate(1.0, 3.0)

    runs = []
    for function in (program, Captured(program), gw.compile(program)):
        given = iter([0.5, 0.25, 0.75, 0.125])
        monkeypatch.setattr(random.Random, "random", lambda self, given=given: next(given))
        runs.append([function(gw.ones(2)).tolist(), function(gw.ones(2)).tolist()])
        assert list(given) == []
    assert runs[1] == runs[0] and runs[2] == [pytest.approx(values) for values in runs[0]]
