"""Factorisations of matrices that random samples do not give, and errors of singular ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw


def _symmetric(size: int, batch: tuple[int, ...] = ()) -> np.ndarray[Any, Any]:
    x = np.random.default_rng(0).normal(size=(*batch, size, size))
    return np.asarray(x + x.swapaxes(-1, -2))


def _positive(size: int) -> np.ndarray[Any, Any]:
    x = np.random.default_rng(1).normal(size=(size, size))
    return np.asarray(x @ x.T + size * np.eye(size))


def _check_gradient(loss: Any, matrix: np.ndarray[Any, Any]) -> None:
    """Along random symmetric directions: the functions are defined on symmetric matrices."""
    leaf = gw.tensor(matrix, dtype=gw.float64).requires_grad_()
    (grad,) = gw.autograd.grad(loss(leaf), leaf)
    for seed in range(3):
        step = np.random.default_rng(seed).normal(size=matrix.shape)
        step = step + step.swapaxes(-1, -2)
        above = loss(gw.tensor(matrix + 1e-6 * step)).item()
        below = loss(gw.tensor(matrix - 1e-6 * step)).item()
        slope = (above - below) / 2e-6
        assert np.isclose(slope, (grad.numpy() * step).sum(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(upper: bool) -> None:
    matrix = _positive(4)
    factor = gw.linalg.cholesky(gw.tensor(matrix), upper=upper).numpy()
    want = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(factor, want.T if upper else want)
    weights = gw.tensor(np.random.default_rng(2).normal(size=(4, 4)))
    _check_gradient(lambda x: (gw.linalg.cholesky(x, upper=upper) * weights).sum(), matrix)


def test_cholesky_solves() -> None:
    matrix, right = _positive(3), np.random.default_rng(3).normal(size=(3, 2))
    factor = gw.linalg.cholesky(gw.tensor(matrix))
    solution = gw.cholesky_solve(gw.tensor(right), factor)
    np.testing.assert_allclose(solution.numpy(), np.linalg.solve(matrix, right))
    np.testing.assert_allclose(gw.cholesky_inverse(factor).numpy(), np.linalg.inv(matrix))


def test_eigh() -> None:
    matrix = _symmetric(4, (2,))
    values, vectors = gw.linalg.eigh(gw.tensor(matrix))
    rebuilt = vectors @ gw.diag_embed(values) @ vectors.transpose(-1, -2)
    np.testing.assert_allclose(rebuilt.numpy(), matrix, atol=1e-12)
    _check_gradient(lambda x: (gw.linalg.eigh(x).eigenvectors ** 4).sum(), _symmetric(4))
    _check_gradient(lambda x: (gw.linalg.eigvalsh(x) ** 3).sum(), _symmetric(4))


def test_pinv_of_low_rank() -> None:
    thin = np.random.default_rng(4).normal(size=(5, 2))
    matrix = thin @ thin.T
    got = gw.linalg.pinv(gw.tensor(matrix), hermitian=True)
    np.testing.assert_allclose(got.numpy(), np.linalg.pinv(matrix, hermitian=True), atol=1e-12)
    assert gw.linalg.matrix_rank(gw.tensor(matrix)).item() == 2


def test_the_rank_of_a_hermitian_matrix_reads_its_lower_half() -> None:
    half = gw.tensor([[2.0, 9.0], [0.0, 3.0]])
    assert gw.linalg.matrix_rank(half, atol=1.0, hermitian=True).item() == 2
    assert gw.linalg.matrix_rank(half, atol=1.0).item() == 1


@pytest.mark.parametrize("name", ["tol", "atol"])
@pytest.mark.parametrize("batch", [(), (2, 1)])
def test_a_rank_for_each_of_several_tolerances(name: str, batch: tuple[int, ...]) -> None:
    """They broadcast against the matrices."""
    matrices = gw.diag_embed(gw.tensor([4.0, 2.0, 1.0])).expand(*batch, 3, 3)
    ranks = gw.linalg.matrix_rank(matrices, **{name: gw.tensor([0.5, 1.5, 3.0, 5.0])})
    assert ranks.shape == (*batch[:1], 4)
    assert ranks.reshape(-1, 4).tolist() == [[3, 2, 1, 0]] * (2 if batch else 1)


def test_determinant_of_a_singular_matrix_has_a_gradient() -> None:
    leaf = gw.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=gw.float64).requires_grad_()
    gw.linalg.det(leaf).backward()
    np.testing.assert_allclose(leaf.grad.numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


@pytest.mark.parametrize("dtype", [gw.float64, gw.complex128])
@pytest.mark.parametrize("rank", [0, 1, 2, 3, 4])
def test_second_derivatives_of_determinants_of_any_rank(rank: int, dtype: gw.dtype) -> None:
    """The slope of the gradient along a step, against differences: it is a polynomial."""
    rng = np.random.default_rng(rank)
    left, right, step = rng.normal(size=(3, 4, 4)) + 1j * dtype.is_complex * rng.normal(size=4)
    if not dtype.is_complex:
        left, right, step = left.real, right.real, step.real
    matrix = left[:, :rank] @ right[:rank]

    def gradient(values: np.ndarray[Any, Any], record: bool = False) -> tuple[Any, Any]:
        leaf = gw.tensor(values, dtype=dtype, requires_grad=True)
        det = gw.linalg.det(leaf)
        loss = gw.real(det) if dtype.is_complex else det
        return leaf, gw.autograd.grad(loss, leaf, create_graph=record)[0]

    leaf, first = gradient(matrix, True)
    (second,) = gw.autograd.grad(first, leaf, gw.tensor(step, dtype=dtype))
    slope = (gradient(matrix + 1e-4 * step)[1] - gradient(matrix - 1e-4 * step)[1]) / 2e-4
    np.testing.assert_allclose(second.numpy(), slope.numpy(), rtol=1e-5, atol=1e-6)


def test_third_derivatives_of_determinants() -> None:
    leaf = gw.tensor([[2.0, 1.0], [0.5, 3.0]], dtype=gw.float64, requires_grad=True)
    (first,) = gw.autograd.grad(gw.linalg.det(leaf), leaf, create_graph=True)
    (second,) = gw.autograd.grad(first.pow(4).sum(), leaf, create_graph=True)
    (third,) = gw.autograd.grad(second.sum(), leaf)
    np.testing.assert_allclose(second.detach().numpy(), 4 * leaf.detach().numpy() ** 3)
    np.testing.assert_allclose(third.numpy(), 12 * leaf.detach().numpy() ** 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: gw.linalg.inv(gw.zeros(2, 2)),
        lambda: gw.linalg.solve(gw.zeros(2, 2), gw.ones(2)),
        lambda: gw.linalg.cholesky(-gw.eye(2)),
        lambda: gw.linalg.lu_factor(gw.ones(2, 2)),
        lambda: gw.compile(gw.linalg.lu_factor)(gw.ones(2, 2)),
        lambda: gw.linalg.lu_factor_ex(gw.ones(2, 2), check_errors=True),
    ],
)
def test_singular_matrices_are_refused(call: Any) -> None:
    with pytest.raises(gw.linalg.LinAlgError, match="linalg"):
        call()


def test_singular_matrices_are_factored_where_nothing_is_solved() -> None:
    a = gw.ones(2, 2)
    for packed, *_ in (gw.lu(a), a.lu(), gw.lu(a, get_infos=True), gw.linalg.lu_factor_ex(a)):
        assert packed.tolist() == [[1.0, 1.0], [1.0, 0.0]]
    assert gw.linalg.lu(a).U.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert gw.lu(a, get_infos=True)[2].item() == 2


def test_compiled() -> None:
    def function(x: Any) -> Any:
        return gw.linalg.solve(x @ x.T + gw.eye(3), x).sum() + gw.linalg.slogdet(x).logabsdet

    x = gw.randn(3, 3, requires_grad=True)
    compiled = gw.compile(function)
    np.testing.assert_allclose(compiled(x).item(), function(x).item(), rtol=1e-5)
    (want,) = gw.autograd.grad(function(x), x)
    (got,) = gw.autograd.grad(compiled(x), x)
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-3, atol=1e-4)


def test_factors_are_stored_by_columns() -> None:
    for full in (True, False):
        u, _, vh = gw.linalg.svd(gw.randn(2, 4, 3), full_matrices=full)
        assert u.mT.is_contiguous() and vh.mT.is_contiguous()


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4)], ids=str)
def test_full_singular_vectors_have_gradients(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    a = gw.tensor(values, requires_grad=True)
    u, s, vh = gw.linalg.svd(a)
    (first,) = gw.autograd.grad(((u[..., :3] * s[..., None, :]) @ vh[..., :3, :]).pow(3).sum(), a,
                                create_graph=True)
    np.testing.assert_allclose(first.detach().numpy(), 3 * values**2, rtol=1e-8)
    (second,) = gw.autograd.grad(first.sum(), a)
    np.testing.assert_allclose(second.numpy(), 6 * values, rtol=1e-6)


def test_gradients_of_eigenvectors_are_symmetric() -> None:
    a = gw.randn(3, 3, dtype=gw.float64, requires_grad=True)
    gw.linalg.eigh(a).eigenvectors.abs().pow(3).sum().backward()
    assert a.grad is not None
    gw.testing.assert_close(a.grad, a.grad.mT)


def test_empty_matrices_have_factors_and_conditions() -> None:
    none = gw.zeros(0, 0)
    sizes = [tuple(part.shape) for part in gw.linalg.lu(gw.zeros(2, 0, 3))]
    assert sizes == [(2, 0, 0), (2, 0, 0), (2, 0, 3)]
    assert gw.lu_solve(none, *gw.linalg.lu_factor(none)).shape == (0, 0)
    assert [gw.linalg.cond(none, p).item() for p in (None, -2, 1, "fro")] == [0] * 4


@pytest.mark.parametrize("p", [1, -1, float("inf"), "fro", "nuc"])
def test_the_condition_of_a_singular_matrix_is_infinite(p: Any) -> None:
    matrices = gw.stack([2 * gw.eye(3), gw.ones(3, 3), gw.zeros(3, 3)])
    good, *singular = gw.linalg.cond(matrices, p).tolist()
    assert good == pytest.approx(np.linalg.cond(np.eye(3), p), rel=1e-5)
    assert singular == [float("inf")] * 2


@pytest.mark.parametrize("dtype", [gw.float32, gw.complex128], ids=str)
def test_ranks_of_least_squares(dtype: gw.dtype) -> None:
    a = gw.randn(2, 5, 4, dtype=dtype)
    a[1, :, 3] = a[1, :, 0]
    rank = gw.linalg.lstsq(a, a, rcond=1e-4).rank
    assert rank.tolist() == [4, 3] and rank.dtype is gw.int64


SINGULAR = gw.stack([4 * gw.eye(2), -gw.ones(2, 2), gw.full((2, 2), float("nan"))])
PARTIAL: dict[str, Callable[[gw.Tensor], Any]] = {
    "cholesky_ex": gw.linalg.cholesky_ex,
    "inv_ex": gw.linalg.inv_ex,
    "solve_ex": lambda a: gw.linalg.solve_ex(a, gw.ones(2, 3)),
    "solve_ex of vectors": lambda a: gw.linalg.solve_ex(a, gw.ones(2, 2)),
    "solve_ex from the right": lambda a: gw.linalg.solve_ex(a, gw.ones(3, 2), left=False),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", PARTIAL)
def test_what_could_not_be_factored_has_no_numbers(name: str, compiled: bool) -> None:
    """A program that does not read `info` would go on with those of another matrix."""
    function = gw.compile(PARTIAL[name]) if compiled else PARTIAL[name]
    result, info = function(SINGULAR[:2])
    assert info[0] == 0 and info[1] > 0
    assert result[0].isfinite().all() and result[1].isnan().all()


def test_nan_is_not_positive_definite() -> None:
    factors, info = gw.linalg.cholesky_ex(SINGULAR)
    assert info.tolist() == [0, 1, 1]
    assert factors[0].tolist() == [[2.0, 0.0], [0.0, 2.0]] and factors[2].isnan().all()


@pytest.mark.parametrize("order", [1, 2, float("inf")])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3)])
def test_without_elements_norms_are_zero(shape: tuple[int, ...], order: float) -> None:
    norm = gw.linalg.matrix_norm(gw.ones(*shape), order)
    assert norm.shape == shape[:-2] and not norm.any()
