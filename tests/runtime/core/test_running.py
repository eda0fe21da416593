"""Running sums, products and extrema along any dim in C, against NumPy in the widest type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

RNG = np.random.default_rng(0)
SHAPES: list[tuple[int, ...]] = [
    (1,), (7,), (50_000,), (5, 9), (9, 4099), (4099, 3), (3, 5, 130), (2, 3, 4, 5)
]
SCANS: dict[str, Callable[..., Any]] = {"cumsum": np.cumsum, "cumprod": np.cumprod}


def real(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    return (1 + RNG.standard_normal(shape) / 1000).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 2e-6), ("float64", 1e-12)])
@pytest.mark.parametrize("name", SCANS)
def test_totals(name: str, dtype: str, rtol: float, shape: tuple[int, ...]) -> None:
    array = real(shape, dtype)
    for dim in range(len(shape)):
        got = getattr(gw, name)(gw.from_numpy(array), dim)
        want = SCANS[name](array.astype(np.longdouble), dim)
        np.testing.assert_allclose(got.numpy(), want.astype(dtype), rtol=rtol)
        assert got.numpy().dtype == dtype


@pytest.mark.parametrize("name", SCANS)
def test_totals_of_integers_wrap_around(name: str) -> None:
    array = RNG.integers(-(1 << 62), 1 << 62, (6, 300))
    for dim in (0, 1):
        with np.errstate(over="ignore"):
            want = SCANS[name](array, dim)
        np.testing.assert_array_equal(getattr(gw, name)(gw.from_numpy(array), dim).numpy(), want)
        small = array.astype(np.int32)
        got = getattr(gw, name)(gw.from_numpy(small), dim)
        np.testing.assert_array_equal(got.numpy(), SCANS[name](small.astype(np.int64), dim))


def test_products_neither_overflow_nor_vanish_on_the_way() -> None:
    steps = np.array([1e200, 1e-200] * 8 + [0.0, np.inf, 2.0])
    with np.errstate(invalid="ignore"):
        want = np.cumprod(steps)
    for rows in (1, 4, 5):
        got = gw.from_numpy(np.tile(steps, (rows, 1))).cumprod(1).numpy()
        np.testing.assert_array_equal(got, np.tile(want, (rows, 1)))


def extremes(array: np.ndarray[Any, Any], dim: int, least: bool) -> tuple[Any, Any]:
    """Values and places step by step: the last of equal elements, a NaN for good."""
    rows = np.moveaxis(array, dim, 0)
    best, place = rows[0].copy(), np.zeros(rows.shape[1:], np.int64)
    values, places = [], []
    for i, row in enumerate(rows):
        taken = (row <= best if least else row >= best) | np.isnan(row)
        best, place = np.where(taken, row, best), np.where(taken, i, place)
        values.append(best)
        places.append(place)
    return np.moveaxis(np.stack(values), 0, dim), np.moveaxis(np.stack(places), 0, dim)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16", "uint8"])
@pytest.mark.parametrize("least", [False, True])
def test_extrema(dtype: str, shape: tuple[int, ...], least: bool) -> None:
    array = RNG.integers(0, 60, shape).astype(dtype)
    if array.dtype.kind == "f":
        array[RNG.random(shape) < 0.001] = np.nan
    for dim in range(len(shape)):
        got = (gw.cummin if least else gw.cummax)(gw.from_numpy(array), dim)
        for one, want in zip(got, extremes(array, dim, least), strict=True):
            np.testing.assert_array_equal(one.numpy(), want)


@pytest.mark.parametrize("least", [False, True])
def test_extrema_that_stand_for_long_stretches(least: bool) -> None:
    array = np.zeros((3, 1000), np.float32)
    array[0, [40, 500, 501, 900]] = 1, np.nan, 2, np.nan
    array[1, 100:] = -1
    array[2] = np.arange(1000) % 64
    got = (gw.cummin if least else gw.cummax)(gw.from_numpy(array), 1)
    for one, want in zip(got, extremes(array, 1, least), strict=True):
        np.testing.assert_array_equal(one.numpy(), want)


def test_layouts_and_nothing() -> None:
    array = real((40, 70), "float32")
    np.testing.assert_allclose(gw.from_numpy(array).t().cumprod(0).numpy(),
                               array.T.cumprod(0), rtol=1e-5)
    assert gw.zeros(0, 3).cumprod(0).shape == (0, 3)
    assert gw.zeros(3, 0).cummax(0).indices.shape == (3, 0)
    assert gw.tensor(2.0).cumprod(0).item() == 2


def test_bits_do_not_depend_on_the_threads() -> None:
    tensor = gw.from_numpy(real((33, 5000), "float32"))
    before, seen = gw.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            gw.set_num_threads(threads)
            parts = [f(dim) for f in (tensor.cumsum, tensor.cumprod) for dim in (0, 1)]
            parts += [tensor.cummax(dim).indices for dim in (0, 1)]
            seen.add(b"".join(part.numpy().tobytes() for part in parts))
    finally:
        gw.set_num_threads(before)
    assert len(seen) == 1
