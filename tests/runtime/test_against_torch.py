"""Corners where values, dtypes, shapes or errors once differed from PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

pytestmark = pytest.mark.oracle

VALUES = {
    "zero_dim_mask_false": "f(5.0)[f(5.0) > 9]",
    "zero_dim_mask_true": "f(5.0)[f(5.0) > 1]",
    "zero_dim_mask_of_rows": "f([[1, 2], [3, 4]])[f(1.0) > 9]",
    "zero_dim_mask_after_dim": "f([[1, 2], [3, 4]])[:, f(1.0) > 0]",
    "masked_select_zero_dim": "f(5.0).masked_select(f(5.0) > 9)",
    "byte_mask": "f([1, 2, 3])[m.tensor([1, 0, 1], dtype=m.uint8)]",
    "masked_fill_int": "m.tensor([1, 2]).masked_fill(m.tensor([True, False]), 2.5)",
    "masked_fill_bool": "m.tensor([True, False]).masked_fill(m.tensor([True, True]), 2)",
    "masked_fill_bool_": "m.tensor([True, False]).masked_fill_(m.tensor([True, True]), 1)",
    "square_bool": "m.square(m.tensor([True, False]))",
    "logsumexp_empty": "m.zeros((0, 3)).logsumexp(0)",
    "topk_zero_dim": "f(5.0).topk(1).values",
    "roll_empty": "m.zeros((0, 3)).roll(1, 0)",
    "divide_nothing": "m.zeros((0,), dtype=m.int64) // m.tensor([0])",
    "remainder_of_nothing": "m.zeros((0,), dtype=m.int64) % m.tensor([0])",
}

ERRORS = {
    "index_select_zero_dim": "f(5.0).index_select(0, m.tensor([9]))",
    "index_select_zero_dim_two": "f(5.0).index_select(0, m.tensor([0, 0]))",
    "byte_mask_shape": "f([1, 2, 3])[m.tensor([1, 0], dtype=m.uint8)]",
    "permute_length": "f([1, 2]).permute(0, 1)",
    "topk_too_many": "f(5.0).topk(2)",
    "bitwise_float": "f([1, 2]) & f([1, 2])",
    "bitwise_float_scalar": "f([1, 2]) | 1",
    "remainder_bool": "m.tensor([True]) % m.tensor([True])",
    "floor_divide_bool": "m.tensor([True]) // m.tensor([True])",
    "max_empty": "m.zeros((0,)).max()",
    "norm_int": "m.tensor([1, 2]).norm()",
    "masked_fill_wide_value": "f([1, 2]).masked_fill(f([1, 2]) > 0, f([1, 2]))",
    "masked_fill_nan": "m.tensor([1]).masked_fill(m.tensor([True]), float('nan'))",
}


def _evaluate(module: Any, text: str) -> Any:
    def f(values: Any) -> Any:
        return module.tensor(values, dtype=module.float32)

    return eval(text, {"m": module, "f": f})


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES.keys())
def test_values(text: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = _evaluate(gw, text), _evaluate(torch, text)
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


@pytest.mark.parametrize("text", ERRORS.values(), ids=ERRORS.keys())
def test_errors(text: str) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(Exception) as theirs:
        _evaluate(torch, text)
    expected = RuntimeError if theirs.type is NotImplementedError else theirs.type
    with pytest.raises(Exception) as ours:
        _evaluate(gw, text)
    assert issubclass(ours.type, expected)


def test_assignment_through_a_false_mask_writes_nothing() -> None:
    x = gw.tensor(5.0)
    x[x > 9] = 0
    assert x.item() == 5.0
    rows = gw.ones(3)
    rows[gw.tensor(False)] = 0
    assert rows.tolist() == [1.0, 1.0, 1.0]
