"""Factors of matrices: what LAPACK finds is put together to the matrix again."""

from __future__ import annotations

import numpy as np
import pytest

import graphwright as gw

SHAPES = ((1, 1), (5, 3), (3, 5), (4, 4), (2, 3, 4, 2), (90, 20), (20, 90), (70, 70), (1, 200))
SQUARE = ((1, 1), (4, 4), (2, 3, 3), (20, 33, 33), (130, 130))
KINDS = ((gw.float32, 1e-4), (gw.float64, 1e-12))


def _random(shape: tuple[int, ...], dtype: gw.dtype) -> gw.Tensor:
    values = np.random.default_rng(len(shape)).standard_normal(shape)
    return gw.from_numpy(values).to(dtype)


def _close(a: gw.Tensor, b: gw.Tensor, least: float) -> None:
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=least, atol=least)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "least"), KINDS)
def test_factors_multiply_to_the_matrix(
    shape: tuple[int, ...], dtype: gw.dtype, least: float
) -> None:
    A = _random(shape, dtype)
    q, r = gw.linalg.qr(A)
    _close(q @ r, A, least)
    assert gw.equal(r, r.triu())
    for full in (False, True):
        u, s, vh = gw.linalg.svd(A, full_matrices=full)
        side = s.shape[-1]
        _close(u[..., :side] * s[..., None, :] @ vh[..., :side, :], A, least)
        assert u.mT.is_contiguous() and vh.mT.is_contiguous()
    _close(gw.linalg.svdvals(A), s, least)


@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize(("dtype", "least"), KINDS)
def test_square_matrices_are_solved(
    shape: tuple[int, ...], dtype: gw.dtype, least: float
) -> None:
    A = _random(shape, dtype) + 3 * gw.eye(shape[-1], dtype=dtype)
    b = _random((*shape[:-1], 2), dtype)
    _close(A @ gw.linalg.solve(A, b), b, 10 * least)
    _close(A @ gw.linalg.inv(A), gw.eye(shape[-1], dtype=dtype).expand(shape), 10 * least)
    with np.errstate(over="ignore"):
        want = np.linalg.det(A.double().numpy()).astype(A.numpy().dtype)
    np.testing.assert_allclose(gw.linalg.det(A).numpy(), want, rtol=10 * least)


@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize(("dtype", "least"), KINDS)
def test_symmetric_matrices_are_read_on_one_side(
    shape: tuple[int, ...], dtype: gw.dtype, least: float
) -> None:
    half = _random(shape, dtype)
    A = half + half.mT
    for side, part in (("L", A.tril()), ("U", A.triu())):
        values, vectors = gw.linalg.eigh(part, side)
        _close(vectors * values[..., None, :] @ vectors.mT, A, 10 * least)
        _close(gw.linalg.eigvalsh(part, side), values, 10 * least)
    positive = half @ half.mT + gw.eye(shape[-1], dtype=dtype)
    factor = gw.linalg.cholesky(positive.tril())
    assert gw.equal(factor, factor.tril())
    _close(factor @ factor.mT, positive, 10 * least)


def test_turned_and_repeated_matrices_are_the_same_matrices() -> None:
    A = _random((4, 3), gw.float64)
    for seen in (A.T, A.expand(2, 4, 3), A[::2]):
        q, r = gw.linalg.qr(seen)
        _close(q @ r, seen, 1e-12)
    assert A.stride() == (3, 1)


def test_what_has_no_solution_is_refused_or_zero() -> None:
    singular = gw.ones(3, 3)
    assert gw.linalg.det(singular).item() == 0
    for function in (gw.linalg.inv, gw.linalg.cholesky):
        with pytest.raises(gw.linalg.LinAlgError):
            function(singular - 2)
    with pytest.raises(gw.linalg.LinAlgError):
        gw.linalg.solve(singular, singular)
    endless = gw.eye(3)
    endless[0, 0] = float("inf")
    for function in (gw.linalg.eigh, gw.linalg.svd, gw.linalg.svdvals, gw.linalg.eigvalsh):
        with pytest.raises(gw.linalg.LinAlgError):
            function(endless)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("dtype", "least"), KINDS)
def test_rows_are_exchanged_and_eliminated(
    shape: tuple[int, ...], dtype: gw.dtype, least: float
) -> None:
    A = _random(shape, dtype)
    p, lower, upper = gw.linalg.lu(A)
    _close(p @ lower @ upper, A, least)
    assert gw.equal(upper, upper.triu()) and gw.equal(lower, lower.tril())
    packed, pivots = gw.linalg.lu_factor(A)
    assert packed.mT.is_contiguous() and pivots.dtype is gw.int32
    assert bool(((pivots >= 1) & (pivots <= shape[-2])).all())
    assert gw.equal(gw.lu_unpack(packed, pivots).P, p)


def test_what_is_eliminated_to_zero_is_told() -> None:
    A = gw.stack([gw.eye(3), gw.ones(3, 3)])
    info = gw.linalg.lu_factor_ex(A).info
    assert info.tolist() == [0, 2]
    with pytest.raises(RuntimeError, match="singular"):
        gw.linalg.lu_factor_ex(A, check_errors=True)


@pytest.mark.parametrize("pivots", [[0, 2], [1, 4], [-1, 1]])
def test_pivots_of_no_row_are_refused(pivots: list[int]) -> None:
    with pytest.raises(RuntimeError, match="between 1 and"):
        gw.lu_unpack(gw.eye(3)[:, :2], gw.tensor(pivots, dtype=gw.int32))
