"""Low rank decompositions by random projections, and extreme eigenvalues by iteration."""

from __future__ import annotations

import pytest

import graphwright as gw


def _of_rank(rank: int, *batch: int) -> gw.Tensor:
    gw.manual_seed(0)
    left = gw.randn(*batch, 12, rank, dtype=gw.float64)
    return left @ gw.randn(*batch, rank, 9, dtype=gw.float64)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_svd_lowrank_finds_a_matrix_of_low_rank(batch: tuple[int, ...], turned: bool) -> None:
    A = _of_rank(3, *batch)
    A = A.mT if turned else A
    U, S, V = gw.svd_lowrank(A, q=4)
    gw.testing.assert_close(U @ gw.diag_embed(S) @ V.mT, A)
    gw.testing.assert_close(S[..., :3], gw.linalg.svdvals(A)[..., :3])


def test_pca_lowrank_centres_the_rows() -> None:
    A = _of_rank(3) + 5.0
    _, S, _ = gw.pca_lowrank(A, q=3)
    gw.testing.assert_close(S, gw.linalg.svdvals(A - A.mean(0))[:3])
    with pytest.raises(ValueError, match="not greater than"):
        gw.pca_lowrank(A, q=10)


def test_svd_lowrank_is_differentiable() -> None:
    A = _of_rank(3).requires_grad_()
    gw.svd_lowrank(A, q=3)[1].sum().backward()
    U, _, Vh = gw.linalg.svd(A.detach(), full_matrices=False)
    gw.testing.assert_close(A.grad, U[:, :3] @ Vh[:3], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("largest", [True, False])
def test_lobpcg_finds_the_extreme_eigenvalues(largest: bool) -> None:
    gw.manual_seed(0)
    A = gw.randn(2, 20, 20, dtype=gw.float64)
    A = A @ A.mT + gw.eye(20, dtype=gw.float64)
    values, vectors = gw.lobpcg(A, k=2, largest=largest)
    known = gw.linalg.eigvalsh(A)
    expected = known.flip(-1)[:, :2] if largest else known[:, :2]
    gw.testing.assert_close(values, expected, rtol=1e-6, atol=1e-6)
    gw.testing.assert_close(A @ vectors, vectors * values[:, None], rtol=1e-3, atol=1e-3)


def test_lobpcg_of_small_matrices_and_of_pencils() -> None:
    A = gw.diag(gw.tensor([1.0, 2.0, 6.0]))
    B = gw.diag(gw.tensor([1.0, 2.0, 2.0]))
    gw.testing.assert_close(gw.lobpcg(A, k=1, B=B)[0], gw.tensor([3.0]))
    with pytest.raises(ValueError, match="between 1 and 3"):
        gw.lobpcg(A, k=4)
