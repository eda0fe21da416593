"""Which dtypes an op takes and in which it computes; shared by reductions, scans and orders."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import BATCHED, FAKE, MODES, OTHER_DEVICE
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import HALVES, Array, converted
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType


def is_inexact(dtype: DType) -> bool:
    """Whether a dtype is floating point or complex."""
    return dtype.is_floating_point or dtype.is_complex


def sum_dtype(input: Any, dtype: DType | None) -> DType:
    """The dtype of sums: as asked for, int64 for integers and bool, else the input's."""
    if dtype is not None:
        return dtype
    return input.dtype if is_inexact(input.dtype) else dtypes.int64


def wide_array(input: Any) -> Array:
    """A tensor's values, half types as float32."""
    array: Array = input._nd
    return converted(input, dtypes.float32) if input.dtype in HALVES else array


def has_values(tensor: Any) -> bool:
    """Whether a tensor's data can be looked at: it is neither fake nor on another device."""
    return not _core.dispatch_flags((tensor,)) & (FAKE | OTHER_DEVICE)


def has_no_zeros(tensor: Any) -> bool:
    """Whether the elements are known, with nothing traced or mapped, and none is 0."""
    if _core.dispatch_flags((tensor,)) & (FAKE | OTHER_DEVICE | MODES | BATCHED):
        return False
    return not bool(ops.any(ops.eq(tensor, 0)))


def real_dtype(dtype: DType) -> DType:
    """The dtype of absolute values."""
    if not dtype.is_complex:
        return dtype
    return dtypes.float64 if dtype.itemsize == 16 else dtypes.float32


def require_inexact(name: str, input: Any) -> None:
    """Raise RuntimeError unless the input is floating point or complex."""
    if not is_inexact(input.dtype):
        raise RuntimeError(
            f"{name}(): Expected a floating point or complex tensor as input. "
            f"Got {describe(input)}"
        )


def require_ordered(name: str, input: Any) -> None:
    """Raise NotImplementedError for complex input, which has no order."""
    if input.dtype.is_complex:
        raise NotImplementedError(
            f"{name}(): does not support complex input, got {describe(input)}"
        )


def require_supported(name: str, input: Any, *, bool: bool = True, complex: bool = True) -> None:
    """Raise NotImplementedError for a dtype that PyTorch's kernel of that name lacks."""
    dtype = input.dtype
    if (not bool and dtype is dtypes.bool) or (not complex and dtype.is_complex):
        raise NotImplementedError(f'"{name}" not implemented for {describe(input)}')


def contiguous_spec(like: Any, shape: tuple[Any, ...], dtype: DType | None = None) -> TensorSpec:
    """The type of a contiguous tensor on the device of `like`."""
    return TensorSpec(shape, contiguous_strides(shape), dtype or like.dtype, like.device)


def require_dtype(
    name: str,
    dtype: DType,
    *,
    bool: bool = True,
    integers: bool = True,
    floats: bool = True,
    halves: bool = True,
    complex: bool = True,
) -> None:
    """Raise NotImplementedError where PyTorch's kernel of that name lacks the dtype."""
    if dtype.is_floating_point:
        known = floats and (halves or dtype not in HALVES)
    elif dtype.is_complex:
        known = complex
    else:
        known = bool if dtype is dtypes.bool else integers
    if not known:
        raise NotImplementedError(f'"{name}" not implemented for \'{dtype.name}\'')
