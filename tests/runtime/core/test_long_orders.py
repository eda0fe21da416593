"""Orders of long lines in C: argsort by digits, topk by a heap, against a stable order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64", "int32", "int64"]
SHAPES: list[tuple[int, ...]] = [(9000,), (7, 3000), (2000, 9), (3, 700, 5), (130, 129)]


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    """Many equal ones, of both signs, with infinities, zeros of both signs and NaN."""
    if dtype.startswith("int"):
        some = RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 40, dtype=dtype)
        return np.where(RNG.random(shape) < 0.5, RNG.choice(some, shape),
                        RNG.integers(-300, 300, shape)).astype(dtype)
    array = np.round(RNG.standard_normal(shape) * 1000).astype(dtype)
    special = RNG.random(shape) < 0.1
    return np.where(special, RNG.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40], shape),
                    array).astype(dtype)


def order(array: np.ndarray[Any, Any], dim: int, descending: bool) -> np.ndarray[Any, Any]:
    """NaN is the greatest; of equal ones the first comes first."""
    if not descending:
        return np.argsort(array, dim, kind="stable")
    ranks = np.unique(array, return_inverse=True)[1].reshape(array.shape)
    return np.argsort(-ranks, dim, kind="stable")


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(dtype: str, shape: tuple[int, ...], descending: bool) -> None:
    array = numbers(shape, dtype)
    tensor = gw.from_numpy(array)
    for dim in range(len(shape)):
        want = order(array, dim, descending)
        values, places = gw.sort(tensor, dim, descending=descending, stable=True)
        np.testing.assert_array_equal(places.numpy(), want)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(array, want, dim))


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_topk(dtype: str, largest: bool) -> None:
    for shape in SHAPES:
        array = numbers(shape, dtype)
        for dim in range(len(shape)):
            whole = order(array, dim, largest)
            for k in (0, 1, min(5, shape[dim]), shape[dim] // 3, shape[dim]):
                want = np.take(whole, range(k), dim)
                values, places = gw.topk(gw.from_numpy(array), k, dim, largest)
                np.testing.assert_array_equal(places.numpy(), want)
                np.testing.assert_array_equal(values.numpy(),
                                              np.take_along_axis(array, want, dim))


def test_a_rising_line_is_no_worse() -> None:
    rising = gw.arange(50_000)
    assert gw.topk(rising, 3).indices.tolist() == [49_999, 49_998, 49_997]
    assert gw.topk(rising, 3, largest=False).indices.tolist() == [0, 1, 2]
    assert (gw.argsort(rising) == rising).all()


def test_other_layouts_and_dtypes() -> None:
    array = numbers((300, 200), "float32")
    got = gw.from_numpy(array).t().sort(0, stable=True).indices
    np.testing.assert_array_equal(got.numpy(), order(array.T, 0, False))
    half = gw.from_numpy(array).to(gw.float16)
    want = order(half.float().numpy(), 1, False)
    np.testing.assert_array_equal(half.sort(1, stable=True).indices.numpy(), want)


@pytest.mark.parametrize("dtype", [*DTYPES, "uint8", "bool"])
def test_unique(dtype: str) -> None:
    array = RNG.integers(0, 2 if dtype == "bool" else 100, (70, 90)).astype(dtype)
    tensor = gw.from_numpy(array)
    values, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    got = gw.unique(tensor, return_inverse=True, return_counts=True)
    for one, want in zip(got, (values, inverse.reshape(array.shape), counts), strict=True):
        np.testing.assert_array_equal(one.numpy(), want)
    np.testing.assert_array_equal(gw.unique(tensor).numpy(), values)
    assert gw.unique(gw.tensor([float("nan")] * 200 + [1.0])).shape == (201,)
