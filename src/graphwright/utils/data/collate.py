"""Batches from lists of examples, and examples as tensors."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.from_data import as_tensor, tensor
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.trees import of_kind

_NOT_NUMBERS = "SaUO"
np_str_obj_array_pattern = re.compile(f"[{_NOT_NUMBERS}]")
"""What is found in the names of NumPy's dtypes of arrays that are no numbers."""

Function = Callable[..., Any]
Functions = Mapping[Any, Function]


def collate(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """One batch from a list of examples of the same structure.

    `collate_fn_map`: functions (batch, *, collate_fn_map) by the type, or types, of examples;
    the exact type comes first. Mappings, tuples and sequences of other types are gone through.
    Raises TypeError for what is left and RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    function = _function_for(first, collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def joined(examples: Any) -> Any:
        return collate(examples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _like(first, {key: joined([x[key] for x in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return of_kind(first, [joined(part) for part in zip(*batch, strict=True)])
    if isinstance(first, Sequence):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence_like(first, [joined(part) for part in zip(*batch, strict=True)])
    raise _refused(type(first))


def _refused(found: Any) -> TypeError:
    return TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts "
                     f"or lists; found {found}")


def _function_for(example: Any, functions: Functions) -> Function | None:
    if type(example) in functions:
        return functions[type(example)]
    found = (function for kind, function in functions.items() if isinstance(example, kind))
    return next(found, None)


def collate_tensor_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Tensors, stacked along a new first dimension."""
    return ops.stack(list(batch))


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Arrays or scalars of NumPy, stacked. TypeError for texts and objects."""
    if batch[0].dtype.kind in _NOT_NUMBERS:
        raise _refused(batch[0].dtype)
    return ops.stack([as_tensor(np.asarray(x)) for x in batch])


def collate_float_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Floats, as a tensor of float64."""
    return tensor(list(batch), dtype=dtypes.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Ints, or bools, as a tensor."""
    return tensor(list(batch))


def collate_str_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Texts, as they are."""
    return batch


default_collate_fn_map: dict[Any, Function] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_array_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
"""What `default_collate` does with examples of which types; may be added to."""


def default_collate(batch: Any) -> Any:
    """One batch from a list of examples of the same structure.

    Tensors, arrays and numbers are stacked along a new first dimension (floats as float64);
    mappings, tuples and sequences are gone through; strings stay as they are. Raises TypeError
    for other types and RuntimeError for sequences of different lengths.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data: Any) -> Any:
    """An example with its NumPy arrays and scalars as tensors.

    Tuples and sequences that cannot be written to become lists.
    """
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind not in _NOT_NUMBERS:
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return of_kind(data, [default_convert(value) for value in data])
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _sequence_like(data, [default_convert(value) for value in data])
    return data


def _like(mapping: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """The items in a mapping of the same kind."""
    if isinstance(mapping, MutableMapping):
        result = copy.copy(mapping)
        result.update(items)
        return result
    return type(mapping)(items)  # type: ignore[call-arg]


def _sequence_like(sequence: Sequence[Any], items: list[Any]) -> Any:
    """The items in a sequence of the same kind; in a list where that cannot be written to."""
    if type(sequence) is list or not isinstance(sequence, MutableSequence):
        return items
    result = copy.copy(sequence)
    for i, item in enumerate(items):
        result[i] = item
    return result


def pin_memory(data: Any, device: Any = None) -> Any:
    """A batch with its tensors in page-locked memory.

    Mappings, tuples and sequences are gone through, tuples becoming lists; of other objects the
    method `pin_memory` is called, where they have one, and they stay as they are otherwise.

    Raises RuntimeError: there is no GPU, or a tensor is not in main memory.
    """
    if isinstance(data, Tensor):
        return data.pin_memory(device)
    if isinstance(data, str | bytes):
        return data
    if isinstance(data, Mapping):
        return _like(data, {key: pin_memory(value, device) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return of_kind(data, [pin_memory(value, device) for value in data])
    if isinstance(data, Sequence):
        return _sequence_like(data, [pin_memory(value, device) for value in data])
    return data.pin_memory() if hasattr(data, "pin_memory") else data
