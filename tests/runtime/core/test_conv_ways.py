"""Every way of computing a convolution, at the sizes that choose it, against the definition.

Depthwise planes go by bands of lines; kernels of one tap, and convolutions of few places, as
matrix products; small images side by side in the panels of tiles; few output channels by lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.runtime.core.test_convolve import (
    FORWARD,
    INPUT_GRADIENT,
    WEIGHT_GRADIENT,
    reference,
)

import graphwright as gw
from graphwright.runtime import _core

# images, groups, channels of a group in and out, size, kernel, stride, padding, dilation
WAYS: dict[str, tuple[int, int, int, int, tuple[int, int], tuple[int, int], int, int, int]] = {
    "depthwise": (2, 5, 1, 1, (14, 14), (3, 3), 1, 1, 1),
    "depthwise, narrow": (2, 9, 1, 1, (4, 4), (5, 5), 1, 2, 1),
    "depthwise, narrower than a vector": (3, 4, 1, 1, (7, 7), (7, 7), 1, 3, 1),
    "depthwise, wide": (1, 2, 1, 1, (9, 75), (5, 5), 1, 2, 1),
    "depthwise, one line": (2, 3, 1, 1, (1, 300), (1, 4), 1, 3, 1),
    "depthwise, in bands": (1, 2, 1, 1, (130, 120), (3, 3), 1, 1, 1),
    "depthwise, in bands, stride 2": (1, 2, 1, 1, (131, 121), (5, 3), 2, 1, 1),
    "depthwise, lines too long for bands": (1, 2, 1, 1, (2, 6000), (3, 3), 1, 1, 1),
    "depthwise, stride 2": (2, 3, 1, 1, (16, 40), (3, 3), 2, 1, 1),
    "depthwise, stride 3": (2, 3, 1, 1, (17, 19), (2, 4), 3, 2, 1),
    "depthwise, stride beyond the kernel": (2, 3, 1, 1, (9, 9), (2, 1), 3, 0, 1),
    "depthwise, dilated": (2, 3, 1, 1, (20, 23), (3, 3), 1, 2, 2),
    "depthwise, dilated, stride 2": (2, 3, 1, 1, (20, 23), (3, 3), 2, 3, 3),
    "depthwise, padded beyond the kernel": (1, 3, 1, 1, (5, 6), (3, 3), 1, 20, 1),
    "depthwise, long kernel": (1, 2, 1, 1, (30, 30), (11, 9), 1, 5, 1),
    "one tap": (2, 1, 24, 40, (12, 12), (1, 1), 1, 0, 1),
    "one tap, groups": (2, 3, 9, 8, (10, 11), (1, 1), 1, 0, 1),
    "one tap, small images": (7, 1, 16, 24, (3, 3), (1, 1), 1, 0, 1),
    "one tap, more images than are done at a time": (150, 1, 8, 8, (2, 2), (1, 1), 1, 0, 1),
    "one tap, stride 2": (2, 1, 12, 16, (11, 12), (1, 1), 2, 0, 1),
    "one tap, padded": (2, 1, 12, 16, (5, 6), (1, 1), 1, 1, 1),
    "few places": (1, 1, 16, 24, (5, 5), (3, 3), 1, 1, 1),
    "few places of several images": (4, 2, 8, 8, (4, 4), (3, 3), 1, 1, 1),
    "few places, stride 2": (3, 1, 9, 8, (8, 7), (3, 3), 2, 1, 1),
    "few places, gaps": (2, 1, 8, 9, (9, 9), (2, 2), 4, 0, 1),
    "small images": (6, 1, 10, 20, (6, 6), (3, 3), 1, 1, 1),
    "small images, stride 2": (9, 2, 6, 11, (8, 8), (3, 3), 2, 1, 1),
    "more taps than are added up at a time": (2, 1, 40, 16, (6, 21), (3, 3), 1, 1, 1),
    "lines narrower than vectors": (3, 1, 5, 9, (14, 14), (3, 3), 1, 1, 1),
    "lines of two vectors and three places": (2, 1, 3, 25, (5, 35), (3, 3), 1, 1, 1),
    "stride 2, lines of several vectors": (2, 1, 3, 9, (7, 75), (3, 5), 2, 2, 1),
    "few output channels": (8, 1, 6, 2, (9, 20), (3, 3), 1, 1, 1),
}


def arrays(name: str, dtype: Any) -> tuple[Any, Any, Any, tuple[int, ...]]:
    """Input, weight, the output's gradient, and the geometry of `_core.convolve`."""
    images, groups, ins, outs, size, kernel, stride, padding, dilation = WAYS[name]
    out = tuple(
        (n + 2 * padding - dilation * (k - 1) - 1) // stride + 1
        for n, k in zip(size, kernel, strict=True)
    )
    values = np.random.default_rng(0)
    x, w, g = (
        (values.normal(size=shape) * 4).astype(dtype)
        for shape in (
            (images, groups * ins, 1, *size),
            (groups * outs, ins, 1, *kernel),
            (images, groups * outs, 1, *out),
        )
    )
    return x, w, g, (1, stride, stride, 0, padding, padding, 1, dilation, dilation, groups)


def parts(name: str, dtype: Any) -> Any:
    x, w, g, geometry = arrays(name, dtype)
    yield FORWARD, x, w, g.shape, geometry
    yield INPUT_GRADIENT, g, w, x.shape, geometry
    yield WEIGHT_GRADIENT, g, x, w.shape, geometry


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("name", WAYS)
def test_each_way_is_the_convolution(name: str, dtype: Any) -> None:
    tolerance = 1e-3 if dtype is np.float32 else 1e-10
    for part, a, b, shape, geometry in parts(name, dtype):
        out = np.full(shape, 77, dtype)
        _core.convolve(part, a, b, None, out, geometry)
        expected = reference(part, a, b, shape, geometry)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(out, expected, tolerance, tolerance * scale)


@pytest.mark.parametrize("name", WAYS)
def test_the_bias_is_added_to_every_place(name: str) -> None:
    for part, a, b, shape, geometry in parts(name, np.float64):
        if part == WEIGHT_GRADIENT:
            continue
        bias = np.arange(shape[1]) + 0.5
        out = np.empty(shape)
        _core.convolve(part, a, b, bias, out, geometry)
        expected = reference(part, a, b, shape, geometry) + bias[:, None, None, None]
        np.testing.assert_allclose(out, expected, 1e-10, 1e-8)


@pytest.mark.parametrize("name", WAYS)
def test_results_do_not_depend_on_the_number_of_threads(name: str) -> None:
    before = gw.get_num_threads()
    try:
        for part, a, b, shape, geometry in parts(name, np.float32):
            results = []
            for threads in (1, 2, 3):
                gw.set_num_threads(threads)
                results.append(np.empty(shape, np.float32))
                _core.convolve(part, a, b, None, results[-1], geometry)
            np.testing.assert_array_equal(results[1], results[0])
            np.testing.assert_array_equal(results[2], results[0])
    finally:
        gw.set_num_threads(before)


def test_what_lies_beyond_a_line_does_not_reach_it() -> None:
    """Lines are read one behind the other: an infinity stays where the kernel can see it."""
    x = np.zeros((1, 1, 1, 6, 6), np.float32)
    x[..., 2, 5] = np.inf
    w, out = np.ones((1, 1, 1, 3, 3), np.float32), np.empty_like(x)
    _core.convolve(FORWARD, x, w, None, out, (1, 1, 1, 0, 1, 1, 1, 1, 1, 1))
    seen = np.zeros((6, 6), bool)
    seen[1:4, 4:] = True
    np.testing.assert_array_equal(np.isinf(out[0, 0, 0]), seen)


@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize(("size", "padding"), [((9, 9), 0), ((17, 17), 0), ((16, 16), 1)])
def test_what_is_not_finite_reaches_only_the_taps_that_read_it(
    size: tuple[int, int], padding: int, value: float
) -> None:
    """The gradient of depthwise weights sums over lines' ends, also where others' values lie."""
    x = np.ones((1, 2, 1, *size), np.float32)
    x[0, 1, 0, 0, 0] = value
    places = [n + 2 * padding - 2 for n in size]
    grad, out = np.ones((1, 2, 1, *places), np.float32), np.empty((2, 1, 1, 3, 3), np.float32)
    geometry = (1, 1, 1, 0, padding, padding, 1, 1, 1, 2)
    _core.convolve(WEIGHT_GRADIENT, grad, x, None, out, geometry)
    seen = np.zeros((2, 3, 3), bool)
    seen[1, : padding + 1, : padding + 1] = True
    np.testing.assert_array_equal(~np.isfinite(out[:, 0, 0]), seen)


def test_planes_beyond_all_memory_are_refused() -> None:
    """The planes of 16 channels have 2**64 elements, though input and output are small."""
    x, w = gw.ones(1, 16, 2, 2, 2), gw.ones(8, 16, 2, 2, 2)
    with pytest.raises(MemoryError):
        gw.nn.functional.conv3d(x, w, padding=2**19 - 1, dilation=2**20 - 1)
