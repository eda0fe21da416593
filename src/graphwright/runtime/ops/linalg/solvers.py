"""Inverses, solutions of linear systems and determinants, through NumPy's LAPACK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import LinAlgError, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import contiguous_spec, is_inexact, real_dtype
from graphwright.runtime.ops.kernels import HALVES, Array, wrap
from graphwright.runtime.ops.native.recompute_gradient import through
from graphwright.runtime.ops.products.contractions import conjugated
from graphwright.runtime.ops.strides import broadcast_shapes
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.tensor import Tensor


def check_matrix(name: str, matrix: Any, square: bool = False, halves: bool = False) -> None:
    """Raise RuntimeError unless `matrix` is a batch of (square) floating point matrices.

    `halves`: whether they may be of half precision.
    """
    if not is_inexact(matrix.dtype):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {describe(matrix)}"
        )
    if matrix.dtype in HALVES and not halves:
        raise NotImplementedError(
            f"{name}: Low precision dtypes not supported. Got {describe(matrix)}"
        )
    if matrix.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor A must have at least 2 dimensions, got {describe(matrix)}"
        )
    if square and matrix.shape[-1] != matrix.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {matrix.shape[-2]} by "
            f"{matrix.shape[-1]} matrices"
        )


ITERATIVE = (np.linalg.svd, np.linalg.eigh, np.linalg.eig)


def lapack(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Run a function of numpy.linalg. Raises LinAlgError where it does not succeed.

    Iterations do not always end where a matrix has an infinity: it is refused before.
    """
    if function in ITERATIVE and not np.isfinite(args[0]).all():
        raise LinAlgError(
            f"{name}: The algorithm failed to converge because the input matrix of shape "
            f"{list(args[0].shape)} contained non-finite values."
        )
    try:
        return function(*args)
    except np.linalg.LinAlgError as error:
        shapes = ", ".join(str(list(a.shape)) for a in args if isinstance(a, np.ndarray))
        raise LinAlgError(f"{name}: {error} (input of shape {shapes})") from None


def column_major(shape: tuple[Any, ...], like: Any, dtype: Any = None) -> TensorSpec:
    """The type of matrices stored by columns, as LAPACK leaves them."""
    spec = contiguous_spec(like, (*shape[:-2], shape[-1], shape[-2]), dtype)
    strides = (*spec.strides[:-2], spec.strides[-1], spec.strides[-2])
    return TensorSpec(shape, strides, spec.dtype, spec.device)


def wrap_columns(array: Any, dtype: Any) -> Tensor:
    """A tensor over a copy of an array, its matrices stored by columns."""
    turned = np.ascontiguousarray(np.swapaxes(array, -1, -2), dtype.numpy)
    owner = _core.from_ndarray(Tensor, turned, dtype)
    strides = owner.stride()
    strides = (*strides[:-2], strides[-1], strides[-2])
    return _core.as_view(Tensor, owner, array.shape, strides, 0)


def by_columns(matrix: Any) -> Any:
    """The same matrices stored by columns."""
    return ops.transpose(ops.contiguous(ops.transpose(matrix, -2, -1)), -2, -1)


def adjoint(matrix: Any) -> Any:
    """The conjugate transpose of the last two dims."""
    return conjugated(ops.transpose(matrix, -2, -1))


# -- inverse


def _inv_meta(A: Any) -> TensorSpec:
    check_matrix("linalg.inv", A, square=True)
    return column_major(A.shape, A)


def _inv_eager(A: Any) -> Tensor:
    check_matrix("linalg.inv", A, square=True)
    return wrap_columns(lapack("linalg.inv", np.linalg.inv, A._nd), A.dtype)


def _inv_vjp(ctx: Any, grad: Any) -> Any:
    back = adjoint(ctx.out)
    return ops.neg(ops.matmul(back, ops.matmul(grad, back)))


define(
    "linalg_inv(Tensor A)",
    Kind.CONTRACTION,
    meta=_inv_meta,
    vjp=_inv_vjp,
    saves=("out",),
    eager=_inv_eager,
    method=False,
    public=False,
    doc="""Inverse of square matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: a tensor of the shape of `A`.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.inv(gw.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """,
)
# -- solve


def is_vector(A: Any, B: Any) -> bool:
    """Whether B holds one right-hand side for each matrix."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])


def _solve_meta(A: Any, B: Any) -> TensorSpec:
    _check_solve(A, B)
    batch = broadcast_shapes("linalg.solve", (A.shape[:-2], B.shape[:-2]))
    return column_major((*batch, *B.shape[-2:]), A)


def _check_solve(A: Any, B: Any) -> None:
    check_matrix("linalg.solve", A, square=True)
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, got {describe(A)} and "
            f"{describe(B)}"
        )
    if B.ndim < 2 or A.shape[-1] != B.shape[-2]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation AX = B: {describe(A)} "
            f"and {describe(B)}"
        )


def _solve_eager(A: Any, B: Any) -> Tensor:
    spec = _solve_meta(A, B)
    if 0 in spec.shape:
        return wrap_columns(np.zeros(spec.shape, A.dtype.numpy), A.dtype)
    return wrap_columns(lapack("linalg.solve", np.linalg.solve, A._nd, B._nd), A.dtype)


def _solve_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    back = ops.solve_matrix(adjoint(ctx.A), grad)
    left = None
    if ctx.needs["A"]:
        left = ops.neg(ops.matmul(back, adjoint(ctx.out)))
        left = ops.sum_to_size(left, ctx.A.shape)
    return left, ops.sum_to_size(back, ctx.B.shape) if ctx.needs["B"] else None


define(
    "solve_matrix(Tensor A, Tensor B)",
    Kind.CONTRACTION,
    meta=_solve_meta,
    vjp=_solve_vjp,
    saves=("A", "out"),
    eager=_solve_eager,
    method=False,
    public=False,
)


def _solve(A: Any, B: Any, left: bool) -> Any:
    check_matrix("linalg.solve", A, square=True)
    if not B.ndim:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 1 dimension")
    if left and is_vector(A, B):
        solution = ops.squeeze(ops.solve_matrix(A, ops.unsqueeze(B, -1)), -1)
        return by_columns(solution) if B.ndim > 1 else solution
    if left:
        return ops.solve_matrix(A, B)
    turned = ops.solve_matrix(ops.transpose(A, -2, -1), ops.transpose(B, -2, -1))
    return ops.transpose(turned, -2, -1)


define(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True)",
    Kind.COMPOSITE,
    decompose=_solve,
    method=False,
    public=False,
    doc="""Solution `X` of `A X = B`, or of `X A = B`, with square `A`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        B: of the dtype of `A`: `(*, n, k)`, or `(*, n)` for one right side per matrix; `(*, k,
            n)` where `left` is False. The batch dims are broadcast.
        left: solve `A X = B`; `X A = B` if False.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: shapes or dtypes do not match, or `A` is not square.

    Example:
        >>> gw.linalg.solve(gw.tensor([[2.0, 0.0], [0.0, 4.0]]), gw.tensor([2.0, 2.0]))
        tensor([1.0000, 0.5000])
    """,
)


# -- determinants


def _det_meta(A: Any) -> TensorSpec:
    check_matrix("linalg.det", A, square=True)
    return contiguous_spec(A, A.shape[:-2])


def _det_eager(A: Any) -> Tensor:
    check_matrix("linalg.det", A, square=True)
    return wrap(lapack("linalg.det", np.linalg.det, A._nd), A.dtype)


def _spread(values: Any) -> Any:
    return ops.unsqueeze(ops.unsqueeze(values, -1), -1)


def _products_of_others(s: Array) -> Array:
    """[..., i, k]: the product of the numbers `s` [..., n] but those at i and k; no division."""
    n = s.shape[-1]
    ones = np.ones((*s.shape[:-1], 1), s.dtype)
    before = np.cumprod(np.concatenate((ones, s), -1), -1)[..., :n]
    after = np.cumprod(np.concatenate((ones, s[..., ::-1]), -1), -1)[..., :n][..., ::-1]
    above = np.triu(np.ones((n, n), bool), 1)
    between = np.cumprod(np.where(above, s[..., None, :], 1), -1)
    between = np.concatenate((np.broadcast_to(ones[..., None], (*s.shape, 1)), between), -1)
    pairs = np.where(above, before[..., :, None] * between[..., :n] * after[..., None, :], 0)
    result: Array = pairs + pairs.swapaxes(-1, -2)
    result[..., np.arange(n), np.arange(n)] = before * after
    return result


def _turned(A: Any) -> tuple[Array, Array, Array, Array]:
    """U, s, V^H of A = U diag(s) V^H, and det(U) det(V^H) [..., 1, 1]."""
    u, s, vh = lapack("linalg.det", np.linalg.svd, A._nd)
    sign = np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return u, s, vh, sign


def _cofactors_eager(A: Any) -> Tensor:
    """Of any square matrix: by singular values, no division."""
    u, s, vh, sign = _turned(A)
    others = np.diagonal(_products_of_others(s), axis1=-2, axis2=-1)
    result = np.matmul(u * others[..., None, :], vh)
    return wrap(result.conj() * sign, A.dtype)


def _by_inverse(grad: Any, A: Any) -> Any:
    """The gradient of an invertible matrix, where C = det(A) A^-T."""
    inverse = ops.linalg_inv(A)
    turned = adjoint(inverse)
    det = _spread(conjugated(ops.linalg_det(A)))
    inner = ops.sum(ops.mul(grad, conjugated(ops.transpose(inverse, -2, -1))), (-2, -1), True)
    along = ops.mul(turned, ops.mul(inner, det))
    across = ops.matmul(turned, ops.matmul(ops.transpose(grad, -2, -1), turned))
    return ops.sub(along, ops.mul(across, det))


def _cofactors_backward_eager(grad: Any, A: Any) -> Tensor:
    """Of any square matrix. For diagonal ones C_ii depends on the others on the diagonal, and
    C_ik on the element at (k, i) alone, both by the product of the remaining ones."""
    u, s, vh, sign = _turned(A)
    g = np.matmul(np.matmul(u.swapaxes(-1, -2), grad._nd), vh.swapaxes(-1, -2))
    pairs = _products_of_others(s)
    at = np.arange(s.shape[-1])
    pairs[..., at, at] = 0
    inner = -pairs * g.swapaxes(-1, -2)
    diagonal = np.diagonal(g, axis1=-2, axis2=-1)[..., None]
    inner[..., at, at] = np.matmul(pairs, diagonal)[..., 0]
    return wrap(np.matmul(np.matmul(u, inner), vh) * sign.conj(), A.dtype)


def _cofactors_backward_vjp(ctx: Any, grad: Any) -> Any:
    """Itself again by what it is linear in; by the matrix, of invertible ones."""
    first = second = None
    if ctx.needs["grad"]:
        first = conjugated(ops.cofactors_backward(conjugated(grad), ctx.A))
    if ctx.needs["A"]:
        _, second = through(_by_inverse, (ctx.grad, ctx.A), (False, True), grad)
    return first, second


define(
    "cofactors(Tensor A)",
    Kind.CONTRACTION,
    meta=lambda A: contiguous_spec(A, A.shape),
    vjp=lambda ctx, grad: ops.cofactors_backward(grad, ctx.A),
    saves=("A",),
    eager=_cofactors_eager,
    method=False,
    public=False,
)
define(
    "cofactors_backward(Tensor grad, Tensor A)",
    Kind.CONTRACTION,
    meta=lambda grad, A: contiguous_spec(A, A.shape),
    vjp=_cofactors_backward_vjp,
    saves=("grad", "A"),
    eager=_cofactors_backward_eager,
    method=False,
    public=False,
)


define(
    "linalg_det(Tensor A)",
    Kind.CONTRACTION,
    meta=_det_meta,
    vjp=lambda ctx, grad: ops.mul(_spread(grad), conjugated(ops.cofactors(ctx.A))),
    saves=("A",),
    eager=_det_eager,
    method=False,
    public=False,
    doc="""Determinant of square matrices, through an LU factorisation.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: a tensor of shape `(*)`; 1 for matrices of size 0.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.det(gw.tensor([[2.0, 1.0], [1.0, 3.0]]))
        tensor(5.)
    """,
)


def _slogdet_meta(A: Any) -> tuple[TensorSpec, TensorSpec]:
    check_matrix("linalg.slogdet", A, square=True)
    return (
        contiguous_spec(A, A.shape[:-2]),
        contiguous_spec(A, A.shape[:-2], real_dtype(A.dtype)),
    )


def _slogdet_eager(A: Any) -> tuple[Tensor, Tensor]:
    check_matrix("linalg.slogdet", A, square=True)
    sign, size = lapack("linalg.slogdet", np.linalg.slogdet, A._nd)
    return wrap(sign, A.dtype), wrap(size, real_dtype(A.dtype))


def _slogdet_vjp(ctx: Any, sign_grad: Any, grad: Any) -> Any:
    """Of the logarithm; of a complex sign, only its turning counts."""
    back = adjoint(ops.linalg_inv(ctx.A))
    if not ctx.A.dtype.is_complex:
        return None if grad is None else ops.mul(_spread(grad), back)
    total: Any = 0 if grad is None else grad
    if sign_grad is not None:
        turning = ops.imag(ops.mul(sign_grad, ops.conj(ctx.out0)))
        total = ops.sub(total, ops.mul(ops.complex(ops.zeros_like(turning), turning), -1.0))
    return ops.mul(_spread(total), back)


define(
    "sign_and_log_det(Tensor A)",
    Kind.CONTRACTION,
    meta=_slogdet_meta,
    vjp=_slogdet_vjp,
    saves=("A", "out0"),
    eager=_slogdet_eager,
    method=False,
    public=False,
)


define(
    "linalg_slogdet(Tensor A)",
    Kind.COMPOSITE,
    decompose=lambda A: return_types.linalg_slogdet(*ops.sign_and_log_det(A)),
    method=False,
    public=False,
    doc="""Sign and logarithm of the modulus of the determinant: `det = sign * exp(logabsdet)`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: `(sign, logabsdet)`, both of shape `(*)`; `sign` has modulus 1 and the dtype of
    `A`, `logabsdet` is real. A singular matrix has 0 and -inf.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.slogdet(gw.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
        tensor(-1.)
    """,
)
define(
    "det(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: ops.linalg_det(input),
    doc="""Determinant of square matrices, through an LU factorisation.

    Args:
        input: float32, float64 or complex, `(*, n, n)`.

    Returns: a tensor of shape `(*)`.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.det(gw.tensor([[2.0, 1.0], [1.0, 3.0]]))
        tensor(5.)
    """,
)
define(
    "slogdet(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: return_types.slogdet(*ops.sign_and_log_det(input)),
    doc="""Sign and logarithm of the absolute value of the determinant: `linalg.slogdet`.

    Args:
        input: float32, float64 or complex, `(*, n, n)`.

    Returns: `(sign, logabsdet)`, both of shape `(*)`; a singular matrix has 0 and -inf.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.slogdet(gw.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
        tensor(-1.)
    """,
)


def _logdet(input: Any) -> Any:
    sign, size = ops.sign_and_log_det(input)
    if input.dtype.is_complex:
        return ops.add(ops.log(sign), size)
    return ops.where(ops.eq(sign, -1), float("nan"), size)


define(
    "logdet(Tensor input)",
    Kind.COMPOSITE,
    decompose=_logdet,
    doc="""Logarithm of the determinant of square matrices: NaN where the determinant is negative.

    Args:
        input: float32, float64 or complex, `(*, n, n)`.

    Returns: a tensor of shape `(*)`; -inf for a singular matrix.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.logdet(gw.eye(3))
        tensor(0.)
    """,
)


# -- triangular systems


def _triangle(A: Any, upper: bool, unit: bool) -> Any:
    """The part of A that is read."""
    part = ops.triu(A, 1 if unit else 0) if upper else ops.tril(A, -1 if unit else 0)
    if not unit:
        return part
    return ops.add(part, ops.eye(A.shape[-1], dtype=A.dtype, device=A.device))


def _solve_triangular(A: Any, B: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    check_matrix("linalg.solve_triangular", A, square=True)
    if B.ndim < 2:
        raise RuntimeError(
            f"linalg.solve_triangular: B must have at least 2 dimensions, got {describe(B)}"
        )
    part = _triangle(A, upper, unitriangular)
    if left:
        return ops.solve_matrix(part, B)
    turned = ops.solve_matrix(ops.transpose(part, -2, -1), ops.transpose(B, -2, -1))
    return ops.transpose(turned, -2, -1)


define(
    "linalg_solve_triangular(Tensor A, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False)",
    Kind.COMPOSITE,
    decompose=_solve_triangular,
    method=False,
    public=False,
    doc="""Solution `X` of `A X = B`, or of `X A = B`, with triangular `A`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; only the named triangle is read.
        B: of the dtype of `A`, `(*, n, k)`, or `(*, k, n)` where `left` is False; the batch
            dims are broadcast.
        upper: whether `A` is upper triangular rather than lower.
        left: solve `A X = B`; `X A = B` if False.
        unitriangular: take the diagonal of `A` for ones.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        LinAlgError: a matrix has a 0 on its diagonal.
        RuntimeError: shapes or dtypes do not match, or `A` is not square.

    Example:
        >>> A = gw.tensor([[2.0, 0.0], [1.0, 1.0]])
        >>> gw.linalg.solve_triangular(A, gw.tensor([[2.0], [3.0]]), upper=False)
        tensor([[1.],
                [2.]])
    """,
)
