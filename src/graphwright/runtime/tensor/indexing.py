"""`x[...]` and `x[...] = value`: basic indexing as views, advanced through index and index_put."""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import OVERRIDE
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.array_casts import cast_array
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.finfo import exceeds
from graphwright.runtime.tensor.nested_sequences import regular
from graphwright.runtime.torch_function import MODES, PLAIN, decide, each, overriding

if TYPE_CHECKING:
    from graphwright.runtime.tensor.tensor import Tensor


_NARROW = dtypes.FLOAT8 | {dtypes.float16, dtypes.bfloat16}
_MASKS = (dtypes.bool, dtypes.uint8, np.dtype(np.bool_), np.dtype(np.uint8))
_NESTED = slice | TensorBase | np.ndarray | list | tuple | range
_TUPLE_LIMIT = 32


def _is_mask(item: Any) -> bool:
    """Whether an item picks by truth, not by position; uint8 does so too, as in PyTorch."""
    return isinstance(item, TensorBase | np.ndarray) and item.dtype in _MASKS


def _as_items(key: Any) -> tuple[Any, ...]:
    """A short list that holds more than numbers means what a tuple does, as in PyTorch.

    It is deprecated, with a warning: NumPy takes such a list for one index of more dims.
    """
    if isinstance(key, tuple):
        return key
    if isinstance(key, list) and len(key) < _TUPLE_LIMIT and any(
        isinstance(k, _NESTED) or k is None or k is Ellipsis for k in key
    ):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use "
            "x[tuple(seq)], or x[tensor(seq)] for an index of more dims",
            stacklevel=5,
        )
        return tuple(key)
    return (key,)


def _as_index(tensor: Any, item: Any) -> Any:
    """Lists, ranges and arrays as index tensors; other items as they are."""
    if isinstance(item, list | tuple | range | np.ndarray):
        item = _index_tensor(tensor, item)
    if isinstance(item, TensorBase) and item.dtype is dtypes.uint8:
        warnings.warn("indexing with dtype uint8 is deprecated: use bool", stacklevel=4)
        as_given: Any = item
        return ops.ne(as_given, 0)
    return item


def _index_tensor(tensor: Any, item: Any) -> Any:
    if not isinstance(item, np.ndarray) and any(isinstance(k, TensorBase) for k in item):
        parts: list[Any] = [
            k if isinstance(k, TensorBase) else tensor._literal(np.asarray(regular(k)))
            for k in item
        ]
        return ops.stack(parts)
    plain = tensor._numbers(list(item) if item.__class__ is range else item)
    if plain is not None and plain.dtype in (dtypes.int64, dtypes.bool):
        return plain
    try:
        array = np.asarray(regular(item))
    except (TypeError, ValueError) as error:
        raise ValueError(f"a sequence as an index is no array: {error}") from error
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.dtype.kind not in "biu":
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors, got an array of "
            f"{array.dtype}"
        )
    return tensor._literal(np.ascontiguousarray(array).reshape(array.shape))


def _consumed(item: Any) -> int:
    """How many dims of the tensor an item stands for."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndim if _is_mask(item) else 1


def _expand_ellipsis(items: list[Any], tensor: Any) -> list[Any]:
    ndim = tensor.ndim
    used = sum(map(_consumed, items))
    if used > ndim:
        if ndim == 0 and len(items) == 1 and hasattr(items[0], "__index__"):
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor "
                "to a Python number"
            )
        if ndim == 0 and len(items) == 1 and isinstance(items[0], slice):
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        raise IndexError(
            f"too many indices for tensor of dimension {ndim} ({describe(tensor)})"
        )
    result: list[Any] = []
    left: int | None = ndim - used
    for item in items:
        if item is not Ellipsis:
            result.append(item)
        elif left is not None:
            result += [slice(None)] * left
            left = None
    return result + [slice(None)] * (left or 0)


def _basic(tensor: Any, items: list[Any]) -> tuple[Any, list[Any]]:
    """Apply ints, slices and None; returns the view and per dim None or an index tensor."""
    dim = 0
    result = tensor
    indices: list[Any] = []
    for item in items:
        if _is_mask(item) and item.ndim == 0:
            result, item = ops.unsqueeze(result, dim), ops.unsqueeze(item, 0)
        if item is None:
            result = ops.unsqueeze(result, dim)
            indices.append(None)
            dim += 1
        elif isinstance(item, slice):
            if item != slice(None):
                bounds = map(_bound, (item.start, item.stop, item.step))
                result = ops.slice(result, dim, *bounds)
            indices.append(None)
            dim += 1
        elif isinstance(item, bool):
            result = ops.unsqueeze(result, dim)
            indices.append(tensor._literal(np.zeros(int(item), np.int64)))
            dim += 1
        elif isinstance(item, TensorBase):
            if item.ndim == 0 and not item.dtype.is_floating_point:
                result = _select(result, dim, item)
            else:
                _check_tensor_item(item, result, dim)
                indices.append(item)
                dim += item.ndim if item.dtype is dtypes.bool else 1
        elif hasattr(item, "__index__"):
            result = ops.select(result, dim, item)
        else:
            raise _no_index(item)
    return result, indices


def _bound(value: Any) -> Any:
    """A bound of a slice: an object of the program's that stands for an int as that int.

    Raises TypeError for one that stands for none, as a class or a bool of NumPy.
    """
    if value is None or value.__class__ is int or isinstance(value, TensorBase | SymInt):
        return value
    return int(operator.index(value))


def _no_index(item: Any) -> Exception:
    kind = TypeError if isinstance(item, str) else IndexError
    return kind(
        "only integers, slices (`:`), ellipsis (`...`), None and integer or bool tensors are "
        f"valid indices (got {type(item).__name__})"
    )


def _select(result: Any, dim: int, item: Any) -> Any:
    """A 0-d tensor selects as its number does; of the examples of `vmap` each its own, copied."""
    if not item.is_fake:
        return ops.select(result, dim, int(item.item()))
    if not _core.levels():
        view: Any = ops.select_at(result, dim, item)
        view.position = item
        return view
    picked = ops.index(result, (*(None,) * dim, ops.reshape(item, (1,))))
    return ops.squeeze(picked, dim)


def _check_tensor_item(item: Any, result: Any, dim: int) -> None:
    if item.dtype is dtypes.bool:
        expected = tuple(result.shape[dim : dim + item.ndim])
        if tuple(item.shape) != expected:
            raise IndexError(
                f"The shape of the mask {list(item.shape)} does not match the shape of the "
                f"indexed tensor {list(result.shape)} at dimension {dim}"
            )
    elif item.dtype not in (dtypes.int64, dtypes.int32):
        raise IndexError(
            f"tensors used as indices must be long, int, byte or bool tensors, got "
            f"{describe(item)}"
        )


def _without_masks(indices: list[Any]) -> tuple[Any, ...]:
    result: list[Any] = []
    for index in indices:
        if index is not None and index.dtype is dtypes.bool:
            result.extend(ops.unbind(ops.nonzero(index), 1))
        else:
            result.append(index)
    return tuple(result)


def _parse(tensor: Any, key: Any) -> tuple[Any, list[Any]]:
    items = [_as_index(tensor, item) for item in _as_items(key)]
    view, indices = _basic(tensor, _expand_ellipsis(items, tensor))
    if all(index is None for index in indices):
        indices = []
    return view, indices


def _only_mask(indices: list[Any]) -> int:
    """The place of the only index if that is a mask, else -1."""
    given = [i for i, index in enumerate(indices) if index is not None]
    if len(given) != 1 or indices[given[0]].dtype is not dtypes.bool:
        return -1
    return given[0]


def _fill_by_mask(view: Any, mask: Any, place: int, value: Any) -> None:
    """One number wherever a mask holds: no positions are needed."""
    after = view.ndim - place - mask.ndim
    ops.masked_fill_(view, ops.reshape(mask, (*mask.shape, *(1,) * after)), value)


def _is_plain(tensor: Any, key: Any) -> bool:
    """Whether the key is one tensor, and nothing is recorded or traced."""
    return isinstance(key, TensorBase) and _core.dispatch_flags((tensor, key)) == 0


def _ask(name: str, self: Any, key: Any, *value: Any) -> Any:
    """What a mode or the class of an index or value makes of a subscript, or NotImplemented."""
    if not _core.dispatch_flags((key, *value)) & OVERRIDE:
        return NotImplemented
    asked = overriding(each((*each((self, key)), *value)))
    if not asked and not MODES.stack:
        return NotImplemented
    return decide(getattr(PLAIN[0], name), asked, (self, key, *value), {})


def _rounded(number: float, narrow: DType) -> float:
    """What a number beyond the range of a half dtype or float8 becomes."""
    with np.errstate(over="ignore"):
        return float(cast_array(np.asarray(float(number)), narrow))


class Indexing:
    """What `__getitem__` and `__setitem__` are made of, as a mixin of Tensor."""

    __slots__ = ()

    def _picked(self: Any, key: Any) -> Tensor:
        """`self[key]` by ops."""
        answer = _ask("__getitem__", self, key)
        if answer is not NotImplemented:
            return answer
        if key.__class__ is int and self.ndim:
            return ops.select(self, 0, key)
        if key.__class__ is bool:
            place = self._literal(np.zeros(int(key), np.int64))
            return ops.index(ops.unsqueeze(self, 0), (place,))
        if isinstance(key, TensorBase) and key.dtype is dtypes.int64 and key.ndim and self.ndim:
            return ops.index(self, (key,))  # type: ignore[arg-type]
        view, indices = _parse(self, key)
        if not indices:
            return ops.alias(self) if view is self else view
        return ops.index(view, _without_masks(indices))

    def _assign(self: Any, key: Any, value: Any) -> None:
        """`self[key] = value` by ops."""
        if key is False or _ask("__setitem__", self, key, value) is not NotImplemented:
            return
        if isinstance(value, np.generic):
            value = value.item()
        number = isinstance(value, int | float | complex) or hasattr(value, "expr")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(f"an int64 cannot hold {value}, which was to be written by index")
        if self.dtype in _NARROW and isinstance(value, int | float) and exceeds(value, self.dtype):
            value = _rounded(value, self.dtype)
        plain = _is_plain(self, key)
        if plain and number and key.dtype is dtypes.bool and key.shape == self.shape:
            ops.masked_fill_(self, key, value)
            return
        if plain and key.dtype is dtypes.int64 and key.ndim and self.ndim:
            view, indices = self, [key]
        elif key is True:
            view, indices = ops.unsqueeze(self, 0), []
        else:
            view, indices = (self[key], []) if _is_view(key) else _parse(self, key)
        if number and not indices:
            ops.fill_(view, value)
            return
        place = _only_mask(indices)
        if number and place >= 0:
            _fill_by_mask(view, indices[place], place, value)
            return
        if number:
            value = ops.full((), value, dtype=self.dtype, device=self.device)
        elif isinstance(value, np.ndarray):
            value = self._literal(cast_array(value, self.dtype))
        elif not isinstance(value, TensorBase):
            raise TypeError(f"can't assign a {type(value).__name__} to a {describe(self)} tensor")
        if place >= 0 and value.dtype is not self.dtype and value.numel() == 1:
            _fill_by_mask(view, indices[place], place, _converted(value, self.dtype))
            return
        if indices:
            ops.index_put_(view, tuple(indices), value)
            return
        lead = value.ndim - view.ndim
        if lead > 0 and all(n == 1 for n in value.shape[:lead]):
            value = ops.reshape(value, value.shape[lead:])
        ops.copy_(view, value)


def _converted(value: Any, dtype: Any) -> Any:
    """What a tensor of one element and another dtype gives a mask to write.

    It is a number, whose range is checked, but where its gradient is wanted.
    """
    if value.requires_grad:
        return ops.to_dtype(ops.reshape(value, ()), dtype)
    number = value.item()
    real = value.dtype.is_complex and not dtype.is_complex and not number.imag
    return number.real if real else number


_VIEWS = frozenset((int, slice, type(None), type(...)))


def _is_view(key: Any) -> bool:
    """Whether what a subscript picks is a view for sure."""
    if key.__class__ is tuple:
        return all(part.__class__ in _VIEWS for part in key)
    return key.__class__ in _VIEWS
