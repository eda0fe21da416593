"""index_add of half precision: what is added to a position is summed in float32, rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

HALVES = [gw.float16, gw.bfloat16]
SHAPES: list[tuple[tuple[int, ...], int]] = [
    ((5, 40), 0), ((3, 7, 33), 1), ((2, 4, 3, 50), 1), ((9, 2500), 0), ((6, 4), 0), ((4, 60), 1),
]


def _normal(shape: tuple[int, ...], dtype: Any) -> gw.Tensor:
    random = np.random.default_rng(sum(shape))
    return gw.from_numpy(random.standard_normal(shape).astype(np.float32)).to(dtype)


def _parts(shape: tuple[int, ...], dim: int, count: int, dtype: Any) -> tuple[Any, Any, Any]:
    index = np.random.default_rng(count).integers(0, shape[dim], count)
    source = _normal((*shape[:dim], count, *shape[dim + 1 :]), dtype)
    return _normal(shape, dtype), gw.from_numpy(index), source


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("count", [0, 1, 3, 40])
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
def test_sums_are_those_of_float32(
    shape: tuple[int, ...], dim: int, count: int, dtype: Any
) -> None:
    x, index, source = _parts(shape, dim, count, dtype)
    want = gw.index_add(x.float(), dim, index, source.float()).to(dtype)
    for places in (index, index.to(gw.int32), gw.stack([index, index], 1)[:, 0]):
        assert gw.equal(gw.index_add(x, dim, places, source), want)
        written = x.clone()
        assert written.index_add_(dim, places, source) is written
        assert gw.equal(written, want)
    turned = source.transpose(0, -1).contiguous().transpose(0, -1)
    assert gw.equal(gw.index_add(x, dim, index, turned), want)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("bad", [-1, 5])
def test_a_position_out_of_range_is_refused_before_anything_is_written(
    bad: int, dtype: Any
) -> None:
    x, index, source = gw.zeros((5, 64), dtype=dtype), gw.tensor([0, 1, bad]), gw.ones((3, 64))
    with pytest.raises((IndexError, RuntimeError)):
        x.index_add_(0, index, source.to(dtype))
    assert not x.any()


def test_bits_do_not_depend_on_the_threads() -> None:
    x, index, source = _parts((300, 400), 0, 900, gw.bfloat16)
    before, seen = gw.get_num_threads(), set()
    try:
        for threads in (1, 2, 3):
            gw.set_num_threads(threads)
            seen.add(gw.index_add(x, 0, index, source).view(gw.int16).numpy().tobytes())
    finally:
        gw.set_num_threads(before)
    assert len(seen) == 1


def test_gradients_of_rows_taken_several_times() -> None:
    table = _normal((6, 48), gw.bfloat16).requires_grad_()
    index = gw.tensor([4, 1, 4, 4])
    gw.index_select(table, 0, index).sum().backward()
    want = [0.0, 1.0, 0.0, 0.0, 3.0, 0.0]
    assert table.grad.float()[:, 0].tolist() == want
