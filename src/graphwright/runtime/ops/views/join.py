"""Tensors joined into one: cat, stack and their relatives, block matrices; broadcast together."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.kernels import allocate
from graphwright.runtime.ops.strides import (
    broadcast_shapes,
    contiguous_strides,
    strides_in_order,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import result_dtype
from graphwright.runtime.tensor.tensor import Tensor

_LARGE = 1 << 15

# -- cat


def _is_skipped(tensor: Any) -> bool:
    """Empty 1-d tensors fit to anything, by tradition."""
    return len(tensor.shape) == 1 and tensor.shape[0].__class__ is int and not tensor.shape[0]


def _cat_parts(tensors: tuple[Any, ...]) -> list[Any]:
    if not tensors:
        raise ValueError("cat: expected a non-empty list of Tensors")
    return [t for t in tensors if not _is_skipped(t)] or [tensors[0]]


def _cat_meta(tensors: tuple[Any, ...], dim: int) -> TensorSpec:
    parts = _cat_parts(tensors)
    for i, tensor in enumerate(tensors):
        if not tensor.shape:
            raise RuntimeError(
                f"cat: zero-dimensional tensor (at position {i}) cannot be concatenated"
            )
    first = parts[0].shape
    dim = wrap_dim(dim, len(first))
    total: Any = 0
    for i, part in enumerate(parts):
        shape = part.shape
        if len(shape) != len(first) or any(
            a != b for d, (a, b) in enumerate(zip(shape, first, strict=True)) if d != dim
        ):
            raise RuntimeError(
                f"cat: Sizes of tensors must match except in dimension {dim}. Expected "
                f"{list(first)} but got {list(shape)} for tensor number {i} in the list."
            )
        total = total + shape[dim]
    shape = (*first[:dim], total, *first[dim + 1 :])
    dtype = result_dtype(tuple(tensors))
    return TensorSpec(shape, _cat_strides(parts, shape), dtype, parts[0].device)


def _cat_strides(parts: list[Any], shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Channels last where all operands are, as in PyTorch; else row-major."""
    if len(shape) not in (4, 5) or not all(_channels_last(t.shape, t.stride()) for t in parts):
        return contiguous_strides(shape)
    return strides_in_order(shape, [1, *range(len(shape) - 1, 1, -1), 0])


def _channels_last(shape: tuple[Any, ...], strides: tuple[Any, ...]) -> bool:
    """Whether by the strides dim 1 is the fastest (PyTorch's suggest_memory_format)."""
    if strides[1] == 0 or strides == contiguous_strides(shape):
        return False
    least: Any = 0
    for dim in (1, *range(len(shape) - 1, 1, -1), 0):
        if shape[dim] == 0 or strides[dim] < least or (dim == 0 and least == strides[1]):
            return False
        least = strides[dim] * shape[dim] if shape[dim] != 1 else strides[dim]
    return True


def _small_cat(tensors: tuple[Any, ...], dim: int) -> Tensor | None:
    """Of a few small tensors of one dtype; None where anything is unusual."""
    if not tensors:
        return None
    dtype, ndim = tensors[0].dtype, tensors[0].ndim
    if ndim in (0, 4, 5):
        return None
    for tensor in tensors:
        if tensor.dtype is not dtype or tensor.ndim != ndim or tensor.numel() > _LARGE:
            return None
    try:
        array = np.concatenate([t._nd for t in tensors], dim)
    except ValueError:
        return None
    if not array.flags.c_contiguous:
        return None
    made: Tensor = _core.from_ndarray(Tensor, array, dtype)
    return made


def _cat_of_one_dtype(tensors: tuple[Any, ...], dim: int, dtype: DType) -> Tensor:
    parts = [t if t.dtype is dtype else ops.to_dtype(t, dtype) for t in tensors]
    joined: Tensor = ops.cat(tuple(parts), dim)
    return joined


def _cat_eager(tensors: tuple[Any, ...], dim: int) -> Tensor:
    small = _small_cat(tensors, dim)
    if small is not None:
        return small
    if tensors and sum([t.numel() for t in tensors]) < _LARGE:
        dtype = result_dtype(tensors)
        if any([t.dtype is not dtype for t in tensors]):
            return _cat_of_one_dtype(tensors, dim, dtype)
    spec = _cat_meta(tensors, dim)
    out = allocate(spec.shape, spec.strides, spec.dtype)
    parts = _cat_parts(tensors)
    dim = wrap_dim(dim, len(spec.shape))
    if out.numel() < _LARGE or any(t.dtype is not spec.dtype for t in parts):
        np.concatenate([t._nd for t in parts], dim, out=out._nd, casting="unsafe")
        return out
    strides, start = out.stride(), 0
    for part in parts:
        view = _core.as_view(Tensor, out, part.shape, strides, start)
        _core.copy_strided(view, part)
        start += part.shape[dim] * strides[dim]
    return out


def _cat_vjp(ctx: Any, grad: Any) -> tuple[list[Any]]:
    grads: list[Any] = []
    start: Any = 0
    dim = wrap_dim(ctx.dim, grad.ndim)
    for part, needed in zip(ctx.tensors, ctx.needs["tensors"], strict=True):
        if _is_skipped(part) and grad.ndim != 1:
            empty = ops.zeros(part.shape, dtype=grad.dtype, device=grad.device)
            grads.append(empty if needed else None)
            continue
        end = start + part.shape[dim]
        grads.append(ops.slice(grad, dim, start, end) if needed else None)
        start = end
    return (grads,)


define(
    "cat(Tensor[] tensors, int dim=0)",
    Kind.INDEXING,
    meta=_cat_meta,
    vjp=_cat_vjp,
    eager=_cat_eager,
    method=False,
    doc="""Tensors joined along one dim.

    Args:
        tensors: tensors of the same sizes but along `dim`, at least one; empty vectors are
            left out. Their dtypes are promoted to a common one.
        dim: the dim they are joined along.

    Returns: a new tensor; its size along `dim` is the sum of theirs.

    Raises:
        ValueError: there are no tensors.
        RuntimeError: the sizes do not match, or a tensor has no dims.
        IndexError: the tensors have no such dim.

    Example:
        >>> gw.cat([gw.tensor([[1, 2]]), gw.tensor([[3, 4]])], 1)
        tensor([[1, 2, 3, 4]])
    """,
)


def _stack(tensors: tuple[Any, ...], dim: int) -> Any:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    dim = wrap_dim(dim, tensors[0].ndim + 1)
    first = tensors[0].shape
    for i, tensor in enumerate(tensors):
        if len(tensor.shape) != len(first) or tensor.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(tensor.shape)} at entry {i}"
            )
    return ops.cat(tuple(ops.unsqueeze(t, dim) for t in tensors), dim)


define(
    "stack(Tensor[] tensors, int dim=0)",
    Kind.COMPOSITE,
    decompose=_stack,
    method=False,
    doc="""Tensors of one shape joined along a new dim.

    Args:
        tensors: tensors of equal shape, at least one.
        dim: the place of the new dim in the result.

    Returns: a new tensor with one more dim, of their number.

    Raises:
        RuntimeError: there are no tensors, or their shapes differ.
        IndexError: the place is out of range.

    Example:
        >>> gw.stack((gw.tensor([1, 2]), gw.tensor([3, 4])), 1)
        tensor([[1, 3],
                [2, 4]])
    """,
)


# -- at least so many dims


def _at_least(input: Any, ndim: int) -> Any:
    """A view with dims of size 1 in front until there are `ndim`; of three, the last is behind."""
    have = input.ndim
    if have >= ndim:
        return input
    if ndim == 3 and have == 2:
        return ops.unsqueeze(input, 2)
    if ndim == 3 and have == 1:
        return ops.unsqueeze(ops.unsqueeze(input, 0), 2)
    for _ in range(ndim - have):
        input = ops.unsqueeze(input, 0)
    return input


_AT_LEAST_DOCS = {
    1: """A tensor without dims as a vector; others as they are.

    Args:
        input: a tensor of any shape; several, or a sequence of them, give a tuple.

    Returns: `input`, or a view of it.

    Example:
        >>> gw.atleast_1d(gw.tensor(3))
        tensor([3])
    """,
    2: """A tensor of fewer than two dims as a matrix, with dims of size 1 in front.

    Args:
        input: a tensor of any shape; several, or a sequence of them, give a tuple.

    Returns: `input`, or a view of it.

    Example:
        >>> gw.atleast_2d(gw.tensor([1, 2]))
        tensor([[1, 2]])
    """,
    3: """A tensor of fewer than three dims with dims of size 1 added.

    A matrix gets one behind, a vector one on either side.

    Args:
        input: a tensor of any shape; several, or a sequence of them, give a tuple.

    Returns: `input`, or a view of it.

    Example:
        >>> gw.atleast_3d(gw.tensor([1, 2])).shape
        graphwright.Size([1, 2, 1])
    """,
}
for _n in (1, 2, 3):
    define(
        f"atleast_{_n}d(Tensor input)",
        Kind.COMPOSITE,
        decompose=lambda input, n=_n: _at_least(input, n),
        method=False,
        doc=_AT_LEAST_DOCS[_n],
    )


# -- the stack family


def _joined(name: str, tensors: tuple[Any, ...], ndim: int, dim: int) -> Any:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return ops.cat(tuple(_at_least(t, ndim) for t in tensors), dim)


def _hstack(tensors: tuple[Any, ...]) -> Any:
    flat = bool(tensors) and tensors[0].ndim <= 1
    return _joined("hstack", tensors, 1, 0 if flat else 1)


def _column_stack(tensors: tuple[Any, ...]) -> Any:
    columns = tuple(t if t.ndim > 1 else ops.reshape(t, (-1, 1)) for t in tensors)
    return _joined("column_stack", columns, 1, 1)


define(
    "hstack(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=_hstack,
    method=False,
    doc="""Tensors joined along the second dim; vectors along their only one.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.hstack((gw.tensor([1, 2]), gw.tensor([3])))
        tensor([1, 2, 3])
    """,
)
define(
    "vstack(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=lambda tensors: _joined("vstack", tensors, 2, 0),
    method=False,
    doc="""Tensors joined along the first dim; vectors as rows of a matrix.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor of at least two dims.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.vstack((gw.tensor([1, 2]), gw.tensor([3, 4])))
        tensor([[1, 2],
                [3, 4]])
    """,
)
define(
    "dstack(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=lambda tensors: _joined("dstack", tensors, 3, 2),
    method=False,
    doc="""Tensors joined along the third dim, after `atleast_3d`.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor of at least three dims.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.dstack((gw.tensor([1, 2]), gw.tensor([3, 4])))
        tensor([[[1, 3],
                 [2, 4]]])
    """,
)
define(
    "column_stack(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=_column_stack,
    method=False,
    doc="""Tensors joined along the second dim; vectors as columns of a matrix.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor of at least two dims.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.column_stack((gw.tensor([1, 2]), gw.tensor([3, 4])))
        tensor([[1, 3],
                [2, 4]])
    """,
)


# -- block_diag


def _block_diag(tensors: tuple[Any, ...]) -> Any:
    for i, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                f"block_diag: input tensors must have two or fewer dimensions. Input {i} has "
                f"{tensor.ndim} dimensions"
            )
    if not tensors:
        return ops.zeros((1, 0))
    blocks = [_at_least(t, 2) for t in tensors]
    total = sum(b.shape[1] for b in blocks)
    dtype = result_dtype(tuple(tensors))
    rows, before = [], 0
    for block in blocks:
        width = block.shape[1]
        block = block if block.dtype is dtype else ops.to_dtype(block, dtype)
        rows.append(ops.constant_pad(block, (before, total - before - width), 0))
        before = before + width
    return ops.cat(tuple(rows), 0)


define(
    "block_diag(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=_block_diag,
    method=False,
    doc="""Block diagonal matrix of several matrices; what lies outside of the blocks is 0.

    Args:
        tensors: tensors of at most two dims, one argument each; vectors are rows. Their dtypes
            are promoted to a common one.

    Returns: a new matrix; its sizes are the sums of theirs.

    Raises:
        RuntimeError: a tensor has more dims.

    Example:
        >>> gw.block_diag(gw.tensor([[1, 2]]), gw.tensor([3]))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """,
)


# -- broadcasting of several


def _broadcast_tensors(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    if not tensors:
        return ()
    shape = broadcast_shapes("broadcast_tensors", [t.shape for t in tensors])
    return tuple(ops.expand(t, shape) for t in tensors)


define(
    "broadcast_tensors(Tensor[] tensors)",
    Kind.COMPOSITE,
    decompose=_broadcast_tensors,
    method=False,
    doc="""Views of tensors, all expanded to their common shape.

    Args:
        tensors: tensors that broadcast with one another, one argument each.

    Returns: a tuple of views of one shape.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> gw.broadcast_tensors(gw.tensor([[1], [2]]), gw.tensor([3, 4]))
        (tensor([[1, 1],
                [2, 2]]), tensor([[3, 4],
                [3, 4]]))
    """,
)
