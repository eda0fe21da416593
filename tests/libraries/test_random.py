"""Generators, seeds and distributions; the same numbers eager and compiled, on any threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a.numpy(), b.numpy())


def test_a_seed_gives_the_same_numbers_again() -> None:
    gw.manual_seed(5)
    first = gw.rand(3), gw.randn(2), gw.randint(0, 9, (4,))
    gw.manual_seed(5)
    again = gw.rand(3), gw.randn(2), gw.randint(9, (4,))
    assert all(_equal(a, b) for a, b in zip(first, again, strict=True))
    assert gw.initial_seed() == 5


def test_a_generator_goes_its_own_way() -> None:
    own = gw.Generator().manual_seed(5)
    gw.manual_seed(1)
    expected = gw.rand(3)
    gw.manual_seed(1)
    drawn = gw.rand(3, generator=own)
    assert _equal(gw.rand(3), expected)
    gw.manual_seed(5)
    assert _equal(gw.rand(3), drawn)


def test_state_is_saved_and_restored() -> None:
    own = gw.Generator().manual_seed(-3)
    own_state, state = own.get_state(), gw.get_rng_state()
    drawn = gw.randn(4, generator=own), gw.randn(4)
    own.set_state(own_state)
    gw.set_rng_state(state)
    assert _equal(gw.randn(4, generator=own), drawn[0]) and _equal(gw.randn(4), drawn[1])
    twin = own.clone_state()
    assert _equal(gw.rand(2, generator=own), gw.rand(2, generator=twin))
    with pytest.raises(RuntimeError, match="RNG state"):
        own.set_state(gw.zeros(3, dtype=gw.uint8))
    with pytest.raises(TypeError):
        own.set_state("state")  # type: ignore[arg-type]


def test_fork_rng_leaves_no_trace() -> None:
    gw.manual_seed(2)
    with gw.random.fork_rng():
        inside = gw.rand(3)
    assert _equal(gw.rand(3), inside)


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_beyond_64_bits_are_refused(seed: int) -> None:
    with pytest.raises(RuntimeError, match="64 bits"):
        gw.manual_seed(seed)


def test_thread_count_does_not_matter() -> None:
    threads = gw.get_num_threads()
    drawn = []
    try:
        for count in (1, 2):
            gw.set_num_threads(count)
            gw.manual_seed(9)
            drawn.append((gw.rand(300_001), gw.randn(100_003), gw.randperm(70_000)))
    finally:
        gw.set_num_threads(threads)
    assert all(_equal(a, b) for a, b in zip(*drawn, strict=True))


WIDTHS = [(0, 10), (-5, 5), (0, 2**24 + 1), (0, 2**40), (-(2**62), 2**62), (-(2**63), 2**63 - 1)]


@pytest.mark.parametrize(("low", "high"), WIDTHS)
def test_randint_fills_its_range(low: int, high: int) -> None:
    gw.manual_seed(0)
    values = gw.randint(low, high, (50_000,)).numpy()
    assert values.min() >= low and values.max() < high
    places = (values.astype(np.float64) - low) / (high - low)
    assert abs(places.mean() - 0.5) < 0.06
    if high - low > 2**30:
        assert np.unique(values).size > 49_990 and (values & 1).mean() == pytest.approx(
            0.5, abs=0.02
        )


def test_half_types_never_draw_one() -> None:
    for dtype in (gw.float16, gw.bfloat16):
        values = gw.rand(200_000, dtype=dtype).to(gw.float32)
        assert float(values.max()) < 1.0 and float(values.min()) >= 0.0


FILLS: list[tuple[str, tuple[Any, ...], float, float]] = [
    ("uniform_", (2.0, 4.0), 3.0, 1 / np.sqrt(3)),
    ("normal_", (1.0, 3.0), 1.0, 3.0),
    ("exponential_", (2.0,), 0.5, 0.5),
    ("geometric_", (0.3,), 1 / 0.3, np.sqrt(0.7) / 0.3),
    ("log_normal_", (0.0, 0.5), np.exp(0.125), np.sqrt(np.expm1(0.25) * np.exp(0.25))),
    ("bernoulli_", (0.3,), 0.3, np.sqrt(0.21)),
    ("random_", (10,), 4.5, np.sqrt(8.25)),
]


@pytest.mark.parametrize(("name", "args", "mean", "std"), FILLS, ids=lambda v: str(v))
def test_moments_of_fills(name: str, args: Any, mean: float, std: float) -> None:
    gw.manual_seed(1)
    values = getattr(gw.empty(100_000), name)(*args).numpy()
    assert values.mean() == pytest.approx(mean, rel=0.03)
    assert values.std() == pytest.approx(std, rel=0.04)


LIKE: dict[str, Callable[[Any], Any]] = {
    **{f"{name}{args}": lambda x, name=name, args=args: getattr(x.clone(), name)(*args)
       for name, args in (("normal_", (1.0, 2.0)), ("exponential_", (2.0,)), ("cauchy_", (0.5, 2)),
                          ("log_normal_", ()), ("geometric_", (0.3,)), ("uniform_", (-1, 1)))},
    "randn_like": gw.randn_like,
    "randint_like": lambda x: gw.randint_like(x, -5, 5),
    "normal of a mean": gw.normal,
    "normal of a deviation": lambda x: gw.normal(1.0, x),
    "normal of both": lambda x: gw.normal(x, x),
}


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
@pytest.mark.parametrize("name", LIKE)
def test_few_numbers_are_the_first_of_many(name: str, dtype: Any) -> None:
    drawn = []
    for count in (100, 20_000):
        gw.manual_seed(1)
        drawn.append(LIKE[name](gw.ones(count, dtype=dtype)))
    few, many = drawn
    assert few.dtype is many.dtype
    tolerance = 1e-6 if dtype is gw.float32 else 1e-14
    np.testing.assert_allclose(few.numpy(), many[:100].numpy(), tolerance, tolerance)


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.float16, gw.bfloat16])
def test_normal_numbers_are_the_same_bits_in_tensors_of_any_size(dtype: Any) -> None:
    drawn = []
    for count in (96, 20_000, 70_001):
        generator = gw.Generator().manual_seed(5)
        whole = gw.randn(count, generator=generator, dtype=dtype)
        filled = gw.empty(count, dtype=dtype).normal_(3.0, 0.5, generator=generator)
        drawn.append((whole[:96], filled[:96]))
    assert all(_equal(a, b) for later in drawn[1:] for a, b in zip(drawn[0], later, strict=True))


def test_normal_numbers_of_half_precision_are_rounded_ones_of_float32() -> None:
    for dtype in (gw.float16, gw.bfloat16):
        gw.manual_seed(3)
        halves = gw.randn(20_000, dtype=dtype)
        gw.manual_seed(3)
        assert _equal(halves, gw.randn(20_000).to(dtype))


def test_poisson_and_binomial() -> None:
    gw.manual_seed(1)
    values = gw.poisson(gw.full((50_000,), 4.0)).numpy()
    assert values.mean() == pytest.approx(4.0, rel=0.02) and values.var() == pytest.approx(
        4, rel=0.05
    )
    counts = gw.binomial(gw.full((50_000,), 10.0), gw.full((50_000,), 0.3)).numpy()
    assert counts.mean() == pytest.approx(3.0, rel=0.02) and counts.max() <= 10
    with pytest.raises(RuntimeError):
        gw.poisson(gw.tensor([-1.0]))


def test_multinomial_follows_the_weights() -> None:
    gw.manual_seed(3)
    weights = gw.tensor([0.1, 0.2, 0.3, 0.4, 0.0])
    for drawn in (
        gw.multinomial(weights.expand(20_000, 5), 1),
        gw.multinomial(weights, 20_000, replacement=True),
    ):
        shares = np.bincount(drawn.numpy().ravel(), minlength=5) / 20_000
        np.testing.assert_allclose(shares, weights.numpy(), atol=0.015)
    pairs = gw.multinomial(weights.expand(500, 5), 4).numpy()
    assert all(len(set(row)) == 4 and 4 not in row for row in pairs)


BAD: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: gw.rand(2, dtype=gw.int64), RuntimeError),
    (lambda: gw.rand(2, generator=3), TypeError),
    (lambda: gw.rand(-1), RuntimeError),
    (lambda: gw.randint(5, 5, (2,)), RuntimeError),
    (lambda: gw.randint(2.5, (2,)), TypeError),
    (lambda: gw.randint(size=(2,)), TypeError),
    (lambda: gw.randint_like(gw.ones(2)), TypeError),
    (lambda: gw.randint(0, 300, (2,), dtype=gw.uint8), RuntimeError),
    (lambda: gw.randint(2**24, 2**24 + 9, (2,), dtype=gw.float32), RuntimeError),
    (lambda: gw.randint_like(gw.ones(2), 2**24, 2**24 + 9), RuntimeError),
    (lambda: gw.randperm(-1), RuntimeError),
    (lambda: gw.normal(0.0, -1.0, (2,)), RuntimeError),
    (lambda: gw.normal(gw.zeros(2), gw.tensor([1.0, -1.0])), RuntimeError),
    (lambda: gw.bernoulli(gw.tensor([2.0])), RuntimeError),
    (lambda: gw.bernoulli(gw.tensor([1])), RuntimeError),
    (lambda: gw.multinomial(gw.tensor([1.0, -1.0]), 1), RuntimeError),
    (lambda: gw.multinomial(gw.tensor([0.0, 0.0]), 1), RuntimeError),
    (lambda: gw.multinomial(gw.tensor([0.5, 0.5]), 3), RuntimeError),
    (lambda: gw.multinomial(gw.tensor([1, 1]), 1), RuntimeError),
    (lambda: gw.zeros(2).uniform_(1.0, 0.0), RuntimeError),
    (lambda: gw.zeros(2).exponential_(-1.0), RuntimeError),
    (lambda: gw.zeros(2).geometric_(1.5), RuntimeError),
    (lambda: gw.zeros(2).cauchy_(0.0, -1.0), RuntimeError),
    (lambda: gw.zeros(2).log_normal_(0.0, 0.0), RuntimeError),
    (lambda: gw.normal(0.0, gw.tensor([1.0, float("nan")])), RuntimeError),
    (lambda: gw.zeros(2, dtype=gw.int64).normal_(), RuntimeError),
    (lambda: gw.empty(10**14), RuntimeError),
    (lambda: gw.rand(10**14), RuntimeError),
    (lambda: gw.arange(10**17), RuntimeError),
    (lambda: gw.arange(0, float("inf")), RuntimeError),
    (lambda: gw.full((2,), 300, dtype=gw.uint8), RuntimeError),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_bad_arguments(number: int) -> None:
    call, error = BAD[number]
    with pytest.raises(error):
        call()


own = gw.Generator()

COMPILED: dict[str, Callable[[Any], Any]] = {
    "rand": lambda x: x + gw.rand(3, 4),
    "half": lambda x: gw.rand(50, dtype=gw.bfloat16),
    "randn": lambda x: gw.randn(3, 4) * x,
    "randint": lambda x: gw.randint(0, 2**40, (3, 4)),
    "randint by name": lambda x: gw.randint(high=9, size=(3, 4)) + gw.randint(9, size=(4,)),
    "randint_like by name": lambda x: gw.randint_like(x, high=9),
    "randperm": lambda x: gw.randperm(10),
    "own generator": lambda x: x + gw.rand(3, 4, generator=own) + gw.rand(3, 4),
    "normal": lambda x: gw.normal(x, 0.5),
    "bernoulli": lambda x: gw.bernoulli(x * 0.5),
    "normal of two": lambda x: gw.normal(x, x * 0.5),
    "normal of a deviation": lambda x: gw.normal(2.0, x),
    "normal of numbers": lambda x: gw.normal(2.0, 0.5, (3, 4)) + x,
    "float64": lambda x: gw.randn(3, 4, dtype=gw.float64) + x,
    "fills": lambda x: gw.empty(3, 4).exponential_(2.0) + gw.empty(3, 4).uniform_(1, 2) + x,
    "log-normal and geometric": lambda x: x.clone().log_normal_() + x.clone().geometric_(0.2),
    "cauchy": lambda x: gw.atan(x.clone().cauchy_(1.0, 2.0)),
    "multinomial": lambda x: gw.multinomial(x, 2),
    "poisson": lambda x: gw.poisson(x) + 1,
    "dropout of a transposed tensor": lambda x: gw.nn.functional.dropout(x.t(), 0.5, True),
}


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_code_draws_the_same_numbers(name: str) -> None:
    x, function = gw.ones(3, 4), COMPILED[name]
    results = []
    for run in (function, gw.compile(function)):
        gw.manual_seed(7)
        own.manual_seed(3)
        results.append((run(x), gw.rand(1), gw.rand(1, generator=own)))
    for eager, compiled in zip(*results, strict=True):
        assert eager.dtype is compiled.dtype and eager.stride() == compiled.stride()
        np.testing.assert_allclose(
            eager.to(gw.float64).numpy(), compiled.to(gw.float64).numpy(), rtol=1e-6, atol=1e-7
        )


def test_random_bounds_are_told_apart_by_being_given() -> None:
    """random_(to), random_(from, to), random_(from, None) and random_(): all the dtype holds."""
    bytes_ = gw.zeros(200, dtype=gw.uint8)
    assert bytes_.random_(250, None).amin().item() >= 250
    assert bytes_.random_(250, None).unique().tolist() == [250, 251, 252, 253, 254, 255]
    assert bytes_.random_(**{"from": 254, "to": None}).unique().tolist() == [254, 255]
    assert gw.compile(lambda x: x.random_(254, None))(bytes_).unique().tolist() == [254, 255]
    assert bytes_.random_(2).unique().tolist() == [0, 1]
    with pytest.raises(TypeError, match="goes with 'from'"):
        bytes_.random_(**{"from": 5})
    with pytest.raises(TypeError, match="must be int, not None"):
        bytes_.random_(None, 5)


@pytest.mark.parametrize("p", [0.5, gw.full((3,), 0.5)])
def test_draws_of_two_values_are_not_complex(p: Any) -> None:
    with pytest.raises(NotImplementedError, match="bernoulli_"):
        gw.zeros(3, dtype=gw.complex64).bernoulli_(p)
