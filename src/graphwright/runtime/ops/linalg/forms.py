"""Further forms of factorisations: those that return failures as numbers, and Householder's.

`*_ex` functions give `info`, 0 where a matrix could be factorised, instead of raising.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import contiguous_spec
from graphwright.runtime.ops.kernels import Array, wrap
from graphwright.runtime.ops.linalg.solvers import (
    adjoint,
    by_columns,
    check_matrix,
    column_major,
    is_vector,
    wrap_columns,
)
from graphwright.runtime.ops.products.contractions import conjugated
from graphwright.runtime.ops.table import Kind, define, no_derivative, not_differentiable
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

# -- failures as numbers


def _least_bad_minor(matrix: Array) -> int:
    """The size of the smallest leading part of a matrix that is not positive definite; else 0."""
    for size in range(1, len(matrix) + 1):
        try:
            factor = np.linalg.cholesky(matrix[:size, :size])
        except np.linalg.LinAlgError:
            return size
        if np.isnan(factor[-1, -1]):
            return size
    return 0


def _minors_eager(A: Any) -> Tensor:
    """For each matrix, by its lower triangle."""
    check_matrix("linalg.cholesky", A, square=True)
    lower = np.tril(A._nd)
    given = lower + np.conj(np.swapaxes(np.tril(lower, -1), -1, -2))
    flat = given.reshape(-1, *given.shape[-2:]) if given.size else given[:0].reshape(0, 0, 0)
    try:
        with np.errstate(invalid="ignore"):
            factors = np.linalg.cholesky(flat)
        good = not np.isnan(factors.diagonal(0, -1, -2)).any()
    except np.linalg.LinAlgError:
        good = False
    if good:
        found = np.zeros(given.shape[:-2])
    else:
        found = np.asarray([_least_bad_minor(m) for m in flat]).reshape(given.shape[:-2])
    return wrap(found.astype(np.int32), dtypes.int32)


define(
    "first_bad_minor(Tensor A)",
    Kind.OTHER,
    meta=lambda A: contiguous_spec(A, tuple(A.shape[:-2]), dtypes.int32),
    vjp=not_differentiable,
    eager=_minors_eager,
    method=False,
    public=False,
)


def _where_good(info: Any, A: Any, unit: Any) -> Any:
    """The matrices that can be factorised, and the unit matrix for the others."""
    good = ops.unsqueeze(ops.unsqueeze(ops.eq(info, 0), -1), -1)
    return ops.where(good, A, unit)


def _nan_for_bad(info: Any, result: Any, dims: int) -> Any:
    """What the unit matrix gave is no result: its last `dims` dims are NaN."""
    for _ in range(dims):
        info = ops.unsqueeze(info, -1)
    return ops.where(ops.eq(info, 0), result, math.nan)


def _unit(A: Any) -> Any:
    return ops.eye(A.shape[-1], dtype=A.dtype, device=A.device)


def _cholesky_ex(A: Any, upper: bool, check_errors: bool) -> Any:
    check_matrix("linalg.cholesky_ex", A, square=True)
    info = ops.first_bad_minor(adjoint(A) if upper else A)
    if check_errors:
        return return_types.linalg_cholesky_ex(ops.linalg_cholesky(A, upper=upper), info)
    factor = ops.linalg_cholesky(_where_good(info, A, _unit(A)), upper=upper)
    return return_types.linalg_cholesky_ex(_nan_for_bad(info, factor, 2), info)


def _inv_ex(A: Any, check_errors: bool) -> Any:
    check_matrix("linalg.inv_ex", A, square=True)
    info = ops.lu_factors(A.detach(), True, check_errors)[2]
    inverse = ops.linalg_inv(_where_good(info, A, _unit(A)))
    return return_types.linalg_inv_ex(_nan_for_bad(info, inverse, 2), info)


def _solve_ex(A: Any, B: Any, left: bool, check_errors: bool) -> Any:
    check_matrix("linalg.solve_ex", A, square=True)
    info = ops.lu_factors(A.detach(), True, check_errors)[2]
    solution = ops.linalg_solve(_where_good(info, A, _unit(A)), B, left=left)
    dims = 1 if is_vector(A, B) else 2
    return return_types.linalg_solve_ex(_nan_for_bad(info, solution, dims), info)


define(
    "linalg_cholesky_ex(Tensor A, *, bool upper=False, bool check_errors=False)",
    Kind.COMPOSITE,
    decompose=_cholesky_ex,
    method=False,
    public=False,
    doc="""Cholesky factor together with whether there is one; no error where there is none.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        upper: return the upper triangular factor instead of the lower.
        check_errors: raise for matrices that are not positive-definite.

    Returns: `(L, info)`: the factor, NaN where there is none; int32 of shape `(*)`, 0 or the
    order of the first leading minor that is not positive-definite.

    Raises:
        LinAlgError: a matrix is not positive-definite and `check_errors`.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.cholesky_ex(gw.tensor([[1.0, 0.0], [0.0, -1.0]])).info
        tensor(2, dtype=graphwright.int32)
    """,
)
define(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False)",
    Kind.COMPOSITE,
    decompose=_inv_ex,
    method=False,
    public=False,
    doc="""Inverse together with whether there is one; no error where there is none.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        check_errors: raise for singular matrices.

    Returns: `(inverse, info)`: NaN where there is no inverse; int32 of shape `(*)`, 0 or the
    index (from 1) of the first zero on the diagonal of the factor U.

    Raises:
        LinAlgError: a matrix is singular and `check_errors`.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.inv_ex(gw.tensor([[1.0, 0.0], [0.0, 0.0]])).info
        tensor(2, dtype=graphwright.int32)
    """,
)
define(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False)",
    Kind.COMPOSITE,
    decompose=_solve_ex,
    method=False,
    public=False,
    doc="""Solution of `A X = B` together with whether there is one; no error where there is none.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        B: right sides of the dtype of `A`, as for `linalg.solve`.
        left: solve `A X = B`; `X A = B` if False.
        check_errors: raise for singular matrices.

    Returns: `(result, info)`: NaN where `A` is singular; int32 of shape `(*)`, 0 or the index
    (from 1) of the first zero on the diagonal of the factor U.

    Raises:
        LinAlgError: a matrix is singular and `check_errors`.
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.linalg.solve_ex(gw.tensor([[1.0, 0.0], [0.0, 0.0]]), gw.ones(2)).info
        tensor(2, dtype=graphwright.int32)
    """,
)


# -- Householder's reflections


def _geqrf_meta(input: Any) -> Any:
    check_matrix("geqrf", input)
    tau = (*input.shape[:-2], min(input.shape[-2:]))
    return column_major(input.shape, input), contiguous_spec(input, tau)


def _geqrf_eager(input: Any) -> tuple[Tensor, Tensor]:
    check_matrix("geqrf", input)
    if 0 in input.shape:
        spec = _geqrf_meta(input)[1]
        zeros = np.zeros(spec.shape, input.dtype.numpy)
        return wrap_columns(input._nd, input.dtype), wrap(zeros, input.dtype)
    turned, tau = np.linalg.qr(input._nd, mode="raw")
    return wrap_columns(np.swapaxes(turned, -1, -2), input.dtype), wrap(tau, input.dtype)


define(
    "qr_reflections(Tensor input)",
    Kind.CONTRACTION,
    meta=_geqrf_meta,
    vjp=no_derivative("geqrf"),
    eager=_geqrf_eager,
    method=False,
    public=False,
)
define(
    "geqrf(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: return_types.geqrf(*ops.qr_reflections(input)),
    doc="""QR decomposition in LAPACK's form: Householder vectors below the diagonal, `R` above it.

    The diagonal is that of `R`.

    Args:
        input: float32, float64 or complex, `(*, m, n)`.

    Returns: `(a, tau)` of shapes `(*, m, n)` and `(*, min(m, n))`, as `orgqr` and `ormqr` take
    them.

    Raises:
        RuntimeError: `input` has less than 2 dims or holds integers; the op has no derivative.

    Example:
        >>> a, tau = gw.geqrf(gw.randn(5, 3))
        >>> a.shape, tau.shape
        (graphwright.Size([5, 3]), graphwright.Size([3]))
    """,
)


def _check_reflections(name: str, input: Any, tau: Any) -> None:
    check_matrix(name, input)
    m, n = input.shape[-2:]
    if m < n:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be >= input.shape[-1], got {describe(input)}"
        )
    if tau.ndim != input.ndim - 1 or tau.shape[:-1] != input.shape[:-2] or tau.shape[-1] > n:
        raise RuntimeError(
            f"{name}: tau does not fit: got {describe(tau)} for input {describe(input)}"
        )
    if tau.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}: tau dtype {tau.dtype.name} does not match input dtype {input.dtype.name}"
        )


def _vectors(input: Any) -> Any:
    """The Householder vectors as columns: what is below the diagonal, and ones on it."""
    m, n = input.shape[-2:]
    unit = ops.eye(m, n, dtype=input.dtype, device=input.device)
    return ops.add(ops.tril(input, -1), unit)


def _reflect(vectors: Any, tau: Any, matrix: Any, backward: bool, turned: bool) -> Any:
    """H_1 H_2 .. H_k times a matrix, `turned` with adjoint factors; `backward`: H_k first."""
    places = range(int(tau.shape[-1]))
    for i in reversed(places) if backward else places:
        vector = ops.slice(vectors, vectors.ndim - 1, i, i + 1)
        factor = ops.unsqueeze(ops.slice(tau, tau.ndim - 1, i, i + 1), -1)
        factor = conjugated(factor) if turned else factor
        along = ops.matmul(adjoint(vector), matrix)
        matrix = ops.sub(matrix, ops.mul(ops.matmul(vector, along), factor))
    return matrix


def _householder_product(input: Any, tau: Any) -> Any:
    _check_reflections("linalg.householder_product", input, tau)
    m, n = input.shape[-2:]
    unit = ops.eye(m, n, dtype=input.dtype, device=input.device)
    return by_columns(
        _reflect(_vectors(input), tau, ops.expand(unit, input.shape), True, False)
    )


def _ormqr(input: Any, tau: Any, other: Any, left: bool, transpose: bool) -> Any:
    check_matrix("ormqr", input)
    check_matrix("ormqr", other)
    if not input.dtype is tau.dtype is other.dtype:
        raise RuntimeError(
            "ormqr: expected one dtype, got "
            f"{describe(input)}, {describe(tau)} and {describe(other)}"
        )
    if other.shape[-2 if left else -1] != input.shape[-2] or tau.shape[-1] > input.shape[-1]:
        raise RuntimeError(
            f"ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2], got "
            f"{describe(other)}, {describe(input)} and {describe(tau)}"
        )
    if not left:
        turned = _reflect(_vectors(input), tau, adjoint(other), transpose, not transpose)
        return by_columns(adjoint(turned))
    return by_columns(_reflect(_vectors(input), tau, other, not transpose, transpose))


define(
    "linalg_householder_product(Tensor input, Tensor tau)",
    Kind.COMPOSITE,
    decompose=_householder_product,
    method=False,
    public=False,
    doc="""First n columns of a product of reflections `H_i = I - tau_i v_i v_i^H` (Householder).

    Args:
        input: `(*, m, n)` with m >= n: the vectors `v_i` below the diagonal, as `geqrf` returns
            them.
        tau: factors of the dtype of `input`, `(*, k)` with k <= n.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: shapes or dtypes do not match, or m < n.

    Example:
        >>> a, tau = gw.geqrf(gw.randn(5, 3))
        >>> gw.linalg.householder_product(a, tau).shape
        graphwright.Size([5, 3])
    """,
)
define(
    "orgqr(Tensor input, Tensor input2)",
    Kind.COMPOSITE,
    decompose=_householder_product,
    doc="""First n columns of a product of Householder reflections: `linalg.householder_product`.

    Args:
        input: `(*, m, n)` with m >= n, as `geqrf` returns it.
        input2: the factors tau, `(*, k)` with k <= n.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: shapes or dtypes do not match, or m < n.

    Example:
        >>> a, tau = gw.geqrf(gw.randn(5, 3))
        >>> gw.orgqr(a, tau).shape
        graphwright.Size([5, 3])
    """,
)
define(
    "ormqr(Tensor input, Tensor input2, Tensor input3, bool left=True, bool transpose=False)",
    Kind.COMPOSITE,
    decompose=_ormqr,
    doc="""Product of a matrix with the `Q` of a QR decomposition, without forming `Q`.

    Args:
        input: `(*, m, k)`: Householder vectors, as `geqrf` returns them.
        input2: the factors tau, `(*, k)`.
        input3: the matrix, `(*, m, n)`, or `(*, n, m)` where `left` is False.
        left: compute `Q input3`; `input3 Q` if False.
        transpose: use `Q^H` instead of `Q`.

    Returns: a tensor of the shape of `input3`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> a, tau = gw.geqrf(gw.randn(5, 3))
        >>> gw.ormqr(a, tau, gw.randn(5, 2)).shape
        graphwright.Size([5, 2])
    """,
)


def _triangular_solve(
    input: Any, A: Any, upper: bool, transpose: bool, unitriangular: bool
) -> Any:
    given = adjoint(A) if transpose else A
    solution = ops.linalg_solve_triangular(
        given, input, upper=upper != transpose, unitriangular=unitriangular
    )
    return return_types.triangular_solve(solution, by_columns(A))


define(
    "triangular_solve(Tensor input, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False)",
    Kind.COMPOSITE,
    decompose=_triangular_solve,
    doc="""Solution `X` of `A X = input` with triangular `A`; successor: `linalg.solve_triangular`.

    Args:
        input: right sides, `(*, n, k)`.
        A: of the dtype of `input`, `(*, n, n)`; only the named triangle is read.
        upper: whether `A` is upper triangular rather than lower.
        transpose: solve `A^H X = input` instead.
        unitriangular: take the diagonal of `A` for ones.

    Returns: `(solution, cloned_coefficient)`: `X` and `A`.

    Raises:
        LinAlgError: a matrix has a 0 on its diagonal.
        RuntimeError: shapes or dtypes do not match, or `A` is not square.

    Example:
        >>> A = gw.tensor([[2.0, 1.0], [0.0, 1.0]])
        >>> gw.triangular_solve(gw.tensor([[4.0], [2.0]]), A).solution
        tensor([[1.],
                [2.]])
    """,
)
define(
    "inverse(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: ops.linalg_inv(input),
    doc="""Inverse of square matrices: `linalg.inv`.

    Args:
        input: float32, float64 or complex, `(*, n, n)`.

    Returns: a tensor of the shape of `input`.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.inverse(gw.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """,
)
