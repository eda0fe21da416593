"""The kernels in C that search few elements give what their kernels in NumPy give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops.table import op

from ..layouts import tensors_in

VALUES = np.asarray([3, -0.0, np.nan, 0.0, -2, np.inf, 3, -np.inf, np.nan, -2, 3, 3], np.float32)
WHOLE = np.random.default_rng(0).integers(-3, 4, (4, 6, 2))


def _agree(name: str, *args: Any) -> None:
    kernel: Any = op(name).run
    mine, others = tensors_in(kernel(*args)), tensors_in(kernel.fallback(*args))
    for got, want in zip(mine, others, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert got.numel() == 0 or got.stride() == want.stride()
        np.testing.assert_array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True), (True, True)])
def test_distinct_values(flags: tuple[bool, bool]) -> None:
    for x in (gw.from_numpy(VALUES), gw.from_numpy(VALUES.reshape(3, 4)), gw.from_numpy(WHOLE)):
        _agree("unique", x, True, *flags, None)
        _agree("unique_consecutive", x, *flags, None)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "float32", "float64"])
def test_distinct_slices(dim: int, dtype: str) -> None:
    x = gw.from_numpy(np.repeat(WHOLE, 2, dim).astype(dtype))
    _agree("unique", x, True, True, True, dim)
    _agree("unique_consecutive", x, True, True, dim)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float16", "bfloat16", "float32", "uint64"])
def test_what_is_not_zero(dtype: str) -> None:
    x = gw.from_numpy(np.abs(WHOLE) - 1 * (dtype[0] != "u")).to(getattr(gw, dtype))
    for layout in (x, x.transpose(0, 2), x[:, ::2], -x if "float" in dtype else x, x[:0]):
        _agree("argwhere", layout)


def test_masks_are_broadcast() -> None:
    x = gw.from_numpy(WHOLE)
    for mask in (x > 0, x[:, :, :1] > 0, x[0] > 0, gw.tensor(True), x[:0] > 9):
        _agree("masked_select", x[: mask.shape[0]] if 0 in mask.shape else x, mask)
    _agree("masked_scatter", x[:1], x > 0, x.flatten())
    with pytest.raises(RuntimeError, match="fewer elements"):
        gw.masked_scatter(x, x > 0, x[0, 0])


@pytest.mark.parametrize("right", [False, True])
def test_places_in_sorted_rows(right: bool) -> None:
    rows = gw.from_numpy(np.sort(WHOLE, 1).astype(np.float32).transpose(0, 2, 1).copy())
    wanted = gw.from_numpy(np.random.default_rng(1).uniform(-4, 4, (4, 2, 5)).astype(np.float32))
    _agree("search_positions", rows, wanted, True, right, None)
    _agree("search_positions", rows[0, 0], wanted, False, right, None)
    _agree("search_positions", rows[0, 0], 1.0, False, right, None)
    _agree("search_positions", rows[0, 0][:0], wanted, False, right, None)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 1000])
def test_places_of_many_values(length: int, dtype: str, right: bool) -> None:
    numbers = np.random.default_rng(length)
    rows = gw.from_numpy(np.sort(numbers.integers(-9, length + 9, (3, length))).astype(dtype))
    for count in (1, 15, 16, 17, 3000):
        values = gw.from_numpy(numbers.integers(-11, length + 11, (3, count)).astype(dtype))
        _agree("search_positions", rows, values, True, right, None)
        _agree("search_positions", rows[1], values, False, right, None)


def test_histogram_without_a_range() -> None:
    for values in ([1.0, 2.0, 4.0, 4.0], [3.0, 3.0], [-1.0, 0.5, 1.0]):
        x = gw.tensor(values)
        _agree("histc", x, 4, 0, 0)
        _agree("histc", x, 3, -1.0, 1.0)
    with pytest.raises(RuntimeError, match="not finite"):
        gw.histc(gw.from_numpy(VALUES), 4)


@pytest.mark.parametrize(
    ("dtype", "values", "low", "high", "expected"),
    [
        ("float32", [0.0, 2e38, 3e38], 0, 0, [1, 0, 1, 1]),
        ("float32", [-3e38, 0.0, 3e38], 0, 0, [1, 0, 1, 1]),
        ("float32", [0.0, 0.0, 1.0], 0, 1e-50, [2, 0, 0, 0]),
        ("float64", [-1.5e308, 0.1e308, 1.5e308], 0, 0, [1, 0, 1, 1]),
        ("float64", [0.0, 5e-324], 0, 5e-324, [1, 0, 0, 1]),
    ],
)
def test_histogram_over_a_range_that_the_dtype_does_not_have(
    dtype: str, values: list[float], low: float, high: float, expected: list[int]
) -> None:
    x = gw.tensor(values, dtype=getattr(gw, dtype))
    _agree("histc", x, 4, low, high)
    assert gw.histc(x, 4, low, high).tolist() == expected


@pytest.mark.parametrize("count", [3, 700, 40_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_histogram_has_the_bounds_of_its_range_as_numbers_of_the_dtype(
    dtype: str, count: int
) -> None:
    x = gw.tensor([-0.3, 0.7, 0.71], dtype=getattr(gw, dtype)).repeat(count)
    x[-1] = math.nan
    _agree("histc", x, 5, -0.3, 0.7)
    assert gw.histc(x, 5, -0.3, 0.7).tolist() == [count, 0, 0, 0, count]


def test_the_width_of_a_histogram_is_of_the_dtype() -> None:
    found = gw.histc(gw.tensor([0.4]), 1000, 0.1, 0.7)
    assert found.nonzero().item() == 500


@pytest.mark.parametrize("count", [255, 256, 40_001])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_histograms_of_many_elements(dtype: Any, count: int) -> None:
    values = np.random.default_rng(0).standard_normal(count).astype(dtype)
    values[:3] = [np.nan, np.inf, -np.inf]
    for bins in (1, 7, 1000):
        _agree("histc", gw.from_numpy(values), bins, -1.5, 2.5)


def test_an_empty_range_of_a_histogram_gets_a_margin() -> None:
    x = gw.tensor([1.0, 2.0, 3.0])
    _agree("histogram_edges", x, 4, (2.0, 2.0))
    _agree("histogram_edges", x, 4, None)
    counts, edges = gw.histogram(x, 4, range=(2.0, 2.0))
    assert edges.tolist() == [1.5, 1.75, 2.0, 2.25, 2.5]
    assert counts.tolist() == [0, 0, 1, 0]
    for wrong in ((float("inf"), float("inf")), (0.0, float("nan"))):
        with pytest.raises(RuntimeError, match="not finite"):
            gw.histogram(x, 4, range=wrong)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64"])
def test_masked_fill(dtype: str) -> None:
    x = gw.from_numpy(WHOLE).to(getattr(gw, dtype))
    for mask in (gw.from_numpy(WHOLE > 0), gw.from_numpy(WHOLE[0] > 0), gw.tensor(True)):
        for layout in (x, x.transpose(0, 2).contiguous().transpose(0, 2)):
            _agree("masked_fill", layout, mask, 1)
            _agree("masked_fill", layout, mask, gw.tensor(0, dtype=x.dtype))
            want = op("masked_fill").run(layout, mask, 1)
            written = layout.clone()
            version = written._version
            assert written.masked_fill_(mask, 1) is written
            assert written._version == version + 1
            np.testing.assert_array_equal(written.numpy(), want.numpy())


def test_assignment_by_mask_and_by_positions() -> None:
    x = gw.zeros(3, 4)
    x[gw.tensor(WHOLE[:3, :4, 0] > 0)] = 2
    np.testing.assert_array_equal(x.numpy(), np.where(WHOLE[:3, :4, 0] > 0, 2, 0))
    x[gw.tensor([0, -1])] = 5.0
    assert x[0].tolist() == x[2].tolist() == [5.0] * 4
    with pytest.raises(IndexError):
        x[gw.tensor([True, False])] = 1.0


def test_equal_tensors() -> None:
    x = gw.from_numpy(VALUES)
    assert not gw.equal(x, x)           # a NaN is not itself
    assert gw.equal(x[:2], gw.tensor([3.0, 0.0]))
    assert not gw.equal(gw.zeros(2), gw.zeros(1, 2))
    assert gw.equal(gw.zeros(0, 2), gw.ones(0, 2))


def test_vectors_without_elements_join_anything() -> None:
    nothing, x = gw.zeros(0), gw.from_numpy(WHOLE.astype(np.float32))
    for parts in ((x, nothing), (nothing, x), (x, x[:, :0], x)):
        dim = 1 if len(parts) == 3 else 0
        assert gw.equal(gw.cat(parts, dim), gw.cat((x,) * (len(parts) - 1), dim))


def test_a_tensor_of_one_position_selects_a_view() -> None:
    x = gw.arange(12.0).reshape(3, 4)
    for place in (1, -1):
        row = x[gw.tensor(place)]
        assert row.tolist() == x[place].tolist()
        assert row.data_ptr() == x[place].data_ptr()
        assert x[:, gw.tensor(place)].tolist() == x[:, place].tolist()
    with pytest.raises(IndexError, match="out of bounds"):
        x[gw.tensor(3)]
