"""Tensors that are written to after the forward and before the backward: copies stay as made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright import nn

BACKENDS = ("eager", "llvm")


def _close(one: gw.Tensor, other: gw.Tensor) -> None:
    np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_copy_of_an_argument(backend: str) -> None:
    table, x = gw.randn(5, 12), gw.randn(4, 5, requires_grad=True)
    y = gw.compile(lambda x, t: x @ t.clone(), backend=backend)(x, table)
    expected = gw.ones(4, 12) @ table.t()
    table.add_(1)
    y.sum().backward()
    _close(x.grad, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_copy_of_a_result(backend: str) -> None:
    def f(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        y = x * 2
        return y, y.clone() * x

    x = gw.randn(4, 5, requires_grad=True)
    first, second = gw.compile(f, backend=backend)(x)
    first.add_(1)
    second.sum().backward()
    _close(x.grad, 4 * x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_no_copy_is_missed(backend: str) -> None:
    table, x = gw.randn(5, 12), gw.randn(4, 5, requires_grad=True)
    y = gw.compile(lambda x, t: x @ t.detach().view(5, 12), backend=backend)(x, table)
    table.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


class Queue(nn.Module):
    """Contrast with a queue of earlier keys, which are replaced in turn by the new ones."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(6, 5)
        self.register_buffer("queue", gw.randn(5, 12))
        self.register_buffer("place", gw.zeros(1, dtype=gw.long))

    @gw.no_grad()
    def enqueue(self, keys: gw.Tensor) -> None:
        place = int(self.place)
        self.queue[:, place : place + len(keys)] = keys.T
        self.place[0] = (place + len(keys)) % 12

    def forward(self, x: gw.Tensor, keys: gw.Tensor) -> gw.Tensor:
        scores = gw.einsum("nc,ck->nk", [self.encoder(x), self.queue.clone().detach()])
        self.enqueue(keys)
        return scores


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_queue_of_keys_moves_on_before_the_gradients(backend: str) -> None:
    gw.manual_seed(0)
    plain, copied = Queue(), Queue()
    copied.load_state_dict(plain.state_dict())
    compiled: Any = gw.compile(copied, backend=backend)
    for _ in range(4):
        x, keys = gw.randn(4, 6), gw.randn(4, 5)
        for model, call in ((plain, plain), (copied, compiled)):
            model.zero_grad()
            call(x, keys).logsumexp(1).sum().backward()
        _close(plain.encoder.weight.grad, copied.encoder.weight.grad)
    _close(plain.queue, copied.queue)
