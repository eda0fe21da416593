"""In-place operations on one column: memory that is read and written in steps."""

from __future__ import annotations

import pytest

import graphwright as gw

OF_ALL = ("neg_", "square_", "abs_", "sign_", "relu_", "zero_", "clamp_min_", "mul_", "sub_")
OF_FLOATS = ("exp_", "sqrt_", "reciprocal_", "floor_", "round_", "tanh_", "sigmoid_", "sin_")
FLOATS = (gw.float32, gw.float64, gw.bfloat16, gw.float16)
INTEGERS = (gw.int8, gw.int16, gw.int32, gw.int64, gw.uint8)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=lambda dtype: dtype.name)
def test_a_column_is_changed_as_a_copy_of_it(dtype: gw.dtype) -> None:
    for width in (2, 3, 4, 8):
        for name in (*OF_ALL, *(OF_FLOATS if dtype.is_floating_point else ())):
            table = gw.arange(1, 7 * width + 1).to(dtype).view(7, width)
            other = (2,) if name in ("clamp_min_", "mul_", "sub_") else ()
            expected = table.clone()
            expected[:, 1] = getattr(table[:, 1].clone(), name)(*other)
            getattr(table[:, 1], name)(*other)
            assert gw.equal(table, expected), (name, width)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=lambda dtype: dtype.name)
def test_negation(dtype: gw.dtype) -> None:
    lowest = 0 if dtype.is_floating_point else gw.iinfo(dtype).min
    x = gw.tensor([0, 1, 5, lowest]).to(dtype)
    negated = -x
    assert negated.dtype is dtype and (negated + x).tolist() == [0] * 4
    if dtype.is_floating_point:
        assert (1 / negated)[0] == -float("inf")
