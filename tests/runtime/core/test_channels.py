"""Batch norm, its gradient and RMS norm in C, against their formulas in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

F = gw.nn.functional
RNG = np.random.default_rng(0)
SHAPES: list[tuple[int, ...]] = [
    (5, 3), (700, 130), (4, 3, 7), (8, 5, 33, 40), (2, 3, 9001), (1, 4, 2)
]
TOLERANCE = {"float32": 2e-4, "float64": 1e-11}


def real(shape: tuple[int, ...], dtype: str) -> np.ndarray[Any, Any]:
    return (RNG.standard_normal(shape) * 2 + 3).astype(dtype)


def channels(values: Any, ndim: int) -> Any:
    return values.reshape(-1, *(1,) * (ndim - 2))


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_norm(shape: tuple[int, ...], dtype: str, affine: bool) -> None:
    array, seed = real(shape, dtype), real(shape, dtype) - 3
    dims, eps, rtol = (0, *range(2, len(shape))), 1e-3, TOLERANCE[dtype]
    weight, bias = (real((shape[1],), dtype) for _ in range(2))
    x, w, b = (gw.from_numpy(a).requires_grad_() for a in (array, weight, bias))
    out = F.batch_norm(x, None, None, *((w, b) if affine else ()), training=True, eps=eps)
    out.backward(gw.from_numpy(seed))
    wide, grad = array.astype(np.float64), seed.astype(np.float64)
    scale = channels(weight, len(shape)) if affine else 1.0
    rstd = 1 / np.sqrt(wide.var(dims, keepdims=True) + eps)
    normal = (wide - wide.mean(dims, keepdims=True)) * rstd
    want = normal * scale + (channels(bias, len(shape)) if affine else 0)
    np.testing.assert_allclose(out.detach().numpy(), want, rtol=rtol, atol=rtol)
    g = grad * scale
    slope = (g * normal).mean(dims, keepdims=True)
    want = rstd * (g - g.mean(dims, keepdims=True) - normal * slope)
    np.testing.assert_allclose(x.grad.numpy(), want, rtol=20 * rtol, atol=20 * rtol)
    if affine:
        size = np.sqrt(array.size)
        np.testing.assert_allclose(w.grad.numpy(), (grad * normal).sum(dims), atol=rtol * size)
        np.testing.assert_allclose(b.grad.numpy(), grad.sum(dims), atol=rtol * size)


def test_statistics_far_from_zero() -> None:
    array = (RNG.random((64, 3, 500)) + 1e4).astype(np.float32)
    for one in (array, array.reshape(-1, 3)):
        mean, variance = gw.zeros(3), gw.zeros(3)
        F.batch_norm(gw.from_numpy(one), mean, variance, training=True, momentum=1.0)
        dims = (0, *range(2, one.ndim))
        np.testing.assert_allclose(mean.numpy(), one.astype(np.float64).mean(dims), rtol=1e-7)
        want = one.astype(np.float64).var(dims, ddof=1)
        np.testing.assert_allclose(variance.numpy(), want, rtol=1e-3)


PLACED = {
    "far from zero": lambda x: x + 1e3,
    "rising": lambda x: np.sort(x, 0),
    "the first row apart": lambda x: np.where(np.arange(len(x))[:, None] == 0, 1e4, x),
    "one row apart": lambda x: np.where(np.arange(len(x))[:, None] == len(x) // 2, 1e4, x),
    "alternating": lambda x: x + np.where(np.arange(len(x))[:, None] % 2, 100, -100),
    "one value infinite": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 1, np.inf, x),
    "far on both sides": lambda x: np.concatenate(
        [np.full_like(x[:1], 3e38), np.full_like(x[:1], -3e38), x[2:]]
    ),
}


@pytest.mark.parametrize("shape", [(2, 40), (9, 33), (257, 600), (3000, 3)], ids=str)
@pytest.mark.parametrize("place", PLACED)
def test_variances_are_exact_wherever_values_lie(place: str, shape: tuple[int, int]) -> None:
    array = PLACED[place](RNG.standard_normal(shape)).astype(np.float32)
    mean, variance = gw.zeros(shape[1]), gw.zeros(shape[1])
    F.batch_norm(gw.from_numpy(array), mean, variance, training=True, momentum=1.0)
    wide = array.astype(np.float64)
    atol = 1e-7 * np.abs(wide[np.isfinite(wide)]).max()
    np.testing.assert_allclose(mean.numpy(), wide.mean(0), rtol=1e-7, atol=atol)
    with np.errstate(over="ignore", invalid="ignore"):
        variances = wide.var(0, ddof=1).astype(np.float32)
    np.testing.assert_allclose(variance.numpy(), variances, rtol=3e-6)


def test_layouts_and_half_precision() -> None:
    array = real((6, 4, 30), "float32")
    want = F.batch_norm(gw.from_numpy(array), None, None, training=True).numpy()
    turned = gw.from_numpy(array.transpose(2, 1, 0).copy()).permute(2, 1, 0)
    got = F.batch_norm(turned, None, None, training=True)
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-5)
    half = F.batch_norm(gw.from_numpy(array).to(gw.float16), None, None, training=True)
    assert half.dtype is gw.float16
    np.testing.assert_allclose(half.float().numpy(), want, atol=1e-2)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [1, 7, 64, 10_000])
def test_rms_norm(n: int, dtype: str) -> None:
    array, weight = real((9, n), dtype), real((n,), dtype)
    wide = array.astype(np.float64)
    want = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-3)
    x = gw.from_numpy(array)
    np.testing.assert_allclose(F.rms_norm(x, (n,), eps=1e-3).numpy(), want, rtol=1e-5)
    got = F.rms_norm(x, (n,), gw.from_numpy(weight), eps=1e-3)
    np.testing.assert_allclose(got.numpy(), want * weight, rtol=1e-5)


def test_bits_do_not_depend_on_the_threads() -> None:
    before, seen = gw.get_num_threads(), set()
    tensors = [gw.from_numpy(real(shape, "float32")) for shape in ((300, 200), (8, 6, 40, 40))]
    try:
        for threads in (1, 2, 3):
            gw.set_num_threads(threads)
            parts = []
            for tensor in tensors:
                x = tensor.clone().requires_grad_()
                F.batch_norm(x, None, None, training=True).square().sum().backward()
                parts.append(x.grad.numpy().tobytes())
            seen.add(b"".join(parts))
    finally:
        gw.set_num_threads(before)
    assert len(seen) == 1


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.bfloat16])
@pytest.mark.parametrize("shape", [(2, 5, 6, 7), (3, 130, 9), (1, 3, 2, 4, 5)], ids=str)
def test_channels_that_lie_together(shape: tuple[int, ...], dtype: gw.dtype) -> None:
    rows = gw.randn(shape, dtype=dtype)
    x = rows.movedim(1, -1).contiguous().movedim(-1, 1)
    assert not x.is_contiguous()
    weight, bias = gw.rand(shape[1], dtype=dtype), gw.rand(shape[1], dtype=dtype)
    found = []
    for input in (rows.requires_grad_(), x.requires_grad_()):
        mean, variance = (gw.zeros(shape[1], dtype=dtype) for _ in range(2))
        out = F.batch_norm(input, mean, variance, weight, bias, training=True)
        out.backward(gw.ones_like(out) * out.detach())
        assert out.is_contiguous() == (input is rows or len(shape) == 3)
        found.append([t.detach().double().numpy() for t in (out, mean, variance, input.grad)])
    rtol = 2e-2 if dtype is gw.bfloat16 else 2e-5
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
