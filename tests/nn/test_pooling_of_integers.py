"""Means over windows of integers: computed in float64, cut to integers as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import graphwright as gw

F = gw.nn.functional
IMAGE = gw.arange(32).reshape(1, 2, 4, 4) * 3 - 40


def _blocks(image: gw.Tensor) -> np.ndarray:
    """The windows of 2 by 2 side by side: [1, 2, 2, 2, 4]."""
    parts = image.numpy().reshape(1, 2, 2, 2, 2, 2).swapaxes(3, 4)
    return parts.reshape(1, 2, 2, 2, 4)


@pytest.mark.parametrize("wrap", [lambda f: f, gw.compile], ids=["eager", "compiled"])
def test_means_are_cut(wrap: Callable[..., Callable[..., gw.Tensor]]) -> None:
    found = wrap(lambda x: F.avg_pool2d(x, 2))(IMAGE)
    assert found.dtype is gw.int64
    np.testing.assert_array_equal(found.numpy(), np.trunc(_blocks(IMAGE).mean(-1)))
    row = wrap(lambda x: F.avg_pool1d(x, 2))(IMAGE[0, 0])
    wanted = np.trunc(IMAGE[0, 0].numpy().reshape(4, 2, 2).mean(-1))
    np.testing.assert_array_equal(row.numpy(), wanted)


def test_powers_of_integers_are_pooled() -> None:
    found = F.lp_pool2d(IMAGE, 2, 2)
    wanted = np.sqrt((_blocks(IMAGE) ** 2).sum(-1))
    np.testing.assert_allclose(found.numpy(), wanted, rtol=0.05)
