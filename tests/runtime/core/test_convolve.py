"""The kernels of convolution, pooling and resampling against NumPy, over random geometries."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

from graphwright.runtime import _core

Array = np.ndarray[Any, Any]
FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT = 0, 1, 2


def slices(x: Array, out: tuple[int, ...], tap: Any, geometry: tuple[int, ...]) -> Array:
    """x[n, c, o * stride - padding + tap * dilation] for every output position; 0 outside."""
    stride, padding, dilation = geometry[:3], geometry[3:6], geometry[6:9]
    result = np.zeros((*x.shape[:2], *out), x.dtype)
    at = [
        np.arange(n) * s - p + t * d
        for n, s, p, t, d in zip(out, stride, padding, tap, dilation, strict=True)
    ]
    inside = [(a >= 0) & (a < n) for a, n in zip(at, x.shape[2:], strict=True)]
    places = np.ix_(*(a[i] for a, i in zip(at, inside, strict=True)))
    result[(slice(None), slice(None), *np.ix_(*inside))] = x[(slice(None), slice(None), *places)]
    return result


def reference(part: int, a: Array, b: Array, shape: Any, geometry: tuple[int, ...]) -> Array:
    """Each part by its definition, tap by tap."""
    groups = geometry[9]
    x_shape, w_shape, g_shape = {
        FORWARD: (a.shape, b.shape, shape),
        INPUT_GRADIENT: (shape, b.shape, a.shape),
        WEIGHT_GRADIENT: (b.shape, shape, a.shape),
    }[part]
    outs, out = w_shape[0] // groups, np.zeros(shape, a.dtype)
    if 0 in (a.size, b.size):
        return out
    for tap in itertools.product(*map(range, w_shape[2:])):
        places = np.arange(np.prod(x_shape[2:])).reshape(1, 1, *x_shape[2:]) + 1
        read = slices(places, g_shape[2:], tap, geometry).reshape(-1)
        for g in range(groups):
            ins, own = slice(g * w_shape[1], (g + 1) * w_shape[1]), slice(g * outs, (g + 1) * outs)
            if part == INPUT_GRADIENT:
                w, grad = b[(own, slice(None), *tap)], a[:, own].reshape(len(a), outs, -1)
                flat = out.reshape(*shape[:2], -1)[:, ins]
                values = np.einsum("oi,nol->nil", w, grad)
                np.add.at(flat, (slice(None), slice(None), read[read > 0] - 1),
                          values[:, :, read > 0])  # fmt: skip
                continue
            x = slices((a if part == FORWARD else b)[:, ins], g_shape[2:], tap, geometry)
            if part == FORWARD:
                out[:, own] += np.einsum("oi,ni...->no...", b[(own, slice(None), *tap)], x)
            else:
                grad = a[:, own].reshape(len(a), outs, -1)
                flat = x.reshape(*x.shape[:2], -1)
                out[(own, slice(None), *tap)] = np.einsum("nol,nil->oi", grad, flat)
    return out


def draw(rng: random.Random) -> tuple[Any, Any, Any, tuple[int, ...]]:
    """Shapes of input, weight and output, and the geometry."""
    ndim = rng.choice((1, 2, 3))
    few = (1,) * (3 - ndim)
    groups, ins, outs = rng.choice((1, 1, 2, 3)), rng.choice((1, 2, 5)), rng.choice((1, 2, 7, 13))
    kernel = (*few, *(rng.randint(1, 4) for _ in range(ndim)))
    stride = (*few, *(rng.choice((1, 1, 2, 3, 5)) for _ in range(ndim)))
    dilation = (*few, *(rng.choice((1, 1, 2, 3)) for _ in range(ndim)))
    padding = (*((0,) * (3 - ndim)), *(rng.randint(0, 3) for _ in range(ndim)))
    longest = (70, 20, 9)[ndim - 1]
    size = (*few, *(rng.randint(1, longest) for _ in range(ndim)))
    out = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(size, padding, dilation, kernel, stride, strict=True)
    )
    batch = rng.choice((0, 1, 1, 2, 3))
    shapes = (batch, ins * groups, *size), (outs * groups, ins, *kernel), (batch, outs * groups)
    return shapes[0], shapes[1], (*shapes[2], *out), (*stride, *padding, *dilation, groups)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("seed", range(12))
def test_convolution_of_random_geometries(seed: int, dtype: Any) -> None:
    rng, values = random.Random(seed), np.random.default_rng(seed)
    for _ in range(8):
        x_shape, w_shape, g_shape, geometry = draw(rng)
        if min(g_shape[2:]) < 1:
            continue
        arrays = [values.normal(size=s) * 4 for s in (x_shape, w_shape, g_shape)]
        x, w, g = (a.astype(dtype) for a in arrays)
        tolerance = 1e-3 if dtype is np.float32 else 1e-10
        for part, a, b, shape in (
            (FORWARD, x, w, g_shape),
            (INPUT_GRADIENT, g, w, x_shape),
            (WEIGHT_GRADIENT, g, x, w_shape),
        ):
            out = np.full(shape, 77, dtype)
            _core.convolve(part, a, b, None, out, geometry)
            expected = reference(part, a, b, shape, geometry)
            np.testing.assert_allclose(out, expected, tolerance, tolerance * 20)


def test_bias_also_where_no_tap_reaches() -> None:
    g, w, bias = np.ones((1, 1, 1, 1, 2)), np.ones((1, 2, 1, 1, 1)), np.array([0.5, -1.0])
    out = np.empty((1, 2, 1, 1, 4))
    _core.convolve(INPUT_GRADIENT, g, w, bias, out, (1, 1, 3, 0, 0, 0, 1, 1, 1, 1))
    np.testing.assert_array_equal(out[0, :, 0, 0], [[1.5, 0.5, 0.5, 1.5], [0, -1, -1, 0]])
    x = np.ones((1, 0, 1, 1, 4))
    _core.convolve(FORWARD, x, np.ones((2, 0, 1, 1, 1)), bias, out, (1,) * 3 + (0,) * 3 + (1,) * 4)
    np.testing.assert_array_equal(out[0, :, 0, 0], [[0.5] * 4, [-1.0] * 4])


X, W, OUT = np.ones((1, 2, 1, 4, 4)), np.ones((3, 2, 1, 3, 3)), np.ones((1, 3, 1, 2, 2))
PLAIN = (1, 1, 1, 0, 0, 0, 1, 1, 1, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        (3, X, W, None, OUT, PLAIN),
        (-1, X, W, None, OUT, PLAIN),
        (0, X.astype(np.float32), W, None, OUT, PLAIN),
        (0, X[:, :, :, ::2], W, None, OUT, PLAIN),
        (0, X[0], W, None, OUT, PLAIN),
        (0, X, W, np.ones(2), OUT, PLAIN),
        (0, X, W, "bias", OUT, PLAIN),
        (0, X, W[:, :1].copy(), None, OUT, PLAIN),
        (0, X, W, None, OUT[:, :2].copy(), PLAIN),
        (0, X, W, None, OUT, (0, *PLAIN[1:])),
        (0, X, W, None, OUT, (*PLAIN[:9], 0)),
        (0, X, W, None, OUT, (*PLAIN[:9], 2)),
        (0, X, W, None, OUT, (2**40, *PLAIN[1:])),
        (0, X, W, None, OUT, (*PLAIN[:3], -(2**62), *PLAIN[4:])),
        (2, OUT, X, np.ones(3), W, PLAIN),
    ],
)
def test_convolution_refuses(arguments: Any) -> None:
    with pytest.raises(ValueError):
        _core.convolve(*arguments)


def test_convolution_with_numbers_near_the_limit() -> None:
    far = (1, 1, 1, 0, 2**30, 2**30, 1, 2**30, 2**30, 1)
    out = np.ones((1, 3, 1, 1, 1))
    with pytest.raises(MemoryError):
        _core.convolve(FORWARD, X, W, None, out, far)
    with pytest.raises(MemoryError):
        _core.convolve(INPUT_GRADIENT, out, W, None, np.empty_like(X), far)
    strided = (1, 2**30, 2**30, 0, 2, 2, 1, 1, 1, 1)
    _core.convolve(FORWARD, X, W, None, out, strided)
    assert out[0, 0, 0, 0, 0] == 2


WHOLE = np.array([[0], [1]])


def bounds(size: int, kernel: int, stride: int, padding: int) -> Array:
    start = np.arange((size + 2 * padding - kernel) // stride + 1) * stride - padding
    return np.ascontiguousarray([np.maximum(start, 0), np.minimum(start + kernel, size)])


@pytest.mark.parametrize(("size", "kernel", "stride", "padding"), [
    (9, 3, 2, 1), (8, 2, 2, 0), (70, 3, 1, 1), (5, 5, 1, 2), (150, 4, 3, 2), (1, 1, 1, 0),
])  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_windows(size: int, kernel: int, stride: int, padding: int, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(3, 1, size, size)) * 9).astype(dtype)
    if dtype is not np.int64 and size > 1:
        x[1, 0, 1, 1] = np.nan
        x[2, 0, 0, 1] = -np.inf
    b = bounds(size, kernel, stride, padding)
    count = b.shape[1]
    out, indices = np.empty((3, 1, count, count), dtype), np.empty((3, 1, count, count), np.int64)
    _core.pool_windows(0, x, out, indices, (WHOLE, b, b), (1, 1, 1))
    total, grad = np.empty_like(out), np.zeros_like(x)
    divisors = np.full(count * count, 2, dtype)
    if dtype is not np.int64:
        _core.pool_windows(1, x, total, divisors, (WHOLE, b, b), (1, 1, 1))
        _core.pool_windows(2, out, grad, divisors, (WHOLE, b, b), (1, 1, 1))
    spread = np.zeros_like(x)
    for plane, i, j in np.ndindex(3, count, count):
        box = (plane, 0, slice(b[0, i], b[1, i]), slice(b[0, j], b[1, j]))
        best = x[box].max()
        np.testing.assert_array_equal(out[plane, 0, i, j], best)
        found = x[plane, 0].reshape(-1)[indices[plane, 0, i, j]]
        np.testing.assert_array_equal(found, best)
        if dtype is not np.int64:
            np.testing.assert_allclose(total[plane, 0, i, j], x[box].sum() / 2, 1e-4, 1e-4)
            spread[box] += out[plane, 0, i, j] / 2
    if dtype is not np.int64:
        np.testing.assert_allclose(grad, spread, 1e-4, 1e-4)


def test_the_first_of_equal_maxima_is_found() -> None:
    x = np.zeros((1, 1, 40, 40), np.float32)
    out, indices = np.empty((1, 1, 20, 20), np.float32), np.empty((1, 1, 20, 20), np.int64)
    b = bounds(40, 2, 2, 0)
    _core.pool_windows(0, x, out, indices, (WHOLE, b, b), (1, 1, 1))
    rows, columns = np.indices((20, 20)) * 2
    np.testing.assert_array_equal(indices[0, 0], rows * 40 + columns)


def test_windows_are_checked() -> None:
    x, out = np.ones((1, 1, 4, 4)), np.empty((1, 1, 2, 2))
    good = bounds(4, 2, 2, 0)
    for bad in (good + 1, good - 1, good[:, :1].copy(), good.astype(np.int32), None):
        with pytest.raises(ValueError):
            _core.pool_windows(0, x, out, None, (WHOLE, good, bad), (1, 1, 1))  # type: ignore[arg-type]
    for step in (0, -1):
        with pytest.raises(ValueError):
            _core.pool_windows(0, x, out, None, (WHOLE, good, good), (1, 1, step))
    with pytest.raises(ValueError):
        _core.pool_windows(1, x, out, np.ones(3), (WHOLE, good, good), (1, 1, 1))
    with pytest.raises(ValueError):
        _core.pool_windows(3, x, out, None, (WHOLE, good, good), (1, 1, 1))


def test_places() -> None:
    values, indices = np.array([[1.0, 2, 3], [4, 5, 6]]), np.array([[0, 2, 2], [3, 0, 1]])
    out = np.empty((2, 4))
    _core.plane_places(0, values, indices, out)
    np.testing.assert_array_equal(out, [[1, 0, 5, 0], [5, 6, 0, 4]])
    _core.plane_places(1, values, indices, out)
    np.testing.assert_array_equal(out, [[1, 0, 3, 0], [5, 6, 0, 4]])
    taken = np.empty((2, 3))
    _core.plane_places(2, out, indices, taken)
    np.testing.assert_array_equal(taken, [[1, 3, 3], [4, 5, 6]])
    for bad in (4, -1, 2**40, -(2**63)):
        with pytest.raises(IndexError):
            _core.plane_places(0, values, np.full((2, 3), bad), out)
    with pytest.raises(ValueError):
        _core.plane_places(0, values, indices[:1].copy(), out)


@pytest.mark.parametrize("inner", [1, 5, 40])
def test_resampling_and_its_transpose(inner: int) -> None:
    rng = np.random.default_rng(0)
    x, index = rng.normal(size=(3, 7, inner)), rng.integers(0, 7, (9, 4))
    weight, out = rng.normal(size=(9, 4)), np.empty((3, 9, inner))
    _core.resample(False, x, index, weight, out)
    np.testing.assert_allclose(out, np.einsum("oikj,ik->oij", x[:, index], weight), 1e-12)
    back = np.empty_like(x)
    _core.resample(True, out, index, weight, back)
    np.testing.assert_allclose((back * x).sum(), (out * out).sum(), 1e-10)
    with pytest.raises(ValueError):
        _core.resample(False, x, index + 1, weight, out)
