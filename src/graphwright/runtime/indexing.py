"""`x[...]` and `x[...] = value`: basic indexing as views, advanced through index and index_put."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphwright.runtime import dtypes
from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops import _face as ops

if TYPE_CHECKING:
    from graphwright.runtime.tensor import Tensor


_MASKS = (dtypes.bool, dtypes.uint8, np.dtype(np.bool_), np.dtype(np.uint8))


def _is_mask(item: Any) -> bool:
    """Whether an item picks by truth, not by position; uint8 does so too, as in PyTorch."""
    return isinstance(item, TensorBase | np.ndarray) and item.dtype in _MASKS


def _count_dims(items: tuple[Any, ...]) -> int:
    """How many dims of the tensor the items consume."""
    count = 0
    for item in items:
        if item is None or item is Ellipsis or isinstance(item, bool):
            continue
        if _is_mask(item):
            count += item.ndim
        else:
            count += 1
    return count


def _as_items(key: Any) -> tuple[Any, ...]:
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and any(
        isinstance(k, slice | TensorBase | list | tuple) or k is None for k in key
    ):
        return tuple(key)
    return (key,)


def _as_index(tensor: Any, item: Any) -> Any:
    """Lists and arrays as index tensors; other items as they are."""
    if isinstance(item, list | tuple | np.ndarray):
        array = np.asarray(item)
        if array.size == 0:
            array = array.astype(np.int64)
        item = tensor._literal(array)
    if getattr(item, "dtype", None) is dtypes.uint8:
        return ops.ne(item, 0)
    return item


def _expand_ellipsis(items: tuple[Any, ...], ndim: int) -> list[Any]:
    used = _count_dims(items)
    if used > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    filler = [slice(None)] * (ndim - used)
    where = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(where) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if not where:
        return [*items, *filler]
    return [*items[: where[0]], *filler, *items[where[0] + 1 :]]


def _basic(tensor: Any, items: list[Any]) -> tuple[Any, list[Any]]:
    """Apply ints, slices and None; returns the view and per dim None or an index tensor."""
    dim = 0
    result = tensor
    indices: list[Any] = []
    for item in items:
        item = _as_index(tensor, item)
        if _is_mask(item) and item.ndim == 0:
            result, item = ops.unsqueeze(result, dim), ops.unsqueeze(item, 0)
        if item is None:
            result = ops.unsqueeze(result, dim)
            indices.append(None)
            dim += 1
        elif isinstance(item, slice):
            if item != slice(None):
                result = ops.slice(result, dim, item.start, item.stop, item.step)
            indices.append(None)
            dim += 1
        elif isinstance(item, bool):
            result = ops.unsqueeze(result, dim)
            indices.append(tensor._literal(np.zeros(int(item), np.int64)))
            dim += 1
        elif isinstance(item, TensorBase):
            dim = _tensor_item(item, result, indices, dim)
        elif hasattr(item, "__index__"):
            result = ops.select(result, dim, item)
        else:
            raise TypeError(
                "only integers, slices, ellipsis, None and integer or bool tensors are valid "
                f"indices (got {type(item).__name__})"
            )
    return result, indices


def _tensor_item(item: Any, result: Any, indices: list[Any], dim: int) -> int:
    if item.dtype is dtypes.bool:
        expected = tuple(result.shape[dim : dim + item.ndim])
        if tuple(item.shape) != expected:
            raise IndexError(
                f"The shape of the mask {list(item.shape)} does not match the shape of the "
                f"indexed tensor {list(result.shape)} at dimension {dim}"
            )
        indices.extend(ops.unbind(ops.nonzero(item), 1))
        return dim + item.ndim
    if item.dtype.is_floating_point:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    indices.append(item)
    return dim + 1


class Indexing:
    """`__getitem__` and `__setitem__`, as a mixin of Tensor."""

    __slots__ = ()

    def __getitem__(self: Any, key: Any) -> Tensor:
        if key.__class__ is int:
            return ops.select(self, 0, key)
        view, indices = _basic(self, _expand_ellipsis(_as_items(key), self.ndim))
        if all(index is None for index in indices):
            return ops.alias(self) if view is self else view
        return ops.index(view, tuple(indices))

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        view, indices = _basic(self, _expand_ellipsis(_as_items(key), self.ndim))
        basic = all(index is None for index in indices)
        if isinstance(value, int | float):
            if basic:
                ops.fill_(view, value)
                return
            value = ops.full((), value, dtype=self.dtype, device=self.device)
        elif not isinstance(value, TensorBase):
            value = self._literal(np.asarray(value, self.dtype.numpy))
        if basic:
            lead = value.ndim - view.ndim
            if lead > 0 and all(n == 1 for n in value.shape[:lead]):
                value = ops.view(value.contiguous(), value.shape[lead:])
            ops.copy_(view, value)
            return
        if value.dtype is not self.dtype:
            value = ops.to_dtype(value, self.dtype)
        ops.index_put_(view, tuple(indices), value)
