"""Gradients of views: zeros with the gradient written into the viewed part."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import copy_into
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.views.basic import slice_bound, wrapped_index
from graphwright.runtime.tensor.tensor import Tensor


def _slice_backward(
    grad: Any, size: tuple[Any, ...], dim: int, start: Any, end: Any, step: Any
) -> Any:
    full = size[dim]
    first = slice_bound(start, 0, full)
    last = slice_bound(end, full, full)
    if step is None or step == 1:
        if last < first:
            last = first
        pads = [0, 0] * (len(size) - 1 - dim) + [first, full - last]
        return ops.constant_pad(grad, tuple(pads), 0.0)
    places = ops.arange(first, last, step, device=grad.device) if first < last else None
    zeros = ops.zeros(size, dtype=grad.dtype, device=grad.device)
    return zeros if places is None else ops.index_add(zeros, dim, places, grad)


def _slice_backward_eager(
    grad: Tensor, size: tuple[int, ...], dim: int, start: Any, end: Any, step: Any
) -> Tensor:
    if step is None or step == 1:
        return _slice_backward(grad, size, dim, start, end, step)
    zeros: Tensor = ops.zeros(size, dtype=grad.dtype, device=grad.device)
    copy_into(ops.slice(zeros, dim, start, end, step), grad)
    return zeros


define(
    "slice_backward(Tensor grad, Size size, int dim, object start, object end, object step)",
    Kind.COMPOSITE,
    decompose=_slice_backward,
    eager=_slice_backward_eager,
    method=False,
    public=False,
)


def _select_backward(grad: Any, size: tuple[Any, ...], dim: int, index: Any) -> Any:
    position = wrapped_index(index, size[dim], dim)
    pads = [0, 0] * (len(size) - 1 - dim) + [position, size[dim] - position - 1]
    return ops.constant_pad(ops.unsqueeze(grad, dim), tuple(pads), 0.0)


define(
    "select_backward(Tensor grad, Size size, int dim, object index)",
    Kind.COMPOSITE,
    decompose=_select_backward,
    method=False,
    public=False,
)


def _diagonal_backward(grad: Any, size: tuple[Any, ...], offset: int, dim1: int, dim2: int) -> Any:
    zeros = ops.zeros(tuple(size), dtype=grad.dtype, device=grad.device)
    return ops.diagonal_scatter(zeros, grad, offset, dim1, dim2)


define(
    "diagonal_backward(Tensor grad, Size size, int offset, int dim1, int dim2)",
    Kind.COMPOSITE,
    decompose=_diagonal_backward,
    method=False,
    public=False,
)
