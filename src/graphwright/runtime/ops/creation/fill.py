"""Ops that make tensors from nothing: full, arange and their like."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.int_arguments import plain_number
from graphwright.runtime.ops.kernels import HALVES, allocate, wrap
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

    A number that varies fits by a guard, if the dtype holds fewer than the numbers that vary.
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
    """Whether it is a number that varies, of which an integer dtype holds but some."""
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
)


def _filled(value: Any) -> Any:
    def decompose(size: tuple[Any, ...], dtype: Any, device: Any) -> Any:
        return ops.full(
            size, value, dtype=dtype or dtypes.get_default_dtype(), device=device
        )

    return decompose


for _name, _value in (("zeros", 0), ("ones", 1)):
    define(
        f"{_name}(Size* size, *, dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=_filled(_value),
        method=False,
        tags=("factory",),
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
)
for _name, _value in (("zeros_like", 0), ("ones_like", 1), ("empty_like", 0)):
    define(
        f"{_name}(Tensor input, *, dtype? dtype=None, device? device=None)",
        Kind.COMPOSITE,
        decompose=lambda input, dtype, device, value=_value: ops.full_like(
            input, value, dtype=dtype, device=device
        ),
        method=False,
        tags=("factory",),
    )


# -- ranges


def arange_bounds(start: Any, end: Any) -> tuple[Any, Any]:
    """From where to where: `start` alone is the end. Raises TypeError where both are missing."""
    if end is None:
        if start is None:
            raise TypeError("arange() missing 1 required positional argument: 'end'")
        return 0, start
    return 0 if start is None else start, end


def _arange_dtype(values: tuple[Any, ...], dtype: Any) -> DType:
    if dtype is not None:
        return dtype
    floating = any(isinstance(v, float) for v in values)
    return dtypes.get_default_dtype() if floating else dtypes.int64


def _whole(value: Any) -> Any:
    """A float that is a whole number as int, by which symbolic sizes count."""
    exact = isinstance(value, float) and abs(value) < 1 << 53 and value.is_integer()
    return int(value) if exact else value


def _arange_length(start: Any, end: Any, step: Any, dtype: DType) -> Any:
    for value in (start, end, step):
        if isinstance(value, float) and not math.isfinite(value):
            raise RuntimeError(f"arange: unsupported range: {start} -> {end}, step {step}")
    start, end, step = (_whole(value) for value in (start, end, step))
    if step == 0:
        raise RuntimeError("arange: step must be nonzero")
    if (end < start) if step > 0 else (end > start):
        raise RuntimeError(
            f"arange: upper bound and larger bound inconsistent with step sign: "
            f"{start}, {end}, {step}"
        )
    if dtype is dtypes.int64:
        start, end, step = (int(v) if isinstance(v, float) else v for v in (start, end, step))
        if step.__class__ is int and step == 0:
            raise ValueError("arange: step must be nonzero")
    elif isinstance(start, float) or isinstance(end, float) or isinstance(step, float):
        return math.ceil((end - start) / step)
    if step == 1:
        return end - start
    return (end - start + step - 1) // step if step > 0 else (start - end - step - 1) // -step


def arange_of_floats(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Any:
    """`arange` as a function of its numbers, for those that vary from call to call."""
    first, last = arange_bounds(start, end)
    target = _arange_dtype((first, last, step), dtype)
    if not target.is_floating_point:
        return ops.arange(first, last, step, dtype=dtype, device=device)
    if not (first - last < math.inf and last - first < math.inf) or step == 0 or not (
        first <= last if step > 0 else last <= first
    ):
        return ops.arange(first, last, step, dtype=dtype, device=device)
    length = math.ceil((last - first) / step)
    places = ops.arange(length, dtype=dtypes.float64, device=device)
    return ops.to_dtype(ops.add(ops.mul(places, step), first), target)


def _arange_spec(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> TensorSpec:
    first, last = arange_bounds(start, end)
    target = _arange_dtype((first, last, step), dtype)
    if target is dtypes.bool or target.is_complex:
        raise NotImplementedError(f"\"arange\" not implemented for '{target.name}'")
    length = _arange_length(first, last, step, target)
    check_size("arange", (length,))
    return contiguous_spec((length,), target, device)


def _arange_eager(start: Any, end: Any, step: Any, dtype: Any, device: Any) -> Tensor:
    if dtype is None and device is None and start.__class__ is int and step == 1:
        first, last = (0, start) if end is None else (start, end)
        if last.__class__ is int and step.__class__ is int and 0 <= last - first < 1 << 32:
            return _core.from_ndarray(Tensor, np.arange(first, last), dtypes.int64)
    start, end, step = (_number(v) for v in (start, end, step))
    spec = _arange_spec(start, end, step, dtype, device)
    require_cpu("arange", device)
    first, _ = arange_bounds(start, end)
    (length,) = spec.shape
    if length * 8 > 1 << 45:
        raise RuntimeError(f"arange: cannot allocate {length} elements of {spec.dtype}")
    if spec.dtype.is_floating_point:
        values = first + np.arange(length, dtype=np.float64) * step
    else:
        values = int(first) + np.arange(length, dtype=np.int64) * int(step)
    return wrap(values, spec.dtype)


def _number(value: Any) -> Any:
    """A 0-d tensor's value; anything else as it is."""
    return value.item() if isinstance(value, Tensor) else value


define(
    "arange(Scalar? start=None, Scalar? end=None, Scalar step=1, *, dtype? dtype=None, "
    "device? device=None)",
    Kind.CREATION,
    meta=_arange_spec,
    vjp=not_differentiable,
    eager=_arange_eager,
    method=False,
    tags=("factory",),
)


def _eye(n: Any, m: Any, dtype: Any, device: Any) -> Any:
    for name, size in (("n", n), ("m", m)):
        if size is not None and not hasattr(size, "__index__"):
            raise TypeError(f"eye(): argument '{name}' must be int, not {type(size).__name__}")
        if size is not None and size < 0:
            raise RuntimeError(f"eye: {name} must be greater or equal to 0, got {size}")
    rows = ops.unsqueeze(ops.arange(n, device=device), 1)
    columns = ops.arange(n if m is None else m, device=device)
    return ops.to_dtype(ops.eq(rows, columns), dtype or dtypes.get_default_dtype())


define(
    "eye(SymInt n, SymInt? m=None, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=_eye,
    method=False,
    tags=("factory",),
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
)
define(
    "scalar_tensor(Scalar s, *, dtype? dtype=None, device? device=None)",
    Kind.COMPOSITE,
    decompose=lambda s, dtype, device: ops.full(
        (), s, dtype=dtype or dtypes.get_default_dtype(), device=device
    ),
    method=False,
    tags=("factory",),
)


# -- indices of triangles, Vandermonde's matrix


def _triangle_spec(name: str, row: int, col: int, offset: int, dtype: Any, device: Any) -> Any:
    for parameter, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{parameter} must be non-negative, got {n}")
    target = dtype or dtypes.int64
    if target not in (dtypes.int32, dtypes.int64):
        raise RuntimeError(f"{name}: expected int32 or int64, got {target}")
    size = (2, _triangle_count(row, col, offset, name == "tril_indices"))
    check_size(name, size)
    return contiguous_spec(size, target, device)


def _triangle_indices(name: str) -> Any:
    """Each row's columns from `first` to `last`, of the rows that have any."""

    def eager(row: int, col: int, offset: int, dtype: Any, device: Any) -> Any:
        spec = _triangle_spec(name, row, col, offset, dtype, device)
        require_cpu(name, device)
        count, offset = spec.shape[1], max(-row, min(offset, col))
        lower = name == "tril_indices"
        begin, end = (max(-offset, 0), row) if lower else (0, min(row, col - offset))
        rows = np.arange(begin, end if count else begin)
        first = np.maximum(rows + offset, 0) * (not lower)
        last = np.minimum(rows + offset + 1, col) if lower else col
        lengths = last - first
        ends = np.cumsum(lengths)
        columns = np.arange(count) - np.repeat(ends - lengths - first, lengths)
        return wrap(np.stack([np.repeat(rows, lengths), columns]), spec.dtype)

    return eager


for _name in ("tril_indices", "triu_indices"):
    define(
        f"{_name}(int row, int col, int offset=0, *, dtype? dtype=None, device? device=None)",
        Kind.CREATION,
        meta=partial(_triangle_spec, _name),
        vjp=not_differentiable,
        eager=_triangle_indices(_name),
        method=False,
        tags=("factory",),
    )


def _triangle_count(row: int, col: int, offset: int, lower: bool) -> int:
    if not lower:
        return row * col - _triangle_count(row, col, offset - 1, True)
    first = offset + 1
    if first >= 0:
        skipped, partial = 0, min(max(col - first, 0), row)
    else:
        skipped = min(-first, row)
        first, partial = 0, min(col, row - skipped)
    grown = partial * first + partial * (partial - 1) // 2
    return grown + (row - skipped - partial) * col


def _vander(x: Any, N: int | None, increasing: bool) -> Any:
    """Columns x^(N-1), ..., x, 1, or the other way round."""
    if x.ndim != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor, got shape {list(x.shape)}")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError(f"N must be non-negative, got {count}")
    wide = x if x.dtype.is_floating_point or x.dtype.is_complex else ops.to_dtype(x, dtypes.int64)
    exponents = ops.arange(count, device=x.device)
    exponents = exponents if increasing else ops.flip(exponents, (0,))
    return ops.pow(ops.unsqueeze(wide, 1), exponents)


define(
    "vander(Tensor x, int? N=None, bool increasing=False)",
    Kind.COMPOSITE,
    decompose=_vander,
    method=False,
)
