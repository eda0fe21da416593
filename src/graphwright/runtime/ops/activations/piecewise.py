"""Activations in pieces: elu and kin, leaky_relu, hard forms, thresholds, prelu, rrelu."""

from __future__ import annotations

import math
from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.activations.elementwise import (
    activation,
    floating_like,
    inplace,
    like,
    straight_vjp,
)
from graphwright.runtime.ops.creation.fill import calculated, check_held
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.nn_support import cast, internal, require_floating, widened
from graphwright.runtime.ops.table import Kind, define, op
from graphwright.runtime.tensor import dtypes

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


# leaky_relu, elu, selu, celu


def _leaky_relu_decompose(x: Any, slope: float) -> Any:
    return ops.where(ops.gt(x, 0), x, ops.mul(x, slope))


def _leaky_relu_backward(grad: Any, x: Any, slope: float) -> Any:
    return ops.where(ops.gt(x, 0), grad, ops.mul(grad, slope))


def _elu_decompose(x: Any, alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    low = ops.clamp(x, None, 0)
    if input_scale != 1.0:
        low = ops.mul(low, input_scale)
    bent = ops.mul(ops.expm1(low), alpha * scale)
    return ops.where(ops.gt(x, 0), x if scale == 1.0 else ops.mul(x, scale), bent)


def _elu_backward(
    grad: Any, x: Any, alpha: float, scale: float = 1.0, input_scale: float = 1.0
) -> Any:
    """By derivative of itself, what is linear: from 0 on it has no slope, and NaN stays NaN."""
    low = ops.mul(ops.where(ops.ge(x, 0), 0.0, x), input_scale)
    bent = ops.mul(ops.exp(low), alpha * scale * input_scale)
    straight = grad if scale == 1.0 else ops.mul(grad, scale)
    return ops.where(ops.gt(x, 0), straight, ops.mul(grad, bent))


def _celu_meta(input: Any, alpha: float) -> Any:
    spec = floating_like("celu")(input, alpha)
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return spec


# hardtanh, hardsigmoid, hardswish


def _check_limits(input: Any, low: float, high: float) -> None:
    if input.dtype is dtypes.bool:
        raise RuntimeError(f"Bool inputs not supported for hardtanh, got {describe(input)}")
    require_dtype("hardtanh", input.dtype, complex=False)
    if not input.dtype.is_signed and (low < 0 or high < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    if low > high:
        raise ValueError("min_val cannot be greater than max_val")
    check_held("hardtanh", input.dtype, low, high)


def _hardtanh_decompose(input: Any, low: float, high: float) -> Any:
    _check_limits(input, low, high)
    if not input.dtype.is_floating_point:
        low, high = int(low), int(high)
    return ops.clamp(input, low, high)


def _hardtanh_meta(input: Any, low: float, high: float) -> Any:
    _check_limits(input, low, high)
    return like(input)


def _hardtanh_vjp(ctx: Any, grad: Any) -> Any:
    return ops.hardtanh_backward(grad, ctx.input, ctx.min_val, ctx.max_val)


def _hardtanh_backward(grad: Any, x: Any, low: float, high: float) -> Any:
    x = widened(x)
    inside = ops.logical_and(ops.gt(x, low), ops.lt(x, high))
    return ops.where(inside, grad, 0.0)


def _to_six(x: Any) -> Any:
    """x + 3 between 0 and 6."""
    return ops.clamp(ops.add(x, 3), 0, 6)


def _hardsigmoid_decompose(x: Any) -> Any:
    return ops.div(_to_six(x), 6)


def _hardsigmoid_backward(grad: Any, x: Any) -> Any:
    inside = ops.logical_and(ops.gt(x, -3), ops.lt(x, 3))
    return ops.where(inside, ops.div(grad, 6), 0.0)


def _hardswish_decompose(x: Any) -> Any:
    return ops.div(ops.mul(x, _to_six(x)), 6)


def _hardswish_backward(grad: Any, x: Any) -> Any:
    sloped = ops.mul(grad, ops.add(ops.div(x, 3), 0.5))
    return ops.where(ops.le(x, -3), 0.0, ops.where(ops.lt(x, 3), sloped, grad))


# threshold, shrinks, softsign


def _check_threshold(input: Any, threshold: Any, value: Any) -> None:
    if input.dtype is dtypes.bool or input.dtype.is_complex:
        raise NotImplementedError(f'"threshold" not implemented for {input.dtype}')
    check_held("threshold", calculated(input.dtype), threshold)
    check_held("threshold", input.dtype, value)


def _threshold_meta(input: Any, threshold: Any, value: Any) -> Any:
    _check_threshold(input, threshold, value)
    return like(input)


def _threshold_decompose(input: Any, threshold: Any, value: Any) -> Any:
    _check_threshold(input, threshold, value)
    if not input.dtype.is_floating_point:
        threshold, value = int(threshold), int(value)
    return ops.where(ops.le(widened(input), threshold), value, input)


def _threshold_vjp(ctx: Any, grad: Any) -> Any:
    return ops.threshold_backward(grad, ctx.input, ctx.threshold)


def _inside(x: Any, lambd: float) -> Any:
    return ops.logical_and(ops.ge(x, -lambd), ops.le(x, lambd))


def _hardshrink_meta(input: Any, lambd: float) -> Any:
    require_floating("hardshrink", input)
    check_held("hardshrink", input.dtype, lambd)
    return like(input)


def _hardshrink_decompose(x: Any, lambd: float) -> Any:
    return ops.where(_inside(x, lambd), 0.0, x)


def _hardshrink_backward(grad: Any, x: Any, lambd: float) -> Any:
    return ops.where(_inside(x, lambd), 0.0, grad)


def _check_lambda(lambd: float) -> None:
    if not 0 <= lambd < math.inf:
        raise RuntimeError(
            f"lambda must be finite and greater or equal to 0, but found to be {float(lambd)}."
        )


def _softshrink_meta(input: Any, lambd: float) -> Any:
    require_floating("softshrink", input)
    _check_lambda(lambd)
    check_held("softshrink", input.dtype, lambd)
    return like(input)


def _softshrink_decompose(x: Any, lambd: float) -> Any:
    _check_lambda(lambd)
    check_held("softshrink", x.dtype, lambd)
    return ops.sub(x, ops.clamp(x, -lambd, lambd))


# prelu, rrelu


def _prelu_check(input: Any, weight: Any) -> None:
    count = weight.numel()
    if input.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {describe(input)} and {describe(weight)}"
        )
    if len(weight.shape) > 1:
        raise RuntimeError(
            "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
            f"{len(weight.shape)}"
        )
    if count == 1:
        return
    if len(input.shape) == 0:
        raise RuntimeError("prelu: Not allow zero-dim input tensor.")
    channels = input.shape[1] if len(input.shape) >= 2 else 1
    if channels != count:
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{count} and channel size = {channels}."
        )


def _prelu_decompose(input: Any, weight: Any) -> Any:
    """x where x > 0, else weight * x; one weight, or one for every channel (dimension 1)."""
    require_floating("prelu", input)
    _prelu_check(input, weight)
    x, w = widened(input), widened(weight)
    if weight.numel() != 1:
        w = ops.reshape(w, (-1,) + (1,) * (input.ndim - 2))
    elif w.ndim:
        w = ops.reshape(w, (1,) * input.ndim)
    return cast(ops.sloped(x, w), input.dtype)


def _sloped_vjp(ctx: Any, grad: Any) -> Any:
    to_input = to_slope = None
    if ctx.needs["input"]:
        to_input = ops.sloped_backward(grad, ctx.input, ctx.slope)
    if ctx.needs["slope"]:
        to_slope = _of_the_slope(ctx, grad, ctx.input)
    return to_input, to_slope


def _sloped_backward_vjp(ctx: Any, grad: Any) -> Any:
    to_grad, to_input = straight_vjp(op("sloped_backward"))(ctx, grad)
    to_slope = _of_the_slope(ctx, grad, ctx.grad) if ctx.needs["slope"] else None
    return to_grad, to_input, to_slope


def _of_the_slope(ctx: Any, grad: Any, factor: Any) -> Any:
    each = ops.where(ops.gt(ctx.input, 0), 0.0, ops.mul(grad, factor))
    return ops.sum_to_size(each, ctx.slope.shape)


def _rrelu_decompose(input: Any, lower: float, upper: float, training: bool) -> Any:
    """Leaky relu whose slope is drawn in [lower, upper) in training, their mean otherwise."""
    require_floating("rrelu", input)
    if not lower <= upper:
        raise RuntimeError(
            f"Lower bound should be less than or equal to the upper bound, got {lower}, {upper}"
        )
    if not (math.isfinite(lower) and math.isfinite(upper)):
        raise RuntimeError(f"rrelu: lower and upper bounds must be finite, got {lower}, {upper}")
    if not training:
        return ops.leaky_relu(input, (lower + upper) / 2)
    noise = ops.rand(tuple(input.shape), dtype=dtypes.float32, device=input.device)
    slope = cast(ops.add(ops.mul(noise, upper - lower), lower), input.dtype)
    return ops.sloped(input, slope)


define(
    "relu_backward(Tensor grad, Tensor input)",
    Kind.COMPOSITE,
    meta=like,
    vjp=straight_vjp(op("relu_backward")),
    saves=("input",),
    decompose=lambda grad, x: ops.where(ops.le(x, 0), 0.0, grad),
    method=False,
    public=False,
)
activation(
    "leaky_relu(Tensor input, float negative_slope=0.01)",
    _leaky_relu_decompose,
    _leaky_relu_backward,
    straight=True,
    doc="""Leaky rectifier, `y = x` for `x > 0`, else `negative_slope * x`.

    Args:
        input: a floating-point tensor of any shape.
        negative_slope: the slope below 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.leaky_relu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.0100,  0.0000,  1.0000])
    """,
)
activation(
    "elu(Tensor input, float alpha=1.0)",
    _elu_decompose,
    _elu_backward,
    doc="""Exponential linear unit, `y = x` for `x > 0`, else `alpha * (e^x - 1)`.

    The definition is that of Clevert et al., "Fast and accurate deep network learning by
    exponential linear units", 2016.

    Args:
        input: a floating-point tensor of any shape.
        alpha: the scale below 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.elu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.6321,  0.0000,  1.0000])
    """,
)
activation(
    "selu(Tensor input)",
    lambda x: _elu_decompose(x, _SELU_ALPHA, _SELU_SCALE),
    lambda grad, x: _elu_backward(grad, x, _SELU_ALPHA, _SELU_SCALE),
    public=True,
    doc="""Self-normalising activation, `y = s x` for `x > 0`, else `s a (e^x - 1)`.

    a = 1.6732632 and s = 1.0507010 are of Klambauer et al., "Self-normalizing neural networks",
    2017.

    Args:
        input: a floating-point tensor of any shape.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> gw.selu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-1.1113,  0.0000,  1.0507])
    """,
)
activation(
    "celu(Tensor input, float alpha=1.0)",
    lambda x, alpha: _elu_decompose(x, alpha, 1.0, 1.0 / alpha),
    lambda grad, x, alpha: _elu_backward(grad, x, alpha, 1.0, 1.0 / alpha),
    meta=_celu_meta,
    public=True,
    doc="""Continuously differentiable elu, `y = x` for `x > 0`, else `alpha (e^(x / alpha) - 1)`.

    The definition is that of Barron, "Continuously differentiable exponential linear units",
    2017.

    Args:
        input: a floating-point tensor of any shape.
        alpha: the scale, not 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `alpha` is 0.

    Example:
        >>> gw.celu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.6321,  0.0000,  1.0000])
    """,
)
internal(
    "hardtanh(Tensor input, float min_val=-1.0, float max_val=1.0)",
    Kind.COMPOSITE,
    meta=_hardtanh_meta,
    vjp=_hardtanh_vjp,
    saves=("input",),
    decompose=_hardtanh_decompose,
    doc="""Elements limited to a range: `min(max(x, min_val), max_val)`.

    Args:
        input: a real tensor of any shape.
        min_val: the lower limit.
        max_val: the upper limit.

    Example:
        >>> F.hardtanh(gw.tensor([-2.0, 0.5, 2.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """,
)
define(
    "hardtanh_backward(Tensor grad, Tensor input, float min_val, float max_val)",
    Kind.COMPOSITE,
    meta=lambda grad, input, min_val, max_val: like(grad, input),
    vjp=straight_vjp(op("hardtanh_backward")),
    saves=("input",),
    decompose=_hardtanh_backward,
    method=False,
    public=False,
)
activation(
    "hardsigmoid(Tensor input)",
    _hardsigmoid_decompose,
    _hardsigmoid_backward,
    straight=True,
)
activation(
    "hardswish(Tensor input)", _hardswish_decompose, _hardswish_backward
)
define(
    "threshold(Tensor input, Scalar threshold, Scalar value)",
    Kind.COMPOSITE,
    meta=_threshold_meta,
    vjp=_threshold_vjp,
    saves=("input",),
    decompose=_threshold_decompose,
    method=False,
    doc="""Each element that is above the threshold, `value` in place of the others.

    Args:
        input: a tensor of any shape.
        threshold: the number that elements are compared with.
        value: what replaces elements that are not above it; its fraction is dropped where
            `input` is of integers.

    Raises:
        NotImplementedError: `input` is of bool or complex.

    Example:
        >>> gw.threshold(gw.tensor([-1.0, 0.5, 2.0]), 0.5, 9.0)
        tensor([9., 9., 2.])
    """,
)
define(
    "threshold_backward(Tensor grad, Tensor input, Scalar threshold)",
    Kind.COMPOSITE,
    meta=lambda grad, input, threshold: like(grad, input),
    vjp=straight_vjp(op("threshold_backward")),
    saves=("input",),
    decompose=lambda grad, x, threshold: ops.where(ops.le(widened(x), threshold), 0.0, grad),
    method=False,
    public=False,
)
activation(
    "hardshrink(Tensor input, float lambd=0.5)",
    _hardshrink_decompose,
    _hardshrink_backward,
    meta=_hardshrink_meta,
    straight=True,
    method=True,
    public=True,
    doc="""Each element whose absolute value is above `lambd`, 0 in place of the others.

    Args:
        input: a floating-point tensor of any shape.
        lambd: the bound.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> gw.hardshrink(gw.tensor([-1.0, 0.3, 2.0]))
        tensor([-1.,  0.,  2.])
    """,
)
activation(
    "softshrink(Tensor input, float lambd=0.5)",
    _softshrink_decompose,
    _hardshrink_backward,
    meta=_softshrink_meta,
    straight=True,
    doc="""Each element moved towards 0 by `lambd`: `y = sign(x) max(|x| - lambd, 0)`.

    Args:
        input: a floating-point tensor of any shape.
        lambd: the distance, at least 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `lambd` is negative or infinite.

    Example:
        >>> F.softshrink(gw.tensor([-1.0, 0.3, 2.0]))
        tensor([-0.5000,  0.0000,  1.5000])
    """,
)
define(
    "sloped(Tensor input, Tensor slope)",
    Kind.COMPOSITE,
    meta=lambda input, slope: like(input),
    vjp=_sloped_vjp,
    saves=("input", "slope"),
    decompose=_leaky_relu_decompose,
    method=False,
    public=False,
)
define(
    "sloped_backward(Tensor grad, Tensor input, Tensor slope)",
    Kind.COMPOSITE,
    meta=lambda grad, input, slope: like(grad, input),
    vjp=_sloped_backward_vjp,
    saves=("grad?slope", "input", "slope"),
    decompose=_leaky_relu_backward,
    method=False,
    public=False,
)
define(
    "prelu(Tensor input, Tensor weight)",
    Kind.COMPOSITE,
    decompose=_prelu_decompose,
    doc="""Leaky relu of a learned slope, `y = x` for `x > 0`, else `weight x`.

    The definition is that of He et al., "Delving deep into rectifiers", 2015.

    Args:
        input: a floating-point tensor of shape [N, C, ...] or any other.
        weight: a tensor of the dtype of `input` with one element, or of shape [C].

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `weight` has another dtype, more than one dim, or not 1 or C elements.

    Example:
        >>> gw.prelu(gw.tensor([-2.0, 3.0]), gw.tensor(0.25))
        tensor([-0.5000,  3.0000])
    """,
)
define(
    "rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False)",
    Kind.COMPOSITE,
    decompose=_rrelu_decompose,
    method=False,
    doc="""Leaky relu of random slope, `y = x` for `x > 0`, else `a x`.

    In training `a` is drawn for each element from [lower, upper), else it is their mean.

    Args:
        input: a floating-point tensor of any shape.
        lower, upper: the bounds of the slope.
        training: whether the slope is drawn.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `lower` is above `upper`, or one of them is not finite.

    Example:
        >>> gw.rrelu(gw.tensor([-1.0, 1.0]), 0.1, 0.3)
        tensor([-0.2000,  1.0000])
    """,
)
inplace(
    "leaky_relu_(Tensor input, float negative_slope=0.01)",
    "elu_(Tensor input, float alpha=1.0)",
    "selu_(Tensor input)",
    "celu_(Tensor input, float alpha=1.0)",
    "hardtanh_(Tensor input, float min_val=-1.0, float max_val=1.0)",
    "hardsigmoid_(Tensor input)",
    "hardswish_(Tensor input)",
    "threshold_(Tensor input, Scalar threshold, Scalar value)",
    "rrelu_(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False)",
)
