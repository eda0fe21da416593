"""Calls with plain numbers, lists and few elements, which run in C from end to end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime import _core
from graphwright.runtime.tensor.tensor import Tensor


@pytest.mark.parametrize(
    ("data", "shape", "dtype"),
    [
        (True, (), gw.bool),
        (3, (), gw.int64),
        ([1, 2.5, True], (3,), gw.float32),
        ([[1], (2,)], (2, 1), gw.int64),
        ([], (0,), gw.float32),
        ([[], []], (2, 0), gw.float32),
    ],
)
def test_numbers_in_lists(data: Any, shape: tuple[int, ...], dtype: gw.dtype) -> None:
    made = _core.literal(Tensor, data, None)
    assert (tuple(made.shape), made.dtype) == (shape, dtype)
    np.testing.assert_array_equal(made.numpy(), np.array(data))


@pytest.mark.parametrize("dtype", [gw.float64, gw.int32, gw.bfloat16, gw.bool])
def test_numbers_of_a_given_dtype(dtype: gw.dtype) -> None:
    made = _core.literal(Tensor, [[0, 1], [2, 3]], dtype)
    assert made.dtype is dtype
    assert made.tolist() == gw.tensor(np.arange(4).reshape(2, 2)).to(dtype).tolist()


@pytest.mark.parametrize(
    "data", [[1, [2]], [[1], [2, 3]], [[], [1]], [1j], ["1"], [None], [2**63], [0] * 5000]
)
def test_others_are_left_to_numpy(data: Any) -> None:
    assert _core.literal(Tensor, data, None) is None


@pytest.mark.parametrize(
    ("data", "dtype"), [([1.5], gw.int64), ([300], gw.uint8), ([-129], gw.int8)]
)
def test_numbers_that_do_not_fit_are_left_to_numpy(data: Any, dtype: gw.dtype) -> None:
    assert _core.literal(Tensor, data, dtype) is None


def test_aliased_lists_of_many_elements_are_left_to_numpy() -> None:
    data: Any = 1.0
    for _ in range(12):
        data = [data] * 100
    assert _core.literal(Tensor, data, None) is None


def test_a_list_in_the_place_of_a_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match="must be Tensor"):
        gw.add(gw.ones(2), [1, 2])  # type: ignore[arg-type]


@pytest.mark.parametrize("places", [2, 5, [1, 4], (3,), [-2], [4, 1], [7], []])
def test_parts_are_those_of_numpy(places: Any) -> None:
    array = np.arange(20.0).reshape(5, 4)
    parts = gw.tensor_split(gw.from_numpy(array), places)
    expected = np.array_split(array, places)
    assert len(parts) == len(expected)
    for part, other in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(part.numpy(), other)
        assert part._is_view()


@pytest.mark.parametrize("dtype", [gw.float32, gw.int32, gw.float16, gw.uint8, gw.bool])
def test_truths_of_any_dtype(dtype: gw.dtype) -> None:
    x = gw.tensor([[0.0, 2.0], [0.0, 0.0]]).to(dtype)
    result = gw.uint8 if dtype is gw.uint8 else gw.bool
    assert x.any().dtype is x.all(0).dtype is result
    assert x.any(1).tolist() == [True, False]
    assert x.all().item() == 0


@pytest.mark.parametrize("given", [gw.float64, gw.int64, gw.float32, gw.int32, gw.float16])
def test_sums_in_a_given_dtype(given: gw.dtype) -> None:
    x = gw.tensor([[1.75, 2.5], [-0.5, 4.0]])
    total = x.sum(0, dtype=given)
    assert total.dtype is given
    assert total.tolist() == x.to(given).to(gw.float64).sum(0).tolist()


def test_rates_give_their_mean_and_variance() -> None:
    gw.manual_seed(5)
    for rate in (0.5, 4.0, 10.0, 60.0):
        drawn = gw.poisson(gw.full((8000,), rate))
        assert (drawn == drawn.floor()).all()
        assert abs(drawn.mean().item() - rate) < 5 * (rate / 8000) ** 0.5
        assert abs(drawn.var().item() / rate - 1) < 0.1
    assert gw.poisson(gw.zeros(3)).tolist() == [0, 0, 0]


def test_nothing_is_drawn_without_weight() -> None:
    gw.manual_seed(3)
    weights = gw.tensor([[0.0, 1.0, 0.0, 3.0], [2.0, 0.0, 0.0, 0.0]])
    drawn = gw.multinomial(weights, 2000, replacement=True)
    counts = [np.bincount(row, minlength=4) for row in drawn.numpy()]
    assert counts[0][[0, 2]].sum() == 0
    assert abs(counts[0][3] / 2000 - 0.75) < 0.05
    assert counts[1].tolist() == [2000, 0, 0, 0]


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
def test_gradients_of_segments(reduce: str) -> None:
    values = gw.tensor([[2.0, 1.0, 2.0, 5.0, 0.0, 3.0]], dtype=gw.float64)
    lengths = gw.tensor([[3, 0, 2]])

    def total(x: Any) -> Any:
        found = gw.segment_reduce(x, reduce, lengths=lengths, axis=1, unsafe=True, initial=1.5)
        return (found * gw.tensor([[1.0, 2.0, 3.0]])).sum()

    x = values.clone().requires_grad_()
    (plain,) = gw.autograd.grad(total(x), x)
    (again,) = gw.autograd.grad(total(x), x, create_graph=True)
    np.testing.assert_allclose(plain.numpy(), again.detach().numpy())
    assert not plain.requires_grad
    assert plain[0, 5].item() == 0
