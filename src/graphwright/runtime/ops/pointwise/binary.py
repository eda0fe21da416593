"""Elementary functions of two and three operands, and shifts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops import return_types
from graphwright.runtime.ops.creation.fill import calculated, check_held
from graphwright.runtime.ops.errstate import quietly
from graphwright.runtime.ops.kernels import HALVES, allocate, array_of, wrap
from graphwright.runtime.ops.pointwise.arithmetic import (
    define_binary,
    float_result,
    pointwise_spec,
    require_dtype,
    restricted,
    widened,
)
from graphwright.runtime.ops.strides import contiguous_strides, preserved_strides
from graphwright.runtime.ops.table import Kind, define, no_derivative, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import can_cast, result_dtype
from graphwright.runtime.tensor.tensor import Tensor

# -- extrema that prefer numbers to nan


def _fmax_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    first = ops.logical_or(ops.ge(ctx.input, ctx.other), ops.isnan(ctx.other))
    return ops.where(first, grad, 0.0), ops.where(first, 0.0, grad)


def _fmin_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    first = ops.logical_or(ops.le(ctx.input, ctx.other), ops.isnan(ctx.other))
    return ops.where(first, grad, 0.0), ops.where(first, 0.0, grad)


def _known(extremum: str) -> Callable[..., Any]:
    """`extremum`, or the other operand where one is nan."""

    def decompose(input: Any, other: Any) -> Any:
        best = getattr(ops, extremum)(input, other)
        best = ops.where(ops.isnan(other), input, best)
        return ops.where(ops.isnan(input), other, best)

    return decompose


def _fmax(a: Any, b: Any, out: Any) -> None:
    np.fmax(a, b, out=out)


def _fmin(a: Any, b: Any, out: Any) -> None:
    np.fmin(a, b, out=out)


_function: Any
for _name, _function, _vjp, _extremum in (
    ("fmax", _fmax, _fmax_vjp, "maximum"),
    ("fmin", _fmin, _fmin_vjp, "minimum"),
):
    define_binary(
        _name,
        _function,
        computed=restricted(_name, complex=False),
        vjp=_vjp,
        saves=("input", "other"),
        decompose=_known(_extremum),
        inplace=False,
        numbers="none",
    )


# -- signs, lengths, neighbours


def _copysign_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    ratio = ops.where(ops.eq(ctx.input, 0), 0.0, ops.div(ctx.out, ctx.input))
    grad_other = ops.zeros_like(grad) if ctx.needs["other"] else None
    return ops.mul(grad, ratio) if ctx.needs["input"] else None, grad_other


def _with_sign(input: Any, other: Any) -> Any:
    size = ops.abs(input)
    if not isinstance(other, Tensor):
        return ops.neg(size) if math.copysign(1.0, other) < 0 else size
    return ops.where(ops.signbit(other), ops.neg(size), size)


define_binary(
    "copysign",
    np.copysign,
    computed=restricted("copysign", float_result, complex=False),
    vjp=_copysign_vjp,
    saves=("input", "out"),
    numbers="second",
    decompose=widened(_with_sign),
)


def _hypot_vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
    return (
        ops.mul(grad, ops.div(ctx.input, ctx.out)) if ctx.needs["input"] else None,
        ops.mul(grad, ops.div(ctx.other, ctx.out)) if ctx.needs["other"] else None,
    )


def _hypot(x: Any, y: Any) -> Any:
    """The greater side times sqrt(1 + ratio^2): no overflow; infinite where a side is."""
    a, b = ops.abs(x), ops.abs(y)
    long, short = ops.maximum(a, b), ops.minimum(a, b)
    ratio = ops.div(short, ops.where(ops.eq(long, 0), 1.0, long))
    length = ops.mul(long, ops.sqrt(ops.add(ops.mul(ratio, ratio), 1)))
    infinite = ops.logical_or(ops.isinf(a), ops.isinf(b))
    return ops.where(infinite, math.inf, length)


define_binary(
    "hypot",
    np.hypot,
    computed=restricted("hypot", bool=False, integers=False, complex=False),
    vjp=_hypot_vjp,
    saves=("input", "other", "out"),
    numbers="none",
    decompose=widened(_hypot),
)


def _nextafter_type(operands: tuple[Any, ...]) -> DType:
    dtype = result_dtype(operands)
    require_dtype("nextafter", dtype, bool=False, integers=False, complex=False)
    return dtype


def _nextafter(input: Any, other: Any) -> Tensor:
    """In the operands' own dtype: neighbours in float32 are no neighbours in half precision."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        raise TypeError("nextafter(): each of the two operands must be a Tensor")
    spec = pointwise_spec("nextafter", (input, other), _nextafter_type((input, other)))
    out = allocate(spec.shape, spec.strides, spec.dtype)
    np.copyto(out._nd, np.nextafter(*(array_of(o, spec.dtype) for o in (input, other))))
    return out


define(
    "nextafter(Tensor input, Tensor other)",
    Kind.POINTWISE,
    meta=lambda input, other: pointwise_spec(
        "nextafter", (input, other), _nextafter_type((input, other))
    ),
    vjp=lambda ctx, grad: (grad, ops.zeros_like(grad) if ctx.needs["other"] else None),
    eager=_nextafter,
)
define(
    "nextafter_(Tensor input, Tensor other)",
    Kind.INPLACE,
    functional="nextafter",
    public=False,
)


def _heaviside_meta(input: Any, values: Any) -> TensorSpec:
    if input.dtype is not values.dtype:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes, got "
            f"{input.dtype} and {values.dtype}"
        )
    require_dtype("heaviside", input.dtype, complex=False)
    return pointwise_spec("heaviside", (input, values), input.dtype)


def _heaviside(input: Any, values: Any) -> Any:
    """0 below 0, 1 above, `values` at 0; 0 for nan."""
    _heaviside_meta(input, values)
    above = ops.to_dtype(ops.gt(input, 0), input.dtype)
    return ops.where(ops.eq(input, 0), values, above)


define(
    "heaviside(Tensor input, Tensor values)",
    Kind.COMPOSITE,
    meta=_heaviside_meta,
    vjp=no_derivative("heaviside"),
    decompose=_heaviside,
)
define(
    "heaviside_(Tensor input, Tensor values)",
    Kind.INPLACE,
    functional="heaviside",
    public=False,
)


# -- sums of exponentials, products with logarithms


def _logaddexp_vjp(base: float | None) -> Callable[..., Any]:
    def share(grad: Any, own: Any, other: Any) -> Any:
        gap = ops.sub(own, other)
        weight = ops.sigmoid(gap if base is None else ops.mul(gap, base))
        return ops.mul(grad, ops.conj(weight) if weight.dtype.is_complex else weight)

    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        return (
            share(grad, ctx.input, ctx.other) if ctx.needs["input"] else None,
            share(grad, ctx.other, ctx.input) if ctx.needs["other"] else None,
        )

    return vjp


def _log_sum(base: float | None) -> Callable[..., Any]:
    def decompose(x: Any, y: Any) -> Any:
        gap = ops.neg(ops.abs(ops.sub(x, y)))
        grown = ops.exp(gap if base is None else ops.mul(gap, base))
        extra = ops.log1p(grown)
        if base is not None:
            extra = ops.div(extra, base)
        equal = ops.logical_and(ops.eq(x, y), ops.isinf(x))
        return ops.where(equal, x, ops.add(ops.maximum(x, y), extra))

    return decompose


def _logaddexp(a: Any, b: Any, out: Any) -> None:
    """Of complex numbers: from the one with the greater real part."""
    if out.dtype.kind != "c":
        np.logaddexp(a, b, out)
        return
    first = a.real >= b.real
    high, low = np.where(first, a, b), np.where(first, b, a)
    equal = np.isinf(high.real) & (high.real < 0)
    np.copyto(out, np.where(equal, high, high + np.log1p(np.exp(low - high))))


for _name, _function, _base in (
    ("logaddexp", _logaddexp, None),
    ("logaddexp2", np.logaddexp2, math.log(2.0)),
):
    define_binary(
        _name,
        _function,
        computed=restricted(_name, bool=False, integers=False, complex=_base is None),
        vjp=_logaddexp_vjp(_base),
        saves=("input", "other"),
        inplace=False,
        numbers="none",
        decompose=widened(_log_sum(_base)),
    )


def _times_log(function: Any) -> Callable[..., None]:
    def kernel(a: Any, b: Any, out: Any) -> None:
        np.multiply(a, function(b), out)
        np.copyto(out, 0, where=(a == 0) & ~np.isnan(b))

    return kernel


def _times_log_vjp(log: str, shift: int) -> Callable[..., Any]:
    def vjp(ctx: Any, grad: Any) -> tuple[Any, Any]:
        grad_input = grad_other = None
        if ctx.needs["input"]:
            other = ctx.other
            if not isinstance(other, Tensor):
                other = ops.full_like(grad, other)
            flat = ops.logical_and(ops.eq(ctx.input, 0), ops.le(other, -shift))
            grad_input = ops.where(flat, 0.0, ops.mul(grad, getattr(ops, log)(other)))
        if ctx.needs["other"]:
            divisor = ops.add(ctx.other, shift) if shift else ctx.other
            grad_other = ops.div(ops.mul(grad, ctx.input), divisor)
        return grad_input, grad_other

    return vjp


def _product_with_log(log: str) -> Callable[..., Any]:
    def decompose(x: Any, y: Any) -> Any:
        if isinstance(y, Tensor):
            logarithm, undefined = getattr(ops, log)(y), ops.isnan(y)
            if not isinstance(x, Tensor):
                zero = ops.where(undefined, y, 0.0)
                return zero if x == 0 else ops.mul(logarithm, x)
            zero = ops.logical_and(ops.eq(x, 0), ops.logical_not(undefined))
            return ops.where(zero, 0.0, ops.mul(x, logarithm))
        product = ops.mul(x, float(_NUMBER_LOGS[log](np.float64(y))))
        return product if y != y else ops.where(ops.eq(x, 0), 0.0, product)

    return widened(decompose)


_NUMBER_LOGS = {"log": quietly(np.log), "log1p": quietly(np.log1p)}

define_binary(
    "xlogy",
    _times_log(np.log),
    computed=restricted("xlogy", float_result, complex=False),
    vjp=_times_log_vjp("log", 0),
    saves=("input", "other"),
    decompose=_product_with_log("log"),
)
define_binary(
    "special_xlog1py",
    _times_log(np.log1p),
    computed=restricted("xlog1py", float_result, complex=False),
    vjp=_times_log_vjp("log1p", 1),
    saves=("input", "other"),
    decompose=_product_with_log("log1p"),
    inplace=False,
    public=False,
    method=False,
)


# -- integers

for _name, _function in (("gcd", np.gcd), ("lcm", np.lcm)):
    define_binary(
        _name,
        _function,
        computed=restricted(_name, bool=False, floats=False, complex=False),
        vjp=not_differentiable,
        numbers="none",
    )

for _name, _function in (
    ("bitwise_left_shift", np.left_shift),
    ("bitwise_right_shift", np.right_shift),
):
    define_binary(
        _name,
        _function,
        computed=restricted(_name, bool=False, floats=False, complex=False),
        vjp=not_differentiable,
    )


# -- powers and scales


def _rsub(input: Any, other: Any, alpha: Any) -> Any:
    if not isinstance(input, Tensor):
        raise TypeError(f"rsub(): argument 'input' must be Tensor, not {type(input).__name__}")
    return ops.sub(other, input, alpha=alpha)


define(
    "rsub(Tensor input, Operand other, *, Scalar alpha=1)",
    Kind.COMPOSITE,
    decompose=_rsub,
    method=False,
)


def _ldexp(input: Any, other: Any) -> Any:
    for value in (input, other):
        if not isinstance(value, Tensor):
            raise TypeError(f"ldexp(): both arguments must be Tensors, not {type(value).__name__}")
    inexact = input.dtype.is_floating_point or input.dtype.is_complex
    if not inexact or other.dtype.is_floating_point or other.dtype.is_complex:
        return ops.mul(input, ops.pow(2.0, other))
    if input.dtype.is_complex:
        return ops.mul(input, ops.pow(2.0, ops.to_dtype(other, input.dtype.to_real())))
    if other.dtype is dtypes.bool:
        raise NotImplementedError(f'"ldexp" not implemented for an exponent {describe(other)}')
    return _scaled_by_power(input, other)


def _scaled_by_power(input: Any, other: Any) -> Any:
    """input 2^other in the dtype of `input`, by three factors, each of which float64 holds."""
    exponent = ops.clamp(ops.to_dtype(other, dtypes.int64), -3000, 3000)
    first = ops.div(exponent, 3, rounding_mode="trunc")
    result = ops.to_dtype(input, dtypes.float64)
    for part in (first, first, ops.sub(exponent, ops.mul(first, 2))):
        result = ops.mul(result, ops.pow(2.0, ops.to_dtype(part, dtypes.float64)))
    return ops.to_dtype(result, input.dtype)


define("ldexp(Tensor input, Tensor other)", Kind.COMPOSITE, decompose=_ldexp)
define(
    "ldexp_(Tensor input, Tensor other)",
    Kind.INPLACE,
    functional="ldexp",
    public=False,
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
)
define(
    "float_power_(Tensor input, Operand exponent)",
    Kind.COMPOSITE,
    decompose=_float_power_into,
    public=False,
)


def _frexp_specs(input: Any) -> tuple[TensorSpec, TensorSpec]:
    require_dtype("frexp", input.dtype, bool=False, integers=False, complex=False)
    strides = preserved_strides(input.shape, input.stride())
    return (
        TensorSpec(input.shape, strides, input.dtype, input.device),
        TensorSpec(input.shape, strides, dtypes.int32, input.device),
    )


def _frexp_eager(input: Any) -> tuple[Tensor, Tensor]:
    first, _ = _frexp_specs(input)
    array = input._nd.astype(np.float32) if input.dtype in HALVES else input._nd
    mantissa, exponent = np.frexp(array)
    if first.strides == contiguous_strides(first.shape):
        return wrap(mantissa, input.dtype), wrap(exponent, dtypes.int32)
    results = []
    for values, dtype in ((mantissa, input.dtype), (exponent, dtypes.int32)):
        out = allocate(first.shape, first.strides, dtype)
        np.copyto(out._nd, values, casting="unsafe")
        results.append(out)
    return results[0], results[1]


define(
    "frexp_parts(Tensor input)",
    Kind.OTHER,
    meta=_frexp_specs,
    vjp=lambda ctx, grad, _: ops.ldexp(grad, ops.neg(ctx.out1)),
    saves=("out1",),
    eager=_frexp_eager,
    method=False,
    public=False,
)
define(
    "frexp(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: return_types.frexp(*ops.frexp_parts(input)),
)


# -- interpolation and fused products


def _same_dtype(name: str, input: Any, **others: Any) -> None:
    for argument, value in others.items():
        if isinstance(value, Tensor) and value.dtype is not input.dtype:
            raise RuntimeError(
                f"{name}: expected dtype {input.dtype} for `{argument}` but got dtype "
                f"{value.dtype}"
            )


def _lerp(input: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that weight 1 gives `end` exactly."""
    require_dtype("lerp", input.dtype, bool=False, integers=False)
    other = isinstance(weight, Tensor) and weight.dtype is not input.dtype
    if other and weight.ndim == 0 and can_cast(weight.dtype, input.dtype):
        return ops.lerp(input, end, ops.to_dtype(weight, input.dtype))
    _same_dtype("lerp", input, end=end, weight=weight)
    check_held("lerp", calculated(input.dtype), weight)
    if input.dtype in HALVES:
        wide = [ops.to_dtype(t, dtypes.float32) if isinstance(t, Tensor) else t
                for t in (input, end, weight)]
        return ops.to_dtype(ops.lerp(*wide), input.dtype)
    gap = ops.sub(end, input)
    if isinstance(weight, Tensor):
        near = ops.add(input, ops.mul(weight, gap))
        far = ops.sub(end, ops.mul(gap, ops.sub(1, weight)))
        return ops.where(ops.lt(ops.abs(weight), 0.5), near, far)
    if abs(weight) < 0.5:
        return ops.add(input, ops.mul(gap, weight))
    return ops.sub(end, ops.mul(gap, 1 - weight))


define("lerp(Tensor input, Tensor end, Operand weight)", Kind.COMPOSITE, decompose=_lerp)


define(
    "lerp_(Tensor input, Tensor end, Operand weight)",
    Kind.INPLACE,
    functional="lerp",
    public=False,
)


def _addcmul(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    dtype = result_dtype((input, tensor1, tensor2))
    require_dtype("addcmul", dtype, bool=False)
    check_held("addcmul", calculated(dtype), value)
    if dtype in HALVES:
        return _widely(ops.addcmul, (input, tensor1, tensor2), value, dtype)
    return ops.add(input, ops.mul(_scaled(tensor1, value, dtype), tensor2))


def _scaled(tensor: Any, value: Any, dtype: DType) -> Any:
    """`value * tensor` in the result's dtype, which comes before the product or quotient.

    Integers are multiplied by the whole part of a float, as in PyTorch.
    """
    tensor = tensor if tensor.dtype is dtype else ops.to_dtype(tensor, dtype)
    if isinstance(value, float) and not (dtype.is_floating_point or dtype.is_complex):
        value = int(value)
    return tensor if value == 1 else ops.mul(tensor, value)


def _widely(function: Any, tensors: tuple[Any, ...], value: Any, dtype: DType) -> Any:
    """Of half types: computed in float32 and rounded once."""
    wide = [ops.to_dtype(ops.to_dtype(t, dtype), dtypes.float32) for t in tensors]
    return ops.to_dtype(function(*wide, value=value), dtype)


def _addcdiv(input: Any, tensor1: Any, tensor2: Any, value: Any) -> Any:
    inexact = [
        t.dtype.is_floating_point or t.dtype.is_complex for t in (tensor1, tensor2)
    ]
    if not any(inexact):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future release "
            "addcdiv will perform a true division of tensor1 and tensor2"
        )
    dtype = result_dtype((input, tensor1, tensor2))
    check_held("addcdiv", calculated(dtype), value)
    if dtype in HALVES:
        return _widely(ops.addcdiv, (input, tensor1, tensor2), value, dtype)
    return ops.add(input, ops.div(_scaled(tensor1, value, dtype), tensor2))


for _name, _function in (("addcmul", _addcmul), ("addcdiv", _addcdiv)):
    define(
        f"{_name}(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
        Kind.COMPOSITE,
        decompose=_function,
    )
    define(
        f"{_name}_(Tensor input, Tensor tensor1, Tensor tensor2, *, Scalar value=1)",
        Kind.INPLACE,
        functional=_name,
        public=False,
    )


# -- closeness


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
)
