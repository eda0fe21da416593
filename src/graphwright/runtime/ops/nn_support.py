"""What the kernels and shape rules of the neural network ops share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import as_contiguous, converted, rounded_into
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.dtypes import float32
from graphwright.runtime.tensor.tensor import Tensor

Array = np.ndarray[Any, Any]
internal = partial(define, method=False, public=False)

_HALF = 2


def spec(shape: Any, like: Any, dtype: DType | None = None) -> TensorSpec:
    """A contiguous result of this shape, otherwise like `like`."""
    return TensorSpec(tuple(shape), contiguous_strides(shape), dtype or like.dtype, like.device)


def same(input: Any, *rest: Any) -> TensorSpec:
    """The shape rule of ops whose result is like their first argument, contiguous."""
    return spec(input.shape, input)


def new(shape: Any, dtype: DType) -> Tensor:
    """An uninitialised contiguous CPU tensor from the pool."""
    tensor: Tensor = _core.empty(Tensor, tuple(shape), dtype)
    return tensor


def is_half(dtype: DType) -> bool:
    """Whether arithmetic in this dtype is done in float32."""
    return dtype.is_floating_point and dtype.itemsize == _HALF


def compute(tensor: Any) -> Array:
    """The values for arithmetic: half precision as float32, anything else as it is."""
    array: Array = tensor._nd
    return converted(tensor, float32) if is_half(tensor.dtype) else array


def as_float32(tensor: Tensor) -> Tensor:
    """For kernels: a contiguous float32 tensor of the values."""
    return as_contiguous(tensor, float32)


def rounded(tensor: Tensor, dtype: DType) -> Tensor:
    """For kernels: a float32 tensor in half precision."""
    result = new(tensor.shape, dtype)
    rounded_into(result, tensor._nd)
    return result


def widened(tensor: Any) -> Any:
    """For decompositions: half precision as float32, anything else as it is."""
    return ops.to_dtype(tensor, float32) if is_half(tensor.dtype) else tensor


def cast(tensor: Any, dtype: DType) -> Any:
    """For decompositions: `tensor` in `dtype`."""
    return tensor if tensor.dtype is dtype else ops.to_dtype(tensor, dtype)


def output(shape: Any, dtype: DType) -> tuple[Tensor, Array]:
    """A new result, and the array to compute it in: its own, or float32 for half precision.

    After computing, call `finish(result, array)`.
    """
    result = new(shape, dtype)
    if is_half(dtype):
        return result, np.empty(tuple(shape), np.float32)
    return result, result._nd


def finish(result: Tensor, array: Array) -> Tensor:
    """Round what was computed in another dtype to that of `result`; no-op where they are one."""
    if array is result._nd:
        return result
    if is_half(result.dtype) and array.dtype == np.float32:
        rounded_into(result, array)
    else:
        result._nd[...] = array
    return result


def require_floating(name: str, tensor: Any) -> None:
    """NotImplementedError unless `tensor` is floating point, as PyTorch's kernels answer."""
    if not tensor.dtype.is_floating_point:
        raise NotImplementedError(f'"{name}" not implemented for {tensor.dtype}')


def require_alike(name: str, input: Any, *parameters: Any) -> None:
    """RuntimeError unless all have the input's dtype, or it is half and they are float32."""
    for first in parameters:
        if first is not None and first.dtype is not input.dtype:
            break
    else:
        return
    kinds = {p.dtype for p in parameters if p is not None}
    if not is_half(input.dtype) or kinds != {float32}:
        given = ", ".join(describe(p) for p in parameters if p is not None)
        raise RuntimeError(
            f"{name}: mixed dtypes: expected parameters of the input's dtype, or of float32 for "
            f"a half input, got {describe(input)} and {given}"
        )


def reduced(loss: Any, reduction: str) -> Any:
    """`loss` itself for "none", its mean or its sum."""
    if reduction == "none":
        return loss
    return ops.mean(loss) if reduction == "mean" else ops.sum(loss)
