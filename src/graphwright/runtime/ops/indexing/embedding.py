"""embedding, embedding_bag and the limit on the norm of rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphwright.runtime.errors import OutOfRange, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    finish,
    internal,
    new,
    output,
    spec,
    widened,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.value_checks import checked, inside
from graphwright.runtime.tensor.dtypes import from_numpy_dtype, int32, int64
from graphwright.runtime.tensor.tensor import Tensor

# embedding


def _check_indices(name: str, indices: Any) -> None:
    if indices.dtype not in (int64, int32):
        raise RuntimeError(
            f"{name}: Expected tensor 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {describe(indices)}"
        )


def _check_embedding(weight: Any, indices: Any) -> None:
    if len(weight.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_indices("embedding", indices)


def _embedding_meta(weight: Any, indices: Any, *rest: Any) -> Any:
    _check_embedding(weight, indices)
    return spec((*indices.shape, weight.shape[1]), weight)


def _embedding_eager(weight: Tensor, indices: Tensor, *rest: Any) -> Tensor:
    _check_embedding(weight, indices)
    index = indices._nd
    rows = weight.shape[0]
    if index.size and (index.min() < 0 or index.max() >= rows):
        bad = index[(index < 0) | (index >= rows)].flat[0]
        raise OutOfRange(
            f"embedding(): index out of range in self: {bad} is not in [0, {rows})"
        )
    result = new((*index.shape, weight.shape[1]), weight.dtype)
    if result.numel():
        np.take(weight._nd, index, axis=0, out=result._nd, mode="clip")
    return result


def _embedding_decompose(weight: Any, indices: Any, *rest: Any) -> Any:
    shape = _embedding_meta(weight, indices).shape
    flat = ops.reshape(ops.to_dtype(indices, int64), (-1,))
    if weight.shape[1] == 0:        # rows without elements: nothing is read, but indices count
        ops.index_select(ops.zeros((weight.shape[0],), device=weight.device), 0, flat)
    return ops.view(ops.index_select(weight, 0, flat), shape)


def _embedding_vjp(ctx: Any, grad: Any) -> Any:
    rows = ctx.weight.shape[0]
    return ops.embedding_backward(
        grad, ctx.indices, rows, ctx.padding_idx, ctx.scale_grad_by_freq
    ), None


def _embedding_backward_meta(grad: Any, indices: Any, rows: Any, *rest: Any) -> Any:
    return spec((rows, grad.shape[-1]), grad)


def _embedding_backward_decompose(
    grad: Any, indices: Any, rows: Any, padding_idx: int, by_frequency: bool
) -> Any:
    index = ops.reshape(ops.to_dtype(indices, int64), (-1,))
    wide = widened(grad)
    values = ops.reshape(wide, (-1, grad.shape[-1]))
    if padding_idx >= 0:
        values = ops.where(ops.unsqueeze(ops.ne(index, padding_idx), 1), values, 0.0)
    if by_frequency:
        ones = ops.full((index.shape[0],), 1.0, dtype=wide.dtype, device=grad.device)
        none = ops.full((rows,), 0.0, dtype=wide.dtype, device=grad.device)
        counts = ops.index_select(ops.index_add(none, 0, index, ones), 0, index)
        values = ops.div(values, ops.unsqueeze(counts, 1))
    zeros = ops.full((rows, grad.shape[-1]), 0.0, dtype=wide.dtype, device=grad.device)
    return cast(ops.index_add(zeros, 0, index, values), grad.dtype)


def _sum_by_row(values: Array, index: Array, out: Array) -> None:
    """out[index[i]] = sum of values[i]."""
    out[...] = 0
    total, rows, places = (wrap(a, from_numpy_dtype(a.dtype)) for a in (out, values, index))
    ops.index_add_(total, 0, places, rows)


def _embedding_backward_eager(
    grad: Tensor, indices: Tensor, rows: int, padding_idx: int, by_frequency: bool
) -> Tensor:
    index = indices._nd.reshape(-1)
    values = compute(grad).reshape(index.size, grad.shape[-1])
    if padding_idx >= 0:
        keep = index != padding_idx
        index, values = index[keep], values[keep]
    if by_frequency and index.size:
        counts = np.bincount(index, minlength=rows)[index].astype(values.dtype)
        values = values / counts[:, None]
    result, out = output((rows, grad.shape[-1]), grad.dtype)
    _sum_by_row(values, index, out)
    return finish(result, out)


def _renorm(weight: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Scale the rows of `weight` at `indices` whose norm exceeds `max_norm` down to it."""
    _check_embedding(weight, indices)
    flat = ops.reshape(ops.to_dtype(indices, int64), (-1,))
    rows = ops.index_select(weight, 0, flat)
    size = ops.norm(rows, norm_type, 1, True)
    scaled = ops.mul(rows, ops.div(max_norm, ops.add(size, 1e-7)))
    return ops.index_put_(weight, (flat,), ops.where(ops.gt(size, max_norm), scaled, rows))


# embedding_bag


def _bag_meta(
    weight: Any, indices: Any, offsets: Any, per_sample_weights: Any, mode: str, *options: Any
) -> Any:
    """The result, the bag of each index, the rows of each bag, and where maxima came from."""
    if len(weight.shape) != 2:
        raise RuntimeError("'weight' must be 2-D")
    _check_indices("embedding_bag", indices)
    _check_indices("embedding_bag", offsets)
    if not weight.dtype.is_floating_point:
        raise RuntimeError(
            f"embedding_bag: expected floating point weight, got {describe(weight)}"
        )
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            f"expected embedding_bag.weight {describe(weight)} and per_sample_weights "
            f"{describe(per_sample_weights)} to have the same dtype"
        )
    shape = (offsets.shape[0], weight.shape[1])
    position = spec(indices.shape, indices, int64)
    return (
        spec(shape, weight),
        position,
        spec((offsets.shape[0],), indices, int64),
        spec(shape if mode == "max" else (0,), indices, int64),
    )


_FIRST = ("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
          "position 0.")
_IN_ORDER = "embedding_bag: offsets have to be in increasing order"


def _bag_numbers(index: Array, offsets: Array, rows: int) -> Array:
    """The bag of every index. RuntimeError for bad offsets or indices."""
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(f"{_FIRST} However, got {offsets[0]}")
    if offsets.size and offsets[-1] > index.size:
        raise RuntimeError(f"{_last(index.size)} but got offsets[-1] of {offsets[-1]}")
    if (offsets[1:] < offsets[:-1]).any():
        raise RuntimeError(_IN_ORDER)
    bad = (index < 0) | (index >= rows)
    if bad.any():
        raise RuntimeError(
            "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
            f"{index[bad][0]}"
        )
    lengths = np.diff(np.append(offsets, index.size))
    bags: Array = np.repeat(np.arange(offsets.size), lengths)
    return bags


def _last(length: Any) -> str:
    return f"offsets[-1] can not be greater than input's length({length})"


def _bags(indices: Any, offsets: Any, rows: Any) -> tuple[Any, Any]:
    """The indices and their bags, checked by ops."""
    index, starts = (ops.to_dtype(t, int64) for t in (indices, offsets))
    count = index.shape[0]
    starts = checked(starts, ops.eq(ops.narrow(starts, 0, 0, 1), 0), _FIRST)
    starts = checked(starts, ops.le(ops.narrow(starts, 0, -1, 1), count), _last(count))
    starts = checked(starts, ops.all(ops.ge(ops.diff(starts), 0)), _IN_ORDER)
    index = checked(index, inside(index, 0, rows - 1),
                    "embedding_bag: Expected idx >= 0 && idx < num_embeddings")
    places = ops.arange(count, device=index.device)
    return index, ops.sub(ops.search_positions(starts, places, False, True, None), 1)


def _bag_by_sums(
    weight: Any, indices: Any, offsets: Any, per_sample_weights: Any, mode: str,
    padding_idx: int, *options: Any,
) -> tuple[Any, ...]:
    specs = _bag_meta(weight, indices, offsets, per_sample_weights, mode)
    shape, device = specs[0].shape, weight.device
    zeros = partial(ops.zeros, device=device)
    if 0 in (*indices.shape, *offsets.shape):
        return (zeros(shape, dtype=weight.dtype), zeros(indices.shape, dtype=int64),
                zeros(offsets.shape, dtype=int64),
                ops.full(specs[3].shape, -1, dtype=int64, device=device))
    index, bags = _bags(indices, offsets, weight.shape[0])
    kept = ops.ne(index, padding_idx)
    none = zeros(offsets.shape, dtype=int64)
    counts = ops.index_add(none, 0, bags, ops.to_dtype(kept, int64))
    values = widened(ops.index_select(weight, 0, index))
    if per_sample_weights is not None:
        values = ops.mul(values, ops.unsqueeze(widened(per_sample_weights), 1))
    if mode == "max":
        result, chosen = _bag_greatest(values, index, bags, kept, shape)
        return cast(result, weight.dtype), bags, counts, chosen
    start = zeros(shape, dtype=values.dtype)
    result = ops.index_add(start, 0, bags, ops.where(ops.unsqueeze(kept, 1), values, 0.0))
    if mode == "mean":
        least = cast(ops.clamp_min(counts, 1), values.dtype)
        result = ops.div(result, ops.unsqueeze(least, 1))
    return cast(result, weight.dtype), bags, counts, zeros((0,), dtype=int64)


def _bag_greatest(
    values: Any, index: Any, bags: Any, kept: Any, shape: Any
) -> tuple[Any, Any]:
    """As `_bag_maxima`, by ops: the maxima, and the rows of the first of each bag."""
    device, count = values.device, index.shape[0]
    wide, there = ops.expand(ops.unsqueeze(bags, 1), values.shape), ops.unsqueeze(kept, 1)
    low = ops.full(shape, float("-inf"), dtype=values.dtype, device=device)
    given = ops.where(there, values, float("-inf"))
    greatest = ops.scatter_reduce(low, 0, wide, given, "amax")
    equal = ops.logical_and(ops.eq(values, ops.gather(greatest, 0, wide)), there)
    places = ops.where(equal, ops.unsqueeze(ops.arange(count, device=device), 1), count)
    none = ops.full(shape, count, dtype=int64, device=device)
    first = ops.scatter_reduce(none, 0, wide, places, "amin")
    found = ops.lt(first, count)
    rows = ops.index_select(index, 0, ops.reshape(ops.where(found, first, 0), (-1,)))
    empty = ops.eq(ops.index_add(ops.zeros(shape[:1], dtype=int64, device=device), 0, bags,
                                 ops.to_dtype(kept, int64)), 0)
    result = ops.where(ops.unsqueeze(empty, 1), 0.0, greatest)
    return result, ops.where(found, ops.reshape(rows, shape), -1)


def _bag_eager(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    per_sample_weights: Tensor | None,
    mode: str,
    padding_idx: int,
    *options: Any,
) -> tuple[Tensor, ...]:
    result_spec, _, _, places = _bag_meta(weight, indices, offsets, per_sample_weights, mode)
    shape = result_spec.shape
    index = indices._nd
    bags = _bag_numbers(index, offsets._nd, weight.shape[0])
    keep = index != padding_idx
    rows, owners = index[keep], bags[keep]
    counts = np.bincount(owners, minlength=shape[0])
    result, out = output(shape, weight.dtype)
    chosen = np.full(places.shape, -1, np.int64)
    values = compute(weight)[rows]
    if per_sample_weights is not None:
        values = values * compute(per_sample_weights)[keep][:, None]
    if mode == "max":
        _bag_maxima(values, rows, owners, out, chosen)
    else:
        _sum_by_row(values, owners, out)
        if mode == "mean":
            out /= np.maximum(counts, 1)[:, None].astype(out.dtype)
    return finish(result, out), wrap(bags, int64), wrap(counts, int64), wrap(chosen, int64)


def _bag_maxima(values: Array, rows: Array, owners: Array, out: Array, chosen: Array) -> None:
    """out[bag] = the maxima, chosen[bag] = the table's rows they came from (the first ones)."""
    out[...] = 0
    if owners.size == 0:
        return
    starts = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1])))
    out[owners[starts]] = np.maximum.reduceat(values, starts, axis=0)
    place, column = np.nonzero(values == out[owners])
    place, column = place[::-1], column[::-1]
    chosen[owners[place], column] = rows[place]


def _bag_vjp(ctx: Any, grad: Any, *rest: Any) -> Any:
    to_weight = to_samples = None
    if ctx.mode == "max":
        return _bag_max_gradient(ctx, grad), None, None, None
    if ctx.mode == "mean":
        counts = ops.clamp_min(ctx.out2, 1)
        grad = ops.div(grad, ops.unsqueeze(cast(counts, grad.dtype), 1))
    by_index = ops.index_select(grad, 0, ctx.out1)
    if ctx.needs["per_sample_weights"]:
        picked = ops.index_select(ctx.weight, 0, ops.to_dtype(ctx.indices, int64))
        to_samples = ops.sum(ops.mul(widened(by_index), widened(picked)), 1)
        to_samples = cast(
            ops.where(ops.ne(ctx.indices, ctx.padding_idx), to_samples, 0.0), grad.dtype
        )
    if ctx.needs["weight"]:
        if ctx.per_sample_weights is not None:
            by_index = ops.mul(by_index, ops.unsqueeze(ctx.per_sample_weights, 1))
        to_weight = ops.embedding_backward(
            by_index, ctx.indices, ctx.weight.shape[0], ctx.padding_idx, ctx.scale_grad_by_freq
        )
    return to_weight, None, None, to_samples


def _bag_max_gradient(ctx: Any, grad: Any) -> Any:
    rows, columns = ctx.weight.shape
    column = ops.arange(0, columns, 1, dtype=int64, device=grad.device)
    found = ops.ge(ctx.out3, 0)
    flat = ops.where(found, ops.add(ops.mul(ctx.out3, columns), column), 0)
    zeros = ops.full((rows * columns,), 0.0, dtype=grad.dtype, device=grad.device)
    values = ops.where(found, grad, 0.0)
    total = ops.index_add(zeros, 0, ops.reshape(flat, (-1,)), ops.reshape(values, (-1,)))
    return ops.view(total, (rows, columns))


define(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
    "bool scale_grad_by_freq=False, bool sparse=False)",
    Kind.COMPOSITE,
    meta=_embedding_meta,
    vjp=_embedding_vjp,
    saves=("indices",),
    decompose=_embedding_decompose,
    eager=_embedding_eager,
    method=False,
    doc="""Rows of a table at given positions.

    Args:
        weight: the table, of shape (rows, columns).
        indices: an int32 or int64 tensor of positions of any shape.
        padding_idx: the row that gets no gradient; none if negative.
        scale_grad_by_freq: divide the gradient of a row by how often it is read.
        sparse: without effect: gradients are dense.

    Returns: a new tensor of the shape of `indices` with a last dim of `columns`.

    Raises:
        IndexError: a position is out of range.
        RuntimeError: `weight` is no matrix, or `indices` has another dtype.

    Example:
        >>> gw.embedding(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1, 0]))
        tensor([[3., 4.],
                [1., 2.]])
    """,
)
internal(
    "embedding_backward(Tensor grad, Tensor indices, int rows, SymInt padding_idx, "
    "bool scale_grad_by_freq)",
    Kind.COMPOSITE,
    meta=_embedding_backward_meta,
    decompose=_embedding_backward_decompose,
    eager=_embedding_backward_eager,
)
define(
    "embedding_renorm_(Tensor weight, Tensor indices, float max_norm, float norm_type)",
    Kind.COMPOSITE,
    decompose=_renorm,
    method=False,
    doc="""Scale rows of a table whose norm is too great, in place.

    Args:
        weight: the table, floating point, `(V, D)`; it is changed and returned.
        indices: the rows that are looked at, int32 or int64.
        max_norm: the norm that greater rows are scaled to.
        norm_type: order of the norm.

    Raises:
        RuntimeError: an index is out of range.

    Example:
        >>> gw.embedding_renorm_(gw.tensor([[3.0, 4.0], [6.0, 8.0]]), gw.tensor([1]), 5.0, 2.0)
        tensor([[3., 4.],
                [3., 4.]])
    """,
)
internal(
    "embedding_bag_parts(Tensor weight, Tensor indices, Tensor offsets, "
    "Tensor? per_sample_weights, str mode, int padding_idx, bool scale_grad_by_freq)",
    Kind.OTHER,
    meta=_bag_meta,
    vjp=_bag_vjp,
    saves=("weight", "indices", "per_sample_weights", "out1", "out2", "out3"),
    decompose=_bag_by_sums,
    eager=_bag_eager,
    tags=("whole",),
)
