"""Cholesky, QR, singular values and symmetric eigenvalues, through NumPy's LAPACK."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime.errors import LinAlgError, describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import contiguous_spec, real_dtype
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.linalg.solvers import (
    adjoint,
    check_matrix,
    column_major,
    lapack,
    wrap_columns,
)
from graphwright.runtime.ops.products.contractions import conjugated
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor


def _spread(values: Any, at: int) -> Any:
    return ops.unsqueeze(values, at)


# -- Cholesky


def _cholesky_meta(A: Any) -> Any:
    check_matrix("linalg.cholesky", A, square=True)
    return column_major(A.shape, A)


def _cholesky_eager(A: Any) -> Tensor:
    check_matrix("linalg.cholesky", A, square=True)
    factor = lapack("linalg.cholesky", np.linalg.cholesky, A._nd)
    if np.isnan(factor).any():
        raise LinAlgError(
            "linalg.cholesky: The factorization could not be completed because the input is not "
            f"positive-definite: {describe(A)}"
        )
    return wrap_columns(factor, A.dtype)


def _cholesky_vjp(ctx: Any, grad: Any) -> Any:
    """Murray, "Differentiation of the Cholesky decomposition" (2016), symmetrised."""
    factor = ctx.out
    inner = ops.tril(ops.matmul(adjoint(factor), grad))
    half = ops.sub(inner, ops.mul(ops.diag_embed(ops.diagonal(inner, 0, -2, -1)), 0.5))
    symmetric = ops.mul(ops.add(half, adjoint(half)), 0.5)
    back = adjoint(factor)
    left = ops.solve_matrix(back, symmetric)
    return adjoint(ops.solve_matrix(back, adjoint(left)))


define(
    "cholesky_factor(Tensor A)",
    Kind.CONTRACTION,
    meta=_cholesky_meta,
    vjp=_cholesky_vjp,
    saves=("out",),
    eager=_cholesky_eager,
    method=False,
    public=False,
)


def _cholesky(A: Any, upper: bool) -> Any:
    if upper:
        rows = ops.contiguous(conjugated(ops.cholesky_factor(adjoint(A))))
        return ops.transpose(rows, -2, -1)
    return ops.cholesky_factor(A)


define(
    "linalg_cholesky(Tensor A, *, bool upper=False)",
    Kind.COMPOSITE,
    decompose=_cholesky,
    method=False,
    public=False,
)
define("cholesky(Tensor input, bool upper=False)", Kind.COMPOSITE, decompose=_cholesky)


def _cholesky_solve(B: Any, L: Any, upper: bool) -> Any:
    part = adjoint(ops.triu(L)) if upper else ops.tril(L)
    return ops.solve_matrix(adjoint(part), ops.solve_matrix(part, B))


def _cholesky_inverse(L: Any, upper: bool) -> Any:
    check_matrix("cholesky_inverse", L, square=True)
    unit = ops.eye(L.shape[-1], dtype=L.dtype, device=L.device)
    return _cholesky_solve(ops.expand(unit, L.shape), L, upper)


define(
    "cholesky_solve(Tensor B, Tensor L, bool upper=False)",
    Kind.COMPOSITE,
    decompose=_cholesky_solve,
)
define(
    "cholesky_inverse(Tensor L, bool upper=False)",
    Kind.COMPOSITE,
    decompose=_cholesky_inverse,
)


# -- QR


def _qr_shapes(A: Any, mode: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    batch, (m, n) = A.shape[:-2], A.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    return ((0,) if mode == "r" else (*batch, m, k)), (*batch, k, n)


def _qr_meta(A: Any, mode: str) -> Any:
    _check_qr(A, mode)
    q, r = _qr_shapes(A, mode)
    first = contiguous_spec(A, q) if mode == "r" else column_major(q, A)
    return first, column_major(r, A)


def _check_qr(A: Any, mode: str) -> None:
    check_matrix("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            f"'r', or 'complete', for {describe(A)}"
        )


def _qr_eager(A: Any, mode: str) -> tuple[Tensor, Tensor]:
    _check_qr(A, mode)
    if mode == "r":
        r = lapack("linalg.qr", np.linalg.qr, A._nd, "r")
        return wrap(np.zeros(0, A.dtype.numpy), A.dtype), wrap_columns(r, A.dtype)
    q, r = lapack("linalg.qr", np.linalg.qr, A._nd, mode)
    return wrap_columns(q, A.dtype), wrap_columns(r, A.dtype)


def _lower_twice(x: Any) -> Any:
    """The strictly lower part, its adjoint above: a Hermitian matrix; the diagonal kept real."""
    lower = ops.tril(x, -1)
    diagonal = ops.diagonal(x, 0, -2, -1)
    if x.dtype.is_complex:
        diagonal = ops.complex(ops.real(diagonal), ops.zeros_like(ops.real(diagonal)))
    return ops.add(ops.add(lower, adjoint(lower)), ops.diag_embed(diagonal))


def _qr_vjp(ctx: Any, q_grad: Any, r_grad: Any) -> Any:
    """Walter and Lehmann, "Algorithmic differentiation of linear algebra functions" (2010)."""
    q, r = ctx.out0, ctx.out1
    m, n = ctx.A.shape[-2:]
    if ctx.mode == "r" or (ctx.mode == "complete" and m > n):
        raise RuntimeError(
            f"linalg.qr: the derivative of mode='{ctx.mode}' is not defined for "
            f"matrices of {m} by {n}"
        )
    if m < n:
        return _wide_qr_vjp(ctx, q, r, q_grad, r_grad)
    middle: Any = 0
    if r_grad is not None:
        middle = ops.matmul(r, adjoint(r_grad))
    if q_grad is not None:
        middle = ops.sub(middle, ops.matmul(adjoint(q_grad), q))
    inner = ops.matmul(q, _lower_twice(middle))
    if q_grad is not None:
        inner = ops.add(inner, q_grad)
    return adjoint(ops.solve_matrix(r, adjoint(inner)))


def _wide_qr_vjp(ctx: Any, q: Any, r: Any, q_grad: Any, r_grad: Any) -> Any:
    """A = Q [U | V] = [X | Y]: through the square part, and V = Q^H Y."""
    m, n = ctx.A.shape[-2:]
    at = ctx.A.ndim - 1
    u, y = ops.slice(r, at, 0, m), ops.slice(ctx.A, at, m, n)
    u_grad = v_grad = None
    q_total = q_grad
    if r_grad is not None:
        u_grad, v_grad = ops.slice(r_grad, at, 0, m), ops.slice(r_grad, at, m, n)
        through = ops.matmul(y, adjoint(v_grad))
        q_total = through if q_grad is None else ops.add(q_grad, through)
    middle: Any = 0
    if u_grad is not None:
        middle = ops.matmul(u, adjoint(u_grad))
    middle = ops.sub(middle, ops.matmul(adjoint(q_total), q))
    inner = ops.add(ops.matmul(q, _lower_twice(middle)), q_total)
    x_grad = adjoint(ops.solve_matrix(u, adjoint(inner)))
    y_grad = ops.zeros_like(y) if v_grad is None else ops.matmul(q, v_grad)
    return ops.cat((x_grad, y_grad), at)


define(
    "qr_factors(Tensor A, str mode)",
    Kind.CONTRACTION,
    meta=_qr_meta,
    vjp=_qr_vjp,
    saves=("A", "out0", "out1"),
    eager=_qr_eager,
    method=False,
    public=False,
)
define(
    'linalg_qr(Tensor A, str mode="reduced")',
    Kind.COMPOSITE,
    decompose=lambda A, mode: return_types.linalg_qr(*ops.qr_factors(A, mode)),
    method=False,
    public=False,
)
define(
    "qr(Tensor input, bool some=True)",
    Kind.COMPOSITE,
    decompose=lambda input, some: return_types.qr(
        *ops.qr_factors(input, "reduced" if some else "complete")
    ),
)


# -- symmetric eigenvalues


def _eigh_meta(A: Any, UPLO: str) -> Any:
    _check_eigh(A, UPLO)
    return contiguous_spec(A, A.shape[:-1], real_dtype(A.dtype)), column_major(A.shape, A)


def _check_eigh(A: Any, UPLO: str) -> None:
    check_matrix("linalg.eigh", A, square=True)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(
            f"Expected UPLO argument to be 'L' or 'U', but got {UPLO} for {describe(A)}"
        )


def _eigh_eager(A: Any, UPLO: str) -> tuple[Tensor, Tensor]:
    _check_eigh(A, UPLO)
    values, vectors = lapack("linalg.eigh", np.linalg.eigh, A._nd, UPLO.upper())
    return wrap(values, real_dtype(A.dtype)), wrap_columns(vectors, A.dtype)


def _eigh_vjp(ctx: Any, values_grad: Any, vectors_grad: Any) -> Any:
    """V (diag(g) + (V^H G) / E) V^H with E_ij = l_j - l_i (Giles, 2008), made Hermitian."""
    values, vectors = ctx.out0, ctx.out1
    inner: Any = None
    if vectors_grad is not None:
        gaps = ops.sub(_spread(values, -2), _spread(values, -1))
        unit = ops.eye(values.shape[-1], dtype=values.dtype, device=values.device)
        safe = ops.add(gaps, unit)
        turned = ops.matmul(adjoint(vectors), vectors_grad)
        inner = ops.mul(ops.div(turned, safe), ops.sub(1.0, unit))
    if values_grad is not None:
        given = ops.diag_embed(ops.to_dtype(values_grad, vectors.dtype))
        inner = given if inner is None else ops.add(inner, given)
    found = ops.matmul(vectors, ops.matmul(inner, adjoint(vectors)))
    return found if vectors_grad is None else ops.mul(ops.add(found, adjoint(found)), 0.5)


define(
    "symmetric_eigen(Tensor A, str UPLO)",
    Kind.CONTRACTION,
    meta=_eigh_meta,
    vjp=_eigh_vjp,
    saves=("out0", "out1"),
    eager=_eigh_eager,
    method=False,
    public=False,
)
define(
    'linalg_eigh(Tensor A, str UPLO="L")',
    Kind.COMPOSITE,
    decompose=lambda A, UPLO: return_types.linalg_eigh(*ops.symmetric_eigen(A, UPLO)),
    method=False,
    public=False,
)
define(
    'linalg_eigvalsh(Tensor A, str UPLO="L")',
    Kind.COMPOSITE,
    decompose=lambda A, UPLO: ops.symmetric_eigen(A, UPLO)[0],
    method=False,
    public=False,
)


# -- singular values


def _svd_meta(A: Any, full_matrices: bool) -> Any:
    check_matrix("linalg.svd", A)
    batch, (m, n) = A.shape[:-2], A.shape[-2:]
    k = min(m, n)
    return (
        column_major((*batch, m, m if full_matrices else k), A),
        contiguous_spec(A, (*batch, k), real_dtype(A.dtype)),
        column_major((*batch, n if full_matrices else k, n), A),
    )


def _svd_eager(A: Any, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    check_matrix("linalg.svd", A)
    u, s, vh = lapack("linalg.svd", np.linalg.svd, A._nd, full_matrices)
    values = wrap(s, real_dtype(A.dtype))
    return wrap_columns(u, A.dtype), values, wrap_columns(vh, A.dtype)


def _skew(x: Any) -> Any:
    return ops.sub(x, adjoint(x))


def _svd_vjp(ctx: Any, u_grad: Any, s_grad: Any, vh_grad: Any) -> Any:
    """Townsend, "Differentiating the singular value decomposition" (2016).

    Of full matrices, vectors beyond the singular values are taken for constants, as in PyTorch:
    no derivative of theirs is defined.
    """
    s = ctx.out1
    if 0 in ctx.A.shape:
        return ops.zeros(ctx.A.shape, dtype=ctx.A.dtype, device=ctx.A.device)
    k = int(s.shape[-1])
    at = ctx.A.ndim
    u, vh = ops.slice(ctx.out0, at - 1, 0, k), ops.slice(ctx.out2, at - 2, 0, k)
    if u_grad is None and vh_grad is None:
        return ops.matmul(ops.mul(u, _spread(s_grad, -2)), vh)
    m, n = ctx.A.shape[-2:]
    u_grad = None if u_grad is None else ops.slice(u_grad, at - 1, 0, k)
    vh_grad = None if vh_grad is None else ops.slice(vh_grad, at - 2, 0, k)
    squares = ops.mul(s, s)
    unit = ops.eye(k, dtype=s.dtype, device=s.device)
    gaps = ops.add(ops.sub(_spread(squares, -2), _spread(squares, -1)), unit)
    off = ops.sub(1.0, unit)
    inner: Any = ops.mul(_spread(ops.zeros_like(s), -1), unit)
    if u_grad is not None:
        turned = ops.mul(ops.div(_skew(ops.matmul(adjoint(u), u_grad)), gaps), off)
        inner = ops.add(inner, ops.mul(turned, _spread(s, -2)))
    if vh_grad is not None:
        turned = ops.mul(ops.div(_skew(ops.matmul(vh, adjoint(vh_grad))), gaps), off)
        inner = ops.add(inner, ops.mul(_spread(s, -1), turned))
    if s_grad is not None:
        inner = ops.add(inner, ops.diag_embed(ops.to_dtype(s_grad, inner.dtype)))
    result = ops.matmul(u, ops.matmul(inner, vh))
    if u_grad is not None and m > k:
        scaled = ops.div(u_grad, _spread(s, -2))
        rest = ops.sub(scaled, ops.matmul(u, ops.matmul(adjoint(u), scaled)))
        result = ops.add(result, ops.matmul(rest, vh))
    if vh_grad is not None and n > k:
        scaled = ops.div(vh_grad, _spread(s, -1))
        rest = ops.sub(scaled, ops.matmul(ops.matmul(scaled, adjoint(vh)), vh))
        result = ops.add(result, ops.matmul(u, rest))
    return result


define(
    "singular_factors(Tensor A, bool full_matrices)",
    Kind.CONTRACTION,
    meta=_svd_meta,
    vjp=_svd_vjp,
    saves=("A", "out0", "out1", "out2"),
    eager=_svd_eager,
    method=False,
    public=False,
)
define(
    "linalg_svd(Tensor A, bool full_matrices=True)",
    Kind.COMPOSITE,
    decompose=lambda A, full_matrices: return_types.linalg_svd(
        *ops.singular_factors(A, full_matrices)
    ),
    method=False,
    public=False,
)
define(
    "linalg_svdvals(Tensor A)",
    Kind.COMPOSITE,
    decompose=lambda A: ops.singular_factors(A, False)[1],
    method=False,
    public=False,
)


# -- least squares, pseudo-inverse, rank


def _tolerances(values: Any, shape: tuple[Any, ...], atol: Any, rtol: Any) -> Any:
    """What singular values must exceed: max(atol, rtol * the greatest)."""
    if rtol is None:
        least = finfo(values.dtype).eps
        rtol = 0.0 if atol is not None and not _is_zero(atol) else least * max(shape[-2:])
    top = ops.amax(values, (values.ndim - 1,))
    relative = ops.mul(top, rtol)
    if atol is None:
        return relative
    if not isinstance(atol, Tensor):
        atol = ops.full((), float(atol), dtype=values.dtype, device=values.device)
    return ops.maximum(relative, atol)


def _check_tolerances(name: str, *tolerances: Any) -> None:
    for value in tolerances:
        if isinstance(value, complex):
            raise TypeError(f"{name}: a tolerance must be float or Tensor, not complex")
        if isinstance(value, Tensor) and value.dtype.is_complex:
            raise RuntimeError(f"{name}: a complex tolerance is not supported: {describe(value)}")


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Tensor) and value == 0


def _pinv_shape(A: Any) -> tuple[Any, ...]:
    return (*A.shape[:-2], A.shape[-1], A.shape[-2])


def _pinv(A: Any, rcond: Any, hermitian: bool, atol: Any, rtol: Any) -> Any:
    """`rcond` is an older name of `rtol`."""
    check_matrix("linalg.pinv", A, square=hermitian)
    _check_tolerances("linalg.pinv", rcond, atol, rtol)
    rtol = rtol if rcond is None else rcond
    if 0 in A.shape:
        return ops.zeros(_pinv_shape(A), dtype=A.dtype, device=A.device)
    if hermitian:
        s, u = ops.symmetric_eigen(A, "L")
        vh, size = adjoint(u), ops.abs(s)
    else:
        u, s, vh = ops.singular_factors(A, False)
        size = s
    bound = ops.unsqueeze(_tolerances(size, A.shape, atol, rtol), -1)
    kept = ops.gt(size, bound)
    inverse = ops.where(kept, ops.reciprocal(ops.where(kept, s, 1.0)), 0.0)
    return ops.matmul(ops.mul(adjoint(vh), _spread(inverse, -2)), adjoint(u))


def _pinv_meta(A: Any, rcond: Any, hermitian: bool, atol: Any, rtol: Any) -> Any:
    check_matrix("linalg.pinv", A, square=hermitian)
    _check_tolerances("linalg.pinv", rcond, atol, rtol)
    return contiguous_spec(A, _pinv_shape(A))


def _pinv_vjp(ctx: Any, grad: Any) -> Any:
    """Golub and Pereyra, "The differentiation of pseudo-inverses" (1973); of any rank."""
    A, inverse = ctx.A, ctx.out
    turned, back = adjoint(inverse), adjoint(grad)
    first = ops.matmul(turned, ops.matmul(grad, turned))
    right = ops.matmul(back, ops.matmul(inverse, turned))
    right = ops.sub(right, ops.matmul(A, ops.matmul(inverse, right)))
    left = ops.matmul(turned, ops.matmul(inverse, back))
    left = ops.sub(left, ops.matmul(ops.matmul(left, inverse), A))
    return ops.sub(ops.add(left, right), first), None, None, None


define(
    "linalg_pinv(Tensor A, Operand? rcond=None, bool hermitian=False, *, Operand? atol=None, "
    "Operand? rtol=None)",
    Kind.COMPOSITE,
    meta=_pinv_meta,
    vjp=_pinv_vjp,
    saves=("A", "out"),
    decompose=_pinv,
    method=False,
    public=False,
)
define(
    "pinverse(Tensor input, float rcond=1e-15)",
    Kind.COMPOSITE,
    decompose=lambda input, rcond: ops.linalg_pinv(input, rtol=rcond),
)


def _rank(A: Any, tol: Any, hermitian: bool, atol: Any, rtol: Any) -> Any:
    """`tol` is the older form: an absolute tolerance alone."""
    check_matrix("linalg.matrix_rank", A, square=hermitian)
    _check_tolerances("linalg.matrix_rank", tol, atol, rtol)
    if tol is not None:
        atol, rtol = tol, 0.0
    matrix = A.detach()
    values = ops.abs(ops.linalg_eigvalsh(matrix)) if hermitian else ops.linalg_svdvals(matrix)
    if values.shape[-1] == 0:
        return ops.zeros(values.shape[:-1], dtype=dtypes.int64, device=A.device)
    kept = ops.gt(values, ops.unsqueeze(_tolerances(values, A.shape, atol, rtol), -1))
    return ops.sum(kept, (kept.ndim - 1,))


define(
    "linalg_matrix_rank(Tensor A, Operand? tol=None, bool hermitian=False, *, "
    "Operand? atol=None, Operand? rtol=None)",
    Kind.COMPOSITE,
    decompose=_rank,
    method=False,
    public=False,
)


def _cond(A: Any, p: Any) -> Any:
    """The norm times that of the inverse: infinite without one; 0 of matrices without elements."""
    check_matrix("linalg.cond", A, square=p not in (None, 2, -2))
    if 0 in A.shape[-2:]:
        return ops.sum(ops.abs(A), (-2, -1))
    if p in (None, 2, -2):
        values = ops.linalg_svdvals(A)
        at = values.ndim - 1
        first, last = ops.select(values, at, 0), ops.select(values, at, -1)
        return ops.div(last, first) if p == -2 else ops.div(first, last)
    inverse, info = ops.linalg_inv_ex(A)
    bad = ops.ne(info, 0)
    inverse = ops.masked_fill(inverse, ops.unsqueeze(ops.unsqueeze(bad, -1), -1), 0)
    product = ops.mul(ops.linalg_matrix_norm(A, p), ops.linalg_matrix_norm(inverse, p))
    return ops.masked_fill(product, bad, math.inf)


define(
    "linalg_cond(Tensor A, Scalar|str? p=None)",
    Kind.COMPOSITE,
    decompose=_cond,
    method=False,
    public=False,
)


def _rank_by_projection(A: Any, inverse: Any) -> Any:
    """The trace of A times its pseudo-inverse, of which `inverse` is the transpose.

    The product projects onto the range of A, so that the trace counts the singular values that
    were kept.
    """
    product = ops.mul(A, inverse)
    trace = ops.sum(ops.real(product), (-2, -1))
    return ops.to_dtype(ops.round(trace), dtypes.int64)


def _in_place_of(rows: Any, size: Any) -> Any:
    """The rows as the beginnings of rows of that size, if it is greater: LAPACK's solutions lie
    where the right sides were."""
    own = rows.shape[-1]
    if size <= own:
        return rows
    return ops.slice(ops.pad(rows, (0, size - own)), rows.ndim - 1, 0, own)


def _lstsq(A: Any, B: Any, rcond: Any, driver: Any) -> Any:
    check_matrix("linalg.lstsq", A)
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"linalg.lstsq: Expected A and B to have the same dtype, got {describe(A)} and "
            f"{describe(B)}"
        )
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), "
            f"got {driver}"
        )
    if not B.ndim:
        raise RuntimeError("linalg.lstsq: B must have at least 1 dimension, got a 0-d tensor")
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(
            "linalg.lstsq: A must have as many dimensions as B or one more, "
            f"got {describe(A)} and {describe(B)}"
        )
    driver = driver or "gelsy"
    vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    right = ops.unsqueeze(B, -1) if vector else B
    if right.shape[-2] != A.shape[-2]:
        raise RuntimeError(
            "linalg.lstsq: A.size(-2) should match B.size(-2), "
            f"got {describe(A)} and {describe(B)}"
        )
    inverse = ops.transpose(ops.linalg_pinv(A, rtol=rcond), -2, -1)
    turned = ops.matmul(ops.transpose(right, -2, -1), inverse)
    m, n = A.shape[-2:]
    solution = ops.transpose(_in_place_of(turned, m), -2, -1)
    empty = ops.zeros((0,), dtype=real_dtype(A.dtype), device=A.device)
    gap = ops.abs(ops.sub(ops.matmul(A, solution), right))
    residuals = ops.sum(ops.mul(gap, gap), (gap.ndim - 2,))
    if m <= n or driver == "gelsy":
        residuals = ops.slice(ops.reshape(residuals, (-1,)), 0, 0, 0)
    rank, values = ops.zeros((0,), dtype=dtypes.int64, device=A.device), empty
    if driver != "gels":
        rank = _rank_by_projection(A.detach(), inverse.detach())
    if driver in ("gelsd", "gelss"):
        values = ops.linalg_svdvals(A.detach())
    if vector:
        solution = ops.squeeze(solution, -1)
    return return_types.linalg_lstsq(solution, residuals, rank, values)


define(
    "linalg_lstsq(Tensor A, Tensor B, float? rcond=None, *, str? driver=None)",
    Kind.COMPOSITE,
    decompose=_lstsq,
    method=False,
    public=False,
)
