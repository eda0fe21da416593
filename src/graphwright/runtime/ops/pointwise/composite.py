"""Pointwise ops made of others, masked_fill, and comparisons of whole tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.creation.fill import check_fits
from graphwright.runtime.ops.kernels import allocate, copy_into
from graphwright.runtime.ops.pointwise.arithmetic import pointwise_spec, rounded_dtype
from graphwright.runtime.ops.strides import broadcast_shapes, contiguous_strides
from graphwright.runtime.ops.table import Kind, define, no_derivative
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.ops.value_checks import held
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import result_dtype
from graphwright.runtime.tensor.tensor import Tensor

define(
    "square(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: (
        ops.pow(input, 2) if input.dtype is dtypes.bool else ops.mul(input, input)
    ),
)
define("square_(Tensor input)", Kind.INPLACE, functional="square", public=False)


def _require_tensor(name: str, input: Any) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' must be Tensor, not {type(input).__name__}")


def _clamp_min(input: Any, min: Any) -> Any:
    _require_tensor("clamp_min", input)
    if isinstance(min, Tensor) and result_dtype((input, min)) is dtypes.bool:
        return ops.bitwise_or(input, min)
    return ops.clamp(input, min, None)


def _clamp_max(input: Any, max: Any) -> Any:
    _require_tensor("clamp_max", input)
    if isinstance(max, Tensor) and result_dtype((input, max)) is dtypes.bool:
        return ops.bitwise_and(input, max)
    return ops.clamp(input, None, max)


for _name, _function, _bound in (
    ("clamp_min", _clamp_min, "min"),
    ("clamp_max", _clamp_max, "max"),
):
    define(f"{_name}(Tensor input, Operand {_bound})", Kind.COMPOSITE, decompose=_function)
    define(
        f"{_name}_(Tensor input, Operand {_bound})",
        Kind.INPLACE,
        functional=_name,
        public=False,
    )


define(
    "floor_divide(Operand input, Operand other)",
    Kind.COMPOSITE,
    meta=lambda input, other: pointwise_spec(
        "floor_divide", (input, other), rounded_dtype((input, other))
    ),
    vjp=no_derivative("floor_divide"),
    decompose=lambda input, other: ops.div(input, other, rounding_mode="floor"),
)
define(
    "floor_divide_(Tensor input, Operand other)",
    Kind.INPLACE,
    functional="floor_divide",
    public=False,
)


# -- masked_fill


def _fitting(value: Any, like: Any) -> Any:
    """A value in the dtype of `like`: unsigned ones wrap negatives.

    Raises RuntimeError where it does not fit.
    """
    dtype = like.dtype
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        if value.dtype.is_complex and not dtype.is_complex:
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
        return held("masked_fill", value, dtype)
    if dtype.is_complex:
        check_fits("masked_fill", value, dtype)
        return value
    if isinstance(value, complex) and dtype is not dtypes.bool:
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    if dtype.is_floating_point:
        check_fits("masked_fill", value, dtype)
        return float(value)
    if dtype is dtypes.bool:
        return bool(value)
    check_fits("masked_fill", value, dtype)
    return int(value) if dtype.is_signed else int(value) % (1 << 8 * dtype.itemsize)


def _check_mask(mask: Any) -> None:
    if mask.dtype is not dtypes.bool:
        raise RuntimeError(
            f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype}"
        )


def _masked_fill_meta(input: Any, mask: Any, value: Any) -> TensorSpec:
    _check_mask(mask)
    _fitting(value, input)
    shape = broadcast_shapes("masked_fill", (input.shape, mask.shape))
    return TensorSpec(shape, contiguous_strides(shape), input.dtype, input.device)


def _masked_fill_eager(input: Any, mask: Any, value: Any) -> Tensor:
    _check_mask(mask)
    value = _fitting(value, input)
    shape = broadcast_shapes("masked_fill", (input.shape, mask.shape))
    out = allocate(shape, contiguous_strides(shape), input.dtype)
    copy_into(out, input)
    np.copyto(out._nd, value._nd if isinstance(value, Tensor) else value, where=mask._nd)
    return out


def _masked_fill_parts(input: Any, mask: Any, value: Any) -> Any:
    _check_mask(mask)
    return ops.where(mask, _fitting(value, input), input)


define(
    "masked_fill(Tensor input, Tensor mask, Operand value)",
    Kind.POINTWISE,
    meta=_masked_fill_meta,
    vjp=lambda ctx, grad: (
        ops.masked_fill(grad, ctx.mask, 0) if ctx.needs["input"] else None,
        None,
        ops.sum(ops.where(ctx.mask, grad, 0.0)) if ctx.needs["value"] else None,
    ),
    saves=("mask",),
    eager=_masked_fill_eager,
    decompose=_masked_fill_parts,
)
define(
    "masked_fill_(Tensor input, Tensor mask, Operand value)",
    Kind.INPLACE,
    functional="masked_fill",
    public=False,
)


# -- of whole tensors


def _allclose(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> bool:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"allclose: dtypes differ, {input.dtype} and {other.dtype}")
    return bool(ops.all(ops.isclose(input, other, rtol, atol, equal_nan)).item())


define(
    "allclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, "
    "bool equal_nan=False)",
    Kind.COMPOSITE,
    decompose=_allclose,
    tags=("data_dependent",),
)


def _equal(input: Any, other: Any) -> bool:
    if input.shape != other.shape:
        return False
    return bool(ops.all(ops.eq(input, other)).item())


define(
    "equal(Tensor input, Tensor other)",
    Kind.COMPOSITE,
    decompose=_equal,
    tags=("data_dependent",),
)
