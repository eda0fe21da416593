"""Searching: sorted sequences, membership, positions of what is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import functions as ops
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
    doc="""Where each value would go into a sorted sequence, so that it stays sorted.

    At the place `i` found, `sequence[i - 1] < value <= sequence[i]`; with `right`,
    `sequence[i - 1] <= value < sequence[i]`.

    Args:
        sorted_sequence: a vector in ascending order, or a tensor of such rows: its last dim.
        input: a number or tensor of values; any shape for a vector, else the shape of
            `sorted_sequence` but for the last dim.
        out_int32: return int32, not int64.
        right: find the place behind equal elements, not the one before.
        side: "left" or "right", the same as a word; `right` decides if None.
        sorter: an int64 tensor of the shape of `sorted_sequence` that sorts it, if it is not
            sorted.

    Returns: an int64 or int32 tensor of the shape of `input`.

    Raises:
        RuntimeError: the shapes do not match, `side` contradicts `right` or is unknown, or
            `sorter` has another dtype or positions out of range.
        NotImplementedError: both are bool, or one is complex.

    Example:
        >>> gw.searchsorted(gw.tensor([1, 3, 5]), gw.tensor([3, 6]))
        tensor([1, 3])
    """,
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
    doc="""Number of the bucket of each value, between boundaries in ascending order.

    Bucket i lies between `boundaries[i - 1]` and `boundaries[i]`, which belongs to it, unless
    `right`.

    Args:
        input: a number or tensor of values.
        boundaries: a vector in ascending order.
        out_int32: return int32, not int64.
        right: a boundary belongs to the bucket behind it.

    Returns: an int64 or int32 tensor of the shape of `input`.

    Raises:
        RuntimeError: `boundaries` is no vector.
        NotImplementedError: both are bool, or one is complex.

    Example:
        >>> gw.bucketize(gw.tensor([3, 6, 9]), gw.tensor([1, 3, 5]))
        tensor([1, 3, 3])
    """,
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


def _isin_by_search(
    elements: Any, test_elements: Any, assume_unique: bool, invert: bool
) -> Any:
    if not isinstance(test_elements, Tensor):
        found = ops.eq(elements, test_elements)
    elif not isinstance(elements, Tensor):
        found = ops.any(ops.eq(test_elements, elements))
    else:
        common = result_dtype((elements, test_elements))
        flat = ops.reshape(ops.to_dtype(test_elements, common), (-1,))
        count = flat.shape[0]
        if count.__class__ is int and count == 0:
            return ops.full(elements.shape, invert, dtype=dtypes.bool, device=elements.device)
        given, wanted = ops.sort(flat).values, ops.to_dtype(elements, common)
        places = ops.search_positions(given, wanted, False, False, None)
        places = ops.reshape(ops.clamp(places, None, count - 1), (-1,))
        there = ops.index_select(given, 0, places)
        found = ops.eq(ops.reshape(there, wanted.shape), wanted)
    return ops.logical_not(found) if invert else found


define(
    "isin(Operand elements, Operand test_elements, *, bool assume_unique=False, "
    "bool invert=False)",
    Kind.OTHER,
    meta=_isin_spec,
    vjp=not_differentiable,
    decompose=_isin_by_search,
    eager=_isin_eager,
    tags=("whole",),
    method=False,
    doc="""Whether each element is among the test elements.

    Args:
        elements: a real tensor, or a number.
        test_elements: a real tensor, or a number where `elements` is a tensor.
        assume_unique: both hold each value only once; the result is the same.
        invert: whether each element is not among them.

    Returns: a bool tensor of the shape of `elements`.

    Raises:
        TypeError: both are numbers.
        RuntimeError: one is bool or complex.

    Example:
        >>> gw.isin(gw.tensor([1, 2, 3]), gw.tensor([2, 4]))
        tensor([False,  True, False])
    """,
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


def _nonzero_counted(input: Any) -> Any:
    """What has to be counted first where it is computed by ops."""
    count = int(ops.count_nonzero(input).item())
    return ops.t(ops.contiguous(ops.t(ops.nonzero_static(input, size=count))))


define(
    "argwhere(Tensor input)",
    Kind.OTHER,
    meta=_nonzero_meta,
    vjp=not_differentiable,
    decompose=_nonzero_counted,
    eager=_nonzero_eager,
    tags=("data_dependent",),
    doc="""Positions of the elements that are not zero, in row-major order.

    Args:
        input: a tensor of any shape and dtype.

    Returns: an int64 tensor with a row for each such element and a column for each dim of
        `input`: its shape depends on values.

    Example:
        >>> gw.argwhere(gw.tensor([[0, 1], [2, 0]]))
        tensor([[0, 1],
                [1, 0]])
    """,
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
    doc="""Positions of the elements that are not zero, in row-major order.

    Args:
        input: a tensor of any shape and dtype.
        as_tuple: return a vector for each dim, by which `input` can be indexed.

    Returns: an int64 tensor with a row for each such element and a column for each dim of
        `input`, or its columns as a tuple; one without dims counts as a vector then.

    Example:
        >>> gw.nonzero(gw.tensor([[0, 1], [2, 0]]), as_tuple=True)
        (tensor([0, 1]), tensor([1, 0]))
    """,
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


def _static_by_search(input: Any, size: Any, fill_value: int) -> Any:
    """The n-th element that is not zero is where the count of those reaches n."""
    shape, device = _static_meta(input, size, fill_value).shape, input.device
    if 0 in input.shape:
        return ops.full(shape, fill_value, dtype=dtypes.int64, device=device)
    flat = ops.reshape(input, (-1,))
    counts = ops.cumsum(ops.to_dtype(ops.ne(flat, 0), dtypes.int64), 0)
    numbers = ops.arange(1, size + 1, device=device)
    rest = ops.search_positions(counts, numbers, False, False, None)
    found, columns = ops.lt(rest, flat.shape[0]), []
    for extent in reversed(input.shape):
        columns.append(ops.where(found, ops.remainder(rest, extent), fill_value))
        rest = ops.floor_divide(rest, extent)
    if not columns:
        return ops.full(shape, fill_value, dtype=dtypes.int64, device=device)
    return ops.stack(columns[::-1], 1)


define(
    "nonzero_static(Tensor input, *, SymInt size, int fill_value=-1)",
    Kind.OTHER,
    meta=_static_meta,
    vjp=not_differentiable,
    decompose=_static_by_search,
    eager=_static_eager,
    tags=("whole",),
    doc="""Positions of the first `size` elements that are not zero, in row-major order.

    Unlike that of `nonzero`, the shape of the result does not depend on values.

    Args:
        input: a tensor of any shape and dtype.
        size: the number of rows of the result, at least 0.
        fill_value: what is in the rows that are left over.

    Returns: an int64 tensor of shape `(size, input.ndim)`.

    Raises:
        RuntimeError: `size` is negative.

    Example:
        >>> gw.nonzero_static(gw.tensor([0, 1, 1]), size=3)
        tensor([[ 1],
                [ 2],
                [-1]])
    """,
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
    doc="""Classes as vectors of zeros with a 1 at the class.

    Args:
        input: classes, int64, `(*)`.
        num_classes: the number C of classes; one more than the greatest class if -1.

    Returns: an int64 tensor of shape `(*, C)`.

    Raises:
        RuntimeError: a class is negative or not less than `num_classes`, or `input` is not
            int64.

    Example:
        >>> F.one_hot(gw.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """,
)
