"""Tensors in lists, tuples, named tuples and dicts: taken out, and put back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.runtime.tensor.tensor import Tensor


def of_kind(container: Any, parts: Sequence[Any]) -> Any:
    """The parts in a list, tuple or named tuple of the type of `container`."""
    kind = type(container)
    return kind(*parts) if hasattr(container, "_fields") else kind(parts)


def tensors_of(value: Any) -> list[Tensor]:
    """The tensors of a tensor, list, tuple or dict, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in tensors_of(part)]
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in tensors_of(part)]
    return []


def rebuilt(value: Any, replacements: Iterator[Any]) -> Any:
    """`value` with the next of `replacements` in place of each tensor."""
    if isinstance(value, Tensor):
        return next(replacements)
    if isinstance(value, dict):
        return {key: rebuilt(part, replacements) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return of_kind(value, [rebuilt(part, replacements) for part in value])
    return value


def leaves_of(value: Any) -> list[Any]:
    """Whatever is in nested lists, tuples and dicts, in order."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves_of(part)]
    if isinstance(value, list | tuple):
        return [leaf for part in value for leaf in leaves_of(part)]
    return [value]


def with_leaves(value: Any, leaves: Iterator[Any]) -> Any:
    """`value` with the next of `leaves` in place of each of its own."""
    if isinstance(value, dict):
        return {key: with_leaves(part, leaves) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return of_kind(value, [with_leaves(part, leaves) for part in value])
    return next(leaves)
