"""Segments of few elements along any axis, norms by their order, integers drawn in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphwright as gw

REDUCED: dict[str, Any] = {"sum": np.sum, "max": np.max, "prod": np.prod}


@pytest.mark.parametrize("reduce", REDUCED)
def test_rows_have_segments_of_their_own(reduce: str) -> None:
    data = np.random.default_rng(0).normal(size=(2, 5, 3))
    lengths = np.array([[2, 3], [4, 1]])
    want = [
        [REDUCED[reduce](part, 0) for part in np.split(rows, [own[0]])]
        for rows, own in zip(data, lengths, strict=True)
    ]
    out = gw.segment_reduce(
        gw.from_numpy(data), reduce, lengths=gw.from_numpy(lengths), axis=1
    )
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-12)
    bounds = np.array([[0, 2, 5], [0, 4, 5]])
    same = gw.segment_reduce(gw.from_numpy(data), reduce, offsets=gw.from_numpy(bounds), axis=1)
    assert gw.equal(same, out)


@pytest.mark.parametrize("lengths", [[[2, 2], [4, 1]], [[6, -1], [4, 1]]])
def test_segments_that_do_not_make_up_a_row_are_refused(lengths: list[list[int]]) -> None:
    with pytest.raises(RuntimeError):
        gw.segment_reduce(gw.ones(2, 5), "sum", lengths=gw.tensor(lengths), axis=1)


def test_norms_of_vectors_and_of_matrices() -> None:
    x = gw.randn(3, 4, dtype=gw.float64)
    whole = np.linalg.norm(x.numpy())
    for out in (gw.linalg.norm(x), gw.linalg.norm(x, "fro"), gw.linalg.matrix_norm(x)):
        np.testing.assert_allclose(out.item(), whole, rtol=1e-12)
    for order in (1, 2, float("inf")):
        want = np.linalg.norm(x.numpy(), order, axis=0)
        np.testing.assert_allclose(gw.linalg.norm(x, order, dim=0).numpy(), want, rtol=1e-12)
        want = np.linalg.norm(x.numpy(), order)
        np.testing.assert_allclose(gw.linalg.norm(x, order).item(), want, rtol=1e-12)


def test_norms_that_there_are_not_are_refused() -> None:
    x = gw.ones(2, 3, 4)
    for order, dim in (("fro", None), ("fro", 0), (2, None), (None, (0, 1, 2)), ("fro", (1, 1))):
        with pytest.raises(RuntimeError):
            gw.linalg.norm(x, order, dim=dim)
    with pytest.raises(TypeError):
        gw.linalg.vector_norm(x, "fro")


@pytest.mark.parametrize("dtype", [gw.int8, gw.int32, gw.int64, gw.float32, gw.bfloat16])
def test_integers_are_drawn_in_place(dtype: gw.dtype) -> None:
    x = gw.zeros(200, dtype=dtype)
    assert x.random_(-2, 3) is x and x._version == 1
    assert set(x.tolist()) == {-2, -1, 0, 1, 2}
    assert set(x.random_(2).tolist()) == {0, 1}
    with pytest.raises(RuntimeError):
        x.random_(3, 3)
