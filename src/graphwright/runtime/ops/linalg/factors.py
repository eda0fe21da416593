"""Cholesky, QR, singular values and symmetric eigenvalues, through NumPy's LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import LinAlgError, describe
from graphwright.runtime.ops import functions as ops
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
    doc="""Cholesky factor `L` of Hermitian positive-definite matrices: `A = L L^H`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; the lower triangle is read, the upper one
            where `upper`.
        upper: return the upper triangular `U` with `A = U^H U`.

    Returns: a tensor of the shape of `A`.

    Raises:
        LinAlgError: a matrix is not positive-definite.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.cholesky(gw.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """,
)
define(
    "cholesky(Tensor input, bool upper=False)",
    Kind.COMPOSITE,
    decompose=_cholesky,
    doc="""Cholesky factor of Hermitian positive-definite matrices: `linalg.cholesky`.

    Args:
        input: float32, float64 or complex, `(*, n, n)`.
        upper: return the upper triangular `U` with `input = U^H U`; by default the lower `L`
            with `input = L L^H`.

    Returns: a tensor of the shape of `input`.

    Raises:
        LinAlgError: a matrix is not positive-definite.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.cholesky(gw.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """,
)


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
    doc="""Solution `X` of `A X = B`, where `A` is given by its Cholesky factor.

    Args:
        B: right sides, `(*, n, k)`.
        L: factor of the dtype of `B`, `(*, n, n)`: `A = L L^H`, or `A = L^H L` where `upper`.
        upper: whether the factor is upper triangular.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        LinAlgError: the factor has a 0 on its diagonal.
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.cholesky_solve(gw.tensor([[4.0], [2.0]]), gw.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([[1.],
                [2.]])
    """,
)
define(
    "cholesky_inverse(Tensor L, bool upper=False)",
    Kind.COMPOSITE,
    decompose=_cholesky_inverse,
    doc="""Inverse of matrices that are given by their Cholesky factors.

    Args:
        L: float32, float64 or complex factor, `(*, n, n)`: `A = L L^H`, or `A = L^H L` where
            `upper`.
        upper: whether the factor is upper triangular.

    Returns: the inverse of `A`, of the shape of `L`.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.cholesky_inverse(gw.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([[0.2500, 0.0000],
                [0.0000, 1.0000]])
    """,
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
    doc="""QR decomposition `A = Q R`: `Q` has orthonormal columns, `R` is upper triangular.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        mode: "reduced" (k = min(m, n) columns in `Q`), "complete" (m columns), or "r" (only
            `R`; `Q` is empty).

    Returns: `(Q, R)` of shapes `(*, m, k)` and `(*, k, n)`.

    Raises:
        RuntimeError: `mode` is unknown, or `A` has less than 2 dims or holds integers; in
            backward, the derivative of the mode is not defined ("r", and "complete" with m >
            n).

    Example:
        >>> Q, R = gw.linalg.qr(gw.randn(5, 3))
        >>> Q.shape, R.shape
        (graphwright.Size([5, 3]), graphwright.Size([3, 3]))
    """,
)
define(
    "qr(Tensor input, bool some=True)",
    Kind.COMPOSITE,
    decompose=lambda input, some: return_types.qr(
        *ops.qr_factors(input, "reduced" if some else "complete")
    ),
    doc="""QR decomposition `input = Q R`: `linalg.qr`.

    Args:
        input: float32, float64 or complex, `(*, m, n)`.
        some: `Q` has min(m, n) columns; m if False.

    Returns: `(Q, R)`.

    Raises:
        RuntimeError: `input` has less than 2 dims, or holds integers.

    Example:
        >>> Q, R = gw.qr(gw.randn(5, 3), some=False)
        >>> Q.shape, R.shape
        (graphwright.Size([5, 5]), graphwright.Size([5, 3]))
    """,
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
    doc="""Eigenvalues and eigenvectors of symmetric or Hermitian matrices: `A = V diag(w) V^H`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; one triangle is read.
        UPLO: the triangle that is read, "L" or "U".

    Returns: `(eigenvalues, eigenvectors)`: real, ascending, `(*, n)`; and `(*, n, n)` with the
    vectors as columns, each determined up to its sign or phase.

    Raises:
        RuntimeError: `UPLO` is neither, or the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eigh(gw.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([1., 2.])
    """,
)
define(
    'linalg_eigvalsh(Tensor A, str UPLO="L")',
    Kind.COMPOSITE,
    decompose=lambda A, UPLO: ops.symmetric_eigen(A, UPLO)[0],
    method=False,
    public=False,
    doc="""Eigenvalues of symmetric or Hermitian matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; one triangle is read.
        UPLO: the triangle that is read, "L" or "U".

    Returns: a real tensor of shape `(*, n)`, ascending along the last dim.

    Raises:
        RuntimeError: `UPLO` is neither, or the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eigvalsh(gw.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([1., 2.])
    """,
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
    doc="""Singular value decomposition `A = U diag(S) Vh`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        full_matrices: square `U` and `Vh`; with min(m, n) columns and rows if False.

    Returns: `(U, S, Vh)`: `S` is real, `(*, min(m, n))`, descending; vectors are determined up
    to sign or phase.

    Raises:
        RuntimeError: `A` has less than 2 dims, or holds integers.

    Example:
        >>> U, S, Vh = gw.linalg.svd(gw.tensor([[3.0, 0.0], [0.0, 4.0]]))
        >>> S
        tensor([4., 3.])
    """,
)
define(
    "linalg_svdvals(Tensor A)",
    Kind.COMPOSITE,
    decompose=lambda A: ops.singular_factors(A, False)[1],
    method=False,
    public=False,
    doc="""Singular values of matrices.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.

    Returns: a real tensor of shape `(*, min(m, n))`, descending along the last dim.

    Raises:
        RuntimeError: `A` has less than 2 dims, or holds integers.

    Example:
        >>> gw.linalg.svdvals(gw.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor([4., 3.])
    """,
)
