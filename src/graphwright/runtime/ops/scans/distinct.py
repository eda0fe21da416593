"""Distinct values: `unique` and `unique_consecutive`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_ordered, wide_array
from graphwright.runtime.ops.kernels import allocate, wrap
from graphwright.runtime.ops.strides import strides_in_order
from graphwright.runtime.ops.table import Kind, define, no_derivative
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _needs_values(name: str) -> Any:
    def meta(input: Any, *unused: Any) -> Any:
        raise DataDependent(f"{name}() has a shape that depends on the values of "
                            f"{describe(input)}")

    return meta


def _answer(values: Any, inverse: Any, counts: Any, dtype: Any, wanted: tuple[bool, bool]) -> Any:
    """`values`: an array, or a tensor of it."""
    results = [values if isinstance(values, Tensor) else wrap(values, dtype)]
    if wanted[0]:
        results.append(wrap(inverse, dtypes.int64))
    if wanted[1]:
        results.append(wrap(counts, dtypes.int64))
    return results[0] if len(results) == 1 else tuple(results)


def _check_unique(name: str, input: Any, dim: int | None) -> None:
    require_ordered(name, input)
    if dim is not None and not input.ndim:
        raise IndexError(f"{name}(): dim {dim} was given, but the tensor has no dimensions")


def _unique_eager(
    input: Any, sorted: bool, return_inverse: bool, return_counts: bool, dim: int | None
) -> Any:
    _check_unique("unique", input, dim)
    array = wide_array(input)
    if dim is not None and 0 in input.shape:
        return _unique_of_nothing(input, dim, return_inverse, return_counts)
    wanted = (return_inverse, return_counts)
    if dim is None:
        values, inverse, counts = _distinct(array.reshape(-1), wanted)
        inverse = None if inverse is None else inverse.reshape(input.shape)
    else:
        values, inverse, counts = np.unique(
            array, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
        )
        inverse = inverse.reshape(-1)
        values = _by_rows(values, dim, input.dtype)
    return _answer(values, inverse, counts, input.dtype, wanted)


def _by_rows(values: Any, dim: int, dtype: Any) -> Tensor:
    """The values along `dim` one after the other in memory, as PyTorch's are."""
    others = [d for d in range(values.ndim - 1, -1, -1) if d != dim]
    out = allocate(values.shape, strides_in_order(values.shape, [*others, dim]), dtype)
    out._nd[...] = values
    return out


def _distinct(flat: Any, wanted: tuple[bool, bool]) -> tuple[Any, Any, Any]:
    """Each value once, in order, every NaN for itself; where each element went; how many each."""
    order = ops.argsort(wrap(flat, dtypes.from_numpy_dtype(flat.dtype)), 0)._nd
    ordered = flat[order]
    first = np.ones(ordered.shape, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    places = np.flatnonzero(first)
    inverse = counts = None
    if wanted[0]:
        inverse = np.empty(flat.size, np.int64)
        inverse[order] = np.cumsum(first) - 1
    if wanted[1]:
        counts = np.diff(np.append(places, flat.size))
    return ordered[places], inverse, counts


def _unique_of_nothing(input: Any, dim: int, return_inverse: bool, return_counts: bool) -> Any:
    if input.shape[dim] != 0:
        raise RuntimeError(
            "unique(): there are 0 sized dimensions, and they aren't selected, so unique cannot "
            f"be applied to {describe(input)} along dim {dim}"
        )
    none = np.zeros(0, np.int64)
    return _answer(
        input._nd.copy(), none, none, input.dtype, (return_inverse, return_counts)
    )


def _runs(
    rows: Any, shape: Any, wanted: tuple[bool, bool], dim: int | None, order: Any = None
) -> Any:
    """The first of each run of equal `rows`, by ops: these are the elements, or slices along
    `dim`, of a tensor of a `shape`, in an order if it is given."""
    count = rows.shape[0]
    ordered = rows if order is None else ops.index_select(rows, 0, order)
    flat = ops.reshape(ordered, (count, -1))
    before = ops.narrow(flat, 0, 0, count - 1)
    changed = ops.any(ops.ne(ops.narrow(flat, 0, 1, count - 1), before), 1)
    starts = ops.cat([ops.full((1,), True, dtype=dtypes.bool, device=rows.device), changed])
    places = ops.select(ops.argwhere(starts), 1, 0)
    values = ops.index_select(ordered, 0, places)
    results = [values if dim is None else ops.movedim(values, 0, dim)]
    if wanted[0]:
        numbers = ops.sub(ops.cumsum(ops.to_dtype(starts, dtypes.int64), 0), 1)
        if order is not None:
            numbers = ops.scatter_src(ops.zeros_like(numbers), 0, order, numbers)
        results.append(ops.reshape(numbers, shape) if dim is None else numbers)
    if wanted[1]:
        end = ops.full((1,), count, dtype=dtypes.int64, device=rows.device)
        results.append(ops.diff(ops.cat([places, end])))
    return results[0] if len(results) == 1 else tuple(results)


def _rows_of(name: str, input: Any, dim: int | None) -> Any:
    """The elements, or the slices along `dim`, as rows."""
    _check_unique(name, input, dim)
    return ops.reshape(input, (-1,)) if dim is None else ops.movedim(input, dim, 0)


def _nothing(input: Any, dim: int | None, wanted: tuple[bool, bool]) -> Any:
    """What there is of no elements."""
    if dim is not None:
        return _unique_of_nothing(input, dim, *wanted)
    results = [ops.reshape(input, (-1,))]
    results += [ops.zeros(shape, dtype=dtypes.int64, device=input.device)
                for is_wanted, shape in zip(wanted, (input.shape, (0,)), strict=True) if is_wanted]
    return results[0] if len(results) == 1 else tuple(results)


def _unique_by_order(
    input: Any, sorted: bool, return_inverse: bool, return_counts: bool, dim: int | None
) -> Any:
    """Slices are sorted by their elements, the last one first."""
    wanted, rows = (return_inverse, return_counts), _rows_of("unique", input, dim)
    if 0 in input.shape:
        return _nothing(input, dim, wanted)
    columns = ops.reshape(rows, (rows.shape[0], -1))
    order = ops.argsort(ops.select(columns, 1, -1), 0, stable=True)
    for column in range(columns.shape[1] - 2, -1, -1):
        values = ops.index_select(ops.select(columns, 1, column), 0, order)
        order = ops.index_select(order, 0, ops.argsort(values, 0, stable=True))
    return _runs(rows, input.shape, wanted, dim, order)


def _consecutive_by_ops(
    input: Any, return_inverse: bool, return_counts: bool, dim: int | None
) -> Any:
    wanted = (return_inverse, return_counts)
    rows = _rows_of("unique_consecutive", input, dim)
    return _nothing(input, dim, wanted) if 0 in input.shape else _runs(
        rows, input.shape, wanted, dim)


define(
    "unique(Tensor input, bool sorted=True, bool return_inverse=False, "
    "bool return_counts=False, Dim? dim=None)",
    Kind.OTHER,
    meta=_needs_values("unique"),
    vjp=no_derivative("unique"),
    decompose=_unique_by_order,
    eager=_unique_eager,
    tags=("data_dependent",),
    doc="""The distinct elements in ascending order, or the distinct slices along one dim.

    Each NaN is distinct from all others.

    Args:
        input: a real or bool tensor of any shape.
        sorted: sort them, which is done in any case.
        return_inverse: also return where each element, or slice, went.
        return_counts: also return how often each one occurs.
        dim: the dim whose slices are compared, in lexicographic order; elements if None.

    Returns: a vector, or a tensor of another size along `dim`; with the flags a tuple of it
        and
        int64 tensors: positions of the shape of `input` (a vector for `dim`), a vector of
        counts. Its shape depends on values.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: another dim than `dim` is empty.
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.unique(gw.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))
    """,
)


def _consecutive_eager(
    input: Any, return_inverse: bool, return_counts: bool, dim: int | None
) -> Any:
    _check_unique("unique_consecutive", input, dim)
    array = input._nd.reshape(-1) if dim is None else input._nd
    axis = dim or 0
    wanted = (return_inverse, return_counts)
    if dim is not None and 0 in input.shape:
        return _unique_of_nothing(input, dim, *wanted)
    rows = np.moveaxis(array, axis, 0)
    starts = np.ones(rows.shape[0], bool)
    changed = rows[1:] != rows[:-1]
    starts[1:] = changed.any(tuple(range(1, changed.ndim)))
    places = np.flatnonzero(starts)
    inverse = np.cumsum(starts) - 1
    counts = np.diff(np.append(places, rows.shape[0]))
    if dim is None:
        inverse = inverse.reshape(input.shape)
    values: Any = np.take(array, places, axis)
    if dim is not None:
        values = _by_rows(values, dim, input.dtype)
    return _answer(values, inverse, counts, input.dtype, wanted)


define(
    "unique_consecutive(Tensor input, bool return_inverse=False, bool return_counts=False, "
    "Dim? dim=None)",
    Kind.OTHER,
    meta=_needs_values("unique_consecutive"),
    vjp=no_derivative("unique_consecutive"),
    decompose=_consecutive_by_ops,
    eager=_consecutive_eager,
    tags=("data_dependent",),
    doc="""The elements, or the slices along one dim, without those equal to their predecessor.

    Args:
        input: a real or bool tensor of any shape.
        return_inverse: also return where each element, or slice, went.
        return_counts: also return the length of each run of equal ones.
        dim: the dim whose slices are compared; elements in row-major order if None.

    Returns: a vector, or a tensor of another size along `dim`; with the flags a tuple of it
        and
        int64 tensors: positions of the shape of `input` (a vector for `dim`), a vector of
            counts.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: another dim than `dim` is empty.
        NotImplementedError: `input` is complex.

    Example:
        >>> gw.unique_consecutive(gw.tensor([3, 3, 1, 3]))
        tensor([3, 1, 3])
    """,
)
