"""Histograms of points in several dimensions."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.dtype_rules import contiguous_spec
from graphwright.runtime.ops.table import Kind, define, no_derivative
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def _check(input: Any, bins: Sequence[Any], range: Any, weight: Any) -> None:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise NotImplementedError(f'"histogramdd" not implemented for {describe(input)}')
    if input.ndim < 2:
        raise RuntimeError(
            "histogramdd: input tensor should have at least 2 dimensions, but got "
            f"{describe(input)}"
        )
    dims = input.shape[-1]
    if len(bins) != dims:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the "
            f"input: {len(bins)} for {describe(input)}"
        )
    if range is not None and len(range) != 2 * dims:
        raise RuntimeError(
            f"histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} "
            f"elements, but got {len(range)}"
        )
    if weight is not None and tuple(weight.shape) != tuple(input.shape[:-1]):
        raise RuntimeError(
            "histogramdd: if weight tensor is provided it should have the same shape as the "
            "input tensor excluding its innermost dimension, but got input with shape "
            f"{list(input.shape)} and weight with shape {list(weight.shape)}"
        )
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(
            "histogramdd: if weight tensor is provided, input tensor and weight tensor should "
            f"have the same dtype, but got {describe(input)} and {describe(weight)}"
        )


def _edges(values: Any, bins: Any, range: Any) -> Any:
    """The edges along one dim: given, or evenly spaced over the range."""
    if not isinstance(bins, Tensor):
        if bins <= 0:
            raise RuntimeError(f"histogramdd(): bins {bins} must be > 0")
        return ops.histogram_edges(values, bins, range)
    if bins.ndim != 1 or bins.shape[0] < 1:
        raise RuntimeError(
            f"histogramdd: bins tensor should have one dimension, but got {describe(bins)}"
        )
    if bins.dtype is not values.dtype:
        raise RuntimeError(
            "histogramdd: input tensor and bins tensors should have the same dtype, but got "
            f"{describe(values)} and {describe(bins)}"
        )
    return ops.clone(bins.detach())


def _density(counts: Any, edges: Sequence[Any]) -> Any:
    """Counts over their sum and the bins' volumes."""
    volume = ops.sum(counts)
    for dim, bounds in enumerate(edges):
        shape = [1] * len(edges)
        shape[dim] = -1
        volume = ops.mul(volume, ops.reshape(ops.diff(bounds), shape))
    return ops.div(counts, volume)


def _counts(input: Any, edges: Any, weight: Any) -> Any:
    """Places along each dim, as one number per point; points outside count with weight 0."""
    points = ops.reshape(input, (-1, input.shape[-1]))
    ones = ops.ones((points.shape[0],), dtype=input.dtype, device=input.device)
    heights = ones if weight is None else ops.reshape(weight, (-1,))
    places = ops.zeros((points.shape[0],), dtype=dtypes.int64, device=input.device)
    for values, bounds in zip(ops.unbind(points, 1), edges, strict=True):
        inside = ops.logical_and(ops.ge(values, bounds[0]), ops.le(values, bounds[-1]))
        heights = ops.where(inside, heights, 0.0)
        along = ops.sub(ops.searchsorted(bounds, ops.contiguous(values), right=True), 1)
        last = bounds.shape[0] - 2
        places = ops.add(ops.mul(places, last + 1), ops.clamp(along, 0, max(last, 0)))
    shape = [bounds.shape[0] - 1 for bounds in edges]
    total = 1
    for size in shape:
        total = total * size
    counts = ops.zeros((total,), dtype=input.dtype, device=input.device)
    if total:
        counts = ops.index_add(counts, 0, places, heights)
    return ops.reshape(counts, shape)


def _histogramdd(input: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    dims = input.shape[-1] if input.ndim else 0
    bins = [bins] * dims if isinstance(bins, (int, SymInt)) else bins
    _check(input, bins, range, weight)
    limits = [None if range is None else range[2 * i : 2 * i + 2] for i in builtins.range(dims)]
    edges = tuple(
        _edges(ops.contiguous(ops.select(input, -1, dim)), bins[dim], limits[dim])
        for dim in builtins.range(dims)
    )
    counts = ops.histogramdd_counts(input, edges, weight)
    return return_types.histogramdd(_density(counts, edges) if density else counts, edges)


define(
    "histogramdd_counts(Tensor input, Tensor[] edges, Tensor? weight)",
    Kind.COMPOSITE,
    meta=lambda input, edges, weight: contiguous_spec(
        input, tuple([bounds.shape[0] - 1 for bounds in edges])
    ),
    vjp=no_derivative("histogramdd"),
    decompose=_counts,
    method=False,
    public=False,
)
define(
    "histogramdd(Tensor input, object bins, object range=None, Tensor? weight=None, "
    "bool density=False)",
    Kind.COMPOSITE,
    decompose=_histogramdd,
    method=False,
    doc="""How many points fall into each bin of a grid, and the edges of the bins along each dim.

    Args:
        input: a float32 or float64 tensor of shape (..., D): points of D coordinates.
        bins: the number of equally wide bins of each dim: an int for all, or a sequence of D
            ints; or a sequence of D vectors of increasing edges.
        range: the outer edges, `2 D` numbers; those of the coordinates if None.
        weight: a tensor of the shape (...) and dtype of `input`: how much each point counts; 1
            if None.
        density: divide by the sum and the volumes of the bins, so that the integral is 1.

    Returns: the named tuple `(hist, bin_edges)`: a tensor of D dims, and D vectors.

    Raises:
        NotImplementedError: `input` has another dtype.
        RuntimeError: `input` has fewer than two dims, or shapes, dtypes, the number of `bins`
            or of `range` do not match.

    Example:
        >>> gw.histogramdd(gw.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [2, 2]).hist
        tensor([[0., 1.],
                [1., 1.]])
    """,
)
