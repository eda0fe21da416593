"""Activations that are composites: gelu, silu, leaky_relu, elu, softplus, hardtanh, logsigmoid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.kernels import allocate
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    finish,
    is_half,
    quietly,
    require_floating,
    widened,
)
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.special import erf
from graphwright.runtime.ops.strides import pointwise_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import Tensor

_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_SQRT_HALF = math.sqrt(0.5)
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
_GELU_CUBIC = 0.044715
_BLOCK = 16 * 1024


def _floating(name: str) -> Any:
    def meta(input: Any, *rest: Any) -> Any:
        require_floating(name, input)
        return _like(input)

    return meta


def _like(*operands: Any) -> TensorSpec:
    """The pointwise result of operands of one shape, in the layout that they have."""
    first = operands[0]
    strides = pointwise_strides(first.shape, [(x.shape, x.stride()) for x in operands])
    return TensorSpec(first.shape, strides, first.dtype, first.device)


def _over_blocks(function: Any, operands: tuple[Tensor, ...], options: tuple[Any, ...]) -> Tensor:
    """function(*arrays, out, *options) over blocks that stay in cache."""
    wanted = _like(*operands)
    result = allocate(wanted.shape, wanted.strides, wanted.dtype)
    arrays = [compute(operand) for operand in operands]
    out = np.empty_like(result._nd, np.float32) if is_half(wanted.dtype) else result._nd
    flat = [_in_memory_order(array) for array in (*arrays, out)]
    if any(array is None for array in flat) or len({x.strides for x in (*arrays, out)}) > 1:
        function(*arrays, out, *options)
        return finish(result, out)
    for start in range(0, out.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        function(*(array[block] for array in flat), *options)  # type: ignore[index]
    return finish(result, out)


def _in_memory_order(array: Array) -> Array | None:
    """A dense array as one row, without copying; None for other layouts."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    if array.flags.f_contiguous:
        return array.reshape(-1, order="F")
    return None


def _elementwise(name: str, function: Any) -> Any:
    """An eager kernel from `function(x, out, *options)` on arrays."""

    def kernel(input: Tensor, *options: Any) -> Tensor:
        require_floating(name, input)
        return _over_blocks(function, (input,), options)

    return kernel


def _elementwise_backward(function: Any) -> Any:
    """As `_elementwise`, from `function(grad, x, out, *options)`."""

    def kernel(grad: Tensor, input: Tensor, *options: Any) -> Tensor:
        return _over_blocks(function, (grad, input), options)

    return kernel


def _wide(function: Any) -> Any:
    """A decomposition computed in float32 for half precision; the first argument decides."""

    def decompose(first: Any, *rest: Any) -> Any:
        tensors = [widened(r) if hasattr(r, "dtype") else r for r in rest]
        return cast(function(widened(first), *tensors), first.dtype)

    return decompose


# gelu


def _check_gelu(approximate: str) -> None:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")


def _gelu_meta(input: Any, approximate: str) -> Any:
    require_floating("gelu", input)
    _check_gelu(approximate)
    return _like(input)


def _gelu_array(x: Array, out: Array, approximate: str) -> None:
    _check_gelu(approximate)
    if approximate == "tanh":
        np.multiply(x, x, out=out)
        out *= _GELU_CUBIC
        out += 1
        out *= x
        out *= _SQRT_2_OVER_PI
        np.tanh(out, out=out)
    else:
        erf(x * x.dtype.type(_SQRT_HALF), out)
    out += 1
    out *= x
    out *= 0.5


def _gelu_decompose(x: Any, approximate: str) -> Any:
    if approximate == "tanh":
        cubic = ops.add(ops.mul(ops.mul(x, x), _GELU_CUBIC), 1.0)
        inner = ops.tanh(ops.mul(ops.mul(cubic, x), _SQRT_2_OVER_PI))
    else:
        inner = ops.erf(ops.mul(x, _SQRT_HALF))
    return ops.mul(ops.mul(ops.add(inner, 1.0), x), 0.5)


def _gelu_backward_array(grad: Array, x: Array, out: Array, approximate: str) -> None:
    square = x * x
    if approximate == "tanh":
        inner = square * _GELU_CUBIC
        slope = inner * 3
        inner += 1
        inner *= x
        inner *= _SQRT_2_OVER_PI
        np.tanh(inner, out=inner)
        slope += 1
        slope *= _SQRT_2_OVER_PI
        slope *= x
        np.multiply(inner, inner, out=out)
        np.subtract(1, out, out=out)
        out *= slope
        out += inner
        out += 1
        out *= 0.5
    else:
        square *= -0.5
        np.exp(square, out=square)
        square *= _INV_SQRT_2PI
        square *= x
        erf(x * x.dtype.type(_SQRT_HALF), out)
        out += 1
        out *= 0.5
        out += square
    out *= grad


def _gelu_backward_decompose(grad: Any, x: Any, approximate: str) -> Any:
    square = ops.mul(x, x)
    if approximate == "tanh":
        cubic = ops.mul(square, _GELU_CUBIC)
        inner = ops.tanh(ops.mul(ops.mul(ops.add(cubic, 1.0), x), _SQRT_2_OVER_PI))
        slope = ops.mul(ops.add(ops.mul(cubic, 3.0), 1.0), _SQRT_2_OVER_PI)
        bent = ops.mul(ops.sub(1.0, ops.mul(inner, inner)), ops.mul(slope, x))
        return ops.mul(grad, ops.mul(ops.add(ops.add(bent, inner), 1.0), 0.5))
    density = ops.mul(ops.exp(ops.mul(square, -0.5)), _INV_SQRT_2PI)
    cdf = ops.mul(ops.add(ops.erf(ops.mul(x, _SQRT_HALF)), 1.0), 0.5)
    return ops.mul(grad, ops.add(cdf, ops.mul(x, density)))


def _gelu_vjp(ctx: Any, grad: Any) -> Any:
    return ops.gelu_backward(grad, ctx.input, ctx.approximate)


# silu


def _sigmoid_array(x: Array, out: Array) -> None:
    """1 / (1 + exp(-x)) as 0.5 * tanh(x/2) + 0.5: no overflow."""
    np.multiply(x, 0.5, out=out)
    np.tanh(out, out=out)
    out *= 0.5
    out += 0.5


def _silu_array(x: Array, out: Array) -> None:
    _sigmoid_array(x, out)
    out *= x


def _silu_decompose(x: Any) -> Any:
    return ops.mul(x, ops.sigmoid(x))


def _silu_backward_array(grad: Array, x: Array, out: Array) -> None:
    _sigmoid_array(x, out)
    rest = 1 - out
    rest *= x
    rest += 1
    out *= rest
    out *= grad


def _silu_backward_decompose(grad: Any, x: Any) -> Any:
    s = ops.sigmoid(x)
    return ops.mul(grad, ops.mul(s, ops.add(ops.mul(x, ops.sub(1.0, s)), 1.0)))


def _silu_vjp(ctx: Any, grad: Any) -> Any:
    return ops.silu_backward(grad, ctx.input)


# leaky_relu, elu, hardtanh


def _leaky_relu_array(x: Array, out: Array, slope: float) -> None:
    np.multiply(x, slope, out=out)
    np.copyto(out, x, where=x > 0)


def _leaky_relu_decompose(x: Any, slope: float) -> Any:
    return ops.where(ops.gt(x, 0), x, ops.mul(x, slope))


def _leaky_relu_vjp(ctx: Any, grad: Any) -> Any:
    return ops.where(ops.gt(ctx.input, 0), grad, ops.mul(grad, ctx.negative_slope))


def _elu_array(x: Array, out: Array, alpha: float) -> None:
    np.minimum(x, 0, out=out)
    np.expm1(out, out=out)
    out *= alpha
    np.copyto(out, x, where=x > 0)


def _elu_decompose(x: Any, alpha: float) -> Any:
    return ops.where(ops.gt(x, 0), x, ops.mul(ops.expm1(ops.clamp(x, None, 0)), alpha))


def _elu_vjp(ctx: Any, grad: Any) -> Any:
    slope = ops.mul(ops.exp(ops.clamp(ctx.input, None, 0)), ctx.alpha)
    return ops.where(ops.gt(ctx.input, 0), grad, ops.mul(grad, slope))


def _hardtanh_array(x: Array, out: Array, low: float, high: float) -> None:
    np.maximum(x, low, out=out)
    np.minimum(out, high, out=out)


def _hardtanh_decompose(x: Any, low: float, high: float) -> Any:
    return ops.clamp(x, low, high)


def _hardtanh_vjp(ctx: Any, grad: Any) -> Any:
    x = ctx.input
    inside = ops.logical_and(ops.gt(x, ctx.min_val), ops.lt(x, ctx.max_val))
    return ops.where(inside, grad, 0.0)


# softplus, logsigmoid


def _softplus_array(x: Array, out: Array, beta: float, threshold: float) -> None:
    z = x * beta
    np.abs(z, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    out += np.maximum(z, 0)
    out /= beta
    np.copyto(out, x, where=z > threshold)


def _softplus_decompose(x: Any, beta: float, threshold: float) -> Any:
    z = ops.mul(x, beta)
    tail = ops.log1p(ops.exp(ops.neg(ops.abs(z))))
    smooth = ops.div(ops.add(tail, ops.clamp(z, 0, None)), beta)
    return ops.where(ops.gt(z, threshold), x, smooth)


def _softplus_vjp(ctx: Any, grad: Any) -> Any:
    z = ops.mul(ctx.input, ctx.beta)
    return ops.where(ops.gt(z, ctx.threshold), grad, ops.mul(grad, ops.sigmoid(z)))


def _logsigmoid_array(x: Array, out: Array) -> None:
    np.abs(x, out=out)
    np.negative(out, out=out)
    np.exp(out, out=out)
    np.log1p(out, out=out)
    np.subtract(np.minimum(x, 0), out, out=out)


def _logsigmoid_decompose(x: Any) -> Any:
    return ops.sub(ops.clamp(x, None, 0), ops.log1p(ops.exp(ops.neg(ops.abs(x)))))


def _logsigmoid_vjp(ctx: Any, grad: Any) -> Any:
    return ops.mul(grad, ops.sigmoid(ops.neg(ctx.input)))


def _activation(
    schema: str, array: Any, decompose: Any, vjp: Any, meta: Any = None, method: bool = False
) -> None:
    name = schema.partition("(")[0]
    define(
        schema,
        Kind.COMPOSITE,
        meta=meta or _floating(name),
        vjp=vjp,
        saves=("input",),
        decompose=_wide(decompose),
        eager=quietly(_elementwise(name, array)),
        method=method,
        public=False,
    )


def _like_input(grad: Any, input: Any, *rest: Any) -> Any:
    return _like(grad, input)


def _activation_backward(schema: str, array: Any, decompose: Any) -> None:
    define(
        schema,
        Kind.COMPOSITE,
        meta=_like_input,
        decompose=_wide(decompose),
        eager=quietly(_elementwise_backward(array)),
        method=False,
        public=False,
    )


_activation(
    "gelu(Tensor input, *, str approximate='none')",
    _gelu_array,
    _gelu_decompose,
    _gelu_vjp,
    _gelu_meta,
)
_activation_backward(
    "gelu_backward(Tensor grad, Tensor input, str approximate)",
    _gelu_backward_array,
    _gelu_backward_decompose,
)
_activation("silu(Tensor input)", _silu_array, _silu_decompose, _silu_vjp)
_activation_backward(
    "silu_backward(Tensor grad, Tensor input)", _silu_backward_array, _silu_backward_decompose
)
_activation(
    "leaky_relu(Tensor input, float negative_slope=0.01)",
    _leaky_relu_array,
    _leaky_relu_decompose,
    _leaky_relu_vjp,
)
_activation("elu(Tensor input, float alpha=1.0)", _elu_array, _elu_decompose, _elu_vjp)
_activation(
    "hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0)",
    _hardtanh_array,
    _hardtanh_decompose,
    _hardtanh_vjp,
)
_activation(
    "softplus(Tensor input, float beta=1.0, float threshold=20.0)",
    _softplus_array,
    _softplus_decompose,
    _softplus_vjp,
)
_activation("logsigmoid(Tensor input)", _logsigmoid_array, _logsigmoid_decompose, _logsigmoid_vjp)
