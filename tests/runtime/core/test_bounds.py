"""clamp and its halves with bounds that are tensors, in C, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

RNG = np.random.default_rng(0)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])


def numbers(dtype: str, *shape: int) -> Any:
    values = RNG.integers(-5, 5, shape).astype(dtype)
    if dtype.startswith("float"):
        values = np.where(RNG.random(shape) < 0.4, RNG.choice(SPECIAL, shape), values)
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int16", "int32", "int64"])
def test_both_bounds(dtype: str) -> None:
    x, low, high = (numbers(dtype, 5, 67) for _ in range(3))
    tensors = [gw.from_numpy(a) for a in (x, low, high)]
    want = np.minimum(np.maximum(x, low), high)
    np.testing.assert_array_equal(gw.clamp(*tensors).numpy(), want, strict=True)
    columns = gw.clamp(*(t.T for t in tensors))
    np.testing.assert_array_equal(columns.numpy(), want.T)
    row = gw.clamp(tensors[0], tensors[1][0], tensors[2][:, :1])
    np.testing.assert_array_equal(row.numpy(), np.minimum(np.maximum(x, low[0]), high[:, :1]))
    np.testing.assert_array_equal(tensors[0].clamp_(tensors[1], tensors[2]).numpy(), want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
@pytest.mark.parametrize("name", ["clamp_min", "clamp_max"])
def test_one_bound(name: str, dtype: str) -> None:
    x, bound = numbers(dtype, 3, 40), numbers(dtype, 40)
    want = (np.maximum if name == "clamp_min" else np.minimum)(x, bound)
    got = getattr(gw.from_numpy(x), name)(gw.from_numpy(bound))
    np.testing.assert_array_equal(got.numpy(), want, strict=True)
    written = getattr(gw.from_numpy(x.copy()), name + "_")(gw.from_numpy(bound))
    np.testing.assert_array_equal(written.numpy(), want)


@pytest.mark.parametrize("name", ["clamp_min", "clamp_max"])
def test_a_bound_of_another_dtype(name: str) -> None:
    whole, half = gw.tensor([1, 2, 3]), gw.tensor([1.5, 2.5, 2.5])
    assert getattr(whole, name)(half).dtype is gw.float32
    assert getattr(half, name)(whole).dtype is gw.float32
    with pytest.raises(RuntimeError, match="can't be cast"):
        getattr(whole.clone(), name + "_")(half)
    with pytest.raises(RuntimeError, match=r"must match|broadcast"):
        getattr(half, name)(gw.ones(2))


def test_a_bound_that_overlaps_what_is_written() -> None:
    x = gw.arange(5.0)
    assert x[1:].clamp_min_(x[1:]).tolist() == [1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].clamp_min_(x[:-1])
