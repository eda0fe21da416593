"""Copies between layouts against NumPy's: transposed, reversed and stepped, at sizes around those
of the squares and tiles that are moved at once."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import graphwright as gw

DTYPES = ["uint8", "float16", "float32", "int64", "complex128"]


def numbered(dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    return (np.arange(np.prod(shape)) % 251).reshape(shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [3, 4, 8, 33, 130])
@pytest.mark.parametrize("columns", [4, 7, 16, 71])
def test_transposed_and_turned(dtype: str, rows: int, columns: int) -> None:
    array = numbered(dtype, rows, columns)
    x = gw.from_numpy(array)
    np.testing.assert_array_equal(x.T.contiguous().numpy(), array.T)
    np.testing.assert_array_equal(x.flip(0).T.contiguous().numpy(), array[::-1].T)
    for turns in (1, 2, 3):
        np.testing.assert_array_equal(gw.rot90(x, turns).numpy(), np.rot90(array, turns))
    for step in (2, 3, 4, 5):
        np.testing.assert_array_equal(x[:, ::step].contiguous().numpy(), array[:, ::step])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1024, 1024), (1153, 911), (3, 350003), (350003, 5)])
def test_transposed_out_of_the_caches(dtype: str, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    array = random.integers(0, 251, shape).astype(dtype)
    x = gw.from_numpy(array)
    np.testing.assert_array_equal(x.T.contiguous().numpy(), array.T)
    into = gw.zeros(shape[1] + 2, shape[0] + 3, dtype=x.dtype)
    into[1:-1, 2:-1] = x.T
    np.testing.assert_array_equal(into.numpy()[1:-1, 2:-1], array.T)
    assert not into.numpy()[[0, -1]].any() and not into.numpy()[:, [0, 1, -1]].any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_permuted(dtype: str) -> None:
    array = numbered(dtype, 3, 37, 5, 66)
    x = gw.from_numpy(array)
    for order in permutations(range(4)):
        copied = x.permute(order).contiguous().numpy()
        np.testing.assert_array_equal(copied, array.transpose(order))


@pytest.mark.parametrize("name", ["exp", "log1p", "sin", "arcsin"])
@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_costly_functions_of_stepped_tensors(name: str, step: int) -> None:
    x = gw.tensor(np.random.default_rng(0).uniform(-0.9, 0.9, (70, 999)), dtype=gw.float32)
    stepped = x[:, ::step]
    got = getattr(gw, name)(stepped).numpy()
    np.testing.assert_allclose(got, getattr(gw, name)(stepped.contiguous()).numpy(), 3e-7)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [1, 3, 16, 67, 1029])
def test_rows_are_copied_from_their_ends(dtype: str, n: int) -> None:
    array = (np.arange(5 * n).reshape(5, n) % 251).astype(dtype)
    x = gw.tensor(array)
    for got, want in ((x.flip(1), array[:, ::-1]), (x.flip(0, 1), array[::-1, ::-1]),
                      (gw.rot90(x), np.rot90(array)), (gw.rot90(x, -1), np.rot90(array, -1)),
                      (gw.rot90(x, 2), np.rot90(array, 2))):
        np.testing.assert_array_equal(got.numpy(), want)
