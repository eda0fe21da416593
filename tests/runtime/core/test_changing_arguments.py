"""Arguments that change while a kernel in C reads them, or that it writes itself."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw
from graphwright.runtime.ops import functions as ops

F = gw.nn.functional

# -- positions in the memory that is written: those from before


def _put(x: gw.Tensor, at: Any) -> None:
    x[at] = gw.tensor([70, 80, 90, 100])


def _put_number(x: gw.Tensor, at: Any) -> None:
    x[at] = 7


WRITES: dict[str, Callable[[gw.Tensor, Any], Any]] = {
    "index_put_": _put,
    "index_put_ of a number": _put_number,
    "index_put_ that adds": lambda x, at: x.index_put_((at,), gw.full((4,), 50), True),
    "index_add_": lambda x, at: x.index_add_(0, at, gw.full((4,), 50)),
    "index_add_ of parts": lambda x, at: x.index_add_(0, at, gw.full((4,), 50), alpha=3),
    "index_copy_": lambda x, at: x.index_copy_(0, at, gw.tensor([70, 80, 90, 100])),
    "scatter_": lambda x, at: x.scatter_(0, at, gw.tensor([70, 80, 90, 100])),
    "scatter_ of a number": lambda x, at: x.scatter_(0, at, 50),
    "scatter_add_": lambda x, at: x.scatter_add_(0, at, gw.full((4,), 50)),
}


@pytest.mark.parametrize("name", WRITES)
def test_positions_in_the_memory_that_is_written(name: str) -> None:
    x, apart = gw.tensor([3, 2, 1, 0]), gw.tensor([3, 2, 1, 0])
    WRITES[name](x, x)
    WRITES[name](apart, apart.clone())
    assert x.tolist() == apart.tolist()


def test_chances_in_the_memory_that_is_written() -> None:
    x = gw.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    x[1:].bernoulli_(x[:-1])
    assert x.tolist() == [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]


# -- masks that widen


@pytest.mark.parametrize("name", ["masked_fill_", "masked_scatter_"])
def test_a_mask_wider_than_what_is_written(name: str) -> None:
    mask = gw.zeros(3, 0, dtype=gw.bool)
    value: Any = gw.zeros(2) if name == "masked_scatter_" else 1.0
    with pytest.raises(RuntimeError):
        getattr(gw.zeros(1, 0), name)(mask, value)


# -- masks that another thread writes, without the interpreter's lock

READS: dict[str, Callable[[gw.Tensor, gw.Tensor], Any]] = {
    "masked_select": gw.Tensor.masked_select,
    "masked_scatter": lambda x, mask: x.masked_scatter(mask, gw.ones(x.numel() // 2)),
    "masked_scatter_": lambda x, mask: x.masked_scatter_(mask, gw.ones(x.numel() // 2)),
    "nonzero": lambda x, mask: mask.nonzero(),
    "subscript": lambda x, mask: x[mask],
    "subscript beside None": lambda x, mask: x[None, mask],
    "assignment": lambda x, mask: x.__setitem__(mask, 1.0),
}


@pytest.mark.parametrize("n", [3000, 100_000])
@pytest.mark.parametrize("name", READS)
def test_masks_that_are_written_meanwhile(name: str, n: int) -> None:
    truths, stop = np.zeros(n, bool), threading.Event()
    mask, x = gw.from_numpy(truths), gw.zeros(n)

    def flip() -> None:
        while not stop.is_set():
            np.logical_not(truths, out=truths)

    other = threading.Thread(target=flip)
    other.start()
    try:
        for _ in range(40):
            with contextlib.suppress(RuntimeError):     # more places than the source has
                READS[name](x, mask)
    finally:
        stop.set()
        other.join()


# -- places that another thread writes, some of which there are not

LOOKUPS: dict[str, Callable[[gw.Tensor, gw.Tensor], Any]] = {
    "embedding": lambda x, at: F.embedding(at, x),
    "embedding_backward": lambda x, at: ops.embedding_backward(x, at, 8, -1, False),
    "embedding_bag": lambda x, at: F.embedding_bag(at, x, gw.tensor([0, 5])),
    "one_hot": lambda x, at: F.one_hot(at, 8),
    "nll_loss": lambda x, at: F.nll_loss(x, at),
    "nll_loss_backward": lambda x, at: ops.nll_loss_backward(
        gw.ones(()), tuple(x.shape), at, None, -100, "mean"
    ),
    "multi_margin_loss": lambda x, at: F.multi_margin_loss(x, at),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_places_that_are_written_meanwhile(name: str) -> None:
    n, far = 2000, 1 << 36
    places, stop = np.arange(n) % 8, threading.Event()
    at, x = gw.from_numpy(places), gw.zeros(n, 8)

    def move() -> None:
        while not stop.is_set():
            np.bitwise_xor(places, far, out=places)

    other = threading.Thread(target=move)
    other.start()
    try:
        for _ in range(100):
            with contextlib.suppress(RuntimeError, IndexError):
                LOOKUPS[name](x, at)
    finally:
        stop.set()
        other.join()


# -- generators whose draws run code


class Changing(gw.Generator):
    """Gives a tensor other memory when it is drawn from."""

    tensor: Any = None

    def draw(self, count: int = 1) -> tuple[int, int]:
        self.tensor.set_(gw.full((8,), -1.0))
        return super().draw(count)


FILLS: dict[str, Callable[[gw.Tensor, gw.Generator], Any]] = {
    "uniform_": lambda x, source: x.uniform_(generator=source),
    "normal_": lambda x, source: x.normal_(7.0, 0.5, generator=source),
    "bernoulli_": lambda x, source: x.bernoulli_(0.5, generator=source),
}


@pytest.mark.parametrize("name", FILLS)
def test_the_memory_after_a_draw_is_filled(name: str) -> None:
    source = Changing()
    source.tensor = gw.zeros(8)
    FILLS[name](source.tensor, source)
    assert bool((source.tensor >= 0).all())


class Spent(Exception):
    pass


class Failing(gw.Generator):
    calls = 0

    def draw(self, count: int = 1) -> tuple[int, int]:
        self.calls += 1
        raise Spent


@pytest.mark.parametrize("draw", [
    lambda source: gw.rand(3, generator=source),
    lambda source: gw.randperm(3, generator=source),
    lambda source: gw.zeros(3).normal_(generator=source),
    lambda source: gw.bernoulli(gw.ones(3), generator=source),
])
def test_what_a_draw_raises_is_raised(draw: Callable[[gw.Generator], Any]) -> None:
    source = Failing()
    with pytest.raises(Spent):
        draw(source)
    assert source.calls == 1
