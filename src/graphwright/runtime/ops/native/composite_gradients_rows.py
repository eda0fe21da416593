"""Gradients of composites over rows, which one kernel in C computes: pairs, segments."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.native.recompute_gradient import differentiated
from graphwright.runtime.ops.table import op
from graphwright.runtime.tensor.tensor import Tensor


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


def _standardised(ctx: Any, grad: Any) -> Any:
    """Of batch norm by given statistics, an affine map of each channel."""
    needs, x, weight = ctx.needs, ctx.input, ctx.weight
    dims, sizes = (0, *range(2, grad.ndim)), (-1,) + (1,) * (grad.ndim - 2)
    rstd = ops.rsqrt(ops.add(ctx.running_var, ctx.eps))
    to_input = to_weight = to_bias = None
    if needs["input"]:
        scale = rstd if weight is None else ops.mul(rstd, weight)
        to_input = ops.mul(grad, ops.reshape(scale, sizes))
    if needs["weight"]:
        centred = ops.sub(x, ops.reshape(ctx.running_mean, sizes))
        to_weight = ops.mul(ops.sum(ops.mul(grad, centred), dims), rstd)
    if needs["bias"]:
        to_bias = ops.sum(grad, dims)
    return to_input, to_weight, to_bias, None, None


ROWS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "batch_norm": (
        _standardised, ("input?weight", "weight?input", "running_mean?weight", "running_var")
    ),
    "cdist": (_distances, ("x1", "x2", "out")),
    **dict.fromkeys(
        ("kthvalue", "max", "min", "mode", "sort", "topk"), (_selected, ("out1",))
    ),
    "segment_reduce": (_segments, ("data", "lengths", "offsets", "out")),
}
