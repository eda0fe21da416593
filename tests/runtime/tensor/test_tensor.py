"""Tensor's face: construction, conversion, printing, protocol methods, random numbers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import graphwright as gw


def test_construction_infers_dtypes() -> None:
    assert gw.tensor([1, 2]).dtype is gw.int64
    assert gw.tensor([1, 2.0]).dtype is gw.float32
    assert gw.tensor(True).dtype is gw.bool
    assert gw.tensor(np.ones(2)).dtype is gw.float64
    assert gw.tensor([]).dtype is gw.float32
    assert gw.tensor([gw.tensor(1.0), gw.tensor(2.0)]).tolist() == [1.0, 2.0]
    with pytest.raises((TypeError, ValueError)):
        gw.tensor(["a"])
    with pytest.raises(ValueError):
        gw.tensor([[1], [2, 3]])


def test_construction_copies() -> None:
    array = np.zeros(2)
    made = gw.tensor(array)
    array[0] = 1
    assert made[0].item() == 0
    assert gw.as_tensor(array)[0].item() == 1


def test_python_protocols() -> None:
    x = gw.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert len(x) == 2 and [row.tolist() for row in x] == [[1.0, 2.0], [3.0, 4.0]]
    assert hash(x) == hash(x) and {x: 1}[x] == 1
    assert 2.0 in x and 9.0 not in x
    assert float(x[0, 0]) == 1.0 and int(x[1, 1]) == 4
    assert list(range(5))[gw.tensor(3)] == 3
    assert f"{x[0, 0]:.2f}" == "1.00"
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(x)
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        x.item()
    with pytest.raises(TypeError, match="0-d"):
        len(gw.tensor(1))
    assert (x == "text") is False
    assert (x == None) is False  # noqa: E711


def test_numpy_protocol() -> None:
    x = gw.tensor([1.0, 2.0])
    np.testing.assert_array_equal(np.asarray(x), [1, 2])
    assert np.asarray(x, np.float64).dtype == np.float64
    assert isinstance(np.float32(2) * x, gw.Tensor)


def test_reflected_operators() -> None:
    x = gw.tensor([1.0, 2.0])
    assert (3 - x).tolist() == [2.0, 1.0]
    assert (2 / x).tolist() == [2.0, 1.0]
    assert (2**x).tolist() == [2.0, 4.0]
    assert (7 // gw.tensor([2])).tolist() == [3]
    assert (7 % gw.tensor([4])).tolist() == [3]


def test_conversions() -> None:
    x = gw.tensor([1.5, -2.5])
    assert x.to(gw.float32) is x and x.to("cpu") is x
    assert x.to(gw.float64).dtype is gw.float64
    assert x.int().tolist() == [1, -2] and x.long().dtype is gw.int64
    assert x.half().dtype is gw.float16 and x.bfloat16().dtype is gw.bfloat16
    assert x.to(gw.zeros(1, dtype=gw.float64)).dtype is gw.float64
    assert x.contiguous() is x
    with pytest.raises(TypeError):
        x.to([3.5])


def test_named_results() -> None:
    x = gw.tensor([[1.0, 5.0], [7.0, 2.0]])
    values, indices = x.max(1)
    assert values.tolist() == [5.0, 7.0] and indices.tolist() == [1, 0]
    found = x.sort(dim=1, descending=True)
    assert found.values.tolist() == [[5.0, 1.0], [7.0, 2.0]]
    assert x.topk(1).indices.tolist() == [[1], [0]]
    assert x.max().item() == 7.0
    assert x.max(gw.tensor(4.0)).tolist() == [[4.0, 5.0], [7.0, 4.0]]


@pytest.mark.oracle
def test_printing_as_in_torch() -> None:
    torch = pytest.importorskip("torch")

    def both(make: Any) -> tuple[str, str]:
        return repr(make(gw)).replace("graphwright.", "torch."), repr(make(torch))

    cases: list[Any] = [
        lambda t: t.tensor(3),
        lambda t: t.tensor(1.5),
        lambda t: t.tensor([1.0, 2.0, -3.0]),
        lambda t: t.tensor([[0.1, 100.0], [2.25, -1.0]]),
        lambda t: t.tensor([1e-8, 1.0]),
        lambda t: t.tensor([1e10, 1.0]),
        lambda t: t.tensor([float("nan"), float("inf"), 1.0]),
        lambda t: t.arange(4),
        lambda t: t.tensor([True, False]),
        lambda t: t.tensor([1, 2], dtype=t.int32),
        lambda t: t.tensor([0.5], dtype=t.float64),
        lambda t: t.tensor([0.5], dtype=t.bfloat16),
        lambda t: t.zeros(0, 3),
        lambda t: t.tensor([]),
        lambda t: t.ones(2, 2, 2),
        lambda t: t.tensor([0.5], requires_grad=True),
        lambda t: t.tensor([0.5], requires_grad=True) * 2,
        lambda t: t.arange(2000),
        lambda t: t.zeros(40, 40),
    ]
    for make in cases:
        ours, theirs = both(make)
        assert ours == theirs


def test_random_numbers_follow_the_seed() -> None:
    gw.manual_seed(3)
    first, second = gw.rand(5), gw.randn(3, 3)
    gw.manual_seed(3)
    again = gw.rand(5)
    assert gw.equal(first, again) and gw.equal(second, gw.randn(3, 3))
    assert not gw.equal(again, gw.rand(5))
    many = gw.randn(20_000)
    assert abs(many.mean().item()) < 0.03 and abs(many.std().item() - 1) < 0.03
    ints = gw.randint(2, 7, (1000,))
    assert ints.min().item() == 2 and ints.max().item() == 6
    assert gw.randperm(50).sort().values.tolist() == list(range(50))
    uniform = gw.empty(1000).uniform_(-1.0, 1.0)
    assert -1 <= uniform.min().item() < -0.9 and 0.9 < uniform.max().item() <= 1


def test_factories() -> None:
    assert gw.zeros(2, 3).shape == (2, 3) and gw.zeros((2, 3)).shape == (2, 3)
    assert gw.ones([2]).tolist() == [1.0, 1.0]
    assert gw.full((2,), 7).dtype is gw.int64
    assert gw.zeros(2, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="negative dimension"):
        gw.zeros(-1)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        gw.arange(0, 1, 0)
    like = gw.zeros_like(gw.zeros(3, 4).t())
    assert like.stride() == (1, 4)


@pytest.mark.parametrize("name", ["empty", "ones", "rand", "randn", "zeros"])
def test_sizes_of_factories(name: str) -> None:
    factory = getattr(gw, name)
    made = [factory(2, 3), factory((2, 3)), factory([2, 3]), factory(size=(2, 3))]
    assert all(tuple(t.shape) == (2, 3) for t in made)


def test_no_warnings_from_numpy(recwarn: pytest.WarningsRecorder) -> None:
    x = gw.tensor([0.0, -1.0, 1e38])
    (x / 0).log()
    (x * x).sqrt()
    gw.exp(x * 1e3)
    assert not recwarn.list


def test_copies() -> None:
    x = gw.tensor([1.0], requires_grad=True)
    y = copy.deepcopy(x)
    assert y.requires_grad and y is not x
    with gw.no_grad():
        y.add_(1)
    assert x.item() == 1.0


def test_every_public_function_knows_its_op() -> None:
    assert gw.add.__gw_op__.name == "add"
    assert gw.Tensor.permute.__gw_op__.name == "permute"
    assert gw.add.__gw_op__.call is gw.add


def test_size() -> None:
    size = gw.Size((2, 3))
    assert size == (2, 3) and isinstance(size, tuple) and size.numel() == 6
    assert repr(size) == "graphwright.Size([2, 3])" and gw.Size(()).numel() == 1
    assert isinstance(size[1:], gw.Size) and isinstance(size + size, gw.Size) and size[0] == 2
    assert gw.ones(size).shape == size and gw.Size(gw.ones(4).shape).numel() == 4


def test_the_end_of_a_range_may_be_named_alone() -> None:
    assert gw.arange(end=3).tolist() == [0, 1, 2]
    assert gw.arange(end=3.0).dtype is gw.float32
    assert gw.compile(lambda x: x + gw.arange(end=x.shape[0]))(gw.ones(3)).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="end"):
        gw.arange()
