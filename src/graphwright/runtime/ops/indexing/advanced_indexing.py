"""Advanced indexing: `index` reads by tensors of positions, `index_put` and `put` write."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.indexing.gather_layouts import (
    ADD,
    INDEX_TYPES,
    READ,
    STORE,
    Entry,
    apart,
    fresh_copy,
    pick,
)
from graphwright.runtime.ops.kernels import allocate, compute_type, copy_into
from graphwright.runtime.ops.strides import (
    broadcast_shapes,
    broadcast_strides,
    permutation,
    preserved_strides,
    strides_in_order,
)
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.elements import elements
from graphwright.runtime.tensor.tensor import Tensor

Shape = tuple[Any, ...]


def is_mask(index: Any) -> bool:
    """Whether an index tensor picks by truth; uint8 does so too, as in PyTorch."""
    return index is not None and index.dtype in (dtypes.bool, dtypes.uint8)


def without_masks(indices: tuple[Any, ...]) -> tuple[Any, ...]:
    """Each mask replaced by the positions where it is true, one index for each of its dims.

    Raises DataDependent for a mask whose values are not known.
    """
    if not any(is_mask(index) for index in indices):
        return indices
    result: list[Any] = []
    for index in indices:
        if not is_mask(index):
            result.append(index)
            continue
        if index.is_fake:
            raise DataDependent(f"a mask as an index: {describe(index)}")
        if index.is_cuda:
            result.extend(ops.nonzero(index, as_tuple=True))
            continue
        for places in np.nonzero(elements(index)):
            found = _core.from_ndarray(Tensor, np.ascontiguousarray(places), dtypes.int64)
            result.append(found.to(index.device))
    return tuple(result)


class Plan:
    """How `input[indices]` walks memory: its shape, the strides of the input and the entries."""

    __slots__ = ("entries", "shape", "strides")

    def __init__(self, input: Any, indices: tuple[Any, ...]) -> None:
        sizes, strides = input.shape, input.stride()
        given = _given(input, indices)
        try:
            front = broadcast_shapes("index", [indices[i].shape for i in given])
        except RuntimeError as error:
            message = f"shape mismatch: indexing tensors could not be broadcast: {error}"
            raise IndexError(message) from None
        rest = [i for i in range(len(sizes)) if i not in given]
        at = given[0] if given[-1] - given[0] == len(given) - 1 else 0
        before, after = rest[:at], rest[at:]
        self.shape: Shape = (
            *(sizes[i] for i in before), *front, *(sizes[i] for i in after)
        )
        self.strides: Shape = (
            *(strides[i] for i in before), *(0,) * len(front), *(strides[i] for i in after)
        )
        ends = (0,) * len(before), (0,) * len(after)
        self.entries: tuple[Entry, ...] = tuple(
            (
                indices[i],
                (*ends[0], *broadcast_strides(indices[i].shape, indices[i].stride(), front),
                 *ends[1]),
                sizes[i],
                strides[i],
            )
            for i in given
        )
        self._check_empty(sizes, given, front)

    @staticmethod
    def _check_empty(sizes: Shape, given: list[int], front: Shape) -> None:
        if 0 not in front and any(sizes[i].__class__ is int and not sizes[i] for i in given):
            raise IndexError("index is out of bounds for dimension with size 0")

    def result_strides(self) -> Shape:
        """The layout that PyTorch's iterator gives the result of reading."""
        operands = [self.strides, *(entry[1] for entry in self.entries)]
        return strides_in_order(self.shape, permutation(self.shape, operands))


def _given(input: Any, indices: tuple[Any, ...]) -> list[int]:
    """The dims that are indexed. Raises IndexError for what cannot index."""
    if len(indices) > len(input.shape):
        raise IndexError(
            f"too many indices for tensor of dimension {len(input.shape)} (got {len(indices)})"
        )
    given = [i for i, index in enumerate(indices) if index is not None]
    for i in given:
        if indices[i].dtype not in INDEX_TYPES:
            raise IndexError(
                "tensors used as indices must be long, int, byte or bool tensors, got "
                f"{describe(indices[i])}"
            )
    if not given:
        raise IndexError("at least one index tensor must be given")
    return given


def _index_meta(input: Any, indices: tuple[Any, ...]) -> TensorSpec:
    plan = Plan(input, without_masks(indices))
    return TensorSpec(plan.shape, plan.result_strides(), input.dtype, input.device)


def _rows(input: Any, index: Any) -> Tensor:
    """`input[index]` of a contiguous tensor and a vector."""
    shape, strides = input.shape, input.stride()
    domain = (index.shape[0], *shape[1:])
    out: Tensor = _core.empty(Tensor, domain, input.dtype)
    rest = (0,) * (len(shape) - 1)
    entry = (index, (index.stride()[0], *rest), shape[0], strides[0])
    pick("index", READ, domain, input, (0, *strides[1:]), out, out.stride(), (entry,), True)
    return out


def _index_eager(input: Any, indices: tuple[Any, ...]) -> Tensor:
    first = indices[0] if len(indices) == 1 else None
    vector = first is not None and first.ndim == 1 and first.dtype is dtypes.int64
    if vector and input.is_contiguous() and input.numel():
        return _rows(input, first)
    plan = Plan(input, without_masks(indices))
    out = allocate(plan.shape, plan.result_strides(), input.dtype)
    pick("index", READ, plan.shape, input, plan.strides, out, out.stride(), plan.entries, True)
    return out


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


# -- index_put


def _put_meta(input: Any, indices: tuple[Any, ...], values: Any, accumulate: bool) -> TensorSpec:
    if values.dtype is not input.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{input.dtype.name} for the destination and {values.dtype.name} for the source."
        )
    if not any(is_mask(index) for index in indices):
        _fit_values(Plan(input, indices).shape, values)
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, input.dtype, input.device)


def _fit_values(shape: Shape, values: Any) -> Shape:
    """Strides of `values` seen in `shape`. Raises RuntimeError where they do not broadcast."""
    own, strides = values.shape, values.stride()
    extra = len(own) - len(shape)
    if extra > 0 and all(n == 1 for n in own[:extra]):
        own, strides = own[extra:], strides[extra:]
    if len(own) > len(shape) or any(
        n != 1 and n != m for n, m in zip(reversed(own), reversed(shape), strict=False)
    ):
        raise RuntimeError(
            f"shape mismatch: value tensor {describe(values)} cannot be broadcast to indexing "
            f"result of shape {list(shape)}"
        )
    return broadcast_strides(own, strides, shape)


def _write(input: Any, indices: tuple[Any, ...], values: Any, accumulate: bool) -> None:
    plan = Plan(input, indices)
    strides = _fit_values(plan.shape, values)
    kind = ADD if accumulate else STORE
    pick("index_put", kind, plan.shape, input, plan.strides, values, strides, plan.entries, True)


def _put_eager(input: Any, indices: tuple[Any, ...], values: Any, accumulate: bool) -> Tensor:
    spec = _put_meta(input, indices, values, accumulate)
    indices = without_masks(indices)
    if accumulate and compute_type(input.dtype) is not input.dtype:
        wide = fresh_copy(input, None, dtypes.float32)
        _write(wide, indices, fresh_copy(values, None, dtypes.float32), True)
        return fresh_copy(wide, spec.strides, input.dtype)
    out = fresh_copy(input, spec.strides)
    _write(out, indices, values, accumulate)
    return out


def _put_into_eager(input: Any, indices: tuple[Any, ...], values: Any, accumulate: bool) -> Any:
    if accumulate and compute_type(input.dtype) is not input.dtype:
        copy_into(input, _put_eager(input, indices, values, accumulate))
    else:
        _put_meta(input, indices, values, accumulate)
        indices = tuple(apart(index, input) for index in without_masks(indices))
        _write(input, indices, apart(values, input), accumulate)
    _core.bump_version(input)
    return input


def _picked(grad: Any, indices: tuple[Any, ...], values: Any) -> Any:
    """What was written by `values`, of a gradient.

    Where it is not known how many elements a mask picks, there are as many as rows of `values`;
    a row that is written to all of them gets their sum.
    """
    given = [index for index in indices if index is not None]
    mask = given[0]
    if len(given) > 1 or not (is_mask(mask) and mask.is_fake and mask.ndim):
        return ops.index(grad, indices)
    before = [index is not None for index in indices].index(True)
    after = grad.ndim - before - mask.ndim
    axis = values.ndim - after - 1
    if axis >= 0 and values.shape[axis] != 1:
        places = ops.nonzero_static(mask, size=values.shape[axis])
        return ops.index(grad, (*(None,) * before, *ops.unbind(places, 1)))
    mask = ops.reshape(ops.ne(mask, 0), (*mask.shape, *(1,) * after))
    dims = tuple(range(before, grad.ndim - after))
    return ops.unsqueeze(ops.sum(ops.where(mask, grad, 0.0), dims), before)


def _put_vjp(ctx: Any, grad: Any) -> tuple[Any, Any, Any]:
    indices = tuple(ctx.indices)
    kept = picked = None
    if ctx.needs["input"]:
        kept = grad
        if not ctx.accumulate:
            zero = ops.zeros((), dtype=grad.dtype, device=grad.device)
            kept = ops.index_put(grad, indices, zero)
    if ctx.needs["values"]:
        picked = _picked(grad, indices, ctx.values)
        extra = len(ctx.values.shape) - picked.ndim
        if extra > 0:
            picked = ops.sum_to_size(picked, ctx.values.shape[extra:])
            picked = ops.reshape(picked, ctx.values.shape)
        else:
            picked = ops.sum_to_size(picked, ctx.values.shape)
    return kept, [None] * len(indices), picked


define(
    "index_put(Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False)",
    Kind.INDEXING,
    meta=_put_meta,
    vjp=_put_vjp,
    saves=("indices",),
    eager=_put_eager,
    doc="""Copy in which the elements at given positions are other values: `out[indices] = values`.

    Args:
        input: a tensor of any shape.
        indices: an integer or bool tensor, or None for all positions, for each dim from the
            first one on; they broadcast with one another. Negative positions count from the
            end.
        values: a tensor of the dtype of `input` that broadcasts to `input[indices]`.
        accumulate: add the values, where positions repeat each of them; else the last one
            counts.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, there are more indices than dims, or one has
            another dtype.
        RuntimeError: `values` has another dtype or does not broadcast.

    Example:
        >>> gw.index_put(gw.zeros(3), (gw.tensor([0, 2]),), gw.tensor([1.0, 2.0]))
        tensor([1., 0., 2.])
    """,
)
define(
    "index_put_(Tensor input, Tensor?[] indices, Tensor values, bool accumulate=False)",
    Kind.INPLACE,
    functional="index_put",
    eager=_put_into_eager,
    public=False,
)


# -- put


def _put(input: Any, index: Any, source: Any, accumulate: bool) -> Any:
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"put(): expected an index of dtype int64, got {describe(index)}")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"put(): input and source must have the same dtype, got {describe(input)} and "
            f"{describe(source)}"
        )
    if index.numel() != source.numel():
        raise IndexError(
            f"put(): the source {describe(source)} and the index {describe(index)} must have "
            "equally many elements"
        )
    if input.numel() == 0 and index.numel() != 0:
        raise IndexError(f"put(): tried to put elements into an empty tensor, {describe(input)}")
    flat = ops.reshape(input, (-1,))
    places, values = ops.reshape(index, (-1,)), ops.reshape(source, (-1,))
    written = ops.index_put(flat, (places,), values, accumulate)
    return ops.reshape(written, input.shape)


define(
    "put(Tensor input, Tensor index, Tensor source, bool accumulate=False)",
    Kind.COMPOSITE,
    decompose=_put,
    doc="""Copy in which the elements at positions of the flattened tensor are other values.

    Args:
        input: a tensor of any shape.
        index: an int64 tensor of positions in row-major order; negative ones count from the
            end.
        source: as many values, of the dtype of `input`.
        accumulate: add the values, where positions repeat each of them; else the last one
            counts.

    Returns: a new tensor of the shape of `input`.

    Raises:
        IndexError: a position is out of range, or the numbers of elements differ.
        RuntimeError: a dtype is another one.

    Example:
        >>> gw.put(gw.zeros(2, 2), gw.tensor([1, -1]), gw.tensor([5.0, 6.0]))
        tensor([[0., 5.],
                [0., 6.]])
    """,
)
define(
    "put_(Tensor input, Tensor index, Tensor source, bool accumulate=False)",
    Kind.INPLACE,
    functional="put",
    public=False,
)
