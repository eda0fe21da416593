"""Values in a running graph that are no tensors.

A value is a Tensor, Sizes, a Narrow, a bool, a NumPy array of str, a list (a sequence), or None
(an empty optional, an input that is left out).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor


class Sizes:
    """Whole numbers that are known in Python: a shape, a part of one, or a constant.

    They keep symbolic sizes as they are, where a tensor of them would need their values.

    Attributes:
        values: the numbers, each an int or a SymInt.
        scalar: whether this stands for a tensor of no dims, which has one number.
        dtype: of that tensor: int64, or another where sizes are cast or compared.
    """

    __slots__ = ("dtype", "scalar", "values")

    def __init__(
        self, values: Iterable[int], scalar: bool = False, dtype: gw.dtype = gw.int64
    ) -> None:
        self.values = list(values)
        self.scalar = scalar
        self.dtype = dtype

    def like(self, values: Iterable[int], scalar: bool = False) -> Sizes:
        """Other numbers of the same dtype."""
        return Sizes(values, scalar, self.dtype)

    def tensor(self) -> Tensor:
        """The numbers as a tensor of one dim or none."""
        return gw.tensor(self.values[0] if self.scalar else self.values, dtype=self.dtype)


class Numbers(Sizes):
    """The numbers of a small constant that are not whole, or may be trained."""

    __slots__ = ()


class Narrow:
    """A tensor of an element type below a byte.

    Attributes:
        tensor: the values, of dtype `NARROW[kind]`.
        kind: the element type, a number of `TensorProto.DataType`.
    """

    __slots__ = ("kind", "tensor")

    def __init__(self, tensor: Tensor, kind: int) -> None:
        self.tensor = tensor
        self.kind = kind


def of_objects(texts: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of str from its elements in order."""
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(shape)


def as_tensor(value: Any) -> Any:
    """The value with sizes and narrow values as tensors; others as they are."""
    if isinstance(value, Sizes):
        return value.tensor()
    if isinstance(value, Narrow):
        return value.tensor
    return gw.tensor(value) if isinstance(value, bool) else value
