"""Pseudo-inverse, rank, condition and least squares, by the singular value decomposition."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import contiguous_spec, real_dtype
from graphwright.runtime.ops.linalg.solvers import adjoint, check_matrix
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor


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
    return ops.matmul(ops.mul(adjoint(vh), ops.unsqueeze(inverse, -2)), adjoint(u))


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
    doc="""Moore-Penrose pseudo-inverse, through the singular value decomposition.

    Singular values that are not above `max(atol, rtol * largest)` are taken for 0. The
    derivative is that of Golub and Pereyra (1973).

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        rcond: an older name of `rtol`, which it overrides.
        hermitian: `A` is Hermitian, so that its eigenvalues serve.
        atol: absolute tolerance, number or tensor; 0 if None.
        rtol: relative tolerance, number or tensor; if None, eps of the dtype times max(m, n),
            or 0 where `atol` is given and not 0.

    Returns: a tensor of shape `(*, n, m)`.

    Raises:
        RuntimeError: `A` has less than 2 dims, holds integers, or is not square where
            `hermitian`.

    Example:
        >>> gw.linalg.pinv(gw.tensor([[2.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
    """,
)
define(
    "pinverse(Tensor input, float rcond=1e-15)",
    Kind.COMPOSITE,
    decompose=lambda input, rcond: ops.linalg_pinv(input, rtol=rcond),
    doc="""Moore-Penrose pseudo-inverse: `linalg.pinv` with `rtol=rcond`.

    Args:
        input: float32, float64 or complex, `(*, m, n)`.
        rcond: singular values up to this fraction of the largest are taken for 0.

    Returns: a tensor of shape `(*, n, m)`.

    Raises:
        RuntimeError: `input` has less than 2 dims, or holds integers.

    Example:
        >>> gw.pinverse(gw.tensor([[2.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
    """,
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
    doc="""Number of singular values above `max(atol, rtol * largest)`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        tol: an older form: an absolute tolerance alone, which overrides the other two.
        hermitian: `A` is Hermitian, so that its eigenvalues serve.
        atol: absolute tolerance, number or tensor; 0 if None.
        rtol: relative tolerance, number or tensor; if None, eps of the dtype times max(m, n),
            or 0 where `atol` is given and not 0.

    Returns: an int64 tensor of shape `(*)`.

    Raises:
        RuntimeError: `A` has less than 2 dims, holds integers, or is not square where
            `hermitian`.

    Example:
        >>> gw.linalg.matrix_rank(gw.tensor([[1.0, 2.0], [2.0, 4.0]]))
        tensor(1)
    """,
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
    doc="""Condition number `||A|| ||A^-1||` of matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; `(*, m, n)` for the 2-norm.
        p: the norm: None or 2 (ratio of the largest to the smallest singular value), -2 (its
            inverse), 1, -1, inf, -inf, "fro" or "nuc".

    Returns: a real tensor of shape `(*)`; inf for a singular matrix.

    Raises:
        RuntimeError: `A` has less than 2 dims, holds integers, or is not square for another
            norm than 2 and -2.

    Example:
        >>> gw.linalg.cond(gw.tensor([[2.0, 0.0], [0.0, 8.0]]))
        tensor(4.)
    """,
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
    doc="""Least-squares solution: the `X` of the least norm that minimises `||A X - B||`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        B: right sides of the dtype of `A`: `(*, m, k)`, or `(*, m)` for one.
        rcond: singular values up to this fraction of the largest are taken for 0; by default
            eps of the dtype times max(m, n).
        driver: None, "gels", "gelsy", "gelsd" or "gelss"; says which of the further results are
            computed. "gelsy" if None.

    Returns: `(solution, residuals, rank, singular_values)`: `(*, n, k)`; the squared residuals
    `(*, k)` where m > n and the driver is not "gelsy"; the rank unless it is "gels"; the
    singular values for "gelsd" and "gelss". What is not computed is empty.

    Raises:
        RuntimeError: shapes or dtypes do not match, or `driver` is unknown.

    Example:
        >>> A = gw.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> gw.linalg.lstsq(A, gw.tensor([[1.0], [3.0], [5.0]])).solution.round(decimals=3)
        tensor([[1.],
                [2.]])
    """,
)
