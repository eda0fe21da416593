"""Gradients of composites over rows, which one kernel in C computes: pairs, segments."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.rerun import differentiated
from graphwright.runtime.ops.table import op
from graphwright.runtime.tensor import Tensor


def _distances(ctx: Any, grad: Any) -> Any:
    """The rule of the op that computes them."""
    rule = op("pair_distances").vjp
    return rule(ctx, grad)  # type: ignore[misc, operator]


_to_segments = _core.Native(Tensor, "segment_reduce_backward", lambda *args: None)


def _segments(ctx: Any, grad: Any) -> Any:
    """In C; what is to be differentiated again, or is not plain, by the parts."""
    args = (
        ctx.data, ctx.reduce, ctx.lengths, ctx.indices, ctx.offsets, ctx.axis, ctx.unsafe,
        ctx.initial,
    )  # fmt: skip
    grad = grad if grad.is_contiguous() else ops.contiguous(grad)
    to_data = None if _core.grad_enabled() else _to_segments(*args, grad, ctx.out)
    if to_data is None:
        (to_data,) = differentiated(op("segment_reduce"), args, (True,), grad)
    return to_data, None, None, None


def _selected(ctx: Any, grad: Any, grad_places: Any) -> Any:
    """Each gradient goes to the place that its value is from; no line gives one twice."""
    shape, dim, places = tuple(ctx.input.shape), ctx.dim, ctx.out1
    if grad.ndim < len(shape):
        grad, places = ops.unsqueeze(grad, dim), ops.unsqueeze(places, dim)
    zeros = ops.zeros(shape, dtype=grad.dtype, device=grad.device)
    return ops.scatter_add(zeros, dim, places, grad)


ROWS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "cdist": (_distances, ("x1", "x2", "out")),
    **dict.fromkeys(
        ("kthvalue", "max", "min", "mode", "sort", "topk"), (_selected, ("out1",))
    ),
    "segment_reduce": (_segments, ("data", "lengths", "offsets", "out")),
}
