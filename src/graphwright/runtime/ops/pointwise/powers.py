"""Powers of tensors and numbers, and by numbers that are known when running only.

An exponent that is a number may be a root: 0.5 and -0.5 are sqrt and rsqrt, of which -0 and -inf
have other values than the power by a tensor has, as in PyTorch.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.creation.fill import check_held
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import HALVES, wrap
from graphwright.runtime.ops.pointwise.arithmetic import binary_kernel, pointwise_spec
from graphwright.runtime.ops.strides import contiguous_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import result_dtype
from graphwright.runtime.tensor.tensor import Tensor


def _real_part(value: Any) -> Any:
    return ops.real(value) if value.dtype.is_complex else value


def _log_of(number: Any, as_complex: bool) -> Any:
    """The logarithm of a number as a tensor's would be: NaN for negative ones, -inf for 0."""
    if number == 0:
        return -math.inf
    if as_complex or isinstance(number, complex):
        return cmath.log(number)
    return math.log(number) if number > 0 else math.nan


def _pow_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    base: Any = ctx.input
    exponent: Any = ctx.exponent
    grad_base = grad_exponent = None
    if ctx.needs["input"]:
        if isinstance(exponent, Tensor):
            slope = ops.mul(exponent, ops.pow(base, ops.sub(exponent, 1)))
            grad_base = ops.where(ops.eq(exponent, 0), 0.0, ops.mul(grad, slope))
        elif exponent == 0:
            grad_base = ops.zeros_like(grad)
        else:
            grad_base = ops.mul(grad, ops.mul(ops.pow(base, exponent - 1), exponent))
    if ctx.needs["exponent"]:
        flat = ops.ge(_real_part(exponent), 0)
        if isinstance(base, Tensor):
            flat = ops.logical_and(ops.eq(base, 0), flat)
            slope = ops.mul(ctx.out, ops.log(base))
        else:
            slope = ops.mul(ctx.out, _log_of(base, exponent.dtype.is_complex))
        grad_exponent = ops.mul(grad, slope)
        if isinstance(base, Tensor) or base == 0:
            grad_exponent = ops.where(flat, 0.0, grad_exponent)
    return grad_base, grad_exponent


def _by_number(a: Any, b: Any, out: Any) -> None:
    """Powers by a number, or of one: small exponents take fewer steps."""
    if b.ndim == 0 and out.dtype.kind == "f":
        _FAST_POWERS.get(float(b), lambda a, out: np.power(a, b, out))(a, out)
        return
    _by_tensor(a, b, out)


def _by_tensor(a: Any, b: Any, out: Any) -> None:
    """Powers by as many exponents, which are no roots: NumPy takes that of one 0.5 for all."""
    if out.dtype.kind == "i" and (b < 0).any():
        ones = (a == 1) | ((a == -1) & (b % 2 == 0))
        minus = (a == -1) & (b % 2 != 0)
        small = np.where(ones, 1, np.where(minus, -1, 0)).astype(out.dtype)
        out[...] = np.where(b < 0, small, np.power(a, np.maximum(b, 0)))
        return
    if out.dtype.kind == "f" and (b == 0.5).any():
        differs = (b == 0.5) & ((a == 0) | np.isinf(a))
        a = np.where(differs, np.abs(a), a)
    np.power(a, b, out)


_FAST_POWERS: dict[float, Callable[[Any, Any], Any]] = {
    2.0: np.square,
    0.5: np.sqrt,
    1.0: lambda a, out: np.copyto(out, a),
    3.0: lambda a, out: np.multiply(np.square(a), a, out),
    -0.5: lambda a, out: np.reciprocal(np.sqrt(a), out),
    -1.0: np.reciprocal,
    -2.0: lambda a, out: np.reciprocal(np.square(a), out),
}


def _check_power(input: Any, exponent: Any) -> None:
    if (
        isinstance(exponent, (int, SymInt))
        and isinstance(input, Tensor)
        and not (input.dtype.is_floating_point or input.dtype.is_complex)
        and exponent < 0
    ):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    if not isinstance(exponent, bool):
        dtype = result_dtype((input, exponent))
        require_dtype("pow", dtype, bool=False)
        if not dtype.is_floating_point or dtype in HALVES:
            check_held("pow", dtype, exponent)


def _pow_eager(input: Any, exponent: Any) -> Tensor:
    _check_power(input, exponent)
    if isinstance(exponent, bool) and input.dtype is dtypes.bool:
        return ops.clone(input) if exponent else ops.full_like(input, True)
    if isinstance(input, Tensor) and isinstance(exponent, Tensor):
        return _power_by_tensor(input, exponent)
    result = _power_by_number(input, exponent)
    if isinstance(input, Tensor) or result.is_contiguous():
        return result
    return wrap(result._nd, result.dtype)


def _pow_meta(input: Any, exponent: Any) -> TensorSpec:
    """Powers of a number are contiguous, whatever the layout of the exponents."""
    _check_power(input, exponent)
    operands = (input, exponent) if hasattr(exponent, "shape") else (input,)
    spec = pointwise_spec("pow", operands, result_dtype((input, exponent)))
    if not hasattr(input, "shape"):
        spec.strides = contiguous_strides(spec.shape)
    return spec


_power_by_number = binary_kernel("pow", _by_number, result_dtype)
_power_by_tensor = binary_kernel("pow", _by_tensor, result_dtype)

define(
    "pow(Operand input, Operand exponent)",
    Kind.POINTWISE,
    meta=_pow_meta,
    vjp=_pow_vjp,
    saves=("input", "exponent", "out?exponent"),
    eager=_pow_eager,
    doc="""Power, `input^exponent`, elementwise and broadcast; the operator `**`.

    Args:
        input, exponent: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype. Integers to negative
    exponents in a tensor are rounded towards 0.

    Raises:
        NotImplementedError: the promoted dtype is bool.
        RuntimeError: the shapes do not broadcast; integers to a negative power.
        TypeError: both operands are numbers.

    Example:
        >>> gw.pow(gw.tensor([2.0, 3.0]), 2)
        tensor([4., 9.])
        >>> gw.pow(2, gw.tensor([1, 10]))
        tensor([   2, 1024])
    """,
)
define(
    "pow_(Tensor input, Operand exponent)", Kind.INPLACE, functional="pow", public=False
)


# -- pow by a number that is known when running


def _pow_number_meta(input: Any, exponent: Any) -> TensorSpec:
    dtype = result_dtype((input, 0.5))
    require_dtype("pow", dtype, complex=False)
    return pointwise_spec("pow", (input,), dtype)


def _pow_number_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    """By 0 there is no power of -1, which is infinite at 0 and so has no slope."""
    exponent: Any = ctx.exponent
    by_zero = ops.eq(exponent, 0)
    lower = ops.sub(ops.where(by_zero, 1.0, exponent), 1)
    slope = ops.mul(ops.pow_number(ctx.input, lower), exponent)
    return ops.where(by_zero, 0.0, ops.mul(grad, slope)), None


define(
    "pow_number(Tensor input, Tensor exponent)",
    Kind.POINTWISE,
    meta=_pow_number_meta,
    vjp=_pow_number_vjp,
    saves=("input", "exponent"),
    eager=lambda input, exponent: ops.pow(input, exponent.item()),
    method=False,
    public=False,
)
define(
    "pow_number_(Tensor input, Tensor exponent)",
    Kind.INPLACE,
    functional="pow_number",
    method=False,
    public=False,
)
