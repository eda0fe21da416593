"""Reductions of consecutive segments of different lengths: `segment_reduce`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import contiguous_spec, require_dtype
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.tensor import dtypes

_SCATTERED = {
    "sum": ("sum", 0.0),
    "mean": ("sum", 0.0),
    "prod": ("prod", 1.0),
    "max": ("amax", float("-inf")),
    "min": ("amin", float("inf")),
}
"""How elements of one segment are gathered, and what an empty one gives."""


def _check(data: Any, reduce: str, given: Any, indices: Any, axis: int) -> None:
    require_dtype("segment_reduce", data.dtype, bool=False, integers=False, complex=False)
    if reduce not in _SCATTERED:
        raise RuntimeError(
            f"segment_reduce(): reduce must be one of {', '.join(_SCATTERED)}, got {reduce!r}"
        )
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported")
    if given is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if given.dtype not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(
            f"segment_reduce(): lengths or offsets must be int32 or int64, got {describe(given)}"
        )
    if given.ndim != axis + 1 or given.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): lengths or offsets must have the dims of data before axis {axis} "
            f"and one more, got {describe(given)} for {describe(data)}"
        )


def _bounds(lengths: Any) -> Any:
    """The offsets of segments of these lengths: from 0 to the end of the last."""
    return ops.constant_pad_nd(ops.cumsum(lengths, -1), (1, 0), 0)


def _numbers_meta(bounds: Any, size: Any, whole: bool) -> Any:
    return contiguous_spec(bounds, (*bounds.shape[:-1], size), dtypes.int64)


def _refusals(size: Any) -> tuple[str, str, str]:
    """What is said of bounds in no order, of elements in no segment, of segments outside."""
    return (
        "segment_reduce(): lengths contains negative value, or offsets are in no order",
        "segment_reduce(): Expected all rows of lengths along axis to sum to "
        f"data.size(axis), {size}, when not unsafe.",
        f"segment_reduce(): a segment lies outside of data.size(axis), {size}",
    )


def _numbers_eager(bounds: Any, size: int, whole: bool) -> Any:
    """Counts at each place how many segments begin there, and sums those up."""
    starts = bounds._nd
    count = starts.shape[-1] - 1
    wrong = ((starts[..., 1:] < starts[..., :-1]).any(),
             whole and (starts[..., -1] != size).any(),
             (starts < 0).any() or (starts > size).any())
    for is_wrong, message in zip(wrong, _refusals(size), strict=True):
        if is_wrong:
            raise RuntimeError(message)
    places = starts.reshape(-1, count + 1)
    begun = np.zeros((len(places), size + 1), np.int64)
    np.add.at(begun, (np.arange(len(places))[:, None], places), 1)
    numbers = np.cumsum(begun, 1)[:, :size] - 1
    numbers[numbers < 0] = count
    return wrap(numbers.reshape(*starts.shape[:-1], size), dtypes.int64)


def _numbers_by_search(bounds: Any, size: Any, whole: bool) -> Any:
    """The segment whose beginning is the last one up to each place."""
    count = bounds.shape[-1] - 1
    no_order, not_whole, outside = _refusals(size)
    starts = checked(bounds, ops.all(ops.ge(ops.diff(bounds), 0)), no_order)
    if whole:
        last = ops.narrow(starts, -1, count, 1)
        starts = checked(starts, ops.eq(last, size), not_whole)
    within = ops.logical_and(ops.ge(starts, 0), ops.le(starts, size))
    starts = checked(starts, within, outside)
    places = ops.expand(ops.arange(size, device=bounds.device), (*bounds.shape[:-1], size))
    found = ops.sub(ops.search_positions(starts, places, False, True, None), 1)
    return ops.where(ops.lt(found, 0), count, found)


define(
    "segment_numbers(Tensor bounds, int size, bool whole)",
    Kind.OTHER,
    meta=_numbers_meta,
    vjp=not_differentiable,
    decompose=_numbers_by_search,
    eager=_numbers_eager,
    tags=("whole",),
    method=False,
    public=False,
)
"""For each of `size` elements the segment it is in, as many as there are where it is in none.

Segment i has the elements from `bounds[..., i]` to `bounds[..., i + 1]`. Raises RuntimeError for
bounds outside of 0..size or in no order, and where all elements are to be in a segment (`whole`)
and are not.
"""


def _segment_reduce(
    data: Any,
    reduce: str,
    lengths: Any,
    indices: Any,
    offsets: Any,
    axis: int,
    unsafe: bool,
    initial: Any,
) -> Any:
    given = lengths if offsets is None else offsets
    _check(data, reduce, given, indices, axis)
    size = data.shape[axis]
    if offsets is None:
        bounds = _bounds(lengths)
    else:
        bounds, lengths = offsets, ops.diff(offsets, dim=-1)
    count = lengths.shape[-1]
    behind = (1,) * (data.ndim - axis - 1)
    segments = ops.segment_numbers(bounds, size, offsets is None and not unsafe)
    segments = ops.expand(ops.reshape(segments, (*segments.shape, *behind)), data.shape)
    how, empty = _SCATTERED[reduce]
    shape = (*data.shape[:axis], count + 1, *data.shape[axis + 1 :])
    start = empty if initial is None else initial
    out = ops.full(shape, start, dtype=data.dtype, device=data.device)
    out = ops.scatter_reduce(out, axis, segments, data, how)
    out = ops.contiguous(ops.narrow(out, axis, 0, count))
    if reduce != "mean":
        return out
    sizes = ops.reshape(lengths, (*lengths.shape, *behind))
    means = ops.div(out, ops.clamp(sizes, 1))
    return means if initial is not None else ops.where(ops.eq(sizes, 0), float("nan"), means)


define(
    "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
    "Tensor? offsets=None, Dim axis=0, bool unsafe=False, Scalar? initial=None)",
    Kind.COMPOSITE,
    decompose=_segment_reduce,
    method=False,
    doc="""Reduction of consecutive segments of different lengths along one dim.

    Args:
        data: a floating point tensor of any shape.
        reduce: "sum", "mean", "prod", "max" or "min".
        lengths: an int32 or int64 tensor of the lengths of segments along its last dim, with
            the dims of `data` before `axis` in front.
        indices: not supported; None.
        offsets: where segments begin, and where the last one ends: one more than there are
            segments; used in place of `lengths`.
        axis: the dim that is segmented: the last of `lengths` or `offsets`.
        unsafe: do not check that the lengths sum to the size of the dim.
        initial: what each reduction starts from; if None, an empty segment gives 0 ("sum"), 1
            ("prod"), NaN ("mean"), -inf ("max") or inf ("min").

    Returns: a tensor of the dtype of `data` with one element per segment along `axis`.

    Raises:
        NotImplementedError: `data` is not floating point.
        RuntimeError: neither `lengths` nor `offsets` is given, their shape or dtype does not
            suit, segments lie outside of the dim, or lengths do not sum to its size.

    Example:
        >>> data = gw.tensor([1.0, 2.0, 3.0, 4.0])
        >>> gw.segment_reduce(data, "sum", lengths=gw.tensor([1, 3]))
        tensor([1., 9.])
    """,
)
