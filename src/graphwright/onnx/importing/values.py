"""Values in a running graph that are no tensors.

A value is a Tensor, Sizes, a Narrow, a bool, a NumPy array of str, a list (a sequence), or None
(an empty optional, an input that is left out).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import graphwright as gw
from graphwright import Tensor

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL = 1, 2, 3, 4, 5, 6, 7, 8, 9
UINT4, INT4, FLOAT4E2M1, UINT2, INT2 = 21, 22, 23, 25, 26

DTYPES: dict[int, gw.dtype] = {
    FLOAT: gw.float32, UINT8: gw.uint8, INT8: gw.int8, UINT16: gw.uint16, INT16: gw.int16,
    INT32: gw.int32, INT64: gw.int64, BOOL: gw.bool, 10: gw.float16, 11: gw.float64,
    12: gw.uint32, 13: gw.uint64, 14: gw.complex64, 15: gw.complex128, 16: gw.bfloat16,
    17: gw.float8_e4m3fn, 18: gw.float8_e4m3fnuz, 19: gw.float8_e5m2, 20: gw.float8_e5m2fnuz,
    24: gw.float8_e8m0fnu,
}  # fmt: skip
"""ONNX's element types, `TensorProto.DataType`, that tensors have."""

NARROW: dict[int, gw.dtype] = {
    UINT4: gw.uint8, INT4: gw.int8, UINT2: gw.uint8, INT2: gw.int8, FLOAT4E2M1: gw.float32,
}  # fmt: skip
"""Element types below a byte, and the dtype that holds their values."""

ELEMENT_TYPES: dict[gw.dtype, int] = {dtype: number for number, dtype in DTYPES.items()}


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


def as_tensor(value: Any) -> Any:
    """The value with sizes and narrow values as tensors; others as they are."""
    if isinstance(value, Sizes):
        return value.tensor()
    if isinstance(value, Narrow):
        return value.tensor
    return gw.tensor(value) if isinstance(value, bool) else value


def dtype_of(number: int) -> gw.dtype:
    """The dtype of an element type that tensors have.

    Raises:
        ValueError: there is none.
    """
    if number not in DTYPES:
        raise ValueError(f"no dtype for ONNX's element type {number}")
    return DTYPES[number]
