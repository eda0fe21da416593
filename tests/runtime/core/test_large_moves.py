"""Tensors that are large enough for threads: padding, triangles, scatter along rows, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

RNG = np.random.default_rng(0)


def real(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("diagonal", [-700, -3, 0, 2, 700])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool"])
def test_triangles(dtype: str, diagonal: int) -> None:
    array = real(3, 400, 300).astype(dtype)
    tensor = gw.from_numpy(array)
    np.testing.assert_array_equal(tensor.tril(diagonal).numpy(), np.tril(array, diagonal))
    np.testing.assert_array_equal(tensor.triu(diagonal).numpy(), np.triu(array, diagonal))


@pytest.mark.parametrize(("mode", "kind"), [("reflect", "reflect"), ("replicate", "edge"),
                                            ("circular", "wrap")])
@pytest.mark.parametrize("pad", [(3, 1, 0, 4), (0, 0, 2, 2), (5, 5), (0, 0)])
def test_borders(mode: str, kind: str, pad: tuple[int, ...]) -> None:
    array = real(4, 6, 50, 60) if len(pad) == 4 else real(4, 6, 60)
    sides = [(0, 0)] * (array.ndim - len(pad) // 2)
    sides += [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    for tensor in (gw.from_numpy(array), gw.from_numpy(array.T.copy()).permute(
            *range(array.ndim - 1, -1, -1))):
        got = gw.nn.functional.pad(tensor, pad, mode=mode)
        np.testing.assert_array_equal(got.numpy(), np.pad(array, sides, kind))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int16", "bool"])
def test_scatter_along_rows_keeps_the_order(dtype: str) -> None:
    memory = RNG.integers(0, 2, (300, 200)).astype(dtype)
    values = RNG.integers(0, 2, (300, 400)).astype(dtype)
    index = RNG.integers(0, 200, (300, 400))
    stored, added = memory.copy(), memory.copy()
    for row in range(300):
        stored[row, index[row]] = values[row]
        np.add.at(added[row], index[row], values[row])
    arguments = (1, gw.from_numpy(index), gw.from_numpy(values))
    np.testing.assert_array_equal(gw.from_numpy(memory).scatter(*arguments).numpy(), stored)
    np.testing.assert_array_equal(gw.from_numpy(memory).scatter_add(*arguments).numpy(), added)
    with pytest.raises(IndexError):
        gw.from_numpy(memory).scatter_add(1, gw.full((300, 400), 200, dtype=gw.int64),
                                          gw.from_numpy(values))


def test_bits_of_sums_by_index_do_not_depend_on_the_threads() -> None:
    index = gw.from_numpy(RNG.integers(0, 50, (400, 300)))
    values, rows = gw.from_numpy(real(400, 300)), gw.from_numpy(RNG.integers(0, 50, 400))
    before, seen = gw.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            gw.set_num_threads(threads)
            parts = (gw.zeros(400, 50).scatter_add(1, index, values),
                     gw.zeros(50, 300).scatter_add(0, index, values),
                     gw.zeros(50, 300).index_add(0, rows, values))
            seen.add(b"".join(part.numpy().tobytes() for part in parts))
    finally:
        gw.set_num_threads(before)
    assert len(seen) == 1


def test_expanded_tensors_are_written_out() -> None:
    for dtype in (gw.uint8, gw.float16, gw.float32, gw.float64, gw.complex128):
        column = gw.arange(0, 90).to(dtype).reshape(90, 1)
        np.testing.assert_array_equal(column.expand(90, 1500).contiguous().numpy(),
                                      np.repeat(column.numpy(), 1500, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions_over_a_stride(dtype: str) -> None:
    array = (RNG.random((700, 301)) + 0.5).astype(dtype)
    part = gw.from_numpy(array)[:, ::2]
    wide = array[:, ::2].astype(np.float64)
    np.testing.assert_allclose(part.sum().item(), wide.sum(), rtol=1e-6)
    np.testing.assert_allclose(part.sum(1).numpy(), wide.sum(1), rtol=1e-6)
    np.testing.assert_array_equal(part.amax(1).numpy(), array[:, ::2].max(1))


@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 31, 64, 127, 128, 300, 5000])
def test_extrema_of_rows_with_nan(dtype: str, n: int, least: bool) -> None:
    array = real(40, n).astype(dtype)
    array[::3, -1] = np.nan
    array[1::3, 0] = -np.inf if least else np.inf
    array[2::6] = np.inf if least else -np.inf
    array[5::6, n // 2] = -np.nan
    tensor = gw.from_numpy(array)
    got = (tensor.amin if least else tensor.amax)(1)
    np.testing.assert_array_equal(got.numpy(), (array.min if least else array.max)(1))


def test_halves_of_wider_numbers_are_rounded_as_from_float32() -> None:
    array = RNG.standard_normal(5000) * 1e3
    for dtype in (gw.float16, gw.bfloat16):
        tensor = gw.from_numpy(array)
        for one in (tensor, tensor.reshape(50, 100).t(), tensor.to(gw.int64)):
            got, want = one.to(dtype), one.to(gw.float32).to(dtype)
            np.testing.assert_array_equal(got.float().numpy(), want.float().numpy())


@pytest.mark.parametrize("n", [0, 1, 2, 70_001])
def test_linspace(n: int) -> None:
    want = np.linspace(-1.5, 4.0, n)
    np.testing.assert_allclose(gw.linspace(-1.5, 4.0, n).numpy(), want, rtol=1e-6, atol=1e-6)
    got = gw.linspace(-1.5, 4.0, n, dtype=gw.float64).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)
    assert n < 2 or (got[0] == -1.5 and got[-1] == 4.0)


@pytest.mark.parametrize("dtype", ["bool", "float16", "int32", "float64", "complex128"])
def test_filling(dtype: str) -> None:
    kind, n = getattr(gw, dtype), 70_003
    for value in (0, 1):
        assert (gw.full((n,), value, dtype=kind) == value).all()
        assert (gw.ones(n, dtype=kind).fill_(value) == value).all()
        part = gw.ones(300, 400, dtype=kind)
        part[:, ::2].fill_(value)
        assert (part[:, ::2] == value).all() and (part[:, 1::2] == 1).all()
    assert (gw.ones(n, dtype=kind).zero_() == 0).all()


def test_diagonals() -> None:
    np.testing.assert_array_equal(gw.eye(500, 300).numpy(), np.eye(500, 300, dtype=np.float32))
    lines = real(5, 200)
    for shift in (-2, 0, 3):
        got = gw.diag_embed(gw.from_numpy(lines), shift).numpy()
        np.testing.assert_array_equal(got, np.stack([np.diag(line, shift) for line in lines]))
