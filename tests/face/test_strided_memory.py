"""Compiled `as_strided` reads what eager reads, and never past the end of memory."""

from __future__ import annotations

import pytest

import graphwright as gw


def test_an_offset_counts_from_the_start_of_the_storage() -> None:
    base = gw.arange(10).float()

    def first(x: gw.Tensor) -> gw.Tensor:
        return x.as_strided((2,), (1,), 0) + 1

    assert gw.compile(first)(base[4:]).tolist() == [1.0, 2.0]


def test_a_view_out_of_the_storage_is_refused() -> None:
    def far(x: gw.Tensor) -> gw.Tensor:
        return x.as_strided((1000000,), (1000,)) + 1

    with pytest.raises(RuntimeError, match="out of its storage"):
        gw.compile(far)(gw.zeros(4))


def test_a_view_within_the_tensor_stays_in_the_graph() -> None:
    def windows(x: gw.Tensor) -> gw.Tensor:
        return x.as_strided((3, 2), (1, 1)) + 1

    x = gw.arange(4).float()
    compiled = gw.compile(windows, fullgraph=True)
    assert compiled(x).tolist() == windows(x).tolist()
