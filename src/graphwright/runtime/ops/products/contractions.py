"""Matrix products: mm and bmm are primitive, the rest decompose to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core, blas
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import HALVES, as_contiguous, rounded_into, wrap
from graphwright.runtime.ops.strides import broadcast_shapes, contiguous_strides, product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

GEMM_TYPES = frozenset({dtypes.float32, dtypes.float64})

blas.prepare()


def _check(name: str, a: Any, b: Any, ndim: int) -> None:
    if len(a.shape) != ndim or len(b.shape) != ndim:
        raise RuntimeError(
            f"{name}: expected {ndim}-D tensors, got {describe(a)} and {describe(b)}"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: expected both tensors to have the same dtype, "
            f"but got {describe(a)} and {describe(b)}"
        )
    if a.dtype is dtypes.bool:
        raise NotImplementedError(f"{name}: not implemented for {describe(a)}")
    if a.shape[-1] != b.shape[-2] or (ndim == 3 and a.shape[0] != b.shape[0]):
        raise RuntimeError(
            f"{name}: shapes cannot be multiplied ({_times(a.shape)} and {_times(b.shape)})"
        )


def _times(shape: tuple[Any, ...]) -> str:
    return "x".join(str(n) for n in shape)


def _meta(name: str, ndim: int) -> Any:
    def meta(a: Any, b: Any) -> TensorSpec:
        _check(name, a, b, ndim)
        shape = (*a.shape[:-1], b.shape[-1])
        return TensorSpec(shape, contiguous_strides(shape), a.dtype, a.device)

    return meta


def _operand(tensor: Any) -> tuple[Any, bool]:
    """An array whose rows BLAS can take, and whether it has to be read transposed."""
    array = tensor._nd
    if array.flags.c_contiguous:
        return array, False
    swapped = array.swapaxes(-1, -2)
    if swapped.flags.c_contiguous:
        return swapped, True
    return np.ascontiguousarray(array), False


def product_into(a: Any, b: Any, out: Any) -> None:
    """out = a @ b for tensors of float32 or float64 with equal batch dims."""
    left, transpose_a = _operand(a)
    right, transpose_b = _operand(b)
    _core.gemm(left, right, out._nd, transpose_a, transpose_b, 1.0, 0.0)


def _widened(matrix: Any) -> Any:
    """A matrix of half precision in float32, transposed in memory where it was so."""
    swapped = ops.transpose(matrix, -2, -1)
    if swapped.is_contiguous() and not matrix.is_contiguous():
        return ops.transpose(as_contiguous(swapped, dtypes.float32), -2, -1)
    return as_contiguous(matrix, dtypes.float32)


def _kernel(name: str, ndim: int) -> Any:
    def eager(a: Any, b: Any) -> Tensor:
        _check(name, a, b, ndim)
        shape = (*a.shape[:-1], b.shape[-1])
        dtype = a.dtype
        if dtype in GEMM_TYPES:
            out = _core.empty(Tensor, shape, dtype)
            if 0 in shape:
                return out
            product_into(a, b, out)
            return out
        if dtype in HALVES:
            wide = eager(_widened(a), _widened(b))
            out = _core.empty(Tensor, shape, dtype)
            rounded_into(out, wide._nd)
            return out
        if dtype.is_complex:
            return wrap(np.matmul(a._nd, b._nd), dtype)
        return wrap(_integer_product(a._nd, b._nd), dtype)

    return eager


_EXACT = float(1 << 53)


def _integer_product(a: Any, b: Any) -> Any:
    """Through BLAS where every sum is exact in float64, else by NumPy's loops."""
    if a.size and b.size:
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        bound = np.abs(wide_a).max() * np.abs(wide_b).max() * a.shape[-1]
        if bound < _EXACT:
            return np.matmul(wide_a, wide_b).astype(np.int64)
    return np.matmul(a, b)


def conjugated(x: Any) -> Any:
    """The complex conjugate; real tensors as they are."""
    return ops.conj(x) if x.dtype.is_complex else x


def _vjp(name: str) -> Any:
    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        multiply = getattr(ops, name)
        left = right = None
        if ctx.needs["input"]:
            left = multiply(grad, ops.transpose(conjugated(ctx.mat2), -2, -1))
        if ctx.needs["mat2"]:
            right = multiply(ops.transpose(conjugated(ctx.input), -2, -1), grad)
        return left, right

    return vjp


def _define(name: str, ndim: int, doc: str) -> None:
    define(
        f"{name}(Tensor input, Tensor mat2)",
        Kind.CONTRACTION,
        meta=_meta(name, ndim),
        vjp=_vjp(name),
        saves=("input?mat2", "mat2?input"),
        eager=_kernel(name, ndim),
        doc=doc,
    )


_define(
    "mm",
    2,
    doc="""Product of two matrices.

    Args:
        input: `(n, k)`; any dtype but bool.
        mat2: `(k, m)`, of the dtype of `input`.

    Returns: a tensor of shape `(n, m)`.

    Raises:
        RuntimeError: a tensor is no matrix, or shapes or dtypes do not match.

    Example:
        >>> gw.mm(gw.tensor([[1, 2], [3, 4]]), gw.tensor([[1], [1]]))
        tensor([[3],
                [7]])
    """,
)
_define(
    "bmm",
    3,
    doc="""Products of the matrices of two batches, one by one.

    Args:
        input: `(b, n, k)`; any dtype but bool.
        mat2: `(b, k, m)`, of the dtype of `input`.

    Returns: a tensor of shape `(b, n, m)`.

    Raises:
        RuntimeError: a tensor has not 3 dims, or shapes or dtypes do not match.

    Example:
        >>> gw.bmm(gw.ones(5, 2, 3), gw.ones(5, 3, 4)).shape
        graphwright.Size([5, 2, 4])
    """,
)


def _fold(a: Any, b: Any) -> Any:
    """a[..., n, k] @ b[k, m] as one matrix product."""
    rows = product(a.shape[:-1])
    flat = ops.reshape(a, (rows, a.shape[-1]))
    return ops._unsafe_view(ops.mm(flat, b), (*a.shape[:-1], b.shape[-1]))


def _batched(a: Any, b: Any) -> Any:
    batch = broadcast_shapes("matmul", (a.shape[:-2], b.shape[:-2]))
    count = product(batch)
    left, right = a, b
    if a.shape[:-2] != batch:
        left = ops.expand(a, (*batch, *a.shape[-2:]))
    if b.shape[:-2] != batch:
        right = ops.expand(b, (*batch, *b.shape[-2:]))
    if len(batch) == 1:
        return ops.bmm(left, right)
    left = ops.reshape(left, (count, *a.shape[-2:]))
    right = ops.reshape(right, (count, *b.shape[-2:]))
    return ops._unsafe_view(ops.bmm(left, right), (*batch, a.shape[-2], b.shape[-1]))


def _broadcast(a: Any, b: Any) -> Any:
    if tuple(a.shape[:-2]) == tuple(b.shape[:-2]):
        return _batched(a, b)
    return ops.broadcast_matmul(a, b)


define(
    "broadcast_matmul(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=_batched,
    method=False,
    public=False,
)


def _without(product: Any, dim: int) -> Any:
    """A product without its dimension of size 1; no view, as nothing else has its memory."""
    sizes = list(product.shape)
    del sizes[dim]
    return ops._unsafe_view(product, sizes)


def _matmul(input: Any, other: Any) -> Any:
    left, right = len(input.shape), len(other.shape)
    if left == 2 and right == 2:
        return ops.mm(input, other)
    if left == 0 or right == 0:
        raise RuntimeError(
            "matmul: both arguments need to be at least 1D, "
            f"got {describe(input)} and {describe(other)}"
        )
    inner = other.shape[-2] if right > 1 else other.shape[0]
    if input.shape[-1] != inner:
        raise RuntimeError(
            "matmul: shapes cannot be multiplied "
            f"({_times(input.shape)} and {_times(other.shape)})"
        )
    if left == 1 and right == 1:
        return ops.dot(input, other)
    if left == 1:
        return _without(_matmul(ops.unsqueeze(input, 0), other), -2)
    if right == 1 and left == 2:
        return ops.mv(input, other)
    if right == 1:
        return _without(_matmul(input, ops.unsqueeze(other, 1)), -1)
    return _fold(input, other) if right == 2 else _broadcast(input, other)


_SMALL = 8192
"""Elements up to which NumPy's own product, which takes all ranks, has less overhead."""


def _matmul_eager(input: Any, other: Any) -> Any:
    if input.dtype is not other.dtype or input.dtype not in GEMM_TYPES:
        return _matmul(input, other)
    left, right = input.ndim, other.ndim
    if left == right == 2:
        return _MM(input, other)
    if not (left and right) or input.numel() + other.numel() > _SMALL:
        return _matmul(input, other)
    a, b = input._nd, other._nd
    batch = a.shape[:-2] if left > 2 else ()
    others = b.shape[:-2] if right > 2 else ()
    if batch and others and batch != others:
        return _matmul(input, other)
    if a.shape[-1] != b.shape[-2 if right > 1 else 0]:
        return _matmul(input, other)
    rows = a.shape[-2:-1]
    columns = b.shape[-1:] if right > 1 else ()
    out = _core.empty(Tensor, (*(batch or others), *rows, *columns), input.dtype)
    np.matmul(a, b, out._nd)
    return out


_MM = _kernel("mm", 2)
define(
    "matmul(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=_matmul,
    eager=_matmul_eager,
    doc="""Product of matrices, vectors, or batches of matrices; `input @ other`.

    Args:
        input: `(*, n, k)`, or `(k,)`; any dtype but bool.
        other: `(*, k, m)`, or `(k,)`, of the dtype of `input`.

    Returns: a tensor of shape `(*, n, m)`, where the batch dims are broadcast; a vector on the
    left lacks n, one on the right lacks m.

    Raises:
        RuntimeError: a tensor has no dims, or shapes or dtypes do not match.

    Example:
        >>> gw.matmul(gw.ones(5, 1, 2, 3), gw.ones(4, 3, 2)).shape
        graphwright.Size([5, 4, 2, 2])
    """,
)
