"""Matrix products, with BLAS and without, over shapes, transpositions and layouts."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core, blas

SHAPES = [
    (1, 1, 1), (1, 7, 5), (4, 33, 70), (5, 64, 300), (8, 100, 17), (9, 31, 40), (17, 129, 513),
    (70, 90, 600), (200, 3, 1000), (3, 200, 1000), (150, 150, 150), (1, 1000, 300), (2, 5, 0),
    (0, 5, 3), (300, 1, 400), (70, 131, 1), (9, 3, 1), (12, 30, 128), (64, 70, 131),
]  # fmt: skip


@pytest.fixture(params=["blas", "own"])
def library(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "blas":
        if not blas.use_installed() or not _core.has_blas():
            pytest.skip("scipy-openblas32 is not installed")
    else:
        _core.set_blas(None)
        assert not _core.has_blas()
    yield request.param
    blas.use_installed()


def check(actual: Any, expected: Any, k: int) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    bound = np.finfo(actual.dtype).eps * 4 * max(k, 1) ** 0.5 * scale
    assert np.abs(actual - expected).max(initial=0) <= bound


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products(library: str, shape: tuple[int, int, int], dtype: str) -> None:
    m, n, k = shape
    rng = np.random.default_rng(m * n + k)
    for transa, transb in itertools.product((False, True), repeat=2):
        a = rng.standard_normal((3, k, m) if transa else (3, m, k)).astype(dtype)
        b = rng.standard_normal((3, n, k) if transb else (3, k, n)).astype(dtype)
        wide_a = a.swapaxes(1, 2) if transa else a
        wide_b = b.swapaxes(1, 2) if transb else b
        expected = wide_a.astype("d") @ wide_b.astype("d")
        out = np.full((3, m, n), np.nan, dtype)
        _core.gemm(a, b, out, transa, transb)
        check(out, expected, k)
        c = rng.standard_normal((m, n)).astype(dtype)
        both = 2 * expected[1] + 0.5 * c
        _core.gemm(a[1], b[1], c, transa, transb, 2.0, 0.5)
        check(c, both, k)


def test_layouts(library: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((40, 60)).astype("f"), rng.standard_normal((60, 50)).astype("f")
    expected = a.astype("d") @ b
    layouts_a = [a, np.asfortranarray(a), np.pad(a, 3)[3:-3, 3:-3]]
    layouts_b = [b, np.asfortranarray(b), np.pad(b, 3)[3:-3, 3:-3]]
    for x, y in itertools.product(layouts_a, layouts_b):
        out = np.full((40, 57), np.nan, "f")
        _core.gemm(x, y, out[:, 3:53])
        check(out[:, 3:53], expected, 60)
        assert np.isnan(out[:, :3]).all() and np.isnan(out[:, 53:]).all()


def test_one_column(library: str) -> None:
    rng = np.random.default_rng(0)
    a, wide = rng.standard_normal((40, 60)).astype("f"), rng.standard_normal((60, 3)).astype("f")
    layouts_a = [a, np.asfortranarray(a), np.pad(a, 3)[3:-3, 3:-3]]
    columns = [wide[:, 1:2], wide[:, 1:2].copy()]
    for x, column in itertools.product(layouts_a, columns):
        expected = a.astype("d") @ column
        out = np.ones((40, 1), "f")
        _core.gemm(x, column, out, False, False, 2.0, 0.5)
        check(out, 2 * expected + 0.5, 60)


def test_broadcast_batches(library: str) -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((5, 6, 7)).astype("f")
    b = rng.standard_normal((7, 8)).astype("f")
    out = np.empty((5, 6, 8), "f")
    _core.gemm(a, np.broadcast_to(b, (5, 7, 8)), out)
    check(out, a.astype("d") @ b, 7)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_same_threads_same_bits(library: str, threads: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((90, 200)).astype("f"), rng.standard_normal((200, 110)).astype("f")
    old = _core.set_num_threads(threads)
    try:
        first = np.empty((90, 110), "f")
        _core.gemm(a, b, first)
        check(first, a.astype("d") @ b, 200)
        for _ in range(20):
            again = np.empty((90, 110), "f")
            _core.gemm(a, b, again)
            assert (first == again).all()
    finally:
        _core.set_num_threads(old)


def test_special_values(library: str) -> None:
    a, b = np.array([[np.inf, 0]], "f"), np.array([[1.0, np.nan], [2, 1]], "f")
    out = np.full((1, 2), np.nan, "f")
    _core.gemm(a, b, out)
    assert out[0, 0] == np.inf and np.isnan(out[0, 1])
    out[:] = np.nan
    _core.gemm(np.zeros((1, 0), "f"), np.zeros((0, 2), "f"), out)
    assert (out == 0).all()


def test_refused_operands() -> None:
    f = np.zeros((4, 4), "f")
    bad = [
        (f, f, np.zeros((4, 4), "d")),
        (f, f, np.zeros((4, 5), "f")),
        (f, f, f[0]),
        (f, f, np.zeros((4, 8), "f")[:, ::2]),
        (f, f, np.zeros((4, 4), "f").T),
        (np.zeros((4, 8), "f")[:, ::2], f, np.zeros((4, 4), "f")),
        (np.broadcast_to(np.float32(0), (4, 4)), f, np.zeros((4, 4), "f")),
        (np.zeros((2, 4, 4), "f"), f, np.zeros((2, 4, 4), "f")),
        (f.astype("i4"), f.astype("i4"), f.astype("i4")),
    ]
    for a, b, out in bad:
        with pytest.raises(ValueError, match=r"gemm|matri|shapes"):
            _core.gemm(a, b, out)


@pytest.mark.parametrize("alpha", [math.inf, -math.inf])
@pytest.mark.parametrize("name", ["addmm", "addbmm", "baddbmm"])
def test_products_are_multiplied_by_an_infinite_alpha_and_not_their_factors(
    name: str, alpha: float
) -> None:
    factor = gw.tensor([[1.0, 0.0], [2.0, -1.0]])
    pair = [factor, gw.eye(2)]
    if name != "addmm":
        pair = [x[None] for x in pair]
    term = gw.ones(1, 2, 2) if name == "baddbmm" else gw.ones(2, 2)
    for call in (getattr(gw, name), gw.compile(getattr(gw, name))):
        got = call(term, *pair, alpha=alpha).reshape(2, 2)
        assert repr(got.tolist()) == repr([[alpha, math.nan], [alpha, -alpha]])


def test_a_library_that_does_not_load(tmp_path: Any) -> None:
    broken = tmp_path / "libbroken.so"
    broken.write_bytes(b"no library")
    try:
        _core.set_blas(str(broken))
        assert not _core.has_blas()
        out = np.empty((20, 20), "f")
        _core.gemm(np.ones((20, 20), "f"), np.ones((20, 20), "f"), out)
        assert (out == 20).all()
    finally:
        blas.use_installed()


@pytest.mark.parametrize("call", [
    "F.conv2d(gw.zeros(1, 8, 9, 9), gw.zeros(8, 8, 1, 1))",
    "gw.nn.LSTM(4, 4)(gw.zeros(3, 2, 4))",
    "gw.zeros(3, 3) @ gw.zeros(3, 3)",
])  # fmt: skip
def test_every_family_that_multiplies_uses_the_library(call: str) -> None:
    """In a fresh process, whose first op it is."""
    program = (
        "import graphwright as gw; F = gw.nn.functional; from graphwright.runtime import _core\n"
        f"{call}; print(_core.has_blas())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(blas.library_path() is not None)
