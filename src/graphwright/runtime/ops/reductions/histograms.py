"""Histograms of numbers: how many fall into each bin, and how often each occurs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.creation.fill import check_held, check_size
from graphwright.runtime.ops.dtype_rules import contiguous_spec, is_inexact, wide_array
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.table import Kind, define, no_derivative, not_differentiable
from graphwright.runtime.ops.value_checks import checked
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _check_histc(input: Any, bins: int, min: Any, max: Any) -> None:
    if not isinstance(bins, (int, SymInt)):
        raise TypeError(f"histc(): argument 'bins' must be int, not {type(bins).__name__}")
    if bins <= 0:
        raise RuntimeError(f"histc(): bins must be > 0, but got {bins} for {describe(input)}")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(f'"histc" not implemented for {describe(input)}')
    if max < min:
        raise RuntimeError(f"histc: max must be larger than min, got min={min}, max={max}")
    check_held("histc", input.dtype, min, max)


def _check_finite(low: float, high: float) -> None:
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"histogram: range of [{low}, {high}] is not finite")


def _range(values: Any, low: float, high: float, margin: float) -> tuple[float, float]:
    """The range asked for; that of the values where it is empty, with a margin around one value.

    Raises RuntimeError where it is not finite.
    """
    if low == high and not values.size:
        return low, low + 1.0
    if low == high:
        low, high = float(values.min()), float(values.max())
    _check_finite(low, high)
    return (low - margin, high + margin) if low == high else (low, high)


def _limits(values: Any, low: float, high: float, margin: float) -> tuple[Any, Any]:
    """As `_range`, of tensors: numbers of the dtype of the values, without dims."""
    if low == high and 0 in values.shape:
        high = low + 1.0
    if low != high:
        _check_finite(low, high)
        made = (ops.full((), n, dtype=values.dtype, device=values.device) for n in (low, high))
        return next(made), next(made)
    least, most = ops.amin(values), ops.amax(values)
    finite = ops.logical_and(ops.isfinite(least), ops.isfinite(most))
    least = checked(least, finite, "histogram: range is not finite")
    same = ops.eq(least, most)
    return (ops.where(same, ops.sub(least, margin), least),
            ops.where(same, ops.add(most, margin), most))


def _histc_by_sums(input: Any, bins: Any, min: Any, max: Any) -> Any:
    _check_histc(input, bins, min, max)
    x = ops.reshape(input, (-1,))
    x = ops.to_dtype(x, dtypes.float64) if input.dtype.itemsize == 2 else x
    low, high = _limits(x, float(min), float(max), 1.0)
    width = ops.sub(high, low)
    fits = ops.logical_and(ops.gt(width, 0), ops.isfinite(ops.mul(width, bins)))
    near = ops.div(ops.mul(ops.sub(x, low), bins), width)
    wide, start, end = (ops.to_dtype(t, dtypes.float64) for t in (x, low, high))
    scale = ops.where(ops.gt(ops.sub(end, start), 1), 0.5, 1.0)
    start = ops.mul(start, scale)
    share = ops.div(ops.sub(ops.mul(wide, scale), start), ops.sub(ops.mul(end, scale), start))
    place = ops.where(fits, ops.to_dtype(near, dtypes.float64), ops.mul(share, bins))
    inside = ops.logical_and(ops.ge(x, low), ops.le(x, high))
    return _counted(ops.to_dtype(ops.where(inside, place, 0.0), dtypes.int64), bins, inside, None,
                    input.dtype)


def _counted(places: Any, bins: Any, inside: Any, weight: Any, dtype: Any) -> Any:
    """How much what is inside adds to each bin; the last one includes its end."""
    kind = dtypes.int64 if weight is None else weight.dtype
    none = ops.zeros((bins,), dtype=kind, device=places.device)
    if bins.__class__ is int and bins == 0:
        return ops.to_dtype(none, dtype)
    heights = ops.where(inside, 1 if weight is None else weight, 0)
    places = ops.clamp(places, 0, bins - 1)
    return ops.to_dtype(ops.scatter_add(none, 0, places, ops.to_dtype(heights, kind)), dtype)


def _histc_eager(input: Any, bins: int, min: Any, max: Any) -> Tensor:
    _check_histc(input, bins, min, max)
    values = input._nd.reshape(-1)
    if input.dtype.itemsize == 2 or not input.dtype.is_floating_point:
        values = values.astype(np.float64)
    low, high = _range(values, float(min), float(max), 1.0)
    kept = values[(values >= low) & (values <= high)]
    kind = values.dtype.type
    with np.errstate(over="ignore"):
        width = kind(high) - kind(low)
        fits = width > 0 and np.isfinite(width * kind(bins))
    if fits:
        places = ((kept - kind(low)) * kind(bins) / width).astype(np.int64)
    else:
        scale = 0.5 if high - low > 1 else 1.0
        parts = (kept.astype(np.float64) * scale - low * scale) / (high * scale - low * scale)
        places = (parts * bins).astype(np.int64)
    counts = np.bincount(np.minimum(places, bins - 1), minlength=bins)
    return wrap(counts, input.dtype)


def _histc_meta(input: Any, bins: int, min: Any, max: Any) -> Any:
    _check_histc(input, bins, min, max)
    return contiguous_spec(input, (bins,))


define(
    "histc(Tensor input, int bins=100, Scalar min=0, Scalar max=0)",
    Kind.OTHER,
    meta=_histc_meta,
    vjp=not_differentiable,
    decompose=_histc_by_sums,
    eager=_histc_eager,
    tags=("whole",),
    doc="""How many elements fall into each of equally wide bins.

    Args:
        input: a floating point tensor of any shape.
        bins: the number of bins, above 0.
        min, max: the range of the bins, which elements outside of do not count; if equal, the
            range of the elements.

    Returns: a tensor of the dtype of `input` of shape `(bins,)`; the last bin includes `max`.

    Raises:
        NotImplementedError: `input` is not floating point.
        RuntimeError: `bins` is not positive, `max` is below `min`, or the range is not finite.

    Example:
        >>> gw.histc(gw.tensor([1.0, 2.0, 1.0]), 4, 0, 3)
        tensor([0., 2., 1., 0.])
    """,
)


def _check_edges(input: Any, edges: Any, weight: Any) -> None:
    for name, other in (("bins", edges), ("weight", weight)):
        if other is not None and other.dtype is not input.dtype:
            raise RuntimeError(
                f"histogram(): input tensor and {name} tensor should have the same dtype, but "
                f"got {describe(input)} and {describe(other)}"
            )
    if edges is not None and (edges.ndim != 1 or edges.shape[0] < 1):
        raise RuntimeError(f"histogram(): bins tensor should have one dim, got {describe(edges)}")
    if weight is not None and weight.shape != input.shape:
        raise RuntimeError(
            "histogram(): if weight tensor is provided it should have the same shape as the "
            f"input tensor, got {describe(weight)} and {describe(input)}"
        )


def _counts_eager(input: Any, edges: Any, weight: Any, density: bool) -> Tensor:
    _check_edges(input, edges, weight)
    values, bounds = wide_array(input).reshape(-1), wide_array(edges)
    inside = (values >= bounds[0]) & (values <= bounds[-1])
    places = np.searchsorted(bounds, values[inside], side="right") - 1
    bins = bounds.size - 1
    heights = None if weight is None else wide_array(weight).reshape(-1)[inside]
    counts = np.bincount(np.minimum(places, bins - 1), heights, minlength=bins).astype(float)
    if density:
        counts = counts / (counts.sum() * np.diff(bounds))
    return wrap(counts, input.dtype)


def _counts_by_search(input: Any, edges: Any, weight: Any, density: bool) -> Any:
    _check_edges(input, edges, weight)
    x, bins = ops.reshape(input, (-1,)), edges.shape[0] - 1
    inside = ops.logical_and(ops.ge(x, edges[0]), ops.le(x, edges[-1]))
    places = ops.sub(ops.search_positions(edges, x, False, True, None), 1)
    given = None if weight is None else ops.reshape(weight, (-1,))
    counts = _counted(places, bins, inside, given, dtypes.float64)
    if density:
        widths = ops.diff(ops.to_dtype(edges, dtypes.float64))
        counts = ops.div(counts, ops.mul(ops.sum(counts), widths))
    return ops.to_dtype(counts, input.dtype)


define(
    "histogram_counts(Tensor input, Tensor edges, Tensor? weight, bool density)",
    Kind.OTHER,
    meta=lambda input, edges, weight, density: contiguous_spec(input, (edges.shape[0] - 1,)),
    vjp=no_derivative("histogram"),
    decompose=_counts_by_search,
    eager=_counts_eager,
    tags=("whole",),
    method=False,
    public=False,
)


def _edges_eager(input: Any, bins: int, range: Any) -> Tensor:
    if range is None:
        low, high = _range(wide_array(input), 0.0, 0.0, 0.5)
    else:
        low, high = map(float, range)
        if low > high:
            raise RuntimeError(f"histogram(): min {low} should not exceed max {high}")
        _check_finite(low, high)
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
    return wrap(np.linspace(low, high, bins + 1), input.dtype)


def _edges_by_steps(input: Any, bins: Any, range: Any) -> Any:
    wide = ops.to_dtype(input, dtypes.float64)
    low, high = (0.0, 0.0) if range is None else map(float, range)
    if low > high:
        raise RuntimeError(f"histogram(): min {low} should not exceed max {high}")
    if range is not None and low == high:
        low, high = low - 0.5, high + 0.5
    start, end = _limits(wide, low, high, 0.5)
    place = ops.arange(bins + 1, dtype=dtypes.float64, device=input.device)
    steps = ops.add(ops.mul(place, ops.div(ops.sub(end, start), bins)), start)
    return ops.to_dtype(ops.where(ops.eq(place, bins), end, steps), input.dtype)


define(
    "histogram_edges(Tensor input, int bins, object range)",
    Kind.OTHER,
    meta=lambda input, bins, range: contiguous_spec(input, (bins + 1,)),
    vjp=no_derivative("histogram"),
    decompose=_edges_by_steps,
    eager=_edges_eager,
    tags=("whole",),
    method=False,
    public=False,
)


def _histogram(
    input: Any, bins: Any, range: Any, weight: Any, density: bool
) -> Any:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f'"histogram" not implemented for {describe(input)}')
    if isinstance(bins, Tensor):
        edges = ops.clone(bins.contiguous())
        if range is not None:
            raise TypeError("histogram(): range is not taken together with a tensor of edges")
    else:
        if bins <= 0:
            raise RuntimeError(f"histogram(): bins {bins} must be > 0")
        edges = ops.histogram_edges(input, bins, range)
    _check_edges(input, edges, weight)
    counts = ops.histogram_counts(input, edges, weight, density)
    return return_types.histogram(counts, edges)


define(
    "histogram(Tensor input, object bins=100, *, object range=None, Tensor? weight=None, "
    "bool density=False)",
    Kind.COMPOSITE,
    decompose=_histogram,
    doc="""How many elements fall into each bin, and the edges of the bins.

    Each bin includes its left edge; the last one includes both.

    Args:
        input: a float32 or float64 tensor of any shape.
        bins: the number of equally wide bins, or a vector of increasing edges of the dtype of
            `input`.
        range: the two outer edges of equally wide bins; those of the elements if None.
        weight: a tensor of the shape and dtype of `input`: how much each element counts; 1 if
            None.
        density: divide by the sum and the widths of the bins, so that the integral is 1.

    Returns: the named tuple `(hist, bin_edges)` of vectors of the dtype of `input`.

    Raises:
        NotImplementedError: `input` has another dtype.
        RuntimeError: shapes or dtypes do not match, `bins` is not positive, or the range is
            decreasing or not finite.
        TypeError: `range` is given together with edges.

    Example:
        >>> gw.histogram(gw.tensor([1.0, 2.0, 1.0]), 3, range=(0.0, 3.0)).hist
        tensor([0., 2., 1.])
    """,
)


def _bincount_meta(input: Any, weights: Any, minlength: int) -> Any:
    raise DataDependent(f"bincount() needs the largest value of {describe(input)}")


def _check_bincount(input: Any, weights: Any, none_negative: bool) -> None:
    integer = not is_inexact(input.dtype) and input.dtype is not dtypes.bool
    if input.ndim != 1 or not integer or not none_negative:
        raise RuntimeError(
            "bincount only supports 1-d non-negative integral inputs, "
            f"got {describe(input)}"
        )
    if weights is not None and weights.shape != input.shape:
        raise RuntimeError(
            "weights should be 1-d and have the same length as input, "
            f"got {describe(weights)} and {describe(input)}"
        )


def _bincount_eager(input: Any, weights: Any, minlength: int) -> Tensor:
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, got {minlength}")
    values = input._nd
    _check_bincount(input, weights, not (values.size and values.min() < 0))
    check_size("bincount", (max(int(values.max(initial=-1)) + 1, minlength),))
    if weights is None:
        return wrap(np.bincount(values, minlength=minlength), dtypes.int64)
    dtype = dtypes.float32 if weights.dtype is dtypes.float32 else dtypes.float64
    counts = np.bincount(values, weights._nd.astype(np.float64), minlength)
    return wrap(counts, dtype)


def _bincount_by_sums(input: Any, weights: Any, minlength: int) -> Any:
    """What has to be looked at first where it is computed by ops."""
    if minlength < 0:
        raise RuntimeError(f"minlength should be >= 0, got {minlength}")
    _check_bincount(input, weights, bool(0 in input.shape or ops.ge(input, 0).all().item()))
    bins = max(minlength, 0 if 0 in input.shape else int(ops.amax(input).item()) + 1)
    check_size("bincount", (bins,))
    places = ops.to_dtype(input, dtypes.int64)
    if weights is None:
        return _counted(places, bins, ops.ge(places, 0), None, dtypes.int64)
    dtype = dtypes.float32 if weights.dtype is dtypes.float32 else dtypes.float64
    heights = ops.to_dtype(weights, dtypes.float64)
    return _counted(places, bins, ops.ge(places, 0), heights, dtype)


define(
    "bincount(Tensor input, Tensor? weights=None, SymInt minlength=0)",
    Kind.OTHER,
    meta=_bincount_meta,
    vjp=no_derivative("bincount"),
    decompose=_bincount_by_sums,
    eager=_bincount_eager,
    tags=("data_dependent",),
    doc="""How often each of the numbers 0, 1, 2, ... occurs in a vector.

    Args:
        input: a vector of integers, none negative.
        weights: a vector of the same length: how much each element counts; 1 if None.
        minlength: the least length of the result.

    Returns: a vector whose length is the greatest element plus 1, or `minlength`: int64
        without weights, float32 for float32 weights, else float64.

    Raises:
        RuntimeError: `input` is no vector of such integers, the length of `weights` differs,
            or `minlength` is negative.

    Example:
        >>> gw.bincount(gw.tensor([0, 1, 1, 3]))
        tensor([1, 2, 0, 1])
    """,
)
