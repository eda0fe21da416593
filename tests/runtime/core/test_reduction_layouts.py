"""Reductions over every set of dims of every layout, of all float dtypes, on any threads."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import graphwright as gw

KINDS = ["float16", "bfloat16", "float32", "float64"]
NAMES = ["sum", "nansum", "mean", "prod", "amax", "amin"]
LAYOUTS: dict[str, Any] = {
    "contiguous": lambda x: x,
    "transposed": lambda x: x.permute(3, 1, 0, 2),
    "every second": lambda x: x[..., ::2],
    "every third": lambda x: x[..., ::3],
    "every fourth": lambda x: x[..., ::4],
    "every fifth": lambda x: x[..., ::5],
    "part": lambda x: x[:, 1:, 2:, 1:],
}


def values(shape: tuple[int, ...], dtype: str) -> Any:
    """Sums of all of them stay within the range of float16."""
    numbers = 1 + np.random.default_rng(0).uniform(-1e-3, 1e-3, shape)
    return gw.from_numpy(numbers).to(getattr(gw, dtype))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", KINDS)
def test_dims(dtype: str, layout: str, name: str) -> None:
    x = LAYOUTS[layout](values((3, 20, 7, 64), dtype))
    exact = x.to(gw.float64).numpy()
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    for count in (1, 2, 3, 4):
        for dims in combinations(range(4), count):
            if name == "prod" and count > 1:
                continue        # which PyTorch's API lacks
            dim: Any = dims[0] if name == "prod" else dims
            got = getattr(x, name)(dim)
            expected = getattr(np, name)(exact, dim)
            np.testing.assert_allclose(got.to(gw.float64).numpy(), expected, tolerance)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("shape", [(3, 9000), (9000, 3), (40, 257), (257, 40), (2, 300, 33)])
def test_sizes(shape: tuple[int, ...], dtype: str) -> None:
    x = values(shape, dtype)
    exact = x.to(gw.float64).numpy()
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2}.get(dtype, 1e-5)
    for dim in range(len(shape)):
        np.testing.assert_allclose(x.sum(dim).to(gw.float64).numpy(), exact.sum(dim), tolerance)
        np.testing.assert_array_equal(x.amax(dim).to(gw.float64).numpy(), exact.max(dim))


@pytest.mark.parametrize("name", ["sum", "nansum", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("length", [16, 255, 500, 1000])
def test_runs_that_are_taken_across_one_another(length: int, dtype: str, name: str) -> None:
    x = values((length // 16 + 1, 2, length), dtype)
    expected = getattr(np, name)(x.to(gw.float64).numpy(), (0, 2))
    tolerance = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    got = getattr(x, name)((0, 2)).to(gw.float64).numpy()
    np.testing.assert_allclose(got, expected, tolerance)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", KINDS)
def test_nan_and_infinity(dtype: str, name: str) -> None:
    x = values((64, 48, 64), dtype)
    x[3, 5, 7], x[9, 11, 13] = float("nan"), float("inf")
    for dims in ((0,), (1,), (2,), (0, 2)):
        dim: Any = dims[0] if name == "prod" else dims
        if name == "prod" and len(dims) > 1:
            continue
        got = getattr(x, name)(dim).to(gw.float64).numpy()
        expected = getattr(np, name)(x.to(gw.float64).numpy(), dim)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
        np.testing.assert_array_equal(np.isinf(got), np.isinf(expected))


@pytest.mark.parametrize("name", ["amax", "amin"])
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("length", [7, 100, 5000])
def test_a_nan_anywhere_is_the_extreme(length: int, dtype: str, name: str) -> None:
    x = values((length, length), dtype) if length < 5000 else values((3, length), dtype)
    for place in range(0, length, 1 if length < 5000 else 997):
        row = x[place % len(x)].clone()
        row[place] = float("nan")
        assert bool(getattr(row, name)().isnan())
        for infinity in (float("inf"), -float("inf")):
            row[place] = infinity
            got = getattr(row, name)()
            assert bool(got == infinity) == ((infinity > 0) == (name == "amax"))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (0, 1), (1, 2), (0, 1, 2)])
def test_the_bits_do_not_depend_on_threads(dims: tuple[int, ...], dtype: str) -> None:
    x = gw.from_numpy(np.random.default_rng(0).standard_normal((96, 80, 64))).to(
        getattr(gw, dtype))  # fmt: skip
    before, found = gw.get_num_threads(), []
    try:
        for threads in (1, 2, 7):
            gw.set_num_threads(threads)
            found.append(x.sum(dims))
    finally:
        gw.set_num_threads(before)
    assert all(gw.equal(found[0], other) for other in found[1:])
