"""Batches from lists of examples, and examples as tensors."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from graphwright.runtime import dtypes
from graphwright.runtime.interop import as_tensor, tensor
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.tensor import Tensor
from graphwright.runtime.trees import of_kind

_NOT_NUMBERS = "SaUO"


def default_collate(batch: Any) -> Any:
    """One batch from a list of examples of the same structure.

    Tensors, arrays and numbers are stacked along a new first dimension (floats as float64);
    mappings, tuples and sequences are gone through; strings stay as they are. Raises TypeError
    for other types and RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return ops.stack(list(batch))
    if isinstance(first, np.ndarray | np.generic) and first.dtype.kind not in _NOT_NUMBERS:
        return ops.stack([as_tensor(np.asarray(x)) for x in batch])
    if isinstance(first, float):
        return tensor(list(batch), dtype=dtypes.float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _like(first, {key: default_collate([x[key] for x in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return of_kind(first, [default_collate(part) for part in zip(*batch, strict=True)])
    if isinstance(first, Sequence):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(part) for part in zip(*batch, strict=True)]
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )


def default_convert(data: Any) -> Any:
    """An example with its NumPy arrays and scalars as tensors; tuples become lists."""
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind not in _NOT_NUMBERS:
        return as_tensor(data)
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return of_kind(data, [default_convert(value) for value in data])
    if isinstance(data, tuple | list):
        return [default_convert(value) for value in data]
    return data


def _like(mapping: Mapping[Any, Any], items: dict[Any, Any]) -> Any:
    """The items in a mapping of the same kind."""
    if isinstance(mapping, MutableMapping):
        result = copy.copy(mapping)
        result.update(items)
        return result
    return type(mapping)(items)  # type: ignore[call-arg]
