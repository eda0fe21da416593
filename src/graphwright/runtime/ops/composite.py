"""Composite ops: written once in terms of others; their gradients follow."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import dtypes
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.table import Kind, define

# -- arithmetic

define(
    "square(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: (
        ops.pow(input, 2) if input.dtype is dtypes.bool else ops.mul(input, input)
    ),
)
define(
    "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add(
        input, ops.mul(tensor1, tensor2), alpha=value
    ),
)
define(
    "addcdiv(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add(
        input, ops.div(tensor1, tensor2), alpha=value
    ),
)
define(
    "addcmul_(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add_(
        input, ops.mul(tensor1, tensor2), alpha=value
    ),
    public=False,
)
define(
    "addcdiv_(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
    Kind.COMPOSITE,
    decompose=lambda input, tensor1, tensor2, value: ops.add_(
        input, ops.div(tensor1, tensor2), alpha=value
    ),
    public=False,
)
define(
    "lerp(Tensor input, Tensor end, Operand weight)",
    Kind.COMPOSITE,
    decompose=lambda input, end, weight: ops.add(
        input, ops.mul(ops.sub(end, input), weight)
    ),
)
define(
    "lerp_(Tensor input, Tensor end, Operand weight)",
    Kind.COMPOSITE,
    decompose=lambda input, end, weight: ops.copy_(
        input, ops.add(input, ops.mul(ops.sub(end, input), weight))
    ),
    public=False,
)
define(
    "clamp_min(Tensor input, Operand min)",
    Kind.COMPOSITE,
    decompose=lambda input, min: ops.clamp(input, min, None),
)
define(
    "clamp_max(Tensor input, Operand max)",
    Kind.COMPOSITE,
    decompose=lambda input, max: ops.clamp(input, None, max),
)
define(
    "floor_divide(Operand input, Operand other)",
    Kind.COMPOSITE,
    decompose=lambda input, other: ops.div(input, other, rounding_mode="floor"),
)


# -- comparison of whole tensors


def _isclose(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    close = ops.eq(input, other)
    if input.dtype.is_floating_point:
        bound = ops.add(ops.mul(ops.abs(other), rtol), atol)
        distance = ops.abs(ops.sub(input, other))
        near = ops.logical_and(ops.isfinite(distance), ops.le(distance, bound))
        close = ops.logical_or(close, near)
        if equal_nan:
            both = ops.logical_and(ops.isnan(input), ops.isnan(other))
            close = ops.logical_or(close, both)
    elif rtol or atol:
        bound = ops.add(ops.mul(ops.abs(other), rtol), atol)
        close = ops.logical_or(close, ops.le(ops.abs(ops.sub(input, other)), bound))
    return close


define(
    "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, "
    "bool equal_nan=False)",
    Kind.COMPOSITE,
    decompose=_isclose,
)


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
