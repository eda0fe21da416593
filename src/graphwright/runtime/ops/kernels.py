"""Running NumPy functions as eager kernels: layouts, pooled outputs, half precision.

A kernel function takes arrays and a positional `out` array, as ufuncs do. Operands are rounded to
the dtype to which they promote; half types are then computed in float32 and rounded once, as
PyTorch does. Some ops leave a number as it is: it is an exact operand.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dispatch import on_cuda
from graphwright.runtime.ops.strides import (
    broadcast_shapes,
    contiguous_strides,
    is_with_number,
    pointwise_strides,
)
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.array_casts import Array, cast_array
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import to_float
from graphwright.runtime.tensor.tensor import Tensor

Function = Callable[..., Any]

HALVES = frozenset({dtypes.float16, dtypes.bfloat16})
SCALARS = frozenset({int, float, bool, complex})
EXACT = {"mul": 0b11, "div": 0b11, "floor_divide": 0b10}
"""The exact operands of ops, as bits: see `rounds`."""
_FEW = 4096     # elements up to which NumPy's loops convert as fast


def power_of_ten(exponent: int) -> float:
    """10^|exponent|, infinite above the range of float64."""
    return float(f"1e{abs(exponent)}")


def compute_type(dtype: DType) -> DType:
    """The dtype in which arithmetic of `dtype` is done."""
    return dtypes.float32 if dtype in HALVES or dtype in dtypes.FLOAT8 else dtype


def converted(tensor: Any, dtype: DType) -> Array:
    """A tensor's values in a fresh array of `dtype`, made by all threads where C has the loop."""
    if tensor.numel() > _FEW:
        out = _core.empty(Tensor, tensor.shape, dtype)
        if _core.convert_into(out, tensor):
            return out._nd
    return cast_array(tensor._nd, dtype)


def as_contiguous(tensor: Tensor, dtype: DType) -> Tensor:
    """The tensor itself where it is contiguous and of the dtype, else a copy that is."""
    if tensor.dtype is dtype and tensor.is_contiguous():
        return tensor
    out = _core.empty(Tensor, tensor.shape, dtype)
    copy_into(out, tensor)
    return out


def array_of(value: Any, dtype: DType) -> Array:
    """A tensor's or a number's values as an array of `dtype`."""
    if isinstance(value, Tensor):
        return value._nd if value.dtype is dtype else converted(value, dtype)
    if isinstance(value, int) and not dtype.is_floating_point and dtype is not dtypes.bool:
        return np.asarray(value).astype(dtype.numpy)
    if value is None or isinstance(value, tuple | list):
        kind = "None" if value is None else type(value).__name__
        raise TypeError(f"expected a tensor or a number, not {kind}")
    if dtype in dtypes.FLOAT8:
        return cast_array(np.asarray(value), dtype)
    return np.asarray(value, dtype.numpy)


def rounds(at: int, operand: Any, exact: int) -> bool:
    """Whether operand `at` is first rounded to a half type, if the op computes in one.

    All are but those whose bit is set in `exact`: numbers, and tensors without dims that are not
    the first operand.
    """
    whole = hasattr(operand, "shape") and (at == 0 or len(operand.shape) > 0)
    return whole or not exact >> at & 1


def rounded_number(value: Any, dtype: DType) -> Any:
    """A Python number as a half type or float8 holds it."""
    with np.errstate(over="ignore"):
        return float(cast_array(np.asarray(value, np.float32), dtype))


def _operand(at: int, value: Any, dtype: DType, exact: int) -> Array:
    """Operand `at` as an array of the dtype in which `dtype` is computed."""
    work = compute_type(dtype)
    if work is dtype or getattr(value, "dtype", None) is dtype or not rounds(at, value, exact):
        return array_of(value, work)
    if value.__class__ in SCALARS:
        return array_of(rounded_number(value, dtype), work)
    return array_of(value, dtype).astype(work.numpy)


def allocate(shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType) -> Tensor:
    """An uninitialised tensor, pooled from 64 KiB on."""
    if strides == contiguous_strides(shape):
        return _core.empty(Tensor, shape, dtype)
    return _core.empty_strided(Tensor, shape, strides, dtype)


def wrap(array: Any, dtype: DType) -> Tensor:
    """A tensor over a fresh array or NumPy scalar, cast where its dtype differs."""
    result = np.asarray(array)
    if result.dtype != dtype.numpy:
        if dtype in HALVES and result.dtype == np.float32 and result.size > _FEW:
            made: Tensor = _core.empty(Tensor, result.shape, dtype)
            rounded_into(made, result)
            return made
        result = cast_array(result, dtype)
    if not result.flags.c_contiguous:
        result = np.ascontiguousarray(result)
    return _core.from_ndarray(Tensor, result, dtype)


def on_device(constant: Tensor, device: Any) -> Any:
    """What a rule has made of numbers on the CPU, on the device of its inputs: in a graph a step
    that copies it there, also where this machine lacks the device."""
    if device.type == "cuda":
        return on_cuda().transfers.moved(constant, constant.dtype, device, True)
    return constant.to(device)


def rounded_into(out: Tensor, array: Array) -> None:
    """Write an array of float32 into a tensor of half precision and of its shape."""
    source = _core.from_ndarray(Tensor, np.ascontiguousarray(array), dtypes.float32)
    if not _core.convert_into(out, source):
        np.copyto(out._nd, array, casting="unsafe")


def elementwise(
    name: str,
    function: Function,
    operands: Sequence[Any],
    computed: DType,
    dtype: DType,
    exact: int = 0,
) -> Tensor:
    """Apply `function` to operands cast to `computed`; the result has `dtype`.

    `exact`: see `rounds`.
    """
    tensors = [o for o in operands if isinstance(o, Tensor)]
    if not tensors:
        raise TypeError(f"{name}(): one of the two operands must be a Tensor, not a number")
    layouts = [(t.shape, t.stride()) for t in tensors]
    shape = broadcast_shapes(name, [own for own, _ in layouts])
    out = allocate(shape, pointwise_strides(shape, layouts, is_with_number(name, operands)), dtype)
    work = compute_type(computed)
    arrays = [_operand(at, each, computed, exact) for at, each in enumerate(operands)]
    target = out._nd
    if dtype is work or (dtype is dtypes.bool and computed is not dtype):
        function(*arrays, target)
    else:
        scratch = np.empty_like(target, dtype=work.numpy)
        function(*arrays, scratch)
        if work is dtypes.float32 and dtype in HALVES and out.is_contiguous():
            rounded_into(out, scratch)
        else:
            np.copyto(target, scratch, casting="unsafe")
    return out


def unary_kernel(name: str, function: Function, floats_only: bool = False) -> Function:
    """Eager kernel of a one-operand op whose result has the input's dtype.

    `floats_only`: integers and bool are computed in the default dtype.
    """

    def eager(input: Any) -> Tensor:
        dtype = input.dtype
        if not input.is_contiguous() or dtype.itemsize == 2 or not dtype.is_floating_point:
            if floats_only:
                dtype = to_float(dtype)
            return elementwise(name, function, (input,), dtype, dtype)
        out = _core.empty(Tensor, input.shape, dtype)
        function(input._nd, out._nd)
        return out

    return eager


def same_layout(a: Any, b: Any) -> bool:
    """Whether two tensors of one wide dtype are contiguous and of one shape."""
    return (
        a.dtype is b.dtype
        and a.is_contiguous()
        and b.is_contiguous()
        and a.shape == b.shape
        and a.dtype.itemsize != 2
    )


def is_wide_float(tensor: Any) -> bool:
    """Whether a tensor is contiguous float32 or float64, so that ufuncs take it as it is."""
    dtype = tensor.dtype
    return dtype.is_floating_point and dtype.itemsize != 2 and tensor.is_contiguous()


def _moves_only(out: Any, source: Any) -> bool:
    """Whether elements go to another place as they are: `copy_strided` walks both in tiles."""
    return (
        source.dtype is out.dtype
        and source.stride() != out.stride()
        and source.shape == out.shape
        and source._storage is not out._storage
    )


def copy_into(out: Any, source: Any) -> None:
    """Write `source` (tensor or array, broadcastable) into tensor `out`, casting."""
    if isinstance(source, Tensor):
        if _moves_only(out, source):
            _core.copy_strided(out, source)
            return
        if _core.convert_into(out, source):
            return
        nd = source._nd
    else:
        nd = source
    if nd.dtype.kind == "c" and not out.dtype.is_complex and out.dtype is not dtypes.bool:
        warnings.warn(
            "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=2
        )
        nd = nd.real
    np.copyto(out._nd, cast_array(nd, out.dtype) if out.dtype in dtypes.FLOAT8 else nd,
              casting="unsafe")
