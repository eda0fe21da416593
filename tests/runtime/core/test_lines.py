"""Variances and softmax along dims in C, and short rows put together, in float64."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.tensor.tensor import Tensor

RNG = np.random.default_rng(0)
SHAPES: list[tuple[int, ...]] = [
    (1,), (7,), (200_000,), (5, 9), (3, 70_001), (300, 1000), (9000, 3), (17, 130, 5), (2, 3, 4, 5)
]
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


def make(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    return (RNG.random(shape) + 3).astype(dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_lines_agree_with_float64(shape: tuple[int, ...], dtype: str) -> None:
    array = make(shape, dtype)
    tensor, exact, rtol = gw.from_numpy(array), array.astype(np.float64), TOLERANCE[dtype]
    every = tuple(range(len(shape)))
    for first in every:
        for last in every[first:]:
            dims = tuple(range(first, last + 1))
            for root, keepdim in ((False, True), (True, False)):
                got = _core.variance(Tensor, tensor, dims, 0, keepdim, root)
                want = (np.std if root else np.var)(exact, dims, keepdims=keepdim)
                np.testing.assert_allclose(got.numpy(), want, rtol=10 * rtol, atol=1e-12)
            got = _core.two_norm(Tensor, tensor, dims, True)
            want = np.sqrt((exact**2).sum(dims, keepdims=True))
            np.testing.assert_allclose(got.numpy(), want, rtol=rtol)
    for dim in every:
        e = np.exp(exact - exact.max(dim, keepdims=True))
        soft = e / e.sum(dim, keepdims=True)
        got = _core.softmax_columns(Tensor, tensor, dim, False)
        np.testing.assert_allclose(got.numpy(), soft, rtol=10 * rtol)
        got = _core.softmax_columns(Tensor, tensor, dim, True)
        np.testing.assert_allclose(got.numpy(), np.log(soft), rtol=10 * rtol, atol=10 * rtol)


HALF_LINES: list[tuple[int, ...]] = [
    (5, 63), (70, 64), (9, 300), (3, 2049), (2, 70_001), (6, 5, 90)
]


@pytest.mark.parametrize("dtype", [gw.float16, gw.bfloat16])
@pytest.mark.parametrize("shape", HALF_LINES, ids=str)
def test_lines_of_half_precision_are_rounded_once(shape: tuple[int, ...], dtype: Any) -> None:
    tensor = gw.from_numpy(make(shape, "float32")).to(dtype)
    wide = tensor.to(gw.float64)
    for function in (gw.linalg.vector_norm, gw.var, gw.std):
        got, want = (function(t, dim=-1) for t in (tensor, wide))
        assert got.dtype is dtype
        np.testing.assert_allclose(
            got.to(gw.float64).numpy(), want.numpy(), rtol=0.51 * gw.finfo(dtype).eps
        )


def test_a_variance_is_exact_far_from_zero() -> None:
    array = (RNG.random((4, 100_000)) + 1e4).astype(np.float32)
    want = array.astype(np.float64).var(1, ddof=1)
    np.testing.assert_allclose(gw.from_numpy(array).var(1).numpy(), want, rtol=1e-5)
    assert gw.full((70_000,), 0.1).var().item() < 1e-13


def test_freedom_and_nan() -> None:
    assert np.isnan(gw.tensor([1.0]).var().item())
    assert np.isnan(gw.tensor([1.0, float("nan")]).std().item())
    assert gw.tensor([1.0, 3.0]).var(correction=3).item() == float("inf")


def test_what_is_not_done_in_lines() -> None:
    tensor = gw.from_numpy(make((4, 6), "float32"))
    for other in (tensor.t(), tensor.to(gw.float16), tensor[:0], tensor.to(gw.int64)):
        assert _core.variance(Tensor, other, (0,), 1, False, False) is None
        assert _core.two_norm(Tensor, other, (0,), False) is None
        assert _core.softmax_columns(Tensor, other, 0, False) is None
    three = gw.from_numpy(make((2, 3, 4), "float32"))
    assert _core.variance(Tensor, three, (0, 2), 1, False, False) is None


@pytest.mark.parametrize("columns", [2, 3, 40, 255, 256, 257])
def test_short_rows_and_what_repeats(columns: int) -> None:
    for rows in (3, 100, 1025, 4099):
        array, row = make((rows, columns), "float32"), make((columns,), "float32")
        mask = RNG.random(columns) < 0.5
        x, y = gw.from_numpy(array), gw.from_numpy(row)
        np.testing.assert_array_equal((x + y).numpy(), array + row)
        np.testing.assert_array_equal((y - x).numpy(), row - array)
        np.testing.assert_array_equal((x > y).numpy(), array > row)
        got = gw.where(gw.from_numpy(mask), x, y)
        np.testing.assert_array_equal(got.numpy(), np.where(mask, array, row))
        np.testing.assert_array_equal(gw.where(gw.from_numpy(mask), 0.0, x).numpy(),
                                      np.where(mask, np.float32(0), array))
        want = array + row
        np.testing.assert_array_equal(x.add_(y).numpy(), want)


def test_bits_do_not_depend_on_the_threads() -> None:
    tensor = gw.from_numpy(make((3, 300_000), "float32"))
    before, seen = gw.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            gw.set_num_threads(threads)
            parts = (tensor.var(), tensor.var(1), tensor.sum(0), tensor.cumsum(0))
            seen.add(b"".join(part.numpy().tobytes() for part in parts))
    finally:
        gw.set_num_threads(before)
    assert len(seen) == 1


def test_many_threads_at_once() -> None:
    array = make((64, 3000), "float32")
    wanted = [f(gw.from_numpy(array)).numpy() for f in AT_ONCE]
    wrong: list[object] = []

    def work() -> None:
        tensor = gw.from_numpy(array)
        for _ in range(5):
            for function, want in zip(AT_ONCE, wanted, strict=True):
                if not np.array_equal(function(tensor).numpy(), want):
                    wrong.append(function)

    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


AT_ONCE: tuple[Any, ...] = (
    lambda x: x.var(), lambda x: x.cumsum(1), lambda x: x.softmax(0), lambda x: x + x[0],
    lambda x: gw.amax(x, 1), lambda x: x.norm(), lambda x: gw.exp(x).sum(0),
)


@pytest.mark.parametrize("number", [0, 0.5, 3])
def test_short_repeated_rows_beside_a_number(number: float) -> None:
    rows = gw.tensor([1.0, 0.0, 3.0, 2.0, 4.0]).expand(20000, 5)
    expected = np.broadcast_to(np.array([1.0, 0.0, 3.0, 2.0, 4.0], np.float32), (20000, 5))
    for _ in range(5):
        np.testing.assert_array_equal((rows >= number).numpy(), expected >= number)
        np.testing.assert_array_equal((rows * number).numpy(), expected * np.float32(number))


@pytest.mark.parametrize("dtype", [gw.bfloat16, gw.float16, gw.float32, gw.float64], ids=str)
@pytest.mark.parametrize("n", [64, 65, 129, 1000, 8193, 70001])
def test_norms_of_rows(n: int, dtype: Any) -> None:
    x = gw.from_numpy(RNG.standard_normal((3, n))).to(dtype)
    wide = x.double().numpy()
    tolerance = {gw.bfloat16: 2.0**-8, gw.float16: 2.0**-10, gw.float32: 1e-6}.get(dtype, 1e-14)
    for rows in (slice(None), slice(1, 2)):
        got = gw.linalg.vector_norm(x[rows], dim=1)
        want = np.sqrt((wide[rows] ** 2).sum(1))
        np.testing.assert_allclose(got.double().numpy(), want, rtol=tolerance)
    odd = gw.linalg.vector_norm(x.flatten()[1:], dim=0)
    want = np.sqrt((wide.reshape(-1)[1:] ** 2).sum())
    np.testing.assert_allclose(odd.double().numpy(), want, rtol=tolerance)


@pytest.mark.parametrize("dtype", [gw.bfloat16, gw.float16, gw.float32, gw.float64], ids=str)
def test_norms_of_what_is_not_finite(dtype: Any) -> None:
    x = gw.ones((4, 200), dtype=dtype)
    x[1, 199], x[2, 7], x[3, 0] = math.inf, math.nan, -math.inf
    assert str(gw.linalg.vector_norm(x, dim=1)[1:].tolist()) == "[inf, nan, inf]"
