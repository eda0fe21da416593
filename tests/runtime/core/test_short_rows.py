"""Elementwise runs and reductions whose innermost dimension has few elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

ROWS = 3000     # enough for pieces of many rows on several threads


def _tensor(*shape: int, dtype: Any = np.float32) -> gw.Tensor:
    values = np.random.default_rng(len(shape)).integers(-9, 9, shape)
    return gw.from_numpy(values.astype(dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 3, 7, 17, 100])
def test_rows_that_repeat_or_lie_apart_meet(n: int, dtype: Any) -> None:
    outer, inner, single = (_tensor(70, 1, n, dtype=dtype), _tensor(90, n, dtype=dtype),
                            _tensor(70, 90, 1, dtype=dtype))
    apart = _tensor(70, 90, n + 1, dtype=dtype)[..., 1:]
    turned = _tensor(n, 90, 70, dtype=dtype).permute(2, 1, 0)
    for left, right in ((outer, inner), (inner, single), (outer, apart), (turned, inner)):
        assert np.array_equal((left + right).numpy(), left.numpy() + right.numpy())


def test_rows_of_more_outer_dimensions_go_on() -> None:
    a, b = _tensor(30, 1, 5, 1, 3), _tensor(30, 20, 1, 4, 3)
    assert np.array_equal((a * b).numpy(), a.numpy() * b.numpy())
    mask = _tensor(30, 20, 5, 4, 1) > 0
    assert np.array_equal(gw.where(mask, a, b).numpy(),
                          np.where(mask.numpy(), a.numpy(), b.numpy()))


def test_short_rows_are_written_in_place() -> None:
    x, row = _tensor(ROWS, 3), _tensor(ROWS, 1)
    expected = x.numpy() * row.numpy()
    x *= row
    assert np.array_equal(x.numpy(), expected)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 8])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_rows_of_few_elements_are_reduced(n: int, dtype: Any) -> None:
    for x in (_tensor(ROWS, n, dtype=dtype), _tensor(ROWS, n + 2, dtype=dtype)[:, :n]):
        array = x.numpy()
        assert np.array_equal(x.sum(-1).numpy(), array.sum(-1))
        assert np.array_equal(x.amax(-1).numpy(), array.max(-1))
        assert np.array_equal(x.prod(-1).numpy(), array.prod(-1))
        assert np.array_equal((x > 0).any(-1).numpy(), (array > 0).any(-1))
        values, places = x.max(-1)
        assert np.array_equal(values.numpy(), array.max(-1))
        assert np.array_equal(places.numpy(), array.argmax(-1))
        if dtype is not np.int64:
            np.testing.assert_allclose(x.norm(dim=-1).numpy(), np.linalg.norm(array, axis=-1),
                                       rtol=1e-6)


def test_a_nan_is_the_extreme_of_its_short_row() -> None:
    x = _tensor(ROWS, 3)
    x[7, 1] = float("nan")
    assert x.amax(-1).isnan().nonzero().tolist() == [[7]]
    assert x.max(-1).indices[7].item() == 1
