"""Elementary functions of two operands, and shifts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.errstate import quietly
from graphwright.runtime.ops.kernels import allocate, array_of
from graphwright.runtime.ops.pointwise.arithmetic import (
    define_binary,
    float_result,
    pointwise_spec,
    require_dtype,
    restricted,
    widened,
)
from graphwright.runtime.ops.table import Kind, define, no_derivative, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import result_dtype
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
for _name, _function, _vjp, _extremum, _doc in (
    (
        "fmax",
        _fmax,
        _fmax_vjp,
        "maximum",
        """Greater of two elements, broadcast; where one is nan the other.

        Where they are equal `input` has all of the gradient.

        >>> gw.fmax(gw.tensor([1.0, float("nan")]), gw.tensor([3.0, 4.0]))
        tensor([3., 4.])
        """,
    ),
    (
        "fmin",
        _fmin,
        _fmin_vjp,
        "minimum",
        """Lesser of two elements, broadcast; where one is nan the other.

        Where they are equal `input` has all of the gradient.

        >>> gw.fmin(gw.tensor([1.0, float("nan")]), gw.tensor([3.0, 4.0]))
        tensor([1., 4.])
        """,
    ),
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
        doc=_doc,
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
    doc="""Absolute value of `input` with the sign of `other`, elementwise and broadcast.

    The sign of -0.0 counts.

    >>> gw.copysign(gw.tensor([1.0, -2.0]), -3.0)
    tensor([-1., -2.])
    """,
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
    doc="""Hypotenuse, `sqrt(input^2 + other^2)`, elementwise and broadcast, without overflow.

    >>> gw.hypot(gw.tensor([3.0]), gw.tensor([4.0]))
    tensor([5.])
    """,
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
    doc="""Number next to `input` in the direction of `other` that its dtype holds, broadcast.

    Args:
        input, other: tensors that broadcast to one shape.

    Returns: a tensor of the broadcast shape, in the promoted dtype.

    Raises:
        NotImplementedError: the promoted dtype is not a floating-point one.
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> gw.nextafter(gw.tensor([1.0]), gw.tensor([2.0])) - 1
        tensor([1.1921e-07])
    """,
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
    doc="""Step function: 0 for `x < 0` and nan, 1 for `x > 0`, `values` at 0; broadcast.

    Args:
        input: a tensor of any shape.
        values: a tensor of the dtype of `input` that broadcasts with it.

    Raises:
        NotImplementedError: `input` is complex.
        RuntimeError: the dtypes differ, or the shapes do not broadcast; in backward, always.

    Example:
        >>> gw.heaviside(gw.tensor([-1.0, 0.0, 2.0]), gw.tensor(0.5))
        tensor([0.0000, 0.5000, 1.0000])
    """,
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


for _name, _function, _base, _doc in (
    (
        "logaddexp",
        _logaddexp,
        None,
        """Logarithm of a sum, `log(e^input + e^other)`, broadcast, without overflow.

        >>> gw.logaddexp(gw.tensor([0.0, 1000.0]), gw.tensor([0.0, 1000.0]))
        tensor([6.9315e-01, 1.0007e+03])
        """,
    ),
    (
        "logaddexp2",
        np.logaddexp2,
        math.log(2.0),
        """Logarithm to base 2 of a sum, `log2(2^input + 2^other)`, broadcast, without overflow.

        >>> gw.logaddexp2(gw.tensor([0.0, 1000.0]), gw.tensor([0.0, 1000.0]))
        tensor([1.0000e+00, 1.0010e+03])
        """,
    ),
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
        doc=_doc,
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
    doc="""Product with a logarithm, `input * log(other)`, broadcast; 0 where `input` is 0.

    It is nan where `other` is nan.

    >>> gw.xlogy(gw.tensor([0.0, 2.0]), gw.tensor([0.0, 3.0]))
    tensor([0.0000, 2.1972])
    """,
)
define_binary(
    "special_xlog1py",
    _times_log(np.log1p),
    computed=restricted("xlog1py", float_result, complex=False),
    vjp=_times_log_vjp("log1p", 1),
    saves=("input", "other"),
    decompose=_product_with_log("log1p"),
    doc="""Product with a logarithm, `input * log(1 + other)`, broadcast; 0 where `input` is 0.

    It is nan where `other` is nan.

    >>> gw.special.xlog1py(gw.tensor([0.0, 2.0]), gw.tensor([-1.0, 3.0]))
    tensor([0.0000, 2.7726])
    """,
    inplace=False,
    public=False,
    method=False,
)


# -- integers

for _name, _function, _doc in (
    (
        "gcd",
        np.gcd,
        """Greatest common divisor of two integers, at least 0, broadcast; gcd(0, 0) is 0.

        >>> gw.gcd(gw.tensor([12, 5]), gw.tensor([18, 0]))
        tensor([6, 5])
        """,
    ),
    (
        "lcm",
        np.lcm,
        """Least common multiple of two integers, at least 0, broadcast; 0 where one of them is 0.

        >>> gw.lcm(gw.tensor([4, 5]), gw.tensor([6, 0]))
        tensor([12,  0])
        """,
    ),
):
    define_binary(
        _name,
        _function,
        computed=restricted(_name, bool=False, floats=False, complex=False),
        vjp=not_differentiable,
        numbers="none",
        doc=_doc,
    )

for _name, _function, _doc in (
    (
        "bitwise_left_shift",
        np.left_shift,
        """Bits of `input` shifted left by `other` places, broadcast; the operator `<<`.

        It is `input * 2^other` modulo the range of the dtype; 0 where `other` is negative.

        >>> gw.bitwise_left_shift(gw.tensor([1, 3]), 2)
        tensor([ 4, 12])
        """,
    ),
    (
        "bitwise_right_shift",
        np.right_shift,
        """Bits of `input` shifted right by `other` places, broadcast; the operator `>>`.

        It is `floor(input / 2^other)`.

        >>> gw.bitwise_right_shift(gw.tensor([9, -9]), 1)
        tensor([ 4, -5])
        """,
    ),
):
    define_binary(
        _name,
        _function,
        computed=restricted(_name, bool=False, floats=False, complex=False),
        vjp=not_differentiable,
        doc=_doc,
    )
