"""Dtypes as ONNX element types."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType

NAMES: dict[DType, str] = {
    dtypes.float32: "FLOAT", dtypes.float64: "DOUBLE", dtypes.float16: "FLOAT16",
    dtypes.bfloat16: "BFLOAT16", dtypes.bool: "BOOL", dtypes.uint8: "UINT8",
    dtypes.uint16: "UINT16", dtypes.uint32: "UINT32", dtypes.uint64: "UINT64",
    dtypes.int8: "INT8", dtypes.int16: "INT16", dtypes.int32: "INT32", dtypes.int64: "INT64",
    dtypes.float8_e4m3fn: "FLOAT8E4M3FN", dtypes.float8_e4m3fnuz: "FLOAT8E4M3FNUZ",
    dtypes.float8_e5m2: "FLOAT8E5M2", dtypes.float8_e5m2fnuz: "FLOAT8E5M2FNUZ",
}
"""The names of `onnx.TensorProto`'s element types; complex dtypes have no ops there."""

NARROW = frozenset([dtypes.uint8, dtypes.int8, dtypes.uint16, dtypes.int16])
"""Integers that ONNX has and that runtimes have few kernels for: they are computed in int32."""


def element_type(dtype: DType) -> int:
    """The number of an element type in a file."""
    import onnx

    return int(onnx.TensorProto.DataType.Value(NAMES[dtype]))


def dtype_of(number: Any) -> DType:
    """The dtype of an element type."""
    import onnx

    name = onnx.TensorProto.DataType.Name(number)
    return next(one for one, own in NAMES.items() if own == name)
