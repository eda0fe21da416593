"""Floats made of sizes, and integers made of such floats, without a version for each size."""

from __future__ import annotations

import math

import pytest

import graphwright as gw

from ..captured import Captured

LENGTHS = (5, 6, 9, 16, 30, 7, 64)


def kept(x):
    return x[: int(x.shape[0] * 0.75)]


def kept_of_a_ratio(x, masked=0.25):
    return x[: int(x.shape[0] * (1 - masked))]


def windows(x):
    rows = int(x.shape[0] * 6 / (6 * 4 / 2 / 2))
    return x.view(rows, -1) * rows


def capacity(x):
    return x + int(1.25 * x.shape[0] * 2 / 3)


def rounded(x):
    return x[math.floor(x.shape[0] / 5) : math.ceil(x.shape[0] / 3)] + math.trunc(x.shape[0] / 2)


def branch(x):
    return x * 2 if x.shape[0] / 2 > 2.25 else x


def results(x):
    n = x.shape[0]
    return x + 1, n / 7, n * 0.5 + 1, float(n), n / 2 - n, f"{n / 3:.2f}"


def counted_down(x):
    return gw.arange(x.shape[0] - 1, -1, -1.0, dtype=x.dtype).unsqueeze(1) * x


def coordinates(x):
    return gw.linspace(-1, 1, x.shape[0]).unsqueeze(1) * x, gw.linspace(0, x.shape[0] - 1, 3)


@pytest.mark.parametrize("function", [
    kept, kept_of_a_ratio, windows, capacity, rounded, branch, results, counted_down, coordinates,
])  # fmt: skip
def test_two_versions_serve_all_sizes(function):
    captured = Captured(function)
    for n in LENGTHS:
        assert captured.agrees(gw.arange(n * 6.0).reshape(n, 6))
    assert captured.graphs <= 2, captured.record.recompiles


def tenth(n):
    return int(n * 0.1), n * 0.1


def signs(n):
    return n * -0.5, -(n / 2), int((n - 9) / 2), math.floor((n - 9) / 2), math.ceil((n - 9) / 2)


def thirds(n):
    return n / 3, int(n / 3), float(n), n / 3 * 3, n * 0.5 == n / 2, n / 4 < 2.5


def large(n):
    many = n + 2**53 - 8
    return many / 3, int(many / 3), float(many), many * 0.5, int(many * 0.75)


@pytest.mark.parametrize("function", [tenth, signs, thirds, large])
def test_the_floats_are_those_of_python(function):
    captured = Captured(lambda x, n: (x + 1, *function(n)), limit=64)
    for n in (2, 3, -4, 0, 5, 10, 11, -1, 17, 1):
        assert captured.agrees(gw.ones(3), n)


def test_a_quotient_of_a_small_size_by_a_varying_count():
    def split(x, heads):
        width = x.shape[1] // heads
        return x.view(-1, heads, width).sum(1) / (x.numel() // (heads * width))

    x = gw.rand(6, 4)
    compiled = gw.compile(split)
    for heads in (1, 2, 4, 2):
        assert gw.allclose(compiled(x, heads), split(x, heads))


def test_a_correction_that_is_no_integer_beside_a_varying_size():
    for length in (5, 9):
        grads = []
        for function in (gw.var, gw.compile(gw.var, dynamic=True)):
            x = gw.arange(float(length)).requires_grad_()
            function(x, 0, correction=1.3).backward()
            grads.append(x.grad)
        assert gw.allclose(*grads)
