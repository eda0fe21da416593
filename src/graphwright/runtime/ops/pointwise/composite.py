"""Pointwise ops made of others, masked_fill, closeness, and comparisons of whole tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
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
    doc="""Square of each element, `y = x^2`.

    Args:
        input: a tensor of any shape; bool gives int64.

    Example:
        >>> gw.square(gw.tensor([-2, 3]))
        tensor([4, 9])
    """,
)
define("square_(Tensor input)", Kind.INPLACE, functional="square", public=False)


def _rsub(input: Any, other: Any, alpha: Any) -> Any:
    if not isinstance(input, Tensor):
        raise TypeError(f"rsub(): argument 'input' must be Tensor, not {type(input).__name__}")
    return ops.sub(other, input, alpha=alpha)


define(
    "rsub(Tensor input, Operand other, *, Scalar alpha=1)",
    Kind.COMPOSITE,
    decompose=_rsub,
    method=False,
    doc="""Reversed difference, `other - alpha * input`, elementwise and broadcast.

    Args:
        input: a tensor.
        other: a number, or a tensor that broadcasts with `input`.
        alpha: the number that `input` is multiplied by.

    Returns: a tensor of the broadcast shape, in the promoted dtype.

    Raises:
        RuntimeError: the shapes do not broadcast, or an operand is of bool.
        TypeError: `input` is a number.

    Example:
        >>> gw.rsub(gw.tensor([1, 2]), 10, alpha=2)
        tensor([8, 6])
    """,
)


def _double(value: Any) -> Any:
    """A tensor as float64 or complex128, a number as float or complex."""
    if not isinstance(value, Tensor):
        return value if isinstance(value, complex) else float(value)
    wide = dtypes.BY_NAME["complex128"] if value.dtype.is_complex else dtypes.float64
    return value if value.dtype is wide else ops.to_dtype(value, wide)


def _float_power_into(input: Any, exponent: Any) -> Any:
    wide = _double(input).dtype
    if input.dtype is not wide:
        raise RuntimeError(
            f"float_power_: the base given to float_power_ has dtype {input.dtype} but the "
            f"operation's result requires dtype {wide}"
        )
    return ops.pow_(input, _double(exponent))


def _float_power(input: Any, exponent: Any) -> Any:
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise TypeError("float_power(): one of the two operands must be a Tensor")
    return ops.pow(_double(input), _double(exponent))


define(
    "float_power(Operand input, Operand exponent)",
    Kind.COMPOSITE,
    decompose=_float_power,
    doc="""Power computed in double precision, `input^exponent`, elementwise and broadcast.

    Args:
        input, exponent: tensors that broadcast to one shape; one of them may be a number.

    Returns: a float64 tensor of the broadcast shape, complex128 if an operand is complex.

    Raises:
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.float_power(gw.tensor([1, 3]), 2)
        tensor([1., 9.], dtype=graphwright.float64)
    """,
)
define(
    "float_power_(Tensor input, Operand exponent)",
    Kind.COMPOSITE,
    decompose=_float_power_into,
    public=False,
    doc="""In-place `float_power`: each element becomes `input^exponent`.

    Args:
        input: a tensor of float64 or complex128.
        exponent: a number, or a tensor that broadcasts to the shape of `input`.

    Returns: `input`.

    Raises:
        RuntimeError: `input` has another dtype, or `exponent` does not broadcast to its shape.

    Example:
        >>> gw.tensor([1.0, 3.0], dtype=gw.float64).float_power_(2)
        tensor([1., 9.], dtype=graphwright.float64)
    """,
)

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


for _name, _function, _bound, _doc in (
    (
        "clamp_min",
        _clamp_min,
        "min",
        """Each element, but at least `min`: `y = max(x, min)`, broadcast.

        Args:
            input: a tensor of any shape.
            min: the lower bound, a number or a tensor that broadcasts with `input`.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex, or bool with a number as bound.
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.clamp_min(gw.tensor([-1.0, 2.0]), 0)
            tensor([0., 2.])
        """,
    ),
    (
        "clamp_max",
        _clamp_max,
        "max",
        """Each element, but at most `max`: `y = min(x, max)`, broadcast.

        Args:
            input: a tensor of any shape.
            max: the upper bound, a number or a tensor that broadcasts with `input`.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex, or bool with a number as bound.
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.clamp_max(gw.tensor([-1.0, 2.0]), 1.5)
            tensor([-1.0000,  1.5000])
        """,
    ),
):
    define(
        f"{_name}(Tensor input, Operand {_bound})",
        Kind.COMPOSITE,
        decompose=_function,
        doc=_doc,
    )
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
    doc="""Quotient rounded down, `floor(input / other)`, broadcast; the operator `//`.

    Args:
        input, other: tensors or numbers that broadcast to one shape.

    Returns: a tensor of the broadcast shape, in the promoted dtype.

    Raises:
        NotImplementedError: the promoted dtype is bool or complex.
        RuntimeError: the shapes do not broadcast; an integer is divided by zero; in backward,
            always.

    Example:
        >>> gw.floor_divide(gw.tensor([7, -7]), 2)
        tensor([ 3, -4])
    """,
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
    doc="""Elements of `input`, replaced by `value` where the mask holds; broadcast.

    Args:
        input: a tensor of any shape.
        mask: a bool tensor that broadcasts with `input`.
        value: a number or a tensor without dims, converted to the dtype of `input`.

    Returns: a tensor of the broadcast shape, in the dtype of `input`.

    Raises:
        RuntimeError: the mask is not of bool, the shapes do not broadcast, or the dtype of
            `input` does not hold `value`.

    Example:
        >>> gw.masked_fill(gw.zeros(3), gw.tensor([True, False, True]), 2)
        tensor([2., 0., 2.])
    """,
)
define(
    "masked_fill_(Tensor input, Tensor mask, Operand value)",
    Kind.INPLACE,
    functional="masked_fill",
    public=False,
)


# -- closeness and equality


def _isclose(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """equal, or |input - other| finite and at most atol + rtol |other|."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"isclose: dtypes differ, {input.dtype} and {other.dtype}")
    for name, bound in (("rtol", rtol), ("atol", atol)):
        if not bound >= 0:
            raise RuntimeError(f"isclose: {name} must be at least zero, but got {bound}")
    close = ops.eq(input, other)
    inexact = input.dtype.is_floating_point or input.dtype.is_complex
    if equal_nan and inexact:
        close = ops.logical_or(close, ops.logical_and(ops.isnan(input), ops.isnan(other)))
    if rtol == 0 and atol == 0:
        return close
    if not inexact:
        wide = dtypes.get_default_dtype()
        input, other = ops.to_dtype(input, wide), ops.to_dtype(other, wide)
    allowed = ops.add(ops.abs(ops.mul(other, rtol)), atol)
    distance = ops.abs(ops.sub(input, other))
    near = ops.logical_and(ops.isfinite(distance), ops.le(distance, allowed))
    return ops.logical_or(close, near)


define(
    "isclose(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, "
    "bool equal_nan=False)",
    Kind.COMPOSITE,
    decompose=_isclose,
    doc="""Whether two elements are close: equal, or `|input - other| <= atol + rtol * |other|`.

    Args:
        input, other: tensors of one dtype that broadcast to one shape.
        rtol: the tolerance relative to `other`, at least 0.
        atol: the absolute tolerance, at least 0.
        equal_nan: whether two nan are close.

    Returns: a bool tensor of the broadcast shape.

    Raises:
        RuntimeError: the dtypes differ, the shapes do not broadcast, a tolerance is negative.

    Example:
        >>> gw.isclose(gw.tensor([1.0, 2.0]), gw.tensor([1.000001, 2.1]))
        tensor([ True, False])
    """,
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
    doc="""Whether all elements of two tensors are close: see `isclose`.

    Args:
        input, other: tensors of one dtype that broadcast to one shape.
        rtol: the tolerance relative to `other`, at least 0.
        atol: the absolute tolerance, at least 0.
        equal_nan: whether two nan are close.

    Returns: a Python bool.

    Raises:
        RuntimeError: the dtypes differ, the shapes do not broadcast, a tolerance is negative.

    Example:
        >>> gw.allclose(gw.tensor([1.0, 2.0]), gw.tensor([1.000001, 2.0]))
        True
    """,
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
    doc="""Whether two tensors have one shape and equal elements.

    Args:
        input, other: tensors; their dtypes may differ, and nan equals nothing.

    Returns: a Python bool.

    Example:
        >>> gw.equal(gw.tensor([1.0, 2.0]), gw.tensor([1, 2]))
        True
    """,
)
