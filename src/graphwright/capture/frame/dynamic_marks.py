"""Tensors whose sizes the user says to be dynamic or static."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.record import Record, field


class Marks(Record, frozen=False):
    """dynamic: dimension to the bounds of its size; static: dimensions that keep their size."""

    dynamic: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    static: set[int] = field(default_factory=set)


_NONE = Marks()
_marks: dict[int, tuple[weakref.ref[Any], Marks]] = {}


def marks_of(tensor: Any) -> Marks:
    """What was said of a tensor; empty marks for any other."""
    found = _marks.get(id(tensor))
    return found[1] if found is not None and found[0]() is tensor else _NONE


def mark_dynamic(
    tensor: Any, dim: int | Sequence[int], *, min: int | None = None, max: int | None = None
) -> None:
    """Make code that is captured for this tensor serve every size of some dimensions.

    Sizes 0 and 1 keep versions of their own. A size that lies outside of the bounds, or that the
    program allows one value of (which a RuntimeWarning reports), is compiled as a new version.

    Args:
        tensor: an argument, or something an argument leads to.
        dim: one dimension or several; negative ones count from the end.
        min, max: the sizes that the code has to serve; None: no bound.

    Raises:
        TypeError: not a tensor.
        IndexError: no such dimension.
        ValueError: the tensor's size is not within the bounds.
    """
    for index in _dims(tensor, dim):
        size = tensor.shape[index]
        if (min is not None and size < min) or (max is not None and size > max):
            raise ValueError(
                f"mark_dynamic: size {size} of dimension {index} is not within [{min}, {max}]"
            )
        marks = _own(tensor)
        marks.dynamic[index] = (min, max)
        marks.static.discard(index)


def mark_static(tensor: Any, dim: int | Sequence[int] | None = None) -> None:
    """Keep the sizes of a tensor's dimensions out of what becomes symbolic.

    Args:
        tensor: an argument, or something an argument leads to.
        dim: one dimension or several, negative ones counting from the end; None: all of them.

    Raises:
        TypeError: not a tensor.
        IndexError: no such dimension.
    """
    for index in _dims(tensor, range(tensor.ndim) if dim is None else dim):
        marks = _own(tensor)
        marks.static.add(index)
        marks.dynamic.pop(index, None)


def _dims(tensor: Any, dim: int | Sequence[int]) -> list[int]:
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"sizes of tensors can be marked, not of {type(tensor).__name__}")
    dims = [dim] if isinstance(dim, int) else list(dim)
    for index in dims:
        if not -tensor.ndim <= index < tensor.ndim:
            raise IndexError(f"dimension {index} of a tensor that has {tensor.ndim}")
    return [index % tensor.ndim for index in dims]


def _own(tensor: Any) -> Marks:
    found = _marks.get(id(tensor))
    if found is None or found[0]() is not tensor:
        key = id(tensor)
        # No frame of Python's begins when `tensor` ends, which a function that profiles would see.
        found = _marks[key] = (weakref.ref(tensor, partial(_marks.pop, key)), Marks())
    return found[1]
