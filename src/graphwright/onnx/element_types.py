"""ONNX's element types, numbers of `TensorProto.DataType`, and the dtypes that have them."""

from __future__ import annotations

from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL = 1, 2, 3, 4, 5, 6, 7, 8, 9
UINT4, INT4, FLOAT4E2M1, UINT2, INT2 = 21, 22, 23, 25, 26

DTYPES: dict[int, DType] = {
    FLOAT: dtypes.float32, UINT8: dtypes.uint8, INT8: dtypes.int8, UINT16: dtypes.uint16,
    INT16: dtypes.int16, INT32: dtypes.int32, INT64: dtypes.int64, BOOL: dtypes.bool,
    10: dtypes.float16, 11: dtypes.float64, 12: dtypes.uint32, 13: dtypes.uint64,
    14: dtypes.complex64, 15: dtypes.complex128, 16: dtypes.bfloat16, 17: dtypes.float8_e4m3fn,
    18: dtypes.float8_e4m3fnuz, 19: dtypes.float8_e5m2, 20: dtypes.float8_e5m2fnuz,
    24: dtypes.float8_e8m0fnu,
}  # fmt: skip
"""The element types that tensors have."""

NARROW: dict[int, DType] = {
    UINT4: dtypes.uint8, INT4: dtypes.int8, UINT2: dtypes.uint8, INT2: dtypes.int8,
    FLOAT4E2M1: dtypes.float32,
}  # fmt: skip
"""Element types below a byte, and the dtype that holds their values."""

ELEMENT_TYPES: dict[DType, int] = {dtype: number for number, dtype in DTYPES.items()}


def dtype_of(number: int) -> DType:
    """The dtype of an element type that tensors have.

    Raises:
        ValueError: there is none.
    """
    if number not in DTYPES:
        raise ValueError(f"no dtype for ONNX's element type {number}")
    return DTYPES[number]
