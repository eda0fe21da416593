"""LU factorisation with partial pivoting, and systems solved through it.

LAPACK does it for float32 and float64. NumPy has none: for other matrices the factorisation here
goes by blocks of columns. Within a block each step is vectorised over the batch and the rest of
the block; what lies right of a block is brought up to date by one triangular solve and one product
(Golub and Van Loan, "Matrix computations", 3.2.11).
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
from graphwright.runtime.ops.linalg.solvers import (
    adjoint,
    by_columns,
    check_matrix,
    column_major,
    wrap_columns,
)
from graphwright.runtime.ops.products.contractions import conjugated
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

BLOCK = 48


def _size(values: Array) -> Array:
    """What pivots are chosen by, as BLAS does: |Re| + |Im|."""
    if values.dtype.kind != "c":
        return np.abs(values)
    return np.abs(values.real) + np.abs(values.imag)


def _eliminate(a: Array, start: int, stop: int, pivots: Array) -> None:
    """Columns start..stop of the matrices `a` [N, m, n] in place; whole rows are exchanged."""
    batch = np.arange(len(a))
    for j in range(start, stop):
        row = j + np.argmax(_size(a[:, j:, j]), axis=1)
        pivots[:, j] = row + 1
        a[batch, j], a[batch, row] = a[batch, row], a[batch, j]
        pivot = a[:, j, j]
        safe = np.where(pivot == 0, 1, pivot)
        a[:, j + 1 :, j] /= safe[:, None]
        a[:, j + 1 :, j + 1 : stop] -= a[:, j + 1 :, j, None] * a[:, j, None, j + 1 : stop]


def _factorise(a: Array) -> tuple[Array, Array]:
    """(L and U in one matrix, pivots counted from 1) of matrices [N, m, n]; `a` is overwritten."""
    m, n = a.shape[1:]
    k = min(m, n)
    pivots = np.zeros((len(a), k), np.int32)
    for start in range(0, k, BLOCK):
        stop = min(start + BLOCK, k)
        _eliminate(a, start, stop, pivots)
        if stop < n:
            lower = np.tril(a[:, start:stop, start:stop], -1) + np.eye(stop - start, dtype=a.dtype)
            right = np.linalg.solve(lower, a[:, start:stop, stop:])
            a[:, start:stop, stop:] = right
            a[:, stop:, stop:] -= a[:, stop:, start:stop] @ right
    return a, pivots


def _check(A: Any, pivot: bool) -> None:
    check_matrix("linalg.lu_factor", A)
    if not pivot:
        raise RuntimeError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU, for "
            f"{describe(A)}"
        )


def _factors_meta(A: Any, pivot: bool, strict: bool) -> Any:
    _check(A, pivot)
    batch = tuple(A.shape[:-2])
    k = min(A.shape[-2:])
    return (
        column_major(A.shape, A),
        contiguous_spec(A, (*batch, k), dtypes.int32),
        contiguous_spec(A, batch, dtypes.int32),
    )


def _factors_eager(A: Any, pivot: bool, strict: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Raises LinAlgError for singular matrices where `strict`."""
    _check(A, pivot)
    shape = A._nd.shape
    batch, k = shape[:-2], min(shape[-2:])
    count = int(np.prod(batch))
    packed, pivots = _factorise(A._nd.reshape(count, *shape[-2:]).copy())
    zero = np.diagonal(packed, axis1=1, axis2=2) == 0
    if strict and zero.any():
        raise LinAlgError(
            f"linalg.lu_factor: U has a zero on its diagonal, the matrix is singular: "
            f"{describe(A)}"
        )
    info = np.where(zero.any(1), zero.argmax(1) + 1, 0) if k else np.zeros(count)
    return (
        wrap_columns(packed.reshape(shape), A.dtype),
        wrap(pivots.reshape(*batch, k), dtypes.int32),
        wrap(info.reshape(batch).astype(np.int32), dtypes.int32),
    )


def _halves(packed: Any) -> tuple[Any, Any]:
    """The unit lower and the upper factor."""
    m, n = packed.shape[-2:]
    k = min(m, n)
    lower = ops.tril(ops.slice(packed, packed.ndim - 1, 0, k), -1)
    upper = ops.triu(ops.slice(packed, packed.ndim - 2, 0, k))
    unit = ops.eye(m, k, dtype=packed.dtype, device=packed.device)
    return ops.add(lower, unit), upper


def _inner_gradient(lower: Any, upper: Any, lower_grad: Any, upper_grad: Any) -> Any:
    """Of a square L U: L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H."""
    below = ops.tril(ops.matmul(adjoint(lower), lower_grad), -1)
    above = ops.triu(ops.matmul(upper_grad, adjoint(upper)))
    inner = ops.solve_matrix(adjoint(lower), ops.add(below, above))
    return adjoint(ops.solve_matrix(upper, adjoint(inner)))


def _factors_vjp(ctx: Any, grad: Any, pivots_grad: Any, info_grad: Any) -> Any:
    """Through the square part; of more rows or columns, L2 = A2 U^-1 and U2 = L^-1 A2."""
    packed = ctx.out0
    lower, upper = _halves(packed)
    m, n = packed.shape[-2:]
    k, rows, columns = min(m, n), packed.ndim - 2, packed.ndim - 1
    lower_grad = ops.tril(ops.slice(grad, columns, 0, k), -1)
    upper_grad = ops.triu(ops.slice(grad, rows, 0, k))
    if m > k:
        below = ops.slice(lower_grad, rows, k, m)
        rest = adjoint(ops.solve_matrix(upper, adjoint(below)))
        turned = adjoint(ops.slice(lower, rows, k, m))
        upper_grad = ops.sub(upper_grad, ops.matmul(turned, rest))
        lower, lower_grad = ops.slice(lower, rows, 0, k), ops.slice(lower_grad, rows, 0, k)
        total = ops.cat((_inner_gradient(lower, upper, lower_grad, upper_grad), rest), rows)
    elif n > k:
        beside = ops.slice(upper_grad, columns, k, n)
        rest = ops.solve_matrix(adjoint(lower), beside)
        turned = adjoint(ops.slice(upper, columns, k, n))
        lower_grad = ops.sub(lower_grad, ops.matmul(rest, turned))
        upper, upper_grad = ops.slice(upper, columns, 0, k), ops.slice(upper_grad, columns, 0, k)
        total = ops.cat((_inner_gradient(lower, upper, lower_grad, upper_grad), rest), columns)
    else:
        total = _inner_gradient(lower, upper, lower_grad, upper_grad)
    return ops.matmul(_permutation(ctx.out1, m, packed.dtype), total)


define(
    "lu_factors(Tensor A, bool pivot, bool strict=False)",
    Kind.CONTRACTION,
    meta=_factors_meta,
    vjp=_factors_vjp,
    saves=("out0", "out1"),
    eager=_factors_eager,
    method=False,
    public=False,
)


# -- pivots: exchanges of rows, as an order of the rows


def _order_eager(pivots: Any, rows: int) -> Tensor:
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            f"pivots must be a Tensor of type int32, got {describe(pivots)}"
        )
    given = pivots._nd
    flat = given.reshape(math.prod(given.shape[:-1]), given.shape[-1])
    order = np.tile(np.arange(rows), (len(flat), 1))
    batch = np.arange(len(flat))
    for j in range(flat.shape[1]):
        other = flat[:, j] - 1
        if ((other < 0) | (other >= rows)).any():
            raise RuntimeError(
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you "
                "properly pass the result of lu_factor?"
            )
        order[batch, j], order[batch, other] = order[batch, other], order[batch, j]
    return wrap(order.reshape(*given.shape[:-1], rows), dtypes.int64)


define(
    "order_of_pivots(Tensor pivots, int rows)",
    Kind.OTHER,
    meta=lambda pivots, rows: contiguous_spec(
        pivots, (*pivots.shape[:-1], rows), dtypes.int64
    ),
    vjp=not_differentiable,
    eager=_order_eager,
    method=False,
    public=False,
)


def _permutation(pivots: Any, rows: Any, dtype: Any) -> Any:
    """P with A = P L U: row i of P^T A is row order[i] of A."""
    order = ops.order_of_pivots(pivots, rows)
    places = ops.arange(rows, device=pivots.device)
    same = ops.eq(ops.unsqueeze(places, -1), ops.unsqueeze(order, -2))
    return ops.to_dtype(same, dtype)


def _exchanged(pivots: Any, matrix: Any, back: bool) -> Any:
    """P^T times a matrix, or P times it."""
    order = ops.order_of_pivots(pivots, matrix.shape[-2])
    order = ops.argsort(order, -1) if back else order
    batch = broadcast_shapes("lu_solve", (order.shape[:-1], matrix.shape[:-2]))
    order = ops.expand(ops.unsqueeze(order, -1), (*batch, *matrix.shape[-2:]))
    return ops.gather(ops.expand(matrix, order.shape), order.ndim - 2, order)


# -- the functions


def _factor_ex(A: Any, pivot: bool, check_errors: bool) -> Any:
    return return_types.linalg_lu_factor_ex(*ops.lu_factors(A, pivot, check_errors))


define(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False)",
    Kind.COMPOSITE,
    decompose=_factor_ex,
    method=False,
    public=False,
    doc="""LU factorisation in one matrix, with whether `U` has zeros on its diagonal.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        pivot: exchange rows; must be True.
        check_errors: raise where `U` has a zero on its diagonal.

    Returns: `(LU, pivots, info)`: `L` below the diagonal and `U` on and above it; int32 `(*,
    min(m, n))`, the row (from 1) that each row was exchanged with; int32 `(*)`, 0 or the
    index (from 1) of the first zero.

    Raises:
        LinAlgError: `U` has a zero on its diagonal and `check_errors`.
        RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

    Example:
        >>> gw.linalg.lu_factor_ex(gw.tensor([[0.0, 1.0], [2.0, 0.0]])).pivots
        tensor([2, 2], dtype=graphwright.int32)
    """,
)
define(
    "linalg_lu_factor(Tensor A, *, bool pivot=True)",
    Kind.COMPOSITE,
    decompose=lambda A, pivot: return_types.linalg_lu_factor(*ops.lu_factors(A, pivot, True)[:2]),
    method=False,
    public=False,
    doc="""LU factorisation in one matrix, for `linalg.lu_solve`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        pivot: exchange rows; must be True.

    Returns: `(LU, pivots)`: `L` below the diagonal and `U` on and above it; int32 `(*, min(m,
    n))`, the row (from 1) that each row was exchanged with.

    Raises:
        LinAlgError: `U` has a zero on its diagonal.
        RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

    Example:
        >>> gw.linalg.lu_factor(gw.tensor([[0.0, 1.0], [2.0, 0.0]])).LU
        tensor([[2., 0.],
                [0., 1.]])
    """,
)


def _unpack(
    LU_data: Any, LU_pivots: Any, unpack_data: bool, unpack_pivots: bool
) -> tuple[Any, Any, Any]:
    check_matrix("lu_unpack", LU_data)
    empty = ops.zeros((0,), dtype=LU_data.dtype, device=LU_data.device)
    lower, upper = _halves(LU_data) if unpack_data else (empty, empty)
    if not unpack_pivots:
        return empty, lower, upper
    P = _permutation(LU_pivots, LU_data.shape[-2], LU_data.dtype)
    return P, lower, upper


define(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True)",
    Kind.COMPOSITE,
    decompose=lambda *args: return_types.lu_unpack(*_unpack(*args)),
    method=False,
    doc="""Factors `P`, `L` and `U` from the one matrix and the pivots of an LU factorisation.

    Args:
        LU_data: factors in one matrix, `(*, m, n)`.
        LU_pivots: int32, `(*, min(m, n))`.
        unpack_data: compute `L` and `U`; they are empty if False.
        unpack_pivots: compute the permutation matrix `P`; it is empty if False.

    Returns: `(P, L, U)` with `A = P L U`, as `linalg.lu` returns them.

    Raises:
        RuntimeError: `LU_data` has less than 2 dims or holds integers, or a pivot is out of
            range.

    Example:
        >>> LU, pivots = gw.linalg.lu_factor(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))
        >>> gw.lu_unpack(LU, pivots).P
        tensor([[0., 1.],
                [1., 0.]])
    """,
)


def _linalg_lu(A: Any, pivot: bool) -> Any:
    packed, pivots, _ = ops.lu_factors(A, pivot)
    return return_types.linalg_lu(*_unpack(packed, pivots, True, True))


define(
    "linalg_lu(Tensor A, *, bool pivot=True)",
    Kind.COMPOSITE,
    decompose=_linalg_lu,
    method=False,
    public=False,
    doc="""LU factorisation with exchange of rows: `A = P L U`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        pivot: exchange rows; must be True.

    Returns: `(P, L, U)`: a permutation matrix `(*, m, m)`, lower triangular with ones on the
    diagonal `(*, m, k)`, upper triangular `(*, k, n)`, where k = min(m, n).

    Raises:
        RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

    Example:
        >>> gw.linalg.lu(gw.tensor([[0.0, 1.0], [2.0, 0.0]])).U
        tensor([[2., 0.],
                [0., 1.]])
    """,
)


def _lu(A: Any, pivot: bool, get_infos: bool) -> tuple[Any, ...]:
    """Also of singular matrices; `get_infos` returns which are."""
    packed, pivots, info = ops.lu_factors(A, pivot)
    if get_infos:
        return packed, pivots, info
    return packed, pivots


define(
    "lu(Tensor A, bool pivot=True, bool get_infos=False)",
    Kind.COMPOSITE,
    decompose=_lu,
    doc="""LU factorisation in one matrix, of singular matrices too.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        pivot: exchange rows; must be True.
        get_infos: return `info` as well.

    Returns: `(LU, pivots)` as `linalg.lu_factor` has them; with `get_infos` also int32 `(*)`,
    0 or the index (from 1) of the first zero on the diagonal of `U`.

    Raises:
        RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

    Example:
        >>> gw.lu(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))[1]
        tensor([2, 2], dtype=graphwright.int32)
    """,
)


def _lu_solve(LU: Any, pivots: Any, B: Any, left: bool, adjoint: bool) -> Any:
    check_matrix("linalg.lu_solve", LU, square=True)
    if LU.dtype is not B.dtype:
        raise RuntimeError(
            "linalg.lu_solve: Expected LU and B to have the same dtype, got "
            f"{describe(LU)} and {describe(B)}"
        )
    if B.ndim < 2 or LU.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(
            "linalg.lu_solve: Incompatible shapes of LU and B for the equation "
            f"{'AX = B' if left else 'XA = B'}: {describe(LU)} and {describe(B)}"
        )
    if not left:
        turned = _lu_solve(LU, pivots, _adjoint(B), True, not adjoint)
        return _adjoint(turned)
    lower, upper = _halves(LU)
    if adjoint:
        inner = ops.solve_matrix(_adjoint(upper), B)
        found = _exchanged(pivots, ops.solve_matrix(_adjoint(lower), inner), True)
        return by_columns(found)
    return ops.solve_matrix(upper, ops.solve_matrix(lower, _exchanged(pivots, B, False)))


def _adjoint(matrix: Any) -> Any:
    return conjugated(ops.transpose(matrix, -2, -1))


define(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False)",
    Kind.COMPOSITE,
    decompose=_lu_solve,
    method=False,
    public=False,
    doc="""Solution `X` of `A X = B`, where `A` is given by `linalg.lu_factor`.

    Args:
        LU: factors, `(*, n, n)`.
        pivots: int32, `(*, n)`.
        B: right sides of the dtype of `LU`, `(*, n, k)`, or `(*, k, n)` where `left` is False.
        left: solve `A X = B`; `X A = B` if False.
        adjoint: use `A^H` instead of `A`.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> LU, pivots = gw.linalg.lu_factor(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))
        >>> gw.linalg.lu_solve(LU, pivots, gw.tensor([[1.0], [2.0]]))
        tensor([[1.],
                [1.]])
    """,
)
define(
    "lu_solve(Tensor input, Tensor LU_data, Tensor LU_pivots)",
    Kind.COMPOSITE,
    decompose=lambda input, LU_data, LU_pivots: _lu_solve(
        LU_data, LU_pivots, input, True, False
    ),
    doc="""Solution `X` of `A X = input`, where `A` is given by its LU factors: `linalg.lu_solve`.

    Args:
        input: right sides, `(*, n, k)`.
        LU_data: factors of the dtype of `input`, `(*, n, n)`.
        LU_pivots: int32, `(*, n)`.

    Returns: a tensor of the shape of `input` with the broadcast batch dims.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> LU, pivots = gw.lu(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))
        >>> gw.lu_solve(gw.tensor([[1.0], [2.0]]), LU, pivots)
        tensor([[1.],
                [1.]])
    """,
)
