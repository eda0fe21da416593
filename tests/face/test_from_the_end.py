"""Slices and indices counted from the end, where sizes or the bounds themselves are symbolic."""
from __future__ import annotations

import contextlib
from typing import Any

import pytest

import graphwright as gw


def _row(n: int) -> gw.Tensor:
    return gw.arange(n).to(gw.float32)


@pytest.mark.parametrize("backend", ["llvm", "c"])
def test_a_slice_longer_than_a_symbolic_size(backend: str) -> None:
    compiled = gw.compile(lambda x: x[-5:] * 2, backend=backend)
    for n in (6, 7, 8, 3, 4):
        assert compiled(_row(n)).tolist() == (_row(n)[-5:] * 2).tolist()


@pytest.mark.parametrize("backend", ["llvm", "c"])
@pytest.mark.parametrize("place", [2, 3, -2, -1])
def test_symbolic_bounds_and_indices(backend: str, place: int) -> None:
    gw.compiler.reset()
    compiled = gw.compile(lambda x, n: (x[-n:] * 2, x[n:] + 1, x[n] * 3), backend=backend,
                          dynamic=True)
    x = _row(6)
    for got, want in zip(compiled(x, place), (x[-place:] * 2, x[place:] + 1, x[place] * 3),
                         strict=True):
        assert got.tolist() == want.tolist()


def test_gradient_of_a_slice_from_the_end() -> None:
    compiled = gw.compile(lambda x, n: (x[-n:] * 2).sum() + x[-1] * n, backend="llvm",
                          dynamic=True)
    for place in (2, 3, 4):
        x, y = _row(6).requires_grad_(), _row(6).requires_grad_()
        compiled(x, place).backward()
        ((y[-place:] * 2).sum() + y[-1] * place).backward()
        assert x.grad.tolist() == y.grad.tolist()


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x - x[1:],
        lambda x: x[: x.shape[0] // 2] - x,
        lambda x: x + x[x.shape[0] - 1 :],
        lambda x: x.reshape(x.shape[0] // 2, -1) * x[:2],
        lambda x: x[: x.shape[0] % 3] * x,
        lambda x: x.split(2)[-1] * x,
        lambda x: x.clone().add_(x[1:]),
        lambda x: x[2:].expand_as(x) * 1,
    ],
)
def test_a_part_of_one_element_is_broadcast_whatever_its_size_is_made_of(
    function: Any, dynamic: bool | None
) -> None:
    for lengths in ((2,), (3,), (6, 5, 4, 3, 2)):
        compiled = gw.compile(function, backend="llvm", dynamic=dynamic)
        for n in lengths:
            with contextlib.suppress(RuntimeError):
                want = function(_row(n)).tolist()
                assert compiled(_row(n)).tolist() == want
