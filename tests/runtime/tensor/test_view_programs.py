"""Views, in-place writes and gradients as PyTorch has them, in random programs."""

from __future__ import annotations

import warnings

import pytest

import graphwright as gw

from ..view_programs import compare

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("start", range(0, 380, 20))
def test_as_torch(start: int) -> None:
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for seed in range(start, start + 20):
            difference = compare(seed, gw, torch)
            assert not difference, difference
