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
