"""Sequences, which are lists, and optionals, which are values or None."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import op
from graphwright.onnx.importing.values import as_tensor


@op("SequenceConstruct")
def sequence_construct(*values: Any) -> list[Any]:
    """A sequence of tensors."""
    return [as_tensor(value) for value in values]


@op("SequenceEmpty")
def sequence_empty(*, dtype: int | None = None) -> list[Any]:
    """A sequence of nothing."""
    return []


@op("SequenceLength")
def sequence_length(sequence: Any) -> Tensor:
    """The number of tensors."""
    return gw.tensor(len(sequence), dtype=gw.int64)


def _position(sequence: list[Any], position: int, limit: int) -> int:
    if not -len(sequence) <= position < limit:
        raise IndexError(f"position {position} of a sequence of {len(sequence)}")
    return position + len(sequence) if position < 0 else position


@op("SequenceAt")
def sequence_at(sequence: Any, position: int) -> Any:
    """The tensor at a position, counted from the end where negative."""
    return sequence[_position(sequence, position, len(sequence))]


@op("SequenceErase")
def sequence_erase(sequence: Any, position: int | None = None) -> list[Any]:
    """The sequence without the tensor at a position, by default the last."""
    place = _position(sequence, -1 if position is None else position, len(sequence))
    return [*sequence[:place], *sequence[place + 1 :]]


@op("SequenceInsert")
def sequence_insert(sequence: Any, tensor: Any, position: int | None = None) -> list[Any]:
    """The sequence with a tensor before a position, by default behind all."""
    end = len(sequence)
    place = end if position is None else _position(sequence, position, end + 1)
    return [*sequence[:place], as_tensor(tensor), *sequence[place:]]


@op("ConcatFromSequence")
def concat_from_sequence(sequence: Any, *, axis: int, new_axis: int = 0) -> Any:
    """The tensors one after the other along an axis, or along a new one."""
    if sequence and isinstance(sequence[0], np.ndarray):
        return (np.stack if new_axis else np.concatenate)(sequence, axis)
    return gw.stack(sequence, dim=axis) if new_axis else gw.cat(sequence, dim=axis)


@op("SplitToSequence")
def split_to_sequence(
    x: Any, split: Any = None, *, axis: int = 0, keepdims: int = 1
) -> list[Any]:
    """Parts of x along an axis: of one size, of the sizes given, or slices of size 1."""
    sizes = 1 if split is None else as_tensor(split).tolist()
    if isinstance(x, np.ndarray):
        length = x.shape[axis]
        ends = np.cumsum(sizes)[:-1] if isinstance(sizes, list) else range(sizes, length, sizes)
        parts: list[Any] = np.split(x, list(ends), axis=axis)
    else:
        parts = list(gw.split(as_tensor(x), sizes, dim=axis))
    return [part.squeeze(axis) for part in parts] if split is None and not keepdims else parts


@op("Optional")
def optional(value: Any = None, *, type: Any = None) -> Any:
    """The value, or None."""
    return value


@op("OptionalGetElement")
def optional_get_element(value: Any) -> Any:
    """The value of an optional."""
    if value is None:
        raise ValueError("OptionalGetElement: the optional is empty")
    return value


@op("OptionalHasElement")
def optional_has_element(value: Any = None) -> Tensor:
    """Whether an optional has a value."""
    return gw.tensor(value is not None)
