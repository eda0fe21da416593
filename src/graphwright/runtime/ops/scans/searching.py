"""Searching: sorted sequences, membership, positions of what is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.creation.fill import check_size
from graphwright.runtime.ops.dtype_rules import contiguous_spec, wide_array
from graphwright.runtime.ops.kernels import allocate, wrap
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.ops.views.layouts import row_major
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import result_dtype
from graphwright.runtime.tensor.tensor import Tensor

# -- searchsorted


def _check_search(sequence: Any, values: Any, sorter: Any) -> None:
    if not sequence.shape:
        raise RuntimeError(
            "searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    common = result_dtype((sequence, values))
    if common is dtypes.bool or common.is_complex:
        raise NotImplementedError(
            f'"searchsorted" not implemented for {describe(sequence)} and {describe(values)}'
        )
    shape = values.shape if isinstance(values, Tensor) else ()
    if sequence.ndim > 1 and (
        len(shape) != sequence.ndim or shape[:-1] != sequence.shape[:-1]
    ):
        raise RuntimeError(
            "searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions "
            "of boundaries tensor and input value tensor must match, but we got boundaries "
            f"{describe(sequence)} and input {describe(values)}"
        )
    if sorter is None:
        return
    if sorter.dtype is not dtypes.int64 or sorter.shape != sequence.shape:
        raise RuntimeError(
            "searchsorted(): boundary and sorter must have the same size, and sorter dtype int64, "
            f"but got boundary {describe(sequence)} and sorter {describe(sorter)}"
        )


def _by_rows(sequence: Any, values: Any, right: bool) -> Any:
    """Binary search along the last dims, all rows at once."""
    size = sequence.shape[-1]
    low = np.zeros(values.shape, np.int64)
    high = np.full(values.shape, size, np.int64)
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        found = np.take_along_axis(sequence, np.minimum(middle, size - 1), -1)
        before = ~(found > values) if right else ~(found >= values)
        before &= middle < high
        low = np.where(before, middle + 1, low)
        high = np.where(before, high, middle)
    return low


def _search_eager(sequence: Any, values: Any, out_int32: bool, right: bool, sorter: Any) -> Tensor:
    _check_search(sequence, values, sorter)
    dtype = dtypes.int32 if out_int32 else dtypes.int64
    if isinstance(values, str):
        raise TypeError("expected a tensor or a number")
    array = wide_array(sequence)
    wanted = wide_array(values) if isinstance(values, Tensor) else np.asarray(values)
    if sorter is not None:
        order = sorter._nd
        if order.size and (order.min() < 0 or order.max() >= array.shape[-1]):
            raise RuntimeError(f"searchsorted(): sorter index out of range, got {describe(sorter)}"
                               f" for {array.shape[-1]} boundaries")
        array = np.take_along_axis(array, order, -1)
    if array.ndim == 1:
        return wrap(np.searchsorted(array, wanted, "right" if right else "left"), dtype)
    return wrap(_by_rows(array, wanted, right), dtype)


def _search_meta(sequence: Any, values: Any, out_int32: bool, right: bool, sorter: Any) -> Any:
    _check_search(sequence, values, sorter)
    shape = values.shape if isinstance(values, Tensor) else ()
    return contiguous_spec(sequence, shape, dtypes.int32 if out_int32 else dtypes.int64)


define(
    "search_positions(Tensor sequence, Operand values, bool out_int32, bool right, "
    "Tensor? sorter)",
    Kind.OTHER,
    meta=_search_meta,
    vjp=not_differentiable,
    eager=_search_eager,
    method=False,
    public=False,
)


def _searchsorted(
    sorted_sequence: Any, input: Any, out_int32: bool, right: bool, side: Any, sorter: Any
) -> Any:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError("searchsorted(): side and right can't be set to opposites, got side "
                           "of left while right was True")
    right = right or side == "right"
    return ops.search_positions(sorted_sequence, input, out_int32, right, sorter)


define(
    "searchsorted(Tensor sorted_sequence, Operand input, *, bool out_int32=False, "
    "bool right=False, str? side=None, Tensor? sorter=None)",
    Kind.COMPOSITE,
    decompose=_searchsorted,
    method=False,
)


def _bucketize(input: Any, boundaries: Any, out_int32: bool, right: bool) -> Any:
    if boundaries.ndim != 1:
        raise RuntimeError(
            f"bucketize(): boundaries tensor must be 1 dimension, but got {describe(boundaries)}"
        )
    return ops.search_positions(boundaries, input, out_int32, right, None)


define(
    "bucketize(Operand input, Tensor boundaries, *, bool out_int32=False, bool right=False)",
    Kind.COMPOSITE,
    decompose=_bucketize,
    method=False,
)


# -- membership


def _isin_spec(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Any:
    tensor = elements if isinstance(elements, Tensor) else test_elements
    if not isinstance(tensor, Tensor):
        raise TypeError("isin(): at least one of the arguments must be a Tensor")
    for operand in (elements, test_elements):
        dtype = operand.dtype if isinstance(operand, Tensor) else None
        if isinstance(operand, bool | complex) or (
            dtype is not None and (dtype.is_complex or dtype is dtypes.bool)
        ):
            raise RuntimeError(f"Unsupported input type encountered for isin(): "
                               f"{describe(operand)}")
    shape = elements.shape if isinstance(elements, Tensor) else ()
    return contiguous_spec(tensor, shape, dtypes.bool)


def _isin_eager(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Tensor:
    _isin_spec(elements, test_elements, assume_unique, invert)
    common = result_dtype((elements, test_elements))
    arrays = [
        (v._nd if isinstance(v, Tensor) else np.asarray(v)).astype(common.numpy)
        for v in (elements, test_elements)
    ]
    if common.itemsize == 2:
        arrays = [a.astype(np.float32) for a in arrays]
    wanted, given = arrays
    return wrap(np.isin(wanted, given, invert=invert), dtypes.bool)


define(
    "isin(Operand elements, Operand test_elements, *, bool assume_unique=False, "
    "bool invert=False)",
    Kind.OTHER,
    meta=_isin_spec,
    vjp=not_differentiable,
    eager=_isin_eager,
    method=False,
)


# -- what is not zero


def _nonzero_eager(input: Any) -> Tensor:
    """Stored dim by dim, as PyTorch does."""
    array = input._nd
    if not array.ndim:
        return wrap(np.zeros((int(array != 0), 0)), dtypes.int64)
    places = np.nonzero(array)
    count = places[0].size
    out = allocate((count, array.ndim), (1, max(count, 1)), dtypes.int64)
    if count:
        np.stack(places, 1, out=out._nd)
    return out


def _nonzero_meta(input: Any) -> Any:
    raise DataDependent(
        f"nonzero() has a shape that depends on the values of {describe(input)}"
    )


define(
    "argwhere(Tensor input)",
    Kind.OTHER,
    meta=_nonzero_meta,
    vjp=not_differentiable,
    eager=_nonzero_eager,
    tags=("data_dependent",),
)


def _nonzero(input: Any, as_tuple: bool) -> Any:
    if not as_tuple:
        return ops.argwhere(input)
    if not input.ndim:
        input = ops.reshape(input, (1,))
    return ops.unbind(ops.argwhere(input), 1)


define(
    "nonzero(Tensor input, *, bool as_tuple=False)",
    Kind.COMPOSITE,
    decompose=_nonzero,
    tags=("data_dependent",),
)


def _static_meta(input: Any, size: int, fill_value: int) -> Any:
    if size < 0:
        raise RuntimeError(
            f"nonzero_static: 'size' must be an non-negative integer, got {size} for "
            f"{describe(input)}"
        )
    return contiguous_spec(input, (size, input.ndim), dtypes.int64)


def _static_eager(input: Any, size: int, fill_value: int) -> Tensor:
    spec = _static_meta(input, size, fill_value)
    places = np.array(np.nonzero(np.atleast_1d(input._nd)))[: input.ndim, :size]
    found = np.full(spec.shape, fill_value, np.int64)
    found[: places.shape[1]] = places.T
    return wrap(found, dtypes.int64)


define(
    "nonzero_static(Tensor input, *, SymInt size, int fill_value=-1)",
    Kind.OTHER,
    meta=_static_meta,
    vjp=not_differentiable,
    eager=_static_eager,
)


# -- one_hot


_TOO_FEW_CLASSES = "one_hot: Class values must be smaller than num_classes."


def _one_hot(input: Any, num_classes: int) -> Any:
    if input.dtype is not dtypes.int64:
        raise RuntimeError(f"one_hot is only applicable to int64 tensors, got {describe(input)}")
    if num_classes < -1:
        raise RuntimeError(f"one_hot: num_classes should be positive, got {num_classes}")
    if 0 in input.shape and num_classes <= 0:
        raise RuntimeError("one_hot: Can not infer total number of classes from empty tensor.")
    if num_classes == 0:
        raise RuntimeError(_TOO_FEW_CLASSES)
    if num_classes == -1:
        num_classes = int(ops.amax(input).item()) + 1
    check_size("one_hot", (*input.shape, num_classes))
    input = checked(input, ops.ge(input, 0), "one_hot: Class values must be non-negative.")
    input = checked(input, ops.lt(input, num_classes), _TOO_FEW_CLASSES)
    classes = ops.arange(num_classes, device=input.device)
    rows = ops.unsqueeze(row_major(input), -1)
    return ops.to_dtype(ops.eq(rows, classes), dtypes.int64)


define(
    "one_hot(Tensor input, int num_classes=-1)",
    Kind.COMPOSITE,
    decompose=_one_hot,
    method=False,
    public=False,
)
