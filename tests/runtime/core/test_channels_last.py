"""The routine that convolves over channels last, by hand: against float64, on random shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core

Pair = tuple[int, int]
KERNELS = (1, 1, 3, 3, 5, 7)


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = gw.get_num_threads()
    yield
    gw.set_num_threads(before)


def convolve(
    x: np.ndarray, weight: np.ndarray, bias: Any, stride: Pair, pad: Pair, dilation: Pair,
    groups: int, joins: bool = False,
) -> np.ndarray:
    """x: [N, H, W, C], whose channels lie side by side unless the taps of a line are joined."""
    n, *size, _ = x.shape
    outs, ins, *kernel = weight.shape
    out = [(s + 2 * p - d * (k - 1) - 1) // step + 1 for s, p, d, k, step in zip(
        size, pad, dilation, kernel, stride, strict=True)]
    y = np.full((n, *(max(size, 0) for size in out), outs), np.nan, np.float32)
    strides = [s // x.itemsize for s in x.strides]
    sizes = (n, *size, *out, *kernel, *stride, *pad, *dilation, groups, ins, outs // groups, joins)
    _core.call_routine(
        _core.ROUTINES["convolution"], (y, x, weight, bias), (*sizes, *strides), ())
    return y


def exact(x: np.ndarray, weight: np.ndarray, bias: Any, *options: Any) -> np.ndarray:
    """The same by eager ops in float64."""
    images = gw.from_numpy(np.ascontiguousarray(x.transpose(0, 3, 1, 2), np.float64))
    shift = None if bias is None else gw.from_numpy(bias.astype(np.float64))
    y = gw.conv2d(images, gw.from_numpy(weight.astype(np.float64)), shift, *options)
    return y.numpy().transpose(0, 2, 3, 1)


def drawn(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


def close(got: np.ndarray, want: np.ndarray, terms: int) -> bool:
    return bool(np.abs(got - want).max(initial=0) < 6e-6 * np.sqrt(terms))


@pytest.mark.parametrize("kind", ["dense", "depthwise", "grouped", "deep"])
def test_any_geometry(kind: str) -> None:
    random = np.random.default_rng(sum(map(ord, kind)))
    for _ in range(30):
        kernel, stride, dilation, pad = (
            random.choice(KERNELS, 2), random.integers(1, 4, 2), random.integers(1, 3, 2),
            random.integers(0, 4, 2))
        groups = {"dense": 1, "deep": 1}.get(kind, int(random.choice([2, 3, 16, 24, 130])))
        ins = {"depthwise": 1, "deep": 700}.get(kind, int(random.choice([1, 3, 7, 16, 64])))
        outs = {"depthwise": 1, "deep": 40}.get(kind, int(random.choice([1, 3, 8, 16, 24, 70])))
        if kind == "grouped":
            groups = groups % 5 + 2
        room = dilation * (kernel - 1) + 1
        height, width = (int(random.integers(max(1, r - 2 * p), r + (3 if kind == "deep" else 20)))
                         for r, p in zip(room, pad, strict=True))
        x = drawn(random, int(random.integers(1, 4)), height, width, groups * ins)
        weight = drawn(random, groups * outs, ins, *kernel)
        bias = drawn(random, groups * outs) if random.random() < 0.5 else None
        options = (*(tuple(map(int, part)) for part in (stride, pad, dilation)), groups)
        results = []
        for threads in (1, 2):
            gw.set_num_threads(threads)
            results.append(convolve(x, weight, bias, *options))
        assert close(results[0], exact(x, weight, bias, *options), ins * int(kernel.prod()))
        assert (results[0] == results[1]).all()
        if groups == options[2][1] == 1 and outs * ins > 1:
            planes = np.ascontiguousarray(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1)
            joined = convolve(planes, weight, bias, *options, joins=True)
            assert close(joined, exact(x, weight, bias, *options), ins * int(kernel.prod()))


def test_images_are_read_where_they_lie() -> None:
    random = np.random.default_rng(0)
    whole = drawn(random, 2, 9, 8, 12)
    for x in (whole[:, 1:, ::2, 2:5], whole[:, ::-1, :, :3], whole[:1].repeat(2, 0)[..., 1:9]):
        for kernel in (1, 3):
            weight = drawn(random, 5, x.shape[3], kernel, kernel)
            options = ((1, 1), (1, 1), (1, 1), 1)
            want = exact(x, weight, None, *options)
            assert close(convolve(x, weight, None, *options), want, weight[0].size)


def test_numbers_that_are_not_finite_stay_where_they_are() -> None:
    """Beyond the edges lie zeros: nothing is multiplied with what is elsewhere."""
    x = np.ones((1, 4, 4, 3), np.float32)
    x[0, 0, 0] = np.inf
    y = convolve(x, np.ones((2, 3, 3, 3), np.float32), None, (1, 1), (1, 1), (1, 1), 1)
    assert np.isinf(y[0, :2, :2]).all() and np.isfinite(y[0, 2:]).all()
    assert np.isfinite(y[0, :, 2:]).all()


@pytest.mark.parametrize("joins", [False, True])
def test_nothing_is_computed_of_no_places(joins: bool) -> None:
    for shape in ((0, 4, 4, 3), (2, 2, 0, 3), (2, 2, 4, 3), (2, 1, 1, 3)):
        y = convolve(np.empty(shape, np.float32), np.ones((2, 3, 3, 3), np.float32), None,
                     (1, 1), (0, 0), (1, 1), 1, joins)
        assert not y.size
