"""Single elements that are read where a condition holds, and are 0 elsewhere, in compiled code.

The stack below a kernel is filled with other numbers before, at several depths: what a kernel does
not write there itself, it must not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw


def deep(count: int, then: Callable[[], Any]) -> None:
    """Call `then` below `count` frames of C, which leave their numbers on the stack."""
    if count == 0:
        then()
    else:
        sorted([1], key=lambda _: str(deep(count - 1, then)))


def results(function: Callable[[], Any]) -> list[Any]:
    """The results at several depths of a stack that was in use further down."""
    found: list[Any] = []
    for depth in range(1, 24):
        deep(60, lambda: [3e38] * 100)
        deep(depth, lambda: found.append(function()))
    return found


@pytest.mark.parametrize("dtype", [gw.float32, gw.float64, gw.bfloat16, gw.int64])
@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_padded_rows_that_are_repeated(backend: str, dtype: gw.dtype) -> None:
    """A row of one repeated number with nothing above or below: the other rows add 0."""

    def padded(t: Any) -> Any:
        rows = t.view(3, 1).expand(3, 10)
        first = gw.nn.functional.pad(rows[:1], (0, 0, 0, 2))
        return gw.nn.functional.pad(rows[1:] * 2, (0, 0, 1, 0)) + first

    compiled, t = gw.compile(padded, backend=backend), gw.ones(3, dtype=dtype)
    expected = [[1.0] * 10, [2.0] * 10, [2.0] * 10]
    assert all(found == expected for found in results(lambda: compiled(t).tolist()))


def test_gradients_of_joined_parts() -> None:
    compiled = gw.compile(lambda a: gw.cat([a[:1], a[1:] * 2]).sum(-1), backend="llvm")

    def gradient() -> Any:
        a = gw.zeros(3, 10, requires_grad=True)
        compiled(a).backward(gw.ones(3))
        assert a.grad is not None
        return a.grad[:, 0].tolist()

    assert results(gradient) == [[1.0, 2.0, 2.0]] * 23


def test_gradients_of_rows_of_no_elements() -> None:
    """They are read, under a condition that is never true, where the other elements get 0."""

    def rows(x: Any) -> Any:
        return gw.softmax(x[:0].reshape(0, 3), 1), gw.pdist(gw.erfinv(x[:0].reshape(0, 3)), 3.0)

    x = gw.ones(6, requires_grad=True)
    first, second = gw.compile(rows)(x)
    gw.autograd.backward([first.sum(), second.sum()])
    assert x.grad is not None and x.grad.tolist() == [0.0] * 6


def test_places_of_no_elements_as_indices() -> None:
    def written(x: Any, rows: Any, empty: Any) -> Any:
        return gw.index_put(x, (rows,), empty), x[rows], gw.slice_scatter(x, empty, 0, 3, 1)

    x, rows, empty = gw.ones(6), gw.zeros(0, dtype=gw.int64), gw.ones(0)
    for got, wanted in zip(gw.compile(written)(x, rows, empty), written(x, rows, empty),
                           strict=True):
        assert got.tolist() == wanted.tolist()
