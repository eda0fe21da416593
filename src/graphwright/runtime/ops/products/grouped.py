"""Products of groups of rows or columns with a matrix each, as in mixtures of experts.

`offs[i]` is the end of group i, which begins where group i - 1 ends, along the dimension that the
operands do not have in common or, for two matrices, along the one they are contracted over:

    [M, K] x [G, K, N] -> [M, N]        rows of the left belong to groups
    [G, M, K] x [K, N] -> [M, N]        columns of the right do
    [M, K] x [K, N]    -> [G, M, N]     the sum over K is split
    [G, M, K] x [G, K, N] -> [G, M, N]  no offs: matrix by matrix

The gradient of each is one of them, with the same offs: of rows that belong to no group it is 0,
as is the result there. The ends are read when the product is computed; shapes
do not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import contiguous_spec
from graphwright.runtime.ops.kernels import HALVES, Array, rounded_into
from graphwright.runtime.ops.table import TABLE, Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _shape(a: Any, b: Any, offs: Any) -> tuple[Any, ...]:
    rows, columns = a.shape[-2], b.shape[-1]
    if a.ndim != b.ndim:
        return rows, columns
    return (a.shape[0] if offs is None else offs.shape[0]), rows, columns


def _meta(mat_a: Any, mat_b: Any, offs: Any, columns_a: bool, columns_b: bool) -> Any:
    return contiguous_spec(mat_a, _shape(mat_a, mat_b, offs))


def _groups(
    a: Array, b: Array, out: Array, ends: list[int]
) -> Iterator[tuple[Array, Array, Array]]:
    """The operands and the place of the result of each group."""
    start = 0
    for group, end in enumerate(ends):
        part = slice(start, end)
        if a.ndim == b.ndim:
            yield a[:, part], b[part], out[group]
        elif b.ndim == 3:
            yield a[part], b[group], out[part]
        else:
            yield a[group], b[:, part], out[:, part]
        start = end


def _readable(array: Array, dtype: Any) -> Array:
    """The matrix in `dtype`, a copy unless rows or columns lie in memory as gemm takes them."""
    if array.dtype != dtype:
        swapped = array.strides[0] < array.strides[1]
        return array.astype(dtype, order="F" if swapped else "C")
    (rows, columns), (row, column) = array.shape, array.strides
    width = array.itemsize
    if (column == width and row >= columns * width) or (row == width and column >= rows * width):
        return array
    return np.ascontiguousarray(array)


def _multiply(a: Any, b: Any, out: Any, ends: list[int], dtype: Any) -> None:
    for left, right, place in _groups(a, b, out, ends):
        if 0 not in place.shape:
            _core.gemm(_readable(left, dtype), _readable(right, dtype), place)


def _eager(mat_a: Any, mat_b: Any, offs: Any, columns_a: bool, columns_b: bool) -> Tensor:
    if offs is None:
        return TABLE["bmm"].run(mat_a, mat_b)
    dtype = mat_a.dtype
    computed = dtypes.float32 if dtype in HALVES else dtype
    wide = _core.empty(Tensor, _shape(mat_a, mat_b, offs), computed)
    if mat_a.ndim != mat_b.ndim:
        wide._nd[...] = 0
    _multiply(mat_a._nd, mat_b._nd, wide._nd, offs._nd.tolist(), computed.numpy)
    if dtype is computed:
        return wide
    out = _core.empty(Tensor, wide.shape, dtype)
    rounded_into(out, wide._nd)
    return out


def _decompose(mat_a: Any, mat_b: Any, offs: Any, columns_a: bool, columns_b: bool) -> Any:
    """A product of all of the operands for each group, of which only its own part is not 0."""
    if offs is None:
        return ops.bmm(mat_a, mat_b)
    split = mat_a.ndim == mat_b.ndim
    along = mat_a.shape[1 if split else 0] if split or mat_b.ndim == 3 else mat_b.shape[1]
    places = ops.arange(along, device=mat_a.device)
    groups = ops.search_positions(offs, places, False, True, None)
    results = []
    for group in range(offs.shape[0]):
        own = ops.eq(groups, group)
        if split:
            left = ops.where(own, mat_a, 0)
            results.append(ops.mm(left, ops.where(ops.unsqueeze(own, 1), mat_b, 0)))
        elif mat_b.ndim == 3:
            left = ops.where(ops.unsqueeze(own, 1), mat_a, 0)
            results.append(ops.mm(left, ops.select(mat_b, 0, group)))
        else:
            results.append(ops.mm(ops.select(mat_a, 0, group), ops.where(own, mat_b, 0)))
    if split:
        return ops.stack(results)
    total = ops.zeros(_shape(mat_a, mat_b, offs), dtype=mat_a.dtype, device=mat_a.device)
    for result in results:
        total = ops.add(total, result)
    return total


def _by_columns(matrix: Any) -> bool:
    """Whether the columns lie one after another in memory, not the rows."""
    row, column = matrix.stride()[-2:]
    return row == 1 and column != 1


def _product(a: Any, b: Any, offs: Any) -> Any:
    return ops.grouped_product(a, b, offs, _by_columns(a), _by_columns(b))


def _laid_out(by_columns: bool, a: Any, b: Any, offs: Any) -> Any:
    """The product a b, in memory by columns or by rows."""
    if not by_columns:
        return _product(a, b, offs)
    swapped = _product(ops.transpose(b, -2, -1), ops.transpose(a, -2, -1), offs)
    return ops.transpose(swapped, -2, -1)


def _vjp(ctx: Any, grad: Any) -> tuple[Any, Any, None]:
    left = right = None
    if ctx.needs["mat_a"]:
        left = _laid_out(ctx.columns_a, grad, ops.transpose(ctx.mat_b, -2, -1), ctx.offs)
    if ctx.needs["mat_b"]:
        right = _laid_out(ctx.columns_b, ops.transpose(ctx.mat_a, -2, -1), grad, ctx.offs)
    return left, right, None


define(
    "grouped_product(Tensor mat_a, Tensor mat_b, Tensor? offs, "
    "bool columns_a=False, bool columns_b=False)",
    Kind.CONTRACTION,
    meta=_meta,
    vjp=_vjp,
    saves=("mat_a?mat_b", "mat_b?mat_a", "offs"),
    decompose=_decompose,
    eager=_eager,
    method=False,
    public=False,
    tags=("whole",),
)
"""`columns_a`, `columns_b`: the gradient of that operand is to lie in memory by columns."""


def _check_matrix(name: str, matrix: Any) -> None:
    if matrix.dtype not in HALVES and matrix.dtype is not dtypes.float32:
        raise RuntimeError(
            f"grouped_mm: Expected {name} to be Float32, BFloat16 or Float16 matrix, "
            f"got {describe(matrix)}"
        )
    if matrix.ndim not in (2, 3):
        raise RuntimeError(f"grouped_mm: {name} has to be 2 or 3d, got {describe(matrix)}")


def _check_offs(a: Any, b: Any, offs: Any) -> None:
    if (offs is None) != (a.ndim == b.ndim == 3):
        raise RuntimeError(
            "grouped_mm: Have to provide offsets if there is a 2d matrix, or no offset if both "
            f"matrices are 3d, got {describe(a)} and {describe(b)}"
        )
    if offs is None:
        return
    if offs.ndim != 1:
        raise RuntimeError(f"grouped_mm: offs has to be 1D, got {describe(offs)}")
    if offs.dtype is not dtypes.int32:
        raise RuntimeError(f"grouped_mm: Offsets have to be int32, got {describe(offs)}")
    for matrix in (a, b):
        if matrix.ndim == 3 and matrix.shape[0] != offs.shape[0]:
            raise RuntimeError(
                "grouped_mm: matrix batch sizes have to match the groups, "
                f"got {describe(matrix)} and offs {describe(offs)}"
            )


def _check(a: Any, b: Any, offs: Any, bias: Any, out_dtype: Any) -> None:
    _check_matrix("mat_a", a)
    _check_matrix("mat_b", b)
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            "grouped_mm: contraction dimension of mat_a and mat_b must match, "
            f"got {describe(a)} and {describe(b)}"
        )
    _check_offs(a, b, offs)
    if bias is not None:
        raise RuntimeError("grouped_mm: Bias not supported yet")
    if out_dtype is not None and out_dtype is not a.dtype:
        raise RuntimeError(
            f"grouped_mm: output dtype must match that of mat_a, {a.dtype.name}, "
            f"got {out_dtype}"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError(
            "grouped_mm: expected mat_a and mat_b to have the same dtype, "
            f"got {describe(a)} and {describe(b)}"
        )
    if offs is None and a.shape[0] != b.shape[0]:
        raise RuntimeError(
            f"grouped_mm: batched dimension has to match, got {describe(a)} and {describe(b)}"
        )


def _grouped_mm(mat_a: Any, mat_b: Any, offs: Any, bias: Any, out_dtype: Any) -> Any:
    _check(mat_a, mat_b, offs, bias, out_dtype)
    return _product(mat_a, mat_b, offs)


define(
    "grouped_mm(Tensor mat_a, Tensor mat_b, *, Tensor? offs=None, Tensor? bias=None, "
    "dtype? out_dtype=None)",
    Kind.COMPOSITE,
    decompose=_grouped_mm,
    method=False,
    public=False,
    doc="""Matrix products of groups of rows (or of a shared dim), one product for each group.

    Args:
        mat_a: float32, float16 or bfloat16, of any layout, `(n, k)` or `(g, n, k)`.
        mat_b: of the dtype of `mat_a`, `(k, m)` or `(g, k, m)`.
        offs: int32, `(g,)`: where each group ends in the dim that has no batch: rows of
            `mat_a`, columns of `mat_b`, or the shared dim where both have 2 dims. None for two
            tensors of 3 dims, and only for those. What lies behind the last end is left out.
        bias: must be None.
        out_dtype: None, or the dtype of `mat_a`.

    Returns: a contiguous tensor: `(n, m)`, or `(g, n, m)` where the numbers of dims are the
    same.

    Raises:
        RuntimeError: shapes, dtypes or `offs` do not match, or `bias` is given.

    Example:
        >>> ends = gw.tensor([1, 4], dtype=gw.int32)
        >>> F.grouped_mm(gw.ones(4, 2), gw.ones(2, 2, 3), offs=ends).shape
        graphwright.Size([4, 3])
    """,
)
