"""Matrices of numbers: `eye`, the indices of triangles, Vandermonde's matrix."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_size, contiguous_spec, require_cpu
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import dtypes


def _eye(n: Any, m: Any, dtype: Any, device: Any) -> Any:
    for name, size in (("n", n), ("m", m)):
        if size is not None and not hasattr(size, "__index__"):
            raise TypeError(f"eye(): argument '{name}' must be int, not {type(size).__name__}")
        if size is not None and size < 0:
            raise RuntimeError(f"eye: {name} must be greater or equal to 0, got {size}")
    rows = ops.unsqueeze(ops.arange(n, device=device), 1)
    columns = ops.arange(n if m is None else m, device=device)
    return ops.to_dtype(ops.eq(rows, columns), dtype or dtypes.get_default_dtype())


define(
    "eye(SymInt n, SymInt? m=None, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_eye,
    method=False,
    tags=("factory",),
    doc="""Matrix with 1 on the main diagonal and 0 elsewhere.

    Args:
        n: the number of rows.
        m: the number of columns; `n` if None.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new matrix.

    Raises:
        RuntimeError: a number is negative.

    Example:
        >>> gw.eye(2, 3)
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """,
)


# -- indices of triangles, Vandermonde's matrix


def _triangle_spec(name: str, row: int, col: int, offset: int, dtype: Any, device: Any) -> Any:
    for parameter, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{parameter} must be non-negative, got {n}")
    target = dtype or dtypes.int64
    if target not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(f"{name}: expected int32 or int64, got {target}")
    size = (2, _triangle_count(row, col, offset, name == "tril_indices"))
    check_size(name, size)
    return contiguous_spec(size, target, device)


def _triangle_by_search(name: str) -> Any:
    """As `_triangle_indices`, by ops."""

    def decompose(row: int, col: int, offset: int, dtype: Any, device: Any) -> Any:
        spec = _triangle_spec(name, row, col, offset, dtype, device)
        count, offset = spec.shape[1], max(-row, min(offset, col))
        if not count:
            return ops.zeros(spec.shape, dtype=spec.dtype, device=device)
        lower = name == "tril_indices"
        begin, end = (max(-offset, 0), row) if lower else (0, min(row, col - offset))
        rows = ops.arange(begin, end, device=device)
        shifted = ops.add(rows, offset)
        first = ops.zeros_like(rows) if lower else ops.clamp_min(shifted, 0)
        last = ops.clamp_max(ops.add(shifted, 1), col) if lower else ops.full_like(rows, col)
        lengths = ops.sub(last, first)
        ends = ops.cumsum(lengths, 0)
        places = ops.arange(count, device=device)
        found = ops.search_positions(ends, places, False, True, None)
        starts = ops.index_select(ops.sub(ops.sub(ends, lengths), first), 0, found)
        columns = ops.sub(places, starts)
        return ops.to_dtype(ops.stack([ops.add(found, begin), columns]), spec.dtype)

    return decompose


def _triangle_indices(name: str) -> Any:
    """Each row's columns from `first` to `last`, of the rows that have any."""

    def eager(row: int, col: int, offset: int, dtype: Any, device: Any) -> Any:
        spec = _triangle_spec(name, row, col, offset, dtype, device)
        require_cpu(name, device)
        count, offset = spec.shape[1], max(-row, min(offset, col))
        lower = name == "tril_indices"
        begin, end = (max(-offset, 0), row) if lower else (0, min(row, col - offset))
        rows = np.arange(begin, end if count else begin)
        first = np.maximum(rows + offset, 0) * (not lower)
        last = np.minimum(rows + offset + 1, col) if lower else col
        lengths = last - first
        ends = np.cumsum(lengths)
        columns = np.arange(count) - np.repeat(ends - lengths - first, lengths)
        return wrap(np.stack([np.repeat(rows, lengths), columns]), spec.dtype)

    return eager


_INDICES_DOCS = {
    "tril_indices": """Rows and columns of the elements of a lower triangle, in row-major order.

    Args:
        row, col: the sizes of the matrix.
        offset: the last diagonal of the triangle: 0 is the main one, positive ones lie above
            it.
        dtype: int32 or int64; int64 if None.
        device: where the result is made; the default device if None.

    Returns: a matrix of two rows, by which a matrix can be indexed.

    Raises:
        RuntimeError: a size is negative, or `dtype` is another one.

    Example:
        >>> gw.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """,
    "triu_indices": """Rows and columns of the elements of an upper triangle, in row-major order.

    Args:
        row, col: the sizes of the matrix.
        offset: the first diagonal of the triangle: 0 is the main one, positive ones lie above
            it.
        dtype: int32 or int64; int64 if None.
        device: where the result is made; the default device if None.

    Returns: a matrix of two rows, by which a matrix can be indexed.

    Raises:
        RuntimeError: a size is negative, or `dtype` is another one.

    Example:
        >>> gw.triu_indices(2, 2)
        tensor([[0, 0, 1],
                [0, 1, 1]])
    """,
}
for _name in ("tril_indices", "triu_indices"):
    define(
        f"{_name}(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None)",
        Kind.CREATION,
        meta=partial(_triangle_spec, _name),
        vjp=not_differentiable,
        decompose=_triangle_by_search(_name),
        eager=_triangle_indices(_name),
        method=False,
        tags=("factory", "whole"),
        doc=_INDICES_DOCS[_name],
    )


def _triangle_count(row: int, col: int, offset: int, lower: bool) -> int:
    if not lower:
        return row * col - _triangle_count(row, col, offset - 1, True)
    first = offset + 1
    if first >= 0:
        skipped, partial = 0, min(max(col - first, 0), row)
    else:
        skipped = min(-first, row)
        first, partial = 0, min(col, row - skipped)
    grown = partial * first + partial * (partial - 1) // 2
    return grown + (row - skipped - partial) * col


def _vander(x: Any, N: int | None, increasing: bool) -> Any:
    """Columns x^(N-1), ..., x, 1, or the other way round."""
    if x.ndim != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor, got shape {list(x.shape)}")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"N must be non-negative, got {count}")
    wide = x if x.dtype.is_floating_point or x.dtype.is_complex else ops.to_dtype(x, dtypes.int64)
    exponents = ops.arange(count, device=x.device)
    exponents = exponents if increasing else ops.flip(exponents, (0,))
    return ops.pow(ops.unsqueeze(wide, 1), exponents)


define(
    "vander(Tensor x, int? N=None, bool increasing=False)",
    Kind.COMPOSITE,
    decompose=_vander,
    method=False,
    doc="""Vandermonde matrix of a vector: its columns are powers of the elements.

    Args:
        x: a vector; integers and bool give int64.
        N: the number of columns; the length of `x` if None.
        increasing: the powers 0, 1, ..., N - 1; else in reverse order.

    Returns: a matrix of shape `(len(x), N)`.

    Raises:
        RuntimeError: `x` is no vector, or `N` is negative.

    Example:
        >>> gw.vander(gw.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [4, 2, 1],
                [9, 3, 1]])
    """,
)
