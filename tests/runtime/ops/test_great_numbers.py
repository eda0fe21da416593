"""Integers that become sizes, places, labels or lengths: far too great, or negative.

They are never taken for other numbers: a size that does not fit in memory, or not even in 64 bits,
and a place outside of its tensor raise, eagerly, in compiled code and without data, and nothing
is read or written outside. The sweep puts such numbers at each place of every op's samples.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw

F = gw.nn.functional
ROOT = Path(__file__).parents[3]
MOST = 2**63 - 1
X = gw.arange(12.0).reshape(3, 4)
FOUR = gw.full((4,), 2**62)
"""Their sum is 0 in 64 bits."""


def _sweep(mode: str, count: int) -> None:
    seed = random.randrange(1 << 32)
    print(f"{mode}: {count or 'all'} calls, seed {seed}")
    command = [sys.executable, "-m", "tests.runtime.great_numbers", mode, str(seed), str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    bad = [pair for pair in itertools.pairwise(lines) if pair[1].startswith("raised")]
    assert not bad
    assert done.returncode == 0, (lines[-1:], done.stderr[-1000:])
    assert not count or len(lines) == count


@pytest.mark.parametrize(("mode", "count"), [("eager", 1000), ("meta", 500), ("compiled", 20)])
def test_a_sample_of_all_ops(mode: str, count: int) -> None:
    _sweep(mode, count)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["eager", "meta", "compiled"])
def test_all_ops(mode: str) -> None:
    _sweep(mode, 0)


def _ctc(labels: Any, lengths: Any) -> Any:
    scores = gw.zeros(4, len(lengths), 5).log_softmax(2)
    return F.ctc_loss(scores, labels, gw.tensor([4] * len(lengths)), lengths)


SIZES: dict[str, Callable[[], Any]] = {
    "repeat_interleave": lambda: gw.repeat_interleave(gw.ones(4), gw.tensor([2**62])),
    "repeat_interleave of a sum that wraps": lambda: gw.ones(4).repeat_interleave(FOUR),
    "repeat_interleave of numbers": lambda: gw.repeat_interleave(FOUR, output_size=0),
    "bincount": lambda: gw.bincount(gw.tensor([MOST])),
    "tril_indices": lambda: gw.tril_indices(MOST, 3),
    "triu_indices": lambda: gw.triu_indices(3, MOST),
    "interpolate": lambda: F.interpolate(gw.ones(1, 1, 3), size=MOST),
    "combinations": lambda: gw.combinations(gw.arange(100), 50),
    "tensor_split": lambda: X.tensor_split(2**40),
    "unbind": lambda: gw.ones(1).expand(2**40).unbind(),
    "chunk": lambda: gw.ones(0).chunk(2**40),
    "cat": lambda: gw.cat([gw.ones(1).expand(2**62)] * 4),
    "kron": lambda: gw.kron(gw.ones(1).expand(2**32), gw.ones(1).expand(2**32)),
    "one_hot": lambda: F.one_hot(gw.tensor([MOST])),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_sizes_that_nothing_holds(name: str, compiled: bool) -> None:
    make = gw.compile(SIZES[name]) if compiled else SIZES[name]
    with pytest.raises((RuntimeError, MemoryError), match=r"overflow|fit|allocate|in memory"):
        make()


PLACES: dict[str, tuple[Callable[[int], Any], str]] = {
    "ctc_loss": (lambda n: _ctc(gw.tensor([[n]]), gw.tensor([1])), "labels from 0 to 4"),
    "lengths of ctc_loss": (
        lambda n: _ctc(gw.tensor([1, 2, 3, 4]), gw.tensor([n] * 4)), "target_lengths to fit"),
    "offsets of embedding_bag": (
        lambda n: F.embedding_bag(gw.tensor([0, 1]), X, gw.tensor([0, n, 1])), "increasing order"),
    "lengths of segment_reduce": (
        lambda n: gw.segment_reduce(gw.ones(3), "sum", lengths=gw.tensor([n, n, n, n + 3])),
        "negative value|sum to"),
    "offsets of segment_reduce": (
        lambda n: gw.segment_reduce(gw.ones(3), "sum", offsets=gw.tensor([0, n])),
        "lies outside|in no order"),
    "multilabel_margin_loss": (
        lambda n: F.multilabel_margin_loss(X, gw.tensor([[0, 1, -1, 2], [n, 0, 0, 0], [0] * 4])),
        "out of range"),
    "modes of grid_sampler": (
        lambda n: gw.grid_sampler(gw.ones(1, 1, 2, 2), gw.zeros(1, 1, 1, 2), n, n, False),
        "grid_sampler: expected"),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", PLACES)
def test_places_outside(name: str, compiled: bool) -> None:
    take, message = PLACES[name]
    take = gw.compile(take) if compiled else take
    for number in (-3, 2**62):
        with pytest.raises((RuntimeError, ValueError), match=message):
            take(number)


def test_a_count_of_elements_is_not_negative() -> None:
    assert gw.frombuffer(b"1234", dtype=gw.uint8, count=-1).tolist() == [49, 50, 51, 52]
    for count in (-2, 0, 5, 2**62, -(2**63)):
        with pytest.raises(ValueError, match="do not lie in a buffer of 4 bytes"):
            gw.frombuffer(b"1234", dtype=gw.uint8, count=count)


def test_views_without_data_begin_inside_too() -> None:
    with pytest.raises(RuntimeError, match="storage offset must not be negative"):
        X.to("meta").as_strided((2,), (1,), -3)


@pytest.mark.parametrize("lower", [True, False])
def test_triangles_of_few_indices_are_made_of_few(lower: bool) -> None:
    """However many rows there are that have none."""
    rows = 2**40
    found = gw.tril_indices(rows, 3, 2 - rows) if lower else gw.triu_indices(rows, 2)
    expected = [[rows - 2, rows - 1, rows - 1], [0, 0, 1]] if lower else [[0, 0, 1], [0, 1, 1]]
    assert found.tolist() == expected


def test_constants_that_an_op_refuses_raise_as_they_do_eagerly() -> None:
    def divided(x: Any) -> Any:
        return x + gw.tensor([1]) // gw.tensor([0])

    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        gw.compile(divided)(gw.ones(1))
