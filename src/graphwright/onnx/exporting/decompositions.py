"""Ops that nothing is made of elsewhere, written with ops that have an ONNX form."""

from __future__ import annotations

import math
from typing import Any

from graphwright.ir.graph.node import map_leaves
from graphwright.ir.trace import Rewrite, Tracer
from graphwright.runtime.fake.fake_tensor import fake_kernel
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.indexing.scatter import neutral
from graphwright.runtime.ops.sequences.attention import attention
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.ops.views.scatter import viewed
from graphwright.runtime.tensor.dtypes import int64


def _itself(name: str, tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """The op as a node of its own, which goes where nothing reads it."""
    op = TABLE[name]
    return tracer.emit(op, args, fake_kernel(op, map_leaves(args, tracer.fake_of)))


def _view_scatter(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Through one slice or select as `slice_scatter`; otherwise by the places that views of 0, 1,
    2, ... show."""
    x, src, views = args
    if len(views) == 1 and views[0][0] == "slice":
        return ops.slice_scatter(x, src, *views[0][1:])
    if len(views) == 1 and views[0][0] == "select":
        _, dim, index = views[0]
        end = None if type(index) is int and index == -1 else index + 1
        return ops.slice_scatter(x, ops.unsqueeze(src, dim), dim, index, end)
    places = ops.reshape(ops.arange(x.numel(), device=x.device), x.shape)
    shown = ops.reshape(viewed(places, views), (-1,))
    flat = ops.reshape(x, (-1,))
    written = ops.index_put(flat, (shown,), ops.reshape(src, (-1,)))
    return ops.reshape(written, x.shape)


def _fused_attention(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """The fused kernel's op as what it fuses; what it keeps for gradients has no form."""
    query, key, value, mask, is_causal, scale = args
    kept = _itself("fused_attention", tracer, args)[1]
    return attention(query, key, value, mask, 0.0, is_causal, scale)[0], kept


def _im2col(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Rows, then columns, picked by their places in each window."""
    x, kernel, dilation, padding, stride = args
    if any(padding):
        x = ops.constant_pad(x, (padding[1], padding[1], padding[0], padding[0]))
    counts = []
    for axis in (0, 1):
        size, dim = x.shape[2 + 2 * axis], 2 + 2 * axis
        count = (size - dilation[axis] * (kernel[axis] - 1) - 1) // stride[axis] + 1
        begins = ops.mul(ops.arange(0, count, 1, dtype=int64, device=x.device), stride[axis])
        gaps = ops.arange(0, kernel[axis], 1, dtype=int64, device=x.device)
        gaps = ops.mul(gaps, dilation[axis])
        places = ops.reshape(ops.add(ops.unsqueeze(gaps, 1), begins), (-1,))
        picked = ops.index_select(x, dim, places)
        x = ops.reshape(
            picked, (*x.shape[:dim], kernel[axis], count, *x.shape[dim + 1:]))
        counts.append(count)
    x = ops.permute(x, (0, 1, 2, 4, 3, 5))
    return ops.reshape(x, (x.shape[0], x.shape[1] * kernel[0] * kernel[1], counts[0] * counts[1]))


def _max_pool_backward(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Each gradient is added where its maximum was, in planes laid flat."""
    grad, indices, size, kernel = args[:4]
    lead = tuple(size[: len(size) - len(kernel)])
    plane = math.prod(size[len(lead):], start=1)
    zeros = ops.full((*lead, plane), 0, dtype=grad.dtype, device=grad.device)
    dim = len(lead)
    total = ops.scatter_add(zeros, dim, ops.reshape(indices, (*lead, -1)),
                            ops.reshape(grad, (*lead, -1)))
    return ops.reshape(total, tuple(size))


def _scatter_extreme(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Without the elements that were there: neutral ones in their place."""
    x, dim, index, src, reduce, include_self = args
    if include_self:
        return _itself("scatter_extreme", tracer, args)
    x = ops.scatter_value(x, dim, index, neutral(reduce, x.dtype))
    return ops.scatter_extreme(x, dim, index, src, reduce, True)


def _embedding_bag(tracer: Tracer, args: tuple[Any, ...]) -> Any:
    """Rows added, or their maxima taken, by the bag of their index; empty bags are zeros.

    Where maxima came from, which gradients need, has no form.
    """
    weight, indices, offsets, factors, mode, padding, _ = args
    count, width = offsets.shape[0], weight.shape[1]
    numbers = ops.arange(0, indices.shape[0], 1, dtype=offsets.dtype, device=offsets.device)
    bag = ops.sub(ops.search_positions(offsets, numbers, False, True, None), 1)
    kept = ops.ne(indices, padding)
    rows = ops.embedding(weight, indices)
    if factors is not None:
        rows = ops.mul(rows, ops.unsqueeze(factors, 1))
    none = ops.full((count,), 0, dtype=int64, device=offsets.device)
    counts = ops.index_add(none, 0, bag, ops.to_dtype(kept, int64))
    column = ops.unsqueeze(kept, 1)
    if mode == "max":
        low = neutral("amax", weight.dtype)
        start = ops.full((count, width), low, dtype=weight.dtype, device=weight.device)
        places = ops.expand(ops.unsqueeze(bag, 1), (indices.shape[0], width))
        found = ops.scatter_extreme(start, 0, places, ops.where(column, rows, low), "amax", True)
        found = ops.where(ops.gt(ops.unsqueeze(counts, 1), 0), found, 0.0)
    else:
        start = ops.full((count, width), 0, dtype=weight.dtype, device=weight.device)
        found = ops.index_add(start, 0, bag, ops.where(column, rows, 0.0))
        if mode == "mean":
            least = ops.to_dtype(ops.clamp(counts, 1), weight.dtype)
            found = ops.div(found, ops.unsqueeze(least, 1))
    return found, bag, counts, _itself("embedding_bag_parts", tracer, args)[3]


DECOMPOSITIONS: dict[str, Rewrite] = {
    "embedding_bag_parts": _embedding_bag, "fused_attention": _fused_attention,
    "im2col": _im2col, "max_pool_backward": _max_pool_backward,
    "scatter_extreme": _scatter_extreme, "view_scatter": _view_scatter,
}
"""Op name -> what runs in its place."""
