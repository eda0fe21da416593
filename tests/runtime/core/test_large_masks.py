"""Many elements by a mask: masked_select, nonzero, masked_fill; random permutations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw

SHAPES = [(5000,), (70_001,), (300, 400), (3, 5, 7, 501), (200_000, 1)]
DENSITIES = [0.0, 0.01, 0.5, 1.0]


@pytest.fixture(params=[1, 2, 5])
def threads(request: Any) -> Iterator[int]:
    before = gw.get_num_threads()
    gw.set_num_threads(request.param)
    yield request.param
    gw.set_num_threads(before)


def mask_of(shape: tuple[int, ...], density: float) -> np.ndarray:
    return np.random.default_rng(0).random(shape) < density


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_places(shape: tuple[int, ...], density: float, threads: int) -> None:
    mask = mask_of(shape, density)
    found = gw.nonzero(gw.from_numpy(mask))
    np.testing.assert_array_equal(found.numpy(), np.argwhere(mask))
    assert found.stride() == (1, max(len(found), 1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_select(shape: tuple[int, ...], density: float, dtype: Any, threads: int) -> None:
    mask, x = mask_of(shape, density), np.random.default_rng(1).random(shape) * 100
    x = x.astype(dtype)
    got = gw.masked_select(gw.from_numpy(x), gw.from_numpy(mask))
    np.testing.assert_array_equal(got.numpy(), x[mask])


def test_select_of_other_layouts() -> None:
    x, mask = np.random.default_rng(1).random((300, 400)), mask_of((300, 400), 0.5)
    got = gw.masked_select(gw.from_numpy(x.T), gw.from_numpy(mask.T))
    np.testing.assert_array_equal(got.numpy(), x.T[mask.T])
    got = gw.masked_select(gw.from_numpy(x), gw.from_numpy(mask[:1]))
    np.testing.assert_array_equal(got.numpy(), x[np.broadcast_to(mask[:1], x.shape)])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "uint8",
                                   "bool"])
@pytest.mark.parametrize("mask_shape", [(300, 400), (1, 400), (300, 1), (400,)])
def test_fill(dtype: str, mask_shape: tuple[int, ...], threads: int) -> None:
    kind = getattr(gw, dtype)
    value: Any = True if dtype == "bool" else 3 if "int" in dtype else 0.1
    x = gw.from_numpy(np.random.default_rng(1).integers(0, 9, (300, 400))).to(kind)
    mask = gw.from_numpy(mask_of(mask_shape, 0.5))
    expected = gw.where(mask, gw.tensor(value, dtype=kind), x)
    for given in (x, x.T.contiguous().T):
        got = given.masked_fill(mask, value)
        assert got.dtype is kind and got.is_contiguous() and gw.equal(got, expected)
        own = given.clone()
        assert own.masked_fill_(mask, value) is own and gw.equal(own, expected)


def test_fill_with_a_number_that_does_not_fit() -> None:
    mask = gw.ones(5000, dtype=gw.bool)
    with pytest.raises(RuntimeError):
        gw.zeros(5000, dtype=gw.int64).masked_fill(mask, float("inf"))
    low = gw.zeros(5000, dtype=gw.float16).masked_fill(mask, float("-inf"))
    assert bool((low == float("-inf")).all())


@pytest.mark.parametrize("n", [0, 1, 2, 3, 1000, 1025, 70_000])
def test_permutations(n: int, threads: int) -> None:
    gw.manual_seed(7)
    order = gw.randperm(n)
    np.testing.assert_array_equal(np.sort(order.numpy()), np.arange(n))
    gw.manual_seed(7)
    by_sorting = gw.randperm(n, dtype=gw.int32)      # which the kernel in C leaves to NumPy
    np.testing.assert_array_equal(order.numpy(), by_sorting.numpy())
