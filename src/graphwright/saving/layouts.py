"""Shapes, strides and offsets that a file declares, checked before anything is made of them."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.header import InvalidFile

_MAX_DIMS = 32


def is_size(value: object) -> bool:
    """Whether `value` is an int that a size or an offset can be."""
    return type(value) is int and 0 <= value < 2**63


def is_shape(value: object) -> bool:
    """Whether `value` is a list of sizes, not too many."""
    return isinstance(value, list) and len(value) <= _MAX_DIMS and all(map(is_size, value))


def check_part(count: int, offset: Any, shape: Any, strides: Any) -> None:
    """InvalidFile unless a tensor of that layout lies within `count` elements."""
    if not (is_size(offset) and is_shape(shape) and is_shape(strides)):
        raise InvalidFile("the file describes a view in an unknown way")
    if len(shape) != len(strides):
        raise InvalidFile("the file describes a view in an unknown way")
    empty = 0 in shape
    last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if math.prod(n for n in shape if n) >= 2**63 or max(strides, default=0) >= 2**60:
        raise InvalidFile("the file describes a view that is too large")
    if offset > count or (not empty and last >= count):
        raise InvalidFile("the file describes a view beyond its memory")


def part_of(base: Tensor, offset: Any, shape: Any, strides: Any) -> Tensor:
    """The part of flat `base` that a file describes."""
    check_part(base.numel(), offset, shape, strides)
    start = base.storage_offset() + offset
    view: Tensor = _core.as_view(Tensor, base, shape, strides, start)
    return view
