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


@pytest.mark.parametrize("options", [{}, {"dynamic": True}, {"dynamic": True, "backend": "c"}])
def test_results_keep_gaps_that_come_from_the_strides_of_an_argument(options):
    def program(x):
        return gw.empty_strided((4, 6), (x.stride(0) * 2, x.stride(1) * 2)).copy_(x)

    compiled = gw.compile(program, **options)
    for strides in ((24, 2), (12, 1), (1, 4), (3, 40), (6, 1)):
        x = gw.arange(300.0).as_strided((4, 6), strides)
        result = compiled(x)
        assert result.stride() == program(x).stride()
        assert gw.equal(result, x)


@pytest.mark.parametrize("options", [{}, {"dynamic": True}])
def test_memory_whose_elements_share_places_is_not_written_behind_a_break(options):
    def program(x):
        return gw.empty_strided((4, 6), (0, 2)).copy_(x)

    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        program(gw.ones(4, 6))
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        gw.compile(program, **options)(gw.ones(4, 6))
