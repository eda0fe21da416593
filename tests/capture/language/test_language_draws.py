"""Python's and NumPy's random numbers: drawn when the frame begins, and inputs of its graph."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.capture import _eval_frame
from graphwright.capture.emit.numpy_words import keeper

from ..captured import Captured
from ..programs import Programs, outcome

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


@whole_program
def ints(x: Any) -> Any:
    first, second = random.randint(1, 6), random.randrange(0, 100, 5)
    y = x * first + second + (x.long() - random.getrandbits(8)).to(x.dtype)
    return y, first, second * 2 - first, first > 3, isinstance(first, int)


@whole_program
def ints_in_other_tensors(x: Any) -> Any:
    n = random.randint(-3, 3)
    counts = gw.arange(3)
    return counts + n, counts * n - 1, x.to(gw.float64) - n, x > n, [n] * 2, n is None


@whole_program
def chosen(x: Any) -> Any:
    factor, offset = random.choice([0.5, 1.5, 2.5]), random.choice((1, 2, 3))
    several = random.choices([1, 2, 3], weights=[1, 1, 2], k=2)
    others = random.sample(range(100), 3)
    return x * factor + offset + several[0] + others[1], several, others, len(others), offset


@whole_program
def shuffled(x: Any) -> Any:
    items, floats = [3, 1, 2], [0.5, 1.5]
    random.shuffle(items)
    random.shuffle(floats)
    return x + items[0] * 1.0 + floats[-1], items, floats, len(items)


@whole_program
def ints_and_floats_in_order(x: Any) -> Any:
    first, second, third = random.random(), random.randint(0, 9), random.uniform(0, 1)
    return x * first + second * 0.5 + third, first, second, third


@broken_program
def ints_that_python_looks_at(x: Any) -> Any:
    n = random.randint(1, 3)
    y = x[:n].to(gw.int8) * n
    if n == 2:
        y = y + 1
    return y, list(range(n)), {n: 1}, "abc"[n - 1], f"{n}"


@broken_program
def chosen_objects(x: Any) -> Any:
    names = ["a", "b", "c"]
    random.shuffle(names)
    return x + len(random.choice(names)), names, random.sample(names, 2)


@broken_program
def large_ints(x: Any) -> Any:
    return x + 1, random.randint(0, 1 << 70), random.getrandbits(100)


@broken_program
def refused_ints(x: Any) -> Any:
    return x * random.randint(3, 1)


@broken_program
def nothing_to_choose_from(x: Any) -> Any:
    return x * random.choice([])


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


def varying_bound(x: Any, n: int) -> Any:
    return x + 1, random.randint(0, n), random.sample(range(n + 3), 2)


def varying_items(x: Any, items: list[int]) -> Any:
    return x + random.choice(items)


def test_draws_by_what_varies() -> None:
    for program, given in ((varying_bound, range(1, 9)), (varying_items, [[1, 2], [3], [4, 5]])):
        captured = Captured(program)
        for argument in given:
            runs = []
            for function in (program, captured):
                random.seed(3)
                runs.append(str((outcome(function, (gw.ones(2), argument)), random.random())))
            assert runs[0] == runs[1]
        assert captured.graphs <= 3


@pytest.mark.parametrize("draw", [
    np.random.rand, lambda: np.random.uniform(1, 3), np.random.exponential, np.random.laplace,
    lambda: np.random.triangular(0, 1, 2), np.random.randn, lambda: np.random.gamma(2.0),
])  # fmt: skip
def test_a_graph_that_fails_draws_the_same_of_numpy_again(draw: Any) -> None:
    def program(x: Any, index: Any) -> Any:
        return draw() * x[index] + draw()

    captured = Captured(program)
    for index in (0, 7, 1, 7):
        runs = []
        for function in (program, captured):
            np.random.seed(5)
            np.random.randn()       # which keeps a second number for the next call
            found = outcome(function, (gw.ones(3), gw.tensor([index])))
            runs.append(str((found, np.random.rand(), np.random.randn(), np.random.randn())))
        assert runs[0] == runs[1]


def test_words_of_numpy_whose_bits_come_from_elsewhere_by_now() -> None:
    captured = Captured(lambda x, index: np.random.rand() * x[index])
    captured(gw.ones(3), gw.tensor([0]))
    twister = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(3))
        with pytest.raises(IndexError):
            captured(gw.ones(3), gw.tensor([7]))
        expected = np.random.RandomState(np.random.PCG64(3))
        expected.rand()
        assert np.random.rand() == expected.rand()
    finally:
        np.random.set_bit_generator(twister)


def test_a_state_of_numpy_is_kept_without_numbers_of_its_words() -> None:
    rand, get_state = np.random.rand.__self__, np.random.get_state
    kept = keeper(rand, ["rand", "uniform"])
    assert keeper(rand, ["rand", "normal"]) is rand
    before = get_state()
    state = kept.getstate()
    later = np.random.rand(700)
    kept.setstate(state)
    assert str(get_state()) == str(before) and (np.random.rand(700) == later).all()


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


class Sampler:
    """A class with generators of its own."""

    def __init__(self, seed: int) -> None:
        self.python = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.generators = {"own": self.python, "others": [self.numpy]}


def one_of_each(s: Any, x: Any) -> Any:
    return x * s.python.random() + s.numpy.uniform(-1, high=2), s.numpy.normal(size=None)


def by_several_names(s: Any, x: Any) -> Any:
    first = s.generators["own"].gauss(0, 1)
    draw = s.python.betavariate
    return x + first, draw(1, beta=2), s.generators["others"][0].random(), first is None


def refuted(s: Any, x: Any) -> Any:
    """The frame may run again, and draws the same."""
    x.mul_(s.python.random() + 1)
    assert (x < 100).all()
    return x, s.numpy.random()


def handed_on(s: Any, x: Any) -> Any:
    def scaled(generator: Any) -> Any:
        return generator.uniform(0, 1) * x

    return scaled(s.python) + scaled(s.numpy) * random.random()


def integers(s: Any, x: Any) -> Any:
    y = x * s.python.random()
    return y + s.python.randint(0, 5) + s.numpy.integers(4)


def whole_numbers(s: Any, x: Any) -> Any:
    y = x * s.python.random() + s.python.randint(0, 5)
    return y + s.python.choice([1, 2]), s.python.sample((1, 2, 3), k=2), s.python.getrandbits(3)


def decided(s: Any, x: Any) -> Any:
    return x + 1 if s.python.random() < 0.5 else x - s.numpy.random(2).sum()


def seeded_anew(s: Any, x: Any) -> Any:
    y = x * s.python.random()
    s.python.seed(4)
    return y * s.python.random(), s.python.getstate()[2]


def of_the_frame(s: Any, x: Any) -> Any:
    s.python = random.Random(3)
    return x * s.python.random()


OWN = [one_of_each, by_several_names, handed_on, whole_numbers]
OTHERS = [refuted, integers, decided, seeded_anew, of_the_frame]


def with_sampler(function: Callable[..., Any], seed: int, x: Any) -> str:
    """What three calls give, and what the generators give next."""
    random.seed(seed)
    sampler = Sampler(seed)
    found: list[Any] = [outcome(function, (sampler, x.clone()))[:1] for _ in range(3)]
    return str([found, sampler.python.random(), sampler.python.gauss(0, 1),
                sampler.numpy.random(), random.random()])


@pytest.mark.parametrize("program", [*OWN, *OTHERS])
def test_generators_of_the_program(program: Any) -> None:
    captured = Captured(program)
    for seed in range(3):
        for x in (gw.ones(3), gw.full((3,), 100.0)):
            assert with_sampler(captured, seed, x) == with_sampler(program, seed, x)
    if program in OWN:
        assert (captured.breaks, captured.graphs) == ([], 1)


def test_methods_that_a_generator_has_of_its_own() -> None:
    def scaled(generator: Any, x: Any) -> Any:
        return x * generator.random()

    captured = Captured(scaled)
    plain, patched = random.Random(1), random.Random(1)
    assert captured.agrees(plain, gw.ones(2)) is False      # both calls drew
    patched.random = lambda: 4.0  # type: ignore[method-assign]
    for _ in range(2):
        assert captured(patched, gw.ones(2)).tolist() == [4.0, 4.0]


def test_generators_of_subclasses_are_asked_by_plain_python() -> None:
    class Constant(random.Random):
        def random(self) -> float:
            return 0.25

    captured = Captured(lambda generator, x: x * generator.random() + generator.uniform(0, 4))
    assert captured(Constant(), gw.ones(2)).tolist() == [1.25, 1.25]
