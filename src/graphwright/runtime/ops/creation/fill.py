"""Ops that make tensors from nothing: full, zeros, empty and their like."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.int_arguments import plain_number
from graphwright.runtime.ops.kernels import HALVES, allocate
from graphwright.runtime.ops.strides import (
    contiguous_strides,
    preserved_strides,
    strides_in_order,
)
from graphwright.runtime.ops.table import Kind, define, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.array_casts import cast_array
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.finfo import exceeds
from graphwright.runtime.tensor.tensor import Tensor

CPU = Device("cpu")


def on_device(device: Any) -> Any:
    """The device meant; None is the CPU."""
    return CPU if device is None else Device(device)


def check_size(name: str, size: tuple[Any, ...]) -> None:
    """Raise RuntimeError for negative sizes, and for more elements than could be addressed."""
    total = 1
    for n in size:
        if n.__class__ is not int:
            if not hasattr(n, "__index__"):
                raise TypeError(
                    f"{name}(): argument 'size' must be a tuple of ints, got {type(n).__name__}"
                )
            continue
        if n < 0:
            raise RuntimeError(
                f"{name}: Trying to create tensor with negative dimension {n}: {list(size)}"
            )
        total *= n
    if total >= 1 << 60:
        raise RuntimeError(f"{name}: storage size calculation overflowed with sizes={list(size)}")


def contiguous_spec(size: tuple[Any, ...], dtype: DType, device: Any) -> TensorSpec:
    """The type of a new contiguous tensor; no device is the CPU."""
    return TensorSpec(size, contiguous_strides(size), dtype, on_device(device))


def _scalar_type(value: Any) -> DType:
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, float):
        return dtypes.get_default_dtype()
    if isinstance(value, complex):
        return dtypes.get_default_dtype().to_complex()
    return dtypes.int64


_PLAIN, _LEAST_OF_MOST = (int, float), 65504.0     # the greatest float16: wider floats hold it


def check_fits(name: str, value: Any, dtype: DType) -> None:
    """Raise RuntimeError for a number that the dtype cannot hold.

    Unsigned dtypes wrap negative ints, but no negative floats.
    """
    wide = dtype.is_floating_point and dtype not in dtypes.FLOAT8
    if dtype is dtypes.bool or (
        wide and value.__class__ in _PLAIN and -_LEAST_OF_MOST <= value <= _LEAST_OF_MOST
    ):
        return
    if dtype.is_complex and isinstance(value, int | float | complex):
        value, parts = complex(value), dtype.to_real()
        fits = not exceeds(value.real, parts) and not exceeds(value.imag, parts)
    else:
        fits = dtype.is_complex or (not isinstance(value, complex) and _holds(dtype, value))
    if not fits:
        raise RuntimeError(
            f"{name}: value {value} cannot be converted to type {dtype.name} without overflow"
        )


def _holds(dtype: DType, value: Any) -> bool:
    """Whether a real number, as any float an infinity or NaN, lies within a dtype's range."""
    if dtype.is_floating_point:
        if type(value) is SymInt:
            return dtype is not dtypes.float16 or bool(-65504 <= value <= 65504)
        return not exceeds(value, dtype)
    bits = 8 * dtype.itemsize
    if dtype.is_signed:
        return bool(-(1 << (bits - 1)) <= value <= (1 << (bits - 1)) - 1)
    least = 0 if isinstance(value, float) else 1 - (1 << bits)
    return bool(least <= value <= (1 << bits) - 1)


def check_known_fits(name: str, value: Any, dtype: DType) -> None:
    """As `check_fits`, of what is a number already where shapes are computed.

    A symbolic number fits by a guard, if it may lie outside of the dtype's range.
    """
    if isinstance(value, (int, float, complex)) or may_exceed(value, dtype):
        check_fits(name, value, dtype)


def check_held(name: str, dtype: DType, *numbers: Any) -> None:
    """Raise RuntimeError for a number among tensors and None that the dtype cannot hold.

    Those that are calculated with are float32 where the dtype is a half type: `calculated(dtype)`.
    """
    for number in numbers:
        if isinstance(number, (int, float, complex, SymInt)) and number.__class__ is not bool:
            check_known_fits(name, number, dtype)


def calculated(dtype: DType) -> DType:
    """The dtype of calculations with numbers, whose results have the given one."""
    return dtypes.float32 if dtype in HALVES else dtype


def may_exceed(value: Any, dtype: DType) -> bool:
    """Whether it is a symbolic number, of which an integer dtype holds but some."""
    return type(value) is SymInt and dtype.itemsize < dtypes.int64.itemsize


def _fill(name: str, out: Tensor, value: Any) -> None:
    """Write a number everywhere; integers wrap around."""
    dtype = out.dtype
    check_fits(name, value, dtype)
    whole = not (dtype.is_floating_point or dtype.is_complex or dtype is dtypes.bool)
    cast = whole or dtype in dtypes.FLOAT8
    out._nd.fill(cast_array(np.asarray(value), dtype) if cast else value)


def _full_meta(size: tuple[Any, ...], fill_value: Any, dtype: Any, device: Any) -> TensorSpec:
    check_size("full", size)
    dtype = dtype or _scalar_type(fill_value)
    check_known_fits("full", fill_value, dtype)
    return contiguous_spec(size, dtype, device)


def require_cpu(name: str, device: Any) -> None:
    """Raise NotImplementedError for other devices."""
    if device is not None and Device(device).type != "cpu":
        raise NotImplementedError(f"{name}(): {absence(Device(device).type)}")


def _full_eager(size: tuple[int, ...], fill_value: Any, dtype: Any, device: Any) -> Tensor:
    if device is not None and Device(device).type == "meta":
        spec = _full_meta(size, fill_value, dtype, device)
        return _core.meta(Tensor, spec.shape, spec.strides, spec.dtype, spec.device)
    require_cpu("full", device)
    check_size("full", size)
    if hasattr(type(fill_value), "item"):
        fill_value = fill_value.item()
    elif isinstance(fill_value, int | float | complex) and type(fill_value) is not bool:
        fill_value = plain_number(fill_value)
    out = _core.empty(Tensor, size, dtype or _scalar_type(fill_value))
    _fill("full", out, fill_value)
    return out


define(
    "full(Size size, Scalar fill_value, *, dtype? dtype=None, device? device=None)",
    Kind.CREATION,
    meta=_full_meta,
    vjp=not_differentiable,
    eager=_full_eager,
    method=False,
    tags=("factory",),
    doc="""Tensor filled with one number.

    Args:
        size: the shape.
        fill_value: the number, also a tensor without dims.
        dtype: that of the result; if None, int64, bool, or the default dtype for a float,
            complex for a complex number.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative, or the dtype does not hold the number.

    Example:
        >>> gw.full((2, 2), 7)
        tensor([[7, 7],
                [7, 7]])
    """,
)


def _filled(value: Any) -> Any:
    def decompose(size: tuple[Any, ...], dtype: Any, device: Any) -> Any:
        return ops.full(
            size, value, dtype=dtype or dtypes.get_default_dtype(), device=device
        )

    return decompose


_FILLED_DOCS = {
    "zeros": """Tensor filled with 0.

    Args:
        size: the shape: a sequence, or one argument per size.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> gw.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """,
    "ones": """Tensor filled with 1.

    Args:
        size: the shape: a sequence, or one argument per size.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> gw.ones(2, 3)
        tensor([[1., 1., 1.],
                [1., 1., 1.]])
    """,
}
for _name, _value in (("zeros", 0), ("ones", 1)):
    define(
        f"{_name}(Size* size, *, dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=_filled(_value),
        method=False,
        tags=("factory",),
        doc=_FILLED_DOCS[_name],
    )


def _empty_eager(size: tuple[int, ...], dtype: Any, device: Any) -> Tensor:
    if device is not None and Device(device).type != "cpu":
        return _full_eager(size, 0, dtype or dtypes.get_default_dtype(), device)
    check_size("empty", size)
    return _core.empty(Tensor, size, dtype or dtypes.get_default_dtype())


define(
    "empty(Size* size, *, dtype? dtype=None, device? device=None)",
    Kind.CREATION,
    meta=lambda size, dtype, device: contiguous_spec(
        size, dtype or dtypes.get_default_dtype(), device
    ),
    vjp=not_differentiable,
    eager=_empty_eager,
    decompose=_filled(0),
    method=False,
    tags=("factory",),
    doc="""Tensor whose elements are whatever is in its memory.

    Args:
        size: the shape: a sequence, or one argument per size.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> gw.empty(2, 3).shape
        graphwright.Size([2, 3])
    """,
)


# -- like another tensor: same shape, and the same order of dims in memory


def _like(input: Any, dtype: Any, device: Any = None) -> TensorSpec:
    strides = preserved_strides(input.shape, input.stride())
    place = input.device if device is None else Device(device)
    return TensorSpec(input.shape, strides, dtype or input.dtype, place)


def _full_like_meta(input: Any, fill_value: Any, dtype: Any, device: Any) -> TensorSpec:
    check_known_fits("full_like", fill_value, dtype or input.dtype)
    return _like(input, dtype, device)


def _full_like_eager(input: Any, fill_value: Any, dtype: Any, device: Any) -> Tensor:
    if device is not None and Device(device).type != "cpu":
        return _full_eager(tuple(input.shape), fill_value, dtype or input.dtype, device)
    spec = _like(input, dtype)
    out = allocate(spec.shape, spec.strides, spec.dtype)
    value = fill_value.item() if hasattr(type(fill_value), "item") else fill_value
    _fill("full_like", out, value)
    return out


define(
    "full_like(Tensor input, Scalar fill_value, *, dtype? dtype=None, device? device=None)",
    Kind.CREATION,
    meta=_full_like_meta,
    vjp=not_differentiable,
    eager=_full_like_eager,
    method=False,
    tags=("factory",),
    doc="""Tensor of the shape of another one, filled with one number.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        fill_value: the number, also a tensor without dims.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Raises:
        RuntimeError: the dtype does not hold the number.

    Example:
        >>> gw.full_like(gw.ones(3), 7)
        tensor([7., 7., 7.])
    """,
)
_LIKE_DOCS = {
    "zeros_like": """Tensor of the shape of another one, filled with 0.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Example:
        >>> gw.zeros_like(gw.tensor([1, 2]))
        tensor([0, 0])
    """,
    "ones_like": """Tensor of the shape of another one, filled with 1.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Example:
        >>> gw.ones_like(gw.tensor([3, 4]))
        tensor([1, 1])
    """,
    "empty_like": """\
    Tensor of the shape of another one, to be filled; at first its elements are 0.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Example:
        >>> gw.empty_like(gw.tensor([3, 4])).shape
        graphwright.Size([2])
    """,
}
for _name, _value in (("zeros_like", 0), ("ones_like", 1), ("empty_like", 0)):
    define(
        f"{_name}(Tensor input, *, dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=lambda input, dtype, device, value=_value: ops.full_like(
            input, value, dtype=dtype, device=device
        ),
        method=False,
        tags=("factory",),
        doc=_LIKE_DOCS[_name],
    )


# -- with strides


def _strided_spec(size: Any, stride: Any, dtype: Any, device: Any) -> TensorSpec:
    check_size("empty_strided", size)
    if len(size) != len(stride):
        raise RuntimeError(
            f"empty_strided: dimensionality of sizes ({len(size)}) must match dimensionality of "
            f"strides ({len(stride)})"
        )
    if any(n < 0 for n in stride):
        raise RuntimeError(f"empty_strided: negative strides are not supported: {list(stride)}")
    return TensorSpec(
        tuple(size), tuple(stride), dtype or dtypes.get_default_dtype(), on_device(device)
    )


def _strided_eager(size: Any, stride: Any, dtype: Any, device: Any) -> Tensor:
    require_cpu("empty_strided", device)
    spec = _strided_spec(size, stride, dtype, device)
    return _core.empty_strided(Tensor, spec.shape, spec.strides, spec.dtype)


define(
    "empty_strided(Size size, Size stride, *, dtype? dtype=None, device? device=None)",
    Kind.CREATION,
    meta=_strided_spec,
    vjp=not_differentiable,
    eager=_strided_eager,
    method=False,
    tags=("factory",),
    doc="""Tensor with given strides, whose elements are whatever is in its memory.

    Args:
        size: the shape.
        stride: the strides, counted in elements, none negative.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new tensor.

    Raises:
        RuntimeError: the lengths differ, or a size or stride is negative.

    Example:
        >>> gw.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """,
)


def _empty_permuted(size: Any, physical_layout: Any, dtype: Any, device: Any) -> Any:
    if sorted(physical_layout) != list(range(len(size))):
        raise RuntimeError(
            f"empty_permuted: {list(physical_layout)} is not a permutation of the dimensions of "
            f"size {list(size)}"
        )
    strides = strides_in_order(size, list(reversed(physical_layout)))
    return ops.empty_strided(size, strides, dtype=dtype, device=device)


define(
    "empty_permuted(Size size, Size physical_layout, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_empty_permuted,
    method=False,
    tags=("factory",),
    doc="""Dense tensor whose dims have a given order in memory, to be filled.

    Args:
        size: the shape.
        physical_layout: the dims from the outermost to the innermost in memory.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new tensor.

    Raises:
        RuntimeError: `physical_layout` is no permutation of the dims.

    Example:
        >>> gw.empty_permuted((2, 3), (1, 0)).stride()
        (1, 2)
    """,
)
define(
    "scalar_tensor(Scalar s, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=lambda s, dtype, device: ops.full(
        (), s, dtype=dtype or dtypes.get_default_dtype(), device=device
    ),
    method=False,
    tags=("factory",),
    doc="""Tensor without dims that holds a number.

    Args:
        s: the number.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new tensor.

    Raises:
        RuntimeError: the dtype does not hold the number.

    Example:
        >>> gw.scalar_tensor(3)
        tensor(3.)
    """,
)
