"""Advanced indexing: `index` reads by tensors of positions, `index_put` writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core, dtypes
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.kernels import HALVES, allocate, copy_into, wrap
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.strides import broadcast_shapes, contiguous_strides, preserved_strides
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.tensor import Tensor


def indexed_shape(input: Any, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of `input[indices]`; None entries keep their dim."""
    given = [i for i, index in enumerate(indices) if index is not None]
    if len(indices) > len(input.shape):
        raise IndexError(
            f"too many indices for tensor of dimension {len(input.shape)} (got {len(indices)})"
        )
    try:
        front = broadcast_shapes("index", [indices[i].shape for i in given])
    except RuntimeError as error:
        message = f"shape mismatch: indexing tensors could not be broadcast: {error}"
        raise IndexError(message) from None
    rest = [n for i, n in enumerate(input.shape) if i not in given]
    adjacent = given == list(range(given[0], given[-1] + 1))
    at = given[0] if adjacent else 0
    return (*rest[:at], *front, *rest[at:])


def _index_meta(input: Any, indices: tuple[Any, ...]) -> TensorSpec:
    shape = indexed_shape(input, indices)
    return TensorSpec(shape, contiguous_strides(shape), input.dtype, input.device)


def _arrays(input: Any, indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """NumPy's form of the indices, wrapped and checked."""
    arrays: list[Any] = []
    for dim, index in enumerate(indices):
        if index is None:
            arrays.append(slice(None))
            continue
        array, size = index._nd, input.shape[dim]
        if array.size and (array.min() < -size or array.max() >= size):
            bad = array[(array < -size) | (array >= size)].flat[0]
            raise IndexError(
                f"index {bad} is out of bounds for dimension {dim} with size {size}"
            )
        arrays.append(array)
    return tuple(arrays)


def _index_eager(input: Any, indices: tuple[Any, ...]) -> Tensor:
    indexed_shape(input, indices)
    return wrap(input._nd[_arrays(input, indices)], input.dtype)


define(
    "index(Tensor input, Tensor?[] indices)",
    Kind.INDEXING,
    meta=_index_meta,
    vjp=lambda ctx, grad: (
        ops.index_put(
            ops.zeros(ctx.input.shape, dtype=grad.dtype, device=grad.device),
            tuple(ctx.indices),
            grad,
            True,
        ),
        [None] * len(ctx.indices),
    ),
    saves=("indices",),
    eager=_index_eager,
    method=False,
    public=False,
)


def _put_meta(input: Any, indices: tuple[Any, ...], values: Any, accumulate: bool) -> TensorSpec:
    shape = indexed_shape(input, indices)
    if broadcast_shapes("index_put", (shape, values.shape)) != shape:
        raise RuntimeError(
            f"shape mismatch: value tensor {describe(values)} cannot be broadcast to indexing "
            f"result of shape {list(shape)}"
        )
    if values.dtype is not input.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype.name} for the destination and {values.dtype.name} for the source."
        )
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, input.dtype, input.device)


def _put(array: Any, where: tuple[Any, ...], values: Any, accumulate: bool) -> None:
    if accumulate:
        np.add.at(array, where, values)
    else:
        array[where] = values


def _put_eager(input: Any, indices: tuple[Any, ...], values: Any, accumulate: bool) -> Tensor:
    spec = _put_meta(input, indices, values, accumulate)
    out = allocate(spec.shape, spec.strides, spec.dtype)
    array = np.array(input._nd.astype(np.float32)) if input.dtype in HALVES else out._nd
    np.copyto(array, input._nd)
    _put(array, _arrays(input, indices), values._nd, accumulate)
    if array is not out._nd:
        copy_into(out, array)
    return out


def _put_into_eager(input: Any, indices: tuple[Any, ...], values: Any, accumulate: bool) -> Any:
    _put_meta(input, indices, values, accumulate)
    if accumulate and input.dtype in HALVES:
        input._nd[...] = _put_eager(input, indices, values, accumulate)._nd
    else:
        _put(input._nd, _arrays(input, indices), values._nd, accumulate)
    _core.bump_version(input)
    return input


def _put_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    indices = tuple(ctx.indices)
    kept = picked = None
    if ctx.needs["input"]:
        kept = grad
        if not ctx.accumulate:
            zero = ops.zeros((), dtype=grad.dtype, device=grad.device)
            kept = ops.index_put(grad, indices, zero)
    if ctx.needs["values"]:
        picked = ops.sum_to_size(ops.index(grad, indices), ctx.values.shape)
    return kept, [None] * len(indices), picked


define(
    "index_put(Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False)",
    Kind.INDEXING,
    meta=_put_meta,
    vjp=_put_vjp,
    saves=("indices",),
    eager=_put_eager,
)
define(
    "index_put_(Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False)",
    Kind.INPLACE,
    functional="index_put",
    eager=_put_into_eager,
    public=False,
)


def _nonzero_eager(input: Any) -> Tensor:
    places = np.argwhere(input._nd) if input.ndim else np.zeros((int(input._nd != 0), 0))
    return wrap(places, dtypes.int64)


define(
    "nonzero(Tensor input)",
    Kind.OTHER,
    vjp=not_differentiable,
    eager=_nonzero_eager,
    tags=("data_dependent",),
)
