"""Padding by a tensor's own elements in C, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as gw

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
DTYPES = ["bool", "int8", "int16", "float32", "float64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
def test_of_rows_and_columns(mode: str, dtype: str) -> None:
    x = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5).astype(dtype)
    if dtype == "bool" and mode != "circular":
        with pytest.raises(NotImplementedError, match="not implemented for 'bool'"):
            gw.nn.functional.pad(gw.from_numpy(x), (1, 0, 0, 2), mode=mode)
        return
    for pad in ((0, 0, 0, 0), (1, 0, 0, 2), (2, 3, 1, 1), (0, 4, 3, 0)):
        widths = ((0, 0), (0, 0), pad[2:], pad[:2])
        want = np.pad(x, widths, mode=MODES[mode])  # type: ignore[call-overload]
        tensor = gw.from_numpy(x)
        got = gw.nn.functional.pad(tensor, pad, mode=mode)
        np.testing.assert_array_equal(got.numpy(), want, strict=True)
        apart = gw.from_numpy(np.ascontiguousarray(x.swapaxes(2, 3))).transpose(2, 3)
        got = gw.nn.functional.pad(apart, pad, mode=mode)
        np.testing.assert_array_equal(got.numpy(), want, strict=True)


@pytest.mark.parametrize("mode", MODES)
def test_of_a_column(mode: str) -> None:
    x = gw.tensor([[1.0], [2.0]])
    if mode == "reflect":
        with pytest.raises(RuntimeError, match="adding"):
            gw.nn.functional.pad(x, (1, 1), mode=mode)
    else:
        want = [[1.0] * 3, [2.0] * 3]
        assert gw.nn.functional.pad(x, (1, 1), mode=mode).tolist() == want
