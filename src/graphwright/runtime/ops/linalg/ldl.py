"""LDL^T factors of symmetric or Hermitian matrices by Bunch-Kaufman pivoting, and their systems.

The factors are packed as LAPACK's `sytrf` leaves them for lower triangles: blocks of D of one or
two rows on the diagonal, below them the columns of L. `pivots[k] = p > 0`: the rows k and p were
exchanged (counted from 1); `pivots[k] = pivots[k+1] = -p`: a block of two, k+1 and p exchanged
(Golub and Van Loan, "Matrix computations", 4.4.4).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime.errors import LinAlgError, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import contiguous_spec
from graphwright.runtime.ops.kernels import Array, wrap
from graphwright.runtime.ops.linalg.solvers import check_matrix, column_major, wrap_columns
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind, define, no_derivative
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

GROWTH = (1 + math.sqrt(17)) / 8
"""How much smaller than its column a diagonal element may be and still be a pivot."""


def _size(values: Any) -> Any:
    """What pivots are chosen by, as BLAS does: |Re| + |Im|."""
    return np.abs(values.real) + np.abs(values.imag)


def _choose(a: Array, k: int) -> tuple[int, int] | None:
    """(the row to exchange, the rows of the block) of step k; None for a column of zeros."""
    diagonal = _size(a[k, k])
    below = _size(a[k + 1 :, k])
    largest = below.max(initial=0.0)
    if max(diagonal, largest) == 0:
        return None
    if diagonal >= GROWTH * largest:
        return k, 1
    row = k + 1 + int(below.argmax())
    others = max(_size(a[row, k:row]).max(), _size(a[row + 1 :, row]).max(initial=0.0))
    if diagonal * others >= GROWTH * largest * largest:
        return k, 1
    return (row, 1) if _size(a[row, row]) >= GROWTH * others else (row, 2)


def _exchange(a: Array, i: int, j: int, k: int, hermitian: bool) -> None:
    """Rows and columns i < j of the lower triangle from column k on."""
    column, row = a[i + 1 : j, i].copy(), a[j, i + 1 : j].copy()
    a[j + 1 :, [i, j]] = a[j + 1 :, [j, i]]
    a[i + 1 : j, i] = row.conj() if hermitian else row
    a[j, i + 1 : j] = column.conj() if hermitian else column
    a[[i, j], [i, j]] = a[[j, i], [j, i]]
    if hermitian:
        a[j, i] = a[j, i].conj()
    if i > k:
        a[[i, j], k] = a[[j, i], k]


def _block(a: Array, k: int, rows: int, hermitian: bool) -> Array:
    """The block of D at k."""
    block = np.tril(a[k : k + rows, k : k + rows])
    upper = np.tril(block, -1).T
    return block + (upper.conj() if hermitian else upper)


def _factorise(a: Array, hermitian: bool) -> tuple[Array, int]:
    """(pivots, the first column of zeros counted from 1, or 0) of the matrix `a`, overwritten."""
    n = len(a)
    pivots = np.zeros(n, np.int32)
    info = k = 0
    while k < n:
        choice = _choose(a, k)
        if choice is None:
            info = info or k + 1
        row, rows = choice or (k, 1)
        pivots[k : k + rows] = row + 1 if rows == 1 else -(row + 1)
        last = k + rows - 1
        if row != last:
            _exchange(a, last, row, k, hermitian)
        if hermitian:
            a[k, k] = a[k, k].real
        if choice is not None:
            _eliminate(a, k, rows, hermitian)
        k += rows
    return pivots, info


def _eliminate(a: Array, k: int, rows: int, hermitian: bool) -> None:
    """Columns of L in place of what is below the block at k, and what is left of the rest."""
    stop = k + rows
    below = a[stop:, k:stop].copy()
    inverse = np.linalg.inv(_block(a, k, rows, hermitian))
    a[stop:, k:stop] = below @ inverse
    a[stop:, stop:] -= a[stop:, k:stop] @ (below.conj() if hermitian else below).T


def _factors_meta(A: Any, hermitian: bool, strict: bool) -> Any:
    check_matrix("linalg.ldl_factor", A, square=True)
    return (
        column_major(A.shape, A),
        contiguous_spec(A, tuple(A.shape[:-1]), dtypes.int32),
        contiguous_spec(A, tuple(A.shape[:-2]), dtypes.int32),
    )


def _factors_eager(A: Any, hermitian: bool, strict: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Raises LinAlgError for a column of zeros where `strict`."""
    check_matrix("linalg.ldl_factor", A, square=True)
    batch, n = A._nd.shape[:-2], A._nd.shape[-1]
    packed = np.tril(A._nd).reshape(math.prod(batch), n, n)
    found = [_factorise(matrix, hermitian) for matrix in packed]
    info = np.array([first for _, first in found], np.int32)
    if strict and info.any():
        raise LinAlgError(
            f"linalg.ldl_factor: D has a zero on its diagonal, the matrix is singular: "
            f"{describe(A)}"
        )
    pivots = np.array([pivots for pivots, _ in found], np.int32)
    return (
        wrap_columns(np.tril(packed).reshape(A._nd.shape), A.dtype),
        wrap(pivots.reshape(*batch, n), dtypes.int32),
        wrap(info.reshape(batch), dtypes.int32),
    )


define(
    "ldl_factors(Tensor A, bool hermitian, bool strict)",
    Kind.CONTRACTION,
    meta=_factors_meta,
    vjp=no_derivative("linalg_ldl_factor_ex"),
    eager=_factors_eager,
    method=False,
    public=False,
)
define(
    "linalg_ldl_factor_ex(Tensor A, *, bool hermitian=False, bool check_errors=False)",
    Kind.COMPOSITE,
    decompose=lambda A, hermitian, check_errors: return_types.linalg_ldl_factor_ex(
        *ops.ldl_factors(A, hermitian, check_errors)
    ),
    method=False,
    public=False,
    doc="""LDL factorisation of symmetric or Hermitian matrices, and where `D` has a zero first.

    The pivots are those of Bunch and Kaufman (1977). There is no derivative.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; the lower triangle is read.
        hermitian: factorise `A = L D L^H`; `A = L D L^T` if False.
        check_errors: raise where `D` has a zero on its diagonal.

    Returns: `(LD, pivots, info)`: both factors in one matrix; int32 `(*, n)`; int32 `(*)`, 0 or
    the index (from 1) of the first zero.

    Raises:
        LinAlgError: `D` has a zero on its diagonal and `check_errors`.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.ldl_factor_ex(gw.tensor([[4.0, 2.0], [2.0, 5.0]])).LD
        tensor([[4.0000, 0.0000],
                [0.5000, 4.0000]])
    """,
)
define(
    "linalg_ldl_factor(Tensor A, *, bool hermitian=False)",
    Kind.COMPOSITE,
    decompose=lambda A, hermitian: return_types.linalg_ldl_factor(
        *ops.ldl_factors(A, hermitian, True)[:2]
    ),
    method=False,
    public=False,
    doc="""LDL factorisation of symmetric or Hermitian matrices, for `linalg.ldl_solve`.

    The pivots are those of Bunch and Kaufman (1977). There is no derivative.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; the lower triangle is read.
        hermitian: factorise `A = L D L^H`; `A = L D L^T` if False.

    Returns: `(LD, pivots)`: both factors in one matrix; int32 `(*, n)`.

    Raises:
        LinAlgError: `D` has a zero on its diagonal.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.ldl_factor(gw.tensor([[4.0, 2.0], [2.0, 5.0]])).pivots
        tensor([1, 2], dtype=graphwright.int32)
    """,
)


def _check_system(LD: Any, pivots: Any, B: Any) -> tuple[Any, ...]:
    """The batch that factors and right sides broadcast to; RuntimeError where they do not fit."""
    name = "linalg.ldl_solve"
    check_matrix(name, LD, square=True)
    if pivots.dtype.is_floating_point or pivots.dtype.is_complex or pivots.dtype is dtypes.bool:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {describe(pivots)}")
    if LD.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: LD dtype {LD.dtype.name} does not match b dtype {B.dtype.name}"
        )
    if B.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected B to have at least 2 dimensions, but it has {B.ndim} dimensions "
            "instead"
        )
    if tuple(pivots.shape) != tuple(LD.shape[:-1]):
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots "
            f"with shape {list(pivots.shape)} instead"
        )
    if B.shape[-2] != LD.shape[-1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {LD.shape[-1]} by "
            f"{LD.shape[-1]} but each b matrix is {B.shape[-2]} by {B.shape[-1]}"
        )
    return broadcast_shapes(name, (LD.shape[:-2], B.shape[:-2]))


def _blocks(pivots: Array) -> list[tuple[int, int]]:
    """(first row, rows) of the blocks of D."""
    found, k = [], 0
    while k < len(pivots):
        rows = 1 if pivots[k] > 0 or k + 1 == len(pivots) else 2
        found.append((k, rows))
        k += rows
    return found


def _solve(a: Array, pivots: Array, x: Array, hermitian: bool) -> None:
    """The right sides x [n, m] of one system in place."""
    if np.abs(pivots).max(initial=0) > len(a) or (pivots == 0).any():
        raise RuntimeError("linalg.ldl_solve: pivots must be those of ldl_factor")
    blocks = _blocks(pivots)
    for k, rows in blocks:
        last, row, stop = k + rows - 1, abs(int(pivots[k])) - 1, k + rows
        x[[last, row]] = x[[row, last]]
        x[stop:] -= a[stop:, k:stop] @ x[k:stop]
        x[k:stop] = np.linalg.inv(_block(a, k, rows, hermitian)) @ x[k:stop]
    for k, rows in reversed(blocks):
        last, row, stop = k + rows - 1, abs(int(pivots[k])) - 1, k + rows
        columns = a[stop:, k:stop].conj() if hermitian else a[stop:, k:stop]
        x[k:stop] -= columns.T @ x[stop:]
        x[[last, row]] = x[[row, last]]


def _solve_meta(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Any:
    batch = _check_system(LD, pivots, B)
    return column_major((*batch, *B.shape[-2:]), B)


def _solve_eager(LD: Any, pivots: Any, B: Any, hermitian: bool) -> Tensor:
    """Raises LinAlgError for a singular block of D."""
    batch = _check_system(LD, pivots, B)
    n, columns = B._nd.shape[-2:]
    count = math.prod(batch)
    a = np.broadcast_to(LD._nd, (*batch, n, n)).reshape(count, n, n)
    places = np.broadcast_to(pivots._nd, (*batch, n)).reshape(count, n)
    x = np.array(np.broadcast_to(B._nd, (*batch, n, columns))).reshape(count, n, columns)
    try:
        for system in zip(a, places, x, strict=True):
            _solve(*system, hermitian)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            f"linalg.ldl_solve: D is singular, of {describe(LD)}"
        ) from None
    return wrap_columns(x.reshape(*batch, n, columns), B.dtype)


define(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False)",
    Kind.CONTRACTION,
    meta=_solve_meta,
    vjp=no_derivative("linalg_ldl_solve"),
    eager=_solve_eager,
    method=False,
    public=False,
    doc="""Solution `X` of `A X = B`, where `A` is given by `linalg.ldl_factor`.

    Args:
        LD: factors, `(*, n, n)`.
        pivots: integers, `(*, n)`.
        B: right sides of the dtype of `LD`, `(*, n, k)`; the batch dims are broadcast.
        hermitian: the same as in the factorisation.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        LinAlgError: `D` is singular.
        RuntimeError: shapes or dtypes do not match, or the pivots are out of range.

    Example:
        >>> LD, pivots = gw.linalg.ldl_factor(gw.tensor([[4.0, 0.0], [0.0, 2.0]]))
        >>> gw.linalg.ldl_solve(LD, pivots, gw.tensor([[4.0], [4.0]]))
        tensor([[1.],
                [2.]])
    """,
)
