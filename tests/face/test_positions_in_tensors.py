"""Subscripts by tensors that hold one position: what they pick is a view of the tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.fake.fake_tensor import FakeTensor, make_fake

BACKENDS = ("eager", "llvm")


def _written(x: gw.Tensor, i: gw.Tensor) -> Any:
    row = x[i]
    row.add_(1)
    return row * 2, x.sum(0)


def _written_as_base(x: gw.Tensor, i: gw.Tensor) -> Any:
    row = x[i]
    x.mul_(3)
    return row + 1


def _assigned(x: gw.Tensor, i: gw.Tensor) -> Any:
    x[i] = 7
    x[i, 1] += 2
    x[:, i] *= x[i - 1, 0]
    return x[i] * 2


def _position_written(x: gw.Tensor, i: gw.Tensor) -> Any:
    column = x[..., i]
    i.zero_()
    column.neg_()
    return column + x[i, 0]


def _behind_it(x: gw.Tensor, i: gw.Tensor) -> Any:
    hidden = x * 2
    hidden[i][1:].fill_(5)
    hidden[(i > 0).long(), 2:] = 4
    return hidden[i], hidden.sum()


def _returned(x: gw.Tensor, i: gw.Tensor) -> Any:
    return x[i]


def _returned_beside(x: gw.Tensor, i: gw.Tensor) -> Any:
    hidden = x * 2
    return hidden, hidden[i]


FUNCTIONS = [
    _written, _written_as_base, _assigned, _position_written, _behind_it, _returned,
    _returned_beside,
]


def _outcome(function: Callable[..., Any], place: int, dtype: Any) -> Any:
    """Results, arguments, and both once more when the results have been written to."""
    x, i = gw.arange(12.0).view(3, 4), gw.tensor(place, dtype=dtype)
    found = function(x, i)
    results = list(found) if isinstance(found, tuple) else [found]
    before = [value.tolist() for value in (*results, x, i)]
    for result in results:
        result.sub_(1)
    return before, [value.tolist() for value in (*results, x, i)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_compiled_as_plain(function: Callable[..., Any], backend: str) -> None:
    compiled = gw.compile(function, backend=backend)
    for place, dtype in ((0, gw.int64), (2, gw.int64), (-1, gw.int64), (1, gw.int32)):
        plain, found = (_outcome(f, place, dtype) for f in (function, compiled))
        assert found == plain


def _gradient(function: Callable[..., Any], place: int) -> Any:
    x = gw.arange(12.0).view(3, 4).requires_grad_()
    results = function(x * 1, gw.tensor(place))
    for number, result in enumerate(results):
        (result * (number + 1)).sum().backward(retain_graph=True)
    return x.grad.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [_written, _behind_it, _returned_beside])
def test_gradients(function: Callable[..., Any], backend: str) -> None:
    compiled = gw.compile(function, backend=backend)
    for place in (1, 2):
        assert _gradient(compiled, place) == _gradient(function, place)


def test_a_gradient_within_the_graph() -> None:
    def f(x: gw.Tensor, i: gw.Tensor) -> gw.Tensor:
        x = x.detach().requires_grad_()
        return gw.autograd.grad((x[i] ** 2).sum(), x)[0]

    x, i = gw.arange(6.0).view(3, 2), gw.tensor(1)
    assert gw.equal(gw.compile(f)(x, i), f(x, i))


def _row_written(y: gw.Tensor, i: gw.Tensor) -> gw.Tensor:
    y[i] *= 3
    return y


def _part_of_a_row_written(y: gw.Tensor, i: gw.Tensor) -> gw.Tensor:
    y[i][1:].mul_(3)
    return y


def _row_of_what_was_written(y: gw.Tensor, i: gw.Tensor) -> gw.Tensor:
    row = y[i]
    y.mul_(3)
    return row


@pytest.mark.parametrize(
    "made", [_row_written, _part_of_a_row_written, _row_of_what_was_written])
def test_gradients_within_the_graph_after_writes(made: Callable[..., Any]) -> None:
    def f(x: gw.Tensor, i: gw.Tensor) -> gw.Tensor:
        x = x.detach().requires_grad_()
        return gw.autograd.grad((made(x * 2, i) ** 2).sum(), x)[0]

    compiled, x = gw.compile(f), gw.arange(6.0).view(3, 2)
    for place in (0, 1, 2):
        assert gw.equal(compiled(x, gw.tensor(place)), f(x, gw.tensor(place)))


def test_a_number_that_varies() -> None:
    def f(x: gw.Tensor, place: int) -> gw.Tensor:
        row = x[gw.tensor(place)]
        row.add_(1)
        return row * 1

    compiled = gw.compile(f)
    for place in (0, 1, 2, 1):
        plain, given = gw.zeros(3, 2), gw.zeros(3, 2)
        assert gw.equal(compiled(given, place), f(plain, place)) and gw.equal(given, plain)


def test_fake_tensors_share_memory_as_real_ones_do() -> None:
    x = make_fake((3, 4), (4, 1), gw.float32, gw.device("cpu"))
    i = make_fake((), (), gw.int64, gw.device("cpu"))
    row = x[i]
    assert type(row) is FakeTensor and row._base is x
    version = x._version
    row.add_(1)
    assert x._version == version + 1 and row.stride() == (1,)
