"""Gradients of composites over rows, which one kernel in C computes: pairs, segments."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.table import op


def _distances(ctx: Any, grad: Any) -> Any:
    """The rule of the op that computes them."""
    rule = op("pair_distances").vjp
    return rule(ctx, grad)  # type: ignore[misc, operator]


def _segments(ctx: Any, grad: Any) -> Any:
    """Of sums and means: each row takes what its segment gets, and those in none take zeros."""
    rows = ctx.data.shape[0]
    lengths, bounds = ctx.lengths, ctx.offsets
    if bounds is None:
        bounds = ops.constant_pad_nd(ops.cumsum(lengths, -1), (1, 0), 0)
    else:
        lengths = ops.diff(bounds, dim=-1)
    if ctx.reduce == "mean":
        sizes = ops.reshape(ops.clamp(lengths, 1), (-1, *(1,) * (len(grad.shape) - 1)))
        grad = ops.div(grad, sizes)
    segments = ops.segment_numbers(bounds, rows, False)
    behind = (*(0, 0) * (len(grad.shape) - 1), 0, 1)
    picked = ops.index_select(ops.constant_pad_nd(grad, behind, 0.0), 0, segments)
    return picked, None, None, None


ROWS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "cdist": (_distances, ("x1", "x2", "out")),
    "segment_reduce": (_segments, ("lengths", "offsets")),
}
