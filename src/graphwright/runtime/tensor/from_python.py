"""Numbers, nested sequences and arrays as the NumPy array that a tensor of them has.

A dtype that is not given is inferred as PyTorch infers it: Python floats give the default dtype,
complex numbers the complex dtype of its precision, ints int64, bools bool; NumPy's numbers and
arrays keep theirs. Tensors among numbers count with their dtypes, and all of them are promoted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphwright.runtime.ops.errstate import quietly
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.array_casts import cast_array
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.nested_sequences import kinds_of, ragged
from graphwright.runtime.tensor.promotion import promote_types
from graphwright.runtime.tensor.tensor import Tensor

Array = np.ndarray[Any, Any]


@quietly
def as_array(data: Any, dtype: DType | None) -> Array:
    """The array of `data`, perhaps over its memory.

    Raises TypeError or RuntimeError for data that is no number or of which there is no dtype,
    ValueError for ragged sequences and ints of more than 64 bits, RuntimeError for numbers that
    the dtype cannot hold.
    """
    if isinstance(data, np.ndarray | np.generic):
        return _native(np.asarray(data), dtype)
    kinds, irregular = kinds_of(data)
    if str in kinds or bytes in kinds:
        raise _no_text(data, kinds)
    if irregular is not None:
        raise irregular
    if any(issubclass(kind, Tensor) for kind in kinds):
        dtype = dtype or promoted(_leaves(data))
        data = _plain(data)
        kinds, _ = kinds_of(data)
    return _inferred(data, kinds) if dtype is None else _converted(data, kinds, dtype)


def _native(array: Array, dtype: DType | None) -> Array:
    if not array.dtype.isnative:
        raise ValueError(
            f"tensor(): given numpy array has a byte order ({array.dtype}) that is not the "
            "machine's; conversion between byte orders is not supported"
        )
    return array if dtype is None else cast_array(array, dtype)


def _leaves(data: Any) -> list[Any]:
    """What is inside nested sequences."""
    if isinstance(data, list | tuple):
        return [leaf for item in data for leaf in _leaves(item)]
    return [data]


def promoted(leaves: Iterable[Any]) -> DType | None:
    """The dtype of a tensor of these tensors, arrays and numbers; None where one is neither."""
    found: DType | None = None
    for leaf in leaves:
        own = leaf.dtype if isinstance(leaf, Tensor) else _OF_NUMBERS.get(type(leaf))
        own = dtypes.get_default_dtype() if type(leaf) is float else own
        if isinstance(leaf, np.ndarray | np.generic):
            own = dtypes.from_numpy_dtype(leaf.dtype)
        if own is None:
            return None
        found = own if found is None else promote_types(found, own)
    return found


_OF_NUMBERS: dict[type, DType] = {bool: dtypes.bool, int: dtypes.int64}


def _plain(data: Any) -> Any:
    """Nested sequences with tensors, of one element each, replaced by their numbers."""
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return data.item()
    if isinstance(data, list | tuple):
        return [_plain(item) for item in data]
    return data


def _no_text(data: Any, kinds: set[type]) -> Exception:
    name = "str" if str in kinds else "bytes"
    if isinstance(data, list | tuple) and len(kinds) == 1 and isinstance(data[0], str | bytes):
        return ValueError(f"tensor(): too many dimensions '{name}'")
    return TypeError(f"tensor(): invalid data type '{name}'")


def _read(data: Any, kinds: set[type], dtype: Any = None) -> Array:
    """By NumPy, whose refusals become PyTorch's."""
    try:
        array = np.asarray(data, dtype)
    except ValueError as error:
        raise ragged(data) from error
    if array.dtype.kind in "O":
        large = kinds <= {int, float, bool, complex}
        unknown = min(kind.__name__ for kind in kinds)
        raise ValueError("tensor(): Overflow when unpacking long long") if large else (
            RuntimeError(f"tensor(): Could not infer dtype of {unknown}")
        )
    return array


def _inferred(data: Any, kinds: set[type]) -> Array:
    array = _read(data, kinds)
    if any(issubclass(kind, np.ndarray) for kind in kinds):
        known = promoted(_leaves(data))
        return array if known is None else cast_array(array, known)
    default = dtypes.get_default_dtype()
    if array.size == 0 or (array.dtype == np.float64 and np.float64 not in kinds):
        return array.astype(default.numpy)
    if array.dtype == np.complex128 and np.complex128 not in kinds:
        return array.astype(default.to_complex().numpy)
    if array.dtype == np.uint64 and np.uint64 not in kinds:
        raise ValueError("tensor(): Overflow when unpacking long long")
    return array


def _converted(data: Any, kinds: set[type], dtype: DType) -> Array:
    """Numbers as the dtype: ints are checked, but unsigned dtypes take negative ones around."""
    if type(None) in kinds:
        raise TypeError("tensor(): must be real number, not NoneType")
    if dtype in dtypes.FLOAT8:
        return cast_array(_read(data, kinds, np.float64), dtype)
    if dtype is dtypes.bool or dtype.is_floating_point or dtype.is_complex:
        return _read(data, kinds, dtype.numpy)
    if any(issubclass(kind, complex | np.complexfloating) for kind in kinds):
        raise TypeError("tensor(): 'complex' object cannot be interpreted as an integer")
    if not kinds <= {int, bool}:
        return _whole(_read(data, kinds), dtype)
    try:
        return _read(data, kinds, dtype.numpy)
    except OverflowError:
        return _whole(np.asarray(data, object), dtype)


def _whole(array: Array, dtype: DType) -> Array:
    """The array as integers of the dtype. Raises RuntimeError for what it cannot hold."""
    target = np.dtype(dtype.numpy)
    if array.dtype == target or not array.size:
        return array.astype(target, copy=False)
    limits = np.iinfo(target)
    low = -limits.max if target.kind == "u" else limits.min
    flat = array.reshape(-1)
    if not all(low <= value <= limits.max for value in (flat.min(), flat.max())):
        raise RuntimeError(
            f"tensor(): value cannot be converted to type {dtype.name} without overflow"
        )
    if array.dtype.kind == "O":
        around = (1 << 8 * target.itemsize) if target.kind == "u" else 0
        array = np.vectorize(lambda value: value % around if around else value, otypes=[object])(
            array
        )
    return array.astype(target)
