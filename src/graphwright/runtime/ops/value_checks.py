"""Values that an op refuses: looked at at once, or, in compiled code, when it runs."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_fits
from graphwright.runtime.ops.dtype_rules import has_values
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.finfo import finfo, iinfo
from graphwright.runtime.tensor.promotion import promote_types
from graphwright.runtime.tensor.tensor import Tensor


def checked(tensor: Any, ok: Any, message: str) -> Any:
    """`tensor`, all of whose `ok` is true: what follows reads the result instead of it.

    Args:
        tensor: any tensor.
        ok: bool, of a shape that broadcasts to the tensor's.
        message: what the error says.

    Raises:
        RuntimeError: a value is not ok. Where the values are not known yet, the check is an op.
    """
    if not has_values(ok):
        return ops.require_values(tensor, ok, message)
    if not ok.all().item():
        raise RuntimeError(message)
    return tensor


def inside(tensor: Any, low: float, high: float) -> Any:
    """Where a tensor lies in [low, high], which a NaN does not."""
    return ops.logical_and(ops.ge(tensor, low), ops.le(tensor, high))


def held(name: str, value: Any, dtype: DType) -> Any:
    """A tensor of one value that another of this dtype is to hold, in that dtype.

    Raises RuntimeError for a value beyond its range; bool takes all, wider dtypes too.
    """
    if value.dtype is dtype:
        return value
    if has_values(value):
        check_fits(name, value.item(), dtype)
    elif dtype is not dtypes.bool and not dtype.is_complex:
        if dtype.is_floating_point:
            most = finfo(dtype).max
            least = -most
        else:
            most = iinfo(dtype).max
            wraps = not (dtype.is_signed or value.dtype.is_floating_point)
            least = -most if wraps else iinfo(dtype).min
        fits = inside(value, least, most)
        if dtype.is_floating_point and value.dtype.is_floating_point:
            fits = ops.logical_or(fits, ops.logical_not(ops.isfinite(value)))
        if promote_types(value.dtype, dtype) is not dtype:
            text = f"{name}: value cannot be converted to type {dtype.name} without overflow"
            value = checked(value, fits, text)
    return ops.to_dtype(value, dtype)


def _meta(input: Any, ok: Any, message: str) -> TensorSpec:
    strides = preserved_strides(input.shape, input.stride())
    return TensorSpec(input.shape, strides, input.dtype, input.device)


def _eager(input: Tensor, ok: Tensor, message: str) -> Any:
    return checked(input, ok, message).clone()


define(
    "require_values(Tensor input, Tensor ok, str message)",
    Kind.INDEXING,
    meta=_meta,
    vjp=lambda ctx, grad: (grad, None),
    eager=_eager,
    method=False,
    public=False,
)
