"""Casts, and numbers quantized by a scale and a zero point."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.element_types import (
    DTYPES,
    FLOAT4E2M1,
    INT2,
    INT4,
    NARROW,
    STRING,
    UINT2,
    UINT4,
    UINT8,
    dtype_of,
)
from graphwright.onnx.importing.ops.convolution import conv, exact_convolution
from graphwright.onnx.importing.ops.products import exact_product, of_rows
from graphwright.onnx.importing.opsets import op
from graphwright.onnx.importing.tensors import element_type
from graphwright.onnx.importing.values import Narrow, as_tensor, of_objects

_LIMITS = {UINT4: (0, 15), INT4: (-8, 7), UINT2: (0, 3), INT2: (-2, 1)}
_FLOAT8 = {17: 448.0, 18: 240.0, 19: 57344.0, 20: 57344.0}
"""The largest number of each float8 type."""
_E8M0 = 24


@op("Cast", gives_tensors=lambda attributes: attributes["to"] in DTYPES)
def cast(x: Any, *, to: int, saturate: int = 1, round_mode: str = "up") -> Any:
    """x with another element type; strings are parsed and written."""
    if isinstance(x, np.ndarray):
        return x if to == STRING else _parsed(x, to)
    if to == STRING:
        return _written(x)
    tensor = as_tensor(x)
    if to == element_type(x):
        return x
    if to in NARROW:
        return Narrow(_narrowed(tensor, to), to)
    if to in _FLOAT8:
        return to_float8(tensor, to, bool(saturate))
    if to == _E8M0:
        return _to_e8m0(tensor, bool(saturate), round_mode)
    dtype = dtype_of(to)
    if dtype.is_floating_point or not tensor.dtype.is_floating_point or dtype == gw.bool:
        return tensor.to(dtype)
    return tensor.to(gw.float32).to(dtype) if tensor.element_size() < 4 else tensor.to(dtype)


@op("CastLike")
def cast_like(x: Any, target: Any, *, saturate: int = 1, round_mode: str = "up") -> Any:
    """x with the element type of another value."""
    return cast(x, to=element_type(target), saturate=saturate, round_mode=round_mode)


def _parsed(x: np.ndarray, to: int) -> Any:
    held = np.float64 if to in NARROW or DTYPES[to].is_floating_point else np.int64
    try:
        numbers = x.astype(str).astype(held)
    except ValueError:
        numbers = x.astype(str).astype(np.float64)
    return cast(gw.from_numpy(np.asarray(numbers)), to=to)


def _written(x: Any) -> np.ndarray:
    array = as_tensor(x).numpy()
    if array.dtype.kind not in "biuf" or array.dtype == np.float16:
        array = array.astype(np.float32)
    return of_objects([_text(number) for number in array.reshape(-1)], array.shape)


def _text(number: Any) -> str:
    """A number in the fewest digits that read back as it."""
    if isinstance(number, np.floating):
        if np.isnan(number) or np.isinf(number):
            return "NaN" if np.isnan(number) else "INF" if number > 0 else "-INF"
        return str(number)
    return str(number.item())


def _narrowed(x: Tensor, kind: int) -> Tensor:
    """The nearest float4, or the low bits of an integer."""
    if kind == FLOAT4E2M1:
        size = gw.abs(x.to(gw.float32)).clamp(max=6.0)
        step = gw.where(size < 2, 0.5, gw.where(size < 4, 1.0, 2.0))
        return gw.copysign(gw.round(size / step) * step, x.to(gw.float32))
    low, high = _LIMITS[kind]
    whole = x.to(gw.float32).to(gw.int64) if x.dtype.is_floating_point else x.to(gw.int64)
    return (gw.remainder(whole - low, high - low + 1) + low).to(NARROW[kind])


def to_float8(x: Tensor, kind: int, saturate: bool) -> Tensor:
    """x in a float8 dtype, beyond whose range numbers are the largest, or NaN or infinite."""
    wide = x.to(gw.float32)
    if saturate:
        limit = _FLOAT8[kind]
        wide = gw.where(gw.isnan(wide), wide, wide.clamp(-limit, limit))
    elif kind == 17:  # 464 lies between the largest number and what would be the next
        wide = gw.where(gw.abs(wide) > 464, gw.full_like(wide, float("nan")), wide)
    return wide.to(DTYPES[kind])


def _to_e8m0(x: Tensor, saturate: bool, round_mode: str) -> Tensor:
    """The powers of 2 above, below or nearest to x; beyond the range the last, or NaN."""
    wide = x.to(gw.float64)
    exponent = gw.log2(wide.abs())
    whole = gw.floor(exponent)
    if round_mode == "up":
        rounded = gw.ceil(exponent)
    elif round_mode == "down":
        rounded = whole
    else:
        rounded = gw.where(wide >= 1.5 * gw.exp2(whole), whole + 1, whole)
    outside = (rounded > 127) | (rounded < -127) | gw.isnan(wide)
    power = gw.exp2(rounded.clamp(-127, 127))
    lost = gw.isnan(wide) if saturate else outside
    result = gw.where(lost, gw.full_like(power, float("nan")), power)
    return result.to(gw.float32).to(DTYPES[_E8M0])


@op("BitCast")
def bit_cast(x: Any, *, to: int) -> Any:
    """The same bits as another element type of the same width."""
    kinds = (element_type(x), to)
    if all(kind in _LIMITS for kind in kinds):
        return Narrow(_narrowed(x.tensor, to), to)
    if any(kind in NARROW for kind in kinds):
        raise NotImplementedError(f"BitCast between element types {kinds[0]} and {to}")
    return as_tensor(x).contiguous().view(dtype_of(to))


def _shaped(values: Tensor, x: Tensor, axis: int, block_size: int) -> Tensor:
    """A scale or zero point that broadcasts to x: of all, along an axis, or of blocks."""
    if values.dim() == 0 or values.numel() == 1:
        return values.reshape([])
    axis = axis % x.dim()
    if block_size:
        return values.repeat_interleave(block_size, dim=axis).narrow(axis, 0, x.shape[axis])
    if values.dim() == 1:
        return values.reshape([-1, *[1] * (x.dim() - 1 - axis)])
    return values


@op(
    "QuantizeLinear",
    gives_tensors=lambda attributes: attributes.get("output_dtype", 0) not in NARROW,
)
def quantize_linear(
    x: Tensor, y_scale: Tensor, y_zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
    output_dtype: int = 0, precision: int = 0, saturate: int = 1,
) -> Any:  # fmt: skip
    """x over a scale, plus a zero point, rounded to even and limited to the element type."""
    kind = output_dtype
    if not kind:
        kind = UINT8 if y_zero_point is None else element_type(y_zero_point)
    wide = dtype_of(precision) if precision else y_scale.dtype
    if wide == gw.float8_e8m0fnu or not wide.is_floating_point:
        wide = gw.float32
    y = x.to(wide) / _shaped(y_scale, x, axis, block_size).to(wide)
    zero = None if y_zero_point is None else _shaped(as_tensor(y_zero_point), x, axis, block_size)
    if kind in _FLOAT8:
        return to_float8(y if zero is None else y + zero.to(wide), kind, bool(saturate))
    if kind == FLOAT4E2M1:
        return cast(y if zero is None else y + zero.to(wide), to=kind)
    low, high = _LIMITS[kind] if kind in _LIMITS else _range(kind)
    rounded = gw.round(y).to(gw.float64 if wide == gw.float64 else gw.float32)
    if zero is not None:
        rounded = rounded + zero.to(rounded.dtype)
    limited = rounded.clamp(low, high)
    return Narrow(limited.to(NARROW[kind]), kind) if kind in NARROW else limited.to(DTYPES[kind])


def _range(kind: int) -> tuple[int, int]:
    limits = gw.iinfo(dtype_of(kind))
    return limits.min, limits.max


@op("DequantizeLinear")
def dequantize_linear(
    x: Any, x_scale: Tensor, x_zero_point: Any = None, *, axis: int = 1, block_size: int = 0,
    output_dtype: int = 0,
) -> Tensor:  # fmt: skip
    """x minus a zero point, times a scale."""
    tensor = as_tensor(x)
    dtype = dtype_of(output_dtype) if output_dtype else x_scale.dtype
    wide = gw.float32 if tensor.dtype.is_floating_point else gw.int32
    y = tensor.to(wide)
    if x_zero_point is not None:
        y = y - _shaped(as_tensor(x_zero_point), tensor, axis, block_size).to(wide)
    scale = _shaped(x_scale, tensor, axis, block_size)
    if dtype in (gw.float16, gw.bfloat16) or scale.dtype == gw.float8_e8m0fnu:
        return (y.to(gw.float32) * scale.to(gw.float32)).to(dtype)
    return y.to(dtype) * scale.to(dtype)


@op("DynamicQuantizeLinear")
def dynamic_quantize_linear(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """x quantized to uint8 over its own range, which has 0 in it; the scale; the zero point."""
    least, largest = gw.amin(x).clamp(max=0), gw.amax(x).clamp(min=0)
    scale = (largest - least) / 255
    safe = gw.where(scale == 0, gw.ones_like(scale), scale)
    zero_point = gw.round(-least / safe).clamp(0, 255)
    y = (gw.round(x / safe) + zero_point).clamp(0, 255).to(gw.uint8)
    return y, scale, zero_point.to(gw.uint8)


def _requantized(total: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    """Exact sums times a scale, rounded to even, as integers of the zero point's dtype."""
    limits = gw.iinfo(zero_point.dtype)
    y = gw.round((total.float() * scale).float()) + zero_point.float()
    return y.clamp(limits.min, limits.max).to(zero_point.dtype)


@op("QLinearMatMul")
def qlinear_matmul(
    a: Any, a_scale: Tensor, a_zero_point: Any, b: Any, b_scale: Tensor, b_zero_point: Any,
    y_scale: Tensor, y_zero_point: Any,
) -> Any:  # fmt: skip
    """The product of quantized matrices, quantized."""
    tensors = [as_tensor(value) for value in (a, a_zero_point, b, b_zero_point, y_zero_point)]
    a, a_zero, b, b_zero, y_zero = tensors
    if y_zero.dtype.is_floating_point:
        raise NotImplementedError(f"QLinearMatMul of {y_zero.dtype}")
    scale = of_rows(a_scale.float()) * b_scale.float() / y_scale.float()
    return _requantized(exact_product(a, b, a_zero, b_zero), scale, y_zero)


@op("QLinearConv", options_of=(conv,))
def qlinear_conv(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor, w: Tensor, w_scale: Tensor,
    w_zero_point: Tensor, y_scale: Tensor, y_zero_point: Tensor, bias: Tensor | None = None,
    **options: Any,
) -> Tensor:  # fmt: skip
    """The convolution of quantized tensors, quantized; the bias has scale x_scale w_scale."""
    channels = [1, -1, *[1] * (x.dim() - 2)]
    total = exact_convolution(x, w, x_zero_point, w_zero_point, **options)
    if bias is not None:
        total = total + bias.to(total.dtype).reshape(channels)
    scale = (x_scale * w_scale / y_scale).reshape(channels)
    return _requantized(total, scale, y_zero_point.reshape([]))


