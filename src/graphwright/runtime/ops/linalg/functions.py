"""Exponentials, general eigenvalues, tensor equations and Vandermonde matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.dtype_rules import contiguous_spec, is_inexact
from graphwright.runtime.ops.kernels import Array, wrap
from graphwright.runtime.ops.linalg.solvers import (
    adjoint,
    check_matrix,
    column_major,
    lapack,
    wrap_columns,
)
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

# -- matrix exponential

# Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.
_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0,
    40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)
_PADE_RADIUS = 5.371920351148152


def _exponential(a: Array) -> Array:
    """By a [13/13] Pade approximant of each matrix over a power of two, squared back."""
    sizes = np.abs(a).sum(-2).max(-1, initial=0)
    ratio = np.where(sizes > _PADE_RADIUS, sizes / _PADE_RADIUS, 1.0)
    powers = np.where(np.isfinite(ratio), np.ceil(np.log2(ratio)), 0).astype(np.int64)
    a = a / (2.0**powers)[..., None, None]
    unit = np.eye(a.shape[-1], dtype=a.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    b = _PADE
    odd = a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2)
    odd = a @ (odd + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * unit)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2)
    even = even + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * unit
    result = np.linalg.solve(even - odd, even + odd)
    for step in range(int(powers.max(initial=0))):
        again = (powers > step)[..., None, None]
        result = np.where(again, result @ result, result)
    return np.asarray(result)


def _check_exp(A: Any) -> None:
    check_matrix("linalg.matrix_exp", A, square=True, halves=True)


def _exp_meta(A: Any) -> Any:
    _check_exp(A)
    return contiguous_spec(A, A.shape)


def _exp_eager(A: Any) -> Tensor:
    _check_exp(A)
    if 0 in A.shape:
        return wrap(A._nd.copy(), A.dtype)
    wide = np.complex128 if A.dtype.is_complex else np.float64
    return wrap(lapack("linalg.matrix_exp", _exponential, A._nd.astype(wide)), A.dtype)


def _exp_vjp(ctx: Any, grad: Any) -> Any:
    """The upper right block of exp [[A^H, G], [0, A^H]] (Mathias, 1996)."""
    turned, n = adjoint(ctx.A), int(ctx.A.shape[-1])
    at = ctx.A.ndim
    above = ops.cat((turned, grad), at - 1)
    below = ops.cat((ops.zeros_like(turned), turned), at - 1)
    whole = ops.matrix_exp(ops.cat((above, below), at - 2))
    return ops.slice(ops.slice(whole, at - 2, 0, n), at - 1, n, 2 * n)


define(
    "matrix_exp(Tensor A)",
    Kind.CONTRACTION,
    meta=_exp_meta,
    vjp=_exp_vjp,
    saves=("A",),
    eager=_exp_eager,
    doc="""Matrix exponential, the sum of `A^k / k!`.

    Scaling and squaring with a Pade approximant (Higham, 2005), in double precision.

    Args:
        A: floating point or complex, `(*, n, n)`.

    Returns: a tensor of the shape of `A`.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.matrix_exp(gw.tensor([[0.0, 1.0], [0.0, 0.0]]))
        tensor([[1., 1.],
                [0., 1.]])
    """,
)


# -- eigenvalues of general matrices


def _complex_of(dtype: Any) -> Any:
    if dtype.is_complex:
        return dtype
    return dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64


def _eig_meta(A: Any) -> Any:
    check_matrix("linalg.eig", A, square=True)
    dtype = _complex_of(A.dtype)
    return contiguous_spec(A, A.shape[:-1], dtype), column_major(A.shape, A, dtype)


def _eig_eager(A: Any) -> tuple[Tensor, Tensor]:
    check_matrix("linalg.eig", A, square=True)
    values, vectors = lapack("linalg.eig", np.linalg.eig, A._nd)
    dtype = _complex_of(A.dtype)
    return wrap(values, dtype), wrap_columns(vectors, dtype)


def _eig_vjp(ctx: Any, values_grad: Any, vectors_grad: Any) -> Any:
    """V^-H (diag(g) + (V^H G - V^H V diag(Re V^H G)) / E^H) V^H with E_ij = l_j - l_i."""
    values, vectors = ctx.out0, ctx.out1
    turned = adjoint(vectors)
    inner: Any = None
    if vectors_grad is not None:
        raw = ops.matmul(turned, vectors_grad)
        lengths = ops.real(ops.diagonal(raw, 0, -2, -1))
        scaled = ops.mul(ops.matmul(turned, vectors), ops.unsqueeze(lengths, -2))
        gaps = ops.sub(ops.unsqueeze(values, -2), ops.unsqueeze(values, -1))
        unit = ops.eye(values.shape[-1], dtype=lengths.dtype, device=values.device)
        gaps = ops.add(ops.conj(gaps), unit)
        inner = ops.mul(ops.div(ops.sub(raw, scaled), gaps), ops.sub(1.0, unit))
    if values_grad is not None:
        given = ops.diag_embed(values_grad)
        inner = given if inner is None else ops.add(inner, given)
    grad = ops.solve_matrix(turned, ops.matmul(inner, turned))
    return grad if ctx.A.dtype.is_complex else ops.real(grad)


define(
    "general_eigen(Tensor A)",
    Kind.CONTRACTION,
    meta=_eig_meta,
    vjp=_eig_vjp,
    saves=("out0", "out1"),
    eager=_eig_eager,
    method=False,
    public=False,
)
define(
    "linalg_eig(Tensor A)",
    Kind.COMPOSITE,
    decompose=lambda A: return_types.linalg_eig(*ops.general_eigen(A)),
    method=False,
    public=False,
    doc="""Eigenvalues and eigenvectors of square matrices: `A V = V diag(w)`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: `(eigenvalues, eigenvectors)`, both complex: `(*, n)` in no set order, and `(*, n,
    n)` with vectors of length 1 as columns.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eig(gw.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([2.+0.j, 1.+0.j])
    """,
)
define(
    "linalg_eigvals(Tensor A)",
    Kind.COMPOSITE,
    decompose=lambda A: ops.general_eigen(A)[0],
    method=False,
    public=False,
    doc="""Eigenvalues of square matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: a complex tensor of shape `(*, n)`, in no set order.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eigvals(gw.tensor([[0.0, 1.0], [-1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """,
)


def _svd(input: Any, some: bool, compute_uv: bool) -> Any:
    u, s, vh = ops.singular_factors(input, not some)
    if not compute_uv:
        u, vh = ops.zeros_like(u), ops.zeros_like(vh)
    return return_types.svd(u, s, adjoint(vh))


define(
    "svd(Tensor input, bool some=True, bool compute_uv=True)",
    Kind.COMPOSITE,
    decompose=_svd,
    doc="""Singular value decomposition `input = U diag(S) V^H`; newer code uses `linalg.svd`.

    Args:
        input: float32, float64 or complex, `(*, m, n)`.
        some: `U` and `V` have min(m, n) columns; square if False.
        compute_uv: compute `U` and `V`; they are zeros if False.

    Returns: `(U, S, V)`: `V`, not its adjoint; `S` is real and descending.

    Raises:
        RuntimeError: `input` has less than 2 dims, or holds integers.

    Example:
        >>> gw.svd(gw.tensor([[3.0, 0.0], [0.0, 4.0]])).S
        tensor([4., 3.])
    """,
)


# -- tensor equations


def _tensorinv(A: Any, ind: int) -> Any:
    if ind <= 0:
        raise RuntimeError(f"linalg.tensorinv: Expected a strictly positive integer for ind, "
                           f"got {ind}")
    rows, columns = product(A.shape[:ind]), product(A.shape[ind:])
    if ind > A.ndim:
        raise RuntimeError(f"linalg.tensorinv: ind={ind} is more than the dims of {describe(A)}")
    if rows != columns:
        raise RuntimeError(
            "linalg.tensorinv: Expected self to satisfy the requirement prod(A.shape[ind:]) == "
            f"prod(A.shape[:ind]), but got {describe(A)} and ind={ind}"
        )
    inverse = ops.linalg_inv(ops.reshape(A, (columns, rows)))
    return ops.reshape(inverse, (*A.shape[ind:], *A.shape[:ind]))


def _tensorsolve(A: Any, B: Any, dims: Any) -> Any:
    if dims is not None:
        given = [wrap_dim(d, A.ndim) for d in dims]
        A = ops.permute(A, (*(d for d in range(A.ndim) if d not in given), *given))
    shape = A.shape[B.ndim :]
    if product(shape) != product(B.shape):
        raise RuntimeError(
            "linalg.tensorsolve: Expected self to satisfy the requirement prod(A.shape[B.ndim:]) "
            f"== prod(A.shape[:B.ndim]), but got {describe(A)} and {describe(B)}"
        )
    count = product(B.shape)
    matrix = ops.reshape(A, (count, product(shape)))
    solution = ops.linalg_solve(matrix, ops.reshape(B, (count,)))
    return ops.reshape(solution, shape)


define(
    "linalg_tensorinv(Tensor A, int ind=2)",
    Kind.COMPOSITE,
    decompose=_tensorinv,
    method=False,
    public=False,
    doc="""Inverse of `A` as a map of tensors, with respect to `tensordot(..., ind)`.

    Args:
        A: float32, float64 or complex; the product of its first `ind` sizes is that of the
            others.
        ind: the number of leading dims that are the result's, greater than 0.

    Returns: a tensor of shape `A.shape[ind:] + A.shape[:ind]`.

    Raises:
        LinAlgError: the map has no inverse.
        RuntimeError: `ind` is out of range, or the products of sizes differ.

    Example:
        >>> gw.linalg.tensorinv(gw.eye(6).reshape(2, 3, 6)).shape
        graphwright.Size([6, 2, 3])
    """,
)
define(
    "linalg_tensorsolve(Tensor A, Tensor B, Size? dims=None)",
    Kind.COMPOSITE,
    decompose=_tensorsolve,
    method=False,
    public=False,
    doc="""Solution `X` of `tensordot(A, X, X.ndim) = B`.

    Args:
        A: float32, float64 or complex, of shape `B.shape + X.shape`; both products of sizes are
            the same.
        B: of the dtype of `A`.
        dims: dims of `A` that are moved to its end first; none if None.

    Returns: a tensor of shape `A.shape[B.ndim:]`.

    Raises:
        LinAlgError: the equation has no unique solution.
        RuntimeError: the products of sizes differ.

    Example:
        >>> gw.linalg.tensorsolve(gw.eye(6).reshape(2, 3, 6), gw.ones(2, 3))
        tensor([1., 1., 1., 1., 1., 1.])
    """,
)


# -- Vandermonde matrices


def _linalg_vander(x: Any, N: Any) -> Any:
    if x.dtype in (dtypes.bool, dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"linalg.vander does not support {describe(x)}")
    if not x.ndim and N is None:
        raise RuntimeError("linalg.vander: x must have at least one dimension, got a 0-d tensor")
    x = x if x.ndim else ops.reshape(x, (1,))
    count = x.shape[-1] if N is None else N
    if N is not None and N <= 1:
        raise RuntimeError(f"linalg.vander: N must be greater than 1, got {N}")
    if not is_inexact(x.dtype):
        x = ops.to_dtype(x, dtypes.int64)
    factors = ops.expand(ops.unsqueeze(x, -1), (*x.shape, count - 1))
    ones = ops.full((*x.shape, 1), 1, dtype=x.dtype, device=x.device)
    return ops.cat((ones, ops.cumprod(factors, x.ndim)), x.ndim)


define(
    "linalg_vander(Tensor x, *, SymInt? N=None)",
    Kind.COMPOSITE,
    decompose=_linalg_vander,
    method=False,
    public=False,
    doc="""Vandermonde matrices: the powers `x^0, x^1, ..., x^(N-1)` along a new last dim.

    Args:
        x: `(*, n)`; integers are taken as int64.
        N: the number of powers, greater than 1; n if None.

    Returns: a tensor of shape `(*, n, N)`.

    Raises:
        RuntimeError: `N` is less than 2, or `x` is bool, float16 or bfloat16.

    Example:
        >>> gw.linalg.vander(gw.tensor([2, 3]), N=3)
        tensor([[1, 2, 4],
                [1, 3, 9]])
    """,
)
