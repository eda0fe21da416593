"""Reading and writing by position: how ops that gather or scatter call the C nest `pick`.

The domain is the shape of the picked elements. Memory is walked with stride 0 along indexed
dims; each entry (index tensor, its strides in the domain, size and stride of the indexed dim)
adds where its values point. Colliding writes happen in the domain's row-major order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import OutOfRange, describe
from graphwright.runtime.ops.kernels import allocate, copy_into
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.array_casts import cast_array
from graphwright.runtime.tensor.tensor import Tensor

READ, STORE, ADD, MUL, MAX, MIN = range(6)
INDEX_TYPES = frozenset({dtypes.int64, dtypes.int32})

Ints = tuple[int, ...]
Entry = tuple[Any, Ints, int, int]


def pick(
    name: str,
    kind: int,
    domain: Ints,
    memory: Tensor,
    memory_strides: Ints,
    values: Tensor,
    value_strides: Ints,
    entries: tuple[Entry, ...],
    wrap: bool = False,
) -> None:
    """Run the nest. Raises OutOfRange for a position outside of its dim."""
    bad = _core.pick(
        kind, domain, memory, memory_strides, values, value_strides, entries, wrap
    )
    if bad is not None:
        position, which = bad
        raise OutOfRange(
            f"{name}(): index {position} is out of bounds for a dimension of size "
            f"{entries[which][2]}; the tensor is {describe(memory)}"
        )


def require_places(name: str, input: Any, dim: int, domain: Any) -> None:
    """Raise OutOfRange where the elements of a domain go along a dim that is empty."""
    if input.shape and input.shape[dim] == 0 and 0 not in domain:
        raise OutOfRange(
            f"{name}(): the index is out of bounds for a dimension of size 0; the tensor is "
            f"{describe(input)}"
        )


def layout(tensor: Any) -> tuple[Ints, Ints]:
    """Shape and strides; a 0-d tensor counts as one of one element."""
    return (tensor.shape, tensor.stride()) if tensor.ndim else ((1,), (0,))


def along(tensor: Any, dim: int, index: Any, strides: Ints) -> tuple[Ints, tuple[Entry, ...]]:
    """Strides of `tensor` without those of `dim`, and the entry that `index` makes for it."""
    shape, own = layout(tensor)
    entry = (index, strides, shape[dim], own[dim])
    return (*own[:dim], 0, *own[dim + 1 :]), (entry,)


def fresh_copy(input: Any, strides: Ints | None = None, dtype: Any = None) -> Tensor:
    """A copy with memory of its own, contiguous unless `strides` are given."""
    strides = contiguous_strides(input.shape) if strides is None else strides
    out = allocate(input.shape, strides, dtype or input.dtype)
    copy_into(out, input)
    return out


def apart(given: Any, target: Tensor) -> Any:
    """An argument as it is before `target` is written: a copy where they share a storage."""
    shared = isinstance(given, Tensor) and given._storage is target._storage
    return fresh_copy(given) if shared else given


def scalar_tensor(value: Any, dtype: Any) -> Tensor:
    """A 0-d tensor of a number, or a detached one of `dtype` where it is a tensor."""
    array = value._nd if isinstance(value, Tensor) else np.asarray(value)
    made: Tensor = _core.from_ndarray(Tensor, np.array(cast_array(array, dtype)), dtype)
    return made


def check_index(name: str, index: Any) -> None:
    """Raise RuntimeError unless the dtype is int32 or int64."""
    if index.dtype not in INDEX_TYPES:
        raise RuntimeError(
            f"{name}(): expected an index of dtype int32 or int64, got {describe(index)}"
        )


def check_same_dtype(name: str, what: str, input: Any, source: Any) -> None:
    """Raise RuntimeError unless input and source have one dtype."""
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}(): input and {what} must have the same dtype, got {describe(input)} and "
            f"{describe(source)}"
        )
