"""layer_norm, rms_norm, group_norm and their gradients; batch_norm is in nn_batch_norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import as_contiguous, wrap
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    finish,
    internal,
    is_half,
    output,
    require_alike,
    require_floating,
    same,
    spec,
    widened,
)
from graphwright.runtime.ops.reductions.moments import gaps, squared_gaps
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.tensor.dtypes import float32
from graphwright.runtime.tensor.tensor import Tensor

_EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


def _check_normalized(name: str, input: Any, shape: Any, weight: Any, bias: Any) -> int:
    require_floating(name, input)
    lead = check_normalized_shape(name, input, shape, weight, bias)
    if name == "layer_norm":        # rms_norm casts, in PyTorch too
        require_alike(name, input, weight, bias)
    return lead


def check_normalized_shape(name: str, input: Any, shape: Any, weight: Any, bias: Any) -> int:
    """The number of leading dimensions; RuntimeError where the shapes do not fit."""
    lead = len(input.shape) - len(shape)
    if not shape or lead < 0 or tuple(input.shape[lead:]) != tuple(shape):
        raise RuntimeError(
            f"{name}: given normalized_shape={list(shape)}, expected input with shape "
            f"[*, {', '.join(map(str, shape))}], but got {describe(input)}"
        )
    for label, affine in (("weight", weight), ("bias", bias)):
        if affine is not None and tuple(affine.shape) != tuple(shape):
            raise RuntimeError(
                f"{name}: expected {label} to be of same shape as normalized_shape, but got "
                f"{describe(affine)} and normalized_shape = {list(shape)}"
            )
    return lead


def _statistics_shape(input: Any, lead: int) -> tuple[Any, ...]:
    return (*input.shape[:lead], *(1,) * (len(input.shape) - lead))


def _wide_dtype(dtype: Any) -> Any:
    """The dtype of statistics."""
    return float32 if is_half(dtype) else dtype


def _row_matrix(array: Array, lead: int) -> Array:
    """[*, normalised] as a matrix; copies where the layout asks for it."""
    columns = product(array.shape[lead:])
    rows = product(array.shape[:lead])
    return np.ascontiguousarray(array).reshape(rows, columns)


def _flat(affine: Tensor | None, dtype: Any) -> Array | None:
    if affine is None:
        return None
    return np.ascontiguousarray(compute(affine).astype(dtype, copy=False)).reshape(-1)


# layer_norm


def _native_layer_norm_meta(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> Any:
    lead = _check_normalized("layer_norm", input, normalized_shape, weight, bias)
    statistics = spec(_statistics_shape(input, lead), input, _wide_dtype(input.dtype))
    return spec(input.shape, input), statistics, statistics


def _native_layer_norm_eager(
    input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    lead = _check_normalized("layer_norm", input, normalized_shape, weight, bias)
    x = _row_matrix(compute(input), lead)
    result, out = output(input.shape, input.dtype)
    y = out.reshape(x.shape)
    rows, columns = x.shape
    mean = np.empty((rows, 1), x.dtype)
    rstd = np.empty((rows, 1), x.dtype)
    if columns:
        w, b = _flat(weight, x.dtype), _flat(bias, x.dtype)
        _core.layer_norm_rows(x, w, b, eps, y, mean, rstd)
    else:
        mean[...] = rstd[...] = np.nan
    shape, kind = _statistics_shape(input, lead), _wide_dtype(input.dtype)
    return (
        finish(result, out),
        wrap(mean.reshape(shape), kind),
        wrap(rstd.reshape(shape), kind),
    )


def _native_layer_norm_decompose(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> Any:
    _check_normalized("layer_norm", input, normalized_shape, weight, bias)
    dims = _trailing(input, normalized_shape)
    x = widened(input)
    mean = ops.mean(x, dims, True)
    gap, rest = gaps(x, mean, dims)
    variance = ops.div(squared_gaps(gap, rest, dims), product(normalized_shape))
    rstd = ops.rsqrt(ops.add(variance, eps))
    out = ops.mul(ops.sub(gap, rest), rstd)
    if weight is not None:
        out = ops.mul(out, widened(weight))
    out = ops.add(out, 0.0 if bias is None else widened(bias))
    return cast(out, input.dtype), mean, rstd


def _normal(input: Any, dims: tuple[int, ...], mean: Any, rstd: Any) -> Any:
    return ops.mul(ops.sub(*gaps(widened(input), mean, dims)), rstd)


def _native_layer_norm_vjp(ctx: Any, grad: Any, grad_mean: Any, grad_rstd: Any) -> Any:
    to_input = to_weight = to_bias = None
    known = (ctx.input, ctx.normalized_shape, ctx.weight, ctx.out1, ctx.out2)
    if grad is not None and (ctx.needs["weight"] or ctx.needs["bias"]):
        to_input, to_weight, to_bias = ops.layer_norm_gradients(grad, *known)
        to_weight = cast(to_weight, ctx.weight.dtype) if ctx.needs["weight"] else None
        to_bias = cast(to_bias, ctx.bias.dtype) if ctx.needs["bias"] else None
    elif grad is not None and ctx.needs["input"]:
        to_input = ops.layer_norm_backward(grad, *known)
    for part in _through_statistics(ctx, grad_mean, grad_rstd):
        to_input = part if to_input is None else ops.add(to_input, part)
    return to_input, to_weight, to_bias


def _through_statistics(ctx: Any, grad_mean: Any, grad_rstd: Any) -> list[Any]:
    """Gradients that come back through mean and rstd: only where a backward was differentiated.

    d mean / dx = 1/n and d rstd / dx = -rstd**3 * (x - mean) / n.
    """
    parts = []
    count, kind = product(ctx.normalized_shape), ctx.input.dtype
    if grad_mean is not None:
        spread = ops.expand(ops.div(grad_mean, count), ctx.input.shape)
        parts.append(cast(spread, kind))
    if grad_rstd is not None:
        rstd = ctx.out2
        cube = ops.mul(ops.mul(rstd, rstd), rstd)
        factor = ops.div(ops.mul(grad_rstd, cube), count)
        parts.append(cast(ops.mul(ops.sub(ctx.out1, widened(ctx.input)), factor), kind))
    return parts


def _sum_over(grad: Any, dims: tuple[int, ...]) -> Any:
    return ops.sum(grad, dims) if dims else grad


def _layer_norm_backward_meta(
    grad: Any, input: Any, normalized_shape: Any, weight: Any, mean: Any, rstd: Any
) -> Any:
    return same(input)


def _layer_norm_backward_eager(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Tensor:
    lead = input.ndim - len(normalized_shape)
    g, x = _row_matrix(compute(grad), lead), _row_matrix(compute(input), lead)
    result, out = output(input.shape, input.dtype)
    y = out.reshape(x.shape)
    rows = x.shape[0]
    m, r = (np.ascontiguousarray(compute(s)).reshape(rows, 1) for s in (mean, rstd))
    _core.layer_norm_backward_rows(g, x, _flat(weight, x.dtype), m, r, y)
    return finish(result, out)


def _layer_norm_backward_decompose(
    grad: Any, input: Any, normalized_shape: Any, weight: Any, mean: Any, rstd: Any
) -> Any:
    dims = _trailing(input, normalized_shape)
    normal = _normal(input, dims, mean, rstd)
    g = widened(grad)
    if weight is not None:
        g = ops.mul(g, widened(weight))
    shift = ops.mean(g, dims, True)
    slope = ops.mean(ops.mul(g, normal), dims, True)
    out = ops.mul(ops.sub(ops.sub(g, shift), ops.mul(normal, slope)), rstd)
    return cast(out, input.dtype)


def _layer_norm_gradients_meta(
    grad: Any, input: Any, normalized_shape: Any, weight: Any, mean: Any, rstd: Any
) -> Any:
    affine = spec(normalized_shape, mean)
    return same(input), affine, affine


def _layer_norm_gradients_eager(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Any:
    """For what the kernel in C does not take: half precision and other layouts are converted."""
    kind = _wide_dtype(input.dtype)
    scale = None if weight is None else as_contiguous(weight, kind)
    tensors = [as_contiguous(t, kind) for t in (grad, input, mean, rstd)]
    parts = [*tensors[:2], normalized_shape, scale, *tensors[2:]]
    if all(a is b for a, b in zip((grad, input, mean, rstd), tensors, strict=True)):
        return _layer_norm_gradients_decompose(*parts)
    to_input, to_weight, to_bias = ops.layer_norm_gradients(*parts)
    return cast(to_input, input.dtype), to_weight, to_bias


def _layer_norm_gradients_decompose(
    grad: Any, input: Any, normalized_shape: Any, weight: Any, mean: Any, rstd: Any
) -> Any:
    lead = tuple(range(len(input.shape) - len(normalized_shape)))
    g = widened(grad)
    normal = _normal(input, _trailing(input, normalized_shape), mean, rstd)
    to_input = _layer_norm_backward_decompose(grad, input, normalized_shape, weight, mean, rstd)
    return to_input, _sum_over(ops.mul(g, normal), lead), _sum_over(g, lead)


def _trailing(input: Any, normalized_shape: Any) -> tuple[int, ...]:
    ndim = len(input.shape)
    return tuple(range(ndim - len(normalized_shape), ndim))


def _layer_norm_eager(
    input: Tensor, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> Tensor:
    return _native_layer_norm_eager(input, normalized_shape, weight, bias, eps)[0]


def _layer_norm_meta(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    _check_normalized("layer_norm", input, normalized_shape, weight, bias)
    return same(input)


def _layer_norm_decompose(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> Any:
    return ops.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


# rms_norm


def _rms_eps(input: Any, eps: float | None) -> float:
    return _EPSILON[input.dtype.name] if eps is None else eps


def _rms_norm_meta(input: Any, normalized_shape: Any, weight: Any, eps: float | None) -> Any:
    _check_normalized("rms_norm", input, normalized_shape, weight, None)
    return same(input)


def _rms_norm_eager(
    input: Tensor, normalized_shape: Any, weight: Tensor | None, eps: float | None
) -> Tensor:
    lead = _check_normalized("rms_norm", input, normalized_shape, weight, None)
    x = _row_matrix(compute(input), lead)
    result, out = output(input.shape, input.dtype)
    y = out.reshape(x.shape)
    _core.rms_norm_rows(x, _flat(weight, x.dtype), _rms_eps(input, eps), y)
    return finish(result, out)


def _inverse_rms(x: Any, dims: tuple[int, ...], eps: float) -> Any:
    return ops.rsqrt(ops.add(ops.mean(ops.mul(x, x), dims, True), eps))


def _rms_norm_decompose(input: Any, normalized_shape: Any, weight: Any, eps: float | None) -> Any:
    _check_normalized("rms_norm", input, normalized_shape, weight, None)
    x = widened(input)
    inverse = _inverse_rms(x, _trailing(input, normalized_shape), _rms_eps(input, eps))
    out = ops.mul(x, inverse)
    return cast(out if weight is None else ops.mul(out, widened(weight)), input.dtype)


def _rms_norm_vjp(ctx: Any, grad: Any) -> Any:
    dims = _trailing(ctx.input, ctx.normalized_shape)
    x, g = widened(ctx.input), widened(grad)
    inverse = _inverse_rms(x, dims, _rms_eps(ctx.input, ctx.eps))
    normal = ops.mul(x, inverse)
    to_input = to_weight = None
    if ctx.needs["weight"]:
        lead = tuple(range(len(ctx.input.shape) - len(dims)))
        to_weight = cast(_sum_over(ops.mul(g, normal), lead), ctx.weight.dtype)
    if ctx.needs["input"]:
        if ctx.weight is not None:
            g = ops.mul(g, widened(ctx.weight))
        slope = ops.mean(ops.mul(g, normal), dims, True)
        to_input = ops.mul(ops.sub(g, ops.mul(normal, slope)), inverse)
        to_input = cast(to_input, ctx.input.dtype)
    return to_input, to_weight


# group_norm


def _group_norm_meta(input: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    _check_groups(input, num_groups, weight, bias)
    return same(input)


def _check_groups(input: Any, num_groups: int, weight: Any, bias: Any) -> None:
    require_floating("group_norm", input)
    require_alike("group_norm", input, weight, bias)
    if len(input.shape) < 2 or input.shape[1] % num_groups != 0:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input "
            f"of shape {list(input.shape)} and num_groups={num_groups}"
        )


def _group_norm_decompose(input: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    _check_groups(input, num_groups, weight, bias)
    batch = input.shape[0]
    size = product(input.shape[1:]) // num_groups
    grouped = ops.reshape(widened(input), (batch, num_groups, size))
    out = ops.native_layer_norm(grouped, (size,), None, None, eps)[0]
    out = ops.view(out, tuple(input.shape))
    per_channel = (input.shape[1],) + (1,) * (len(input.shape) - 2)
    if weight is not None:
        out = ops.mul(out, ops.view(widened(weight), per_channel))
    if bias is not None:
        out = ops.add(out, ops.view(widened(bias), per_channel))
    return cast(out, input.dtype)


def _group_norm_backward_meta(
    grad: Any, input: Any, num_groups: int, weight: Any, eps: float
) -> Any:
    affine = spec((input.shape[1],), input)
    return same(input), affine, affine


def _group_norm_backward_decompose(
    grad: Any, input: Any, num_groups: int, weight: Any, eps: float
) -> Any:
    """Each group of channels is normalised as layer_norm does it; the statistics are made anew."""
    shape = tuple(input.shape)
    dims, channels = (0, *range(2, len(shape))), (shape[1],) + (1,) * (len(shape) - 2)
    size = product(shape[1:]) // num_groups
    rows = ops.reshape(input, (shape[0], num_groups, size))
    normal, mean, rstd = ops.native_layer_norm(rows, (size,), None, None, eps)
    scaled = grad if weight is None else ops.mul(grad, ops.view(weight, channels))
    scaled = ops.reshape(scaled, (shape[0], num_groups, size))
    to_input = ops.layer_norm_backward(scaled, rows, (size,), None, mean, rstd)
    to_weight = ops.sum(ops.mul(grad, ops.view(normal, shape)), dims)
    return ops.view(to_input, shape), to_weight, ops.sum(grad, dims)


internal(
    "layer_norm(Tensor input, Size normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05)",
    Kind.COMPOSITE,
    meta=_layer_norm_meta,
    decompose=_layer_norm_decompose,
    eager=_layer_norm_eager,
    doc="""Elements less their mean, divided by their standard deviation, over the last dims.

    `y = (x - mean) / sqrt(var + eps) * weight + bias`, with the biased variance (Ba et al.,
    "Layer normalization", 2016).

    Args:
        input: floating point, `(*, *normalized_shape)`.
        normalized_shape: the sizes of the last dims, which are normalised together.
        weight: factors of shape `normalized_shape`; 1 if None.
        bias: terms of shape `normalized_shape`; 0 if None.
        eps: added to the variance.

    Returns: a tensor of the shape of `input`.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: shapes do not match.

    Example:
        >>> F.layer_norm(gw.tensor([[1.0, 3.0], [2.0, 6.0]]), (2,))
        tensor([[-1.0000,  1.0000],
                [-1.0000,  1.0000]])
    """,
)
internal(
    "native_layer_norm(Tensor input, Size normalized_shape, Tensor? weight, Tensor? bias, "
    "float eps)",
    Kind.COMPOSITE,
    meta=_native_layer_norm_meta,
    vjp=_native_layer_norm_vjp,
    saves=("input", "weight", "out1", "out2"),
    decompose=_native_layer_norm_decompose,
    eager=_native_layer_norm_eager,
)
internal(
    "layer_norm_backward(Tensor grad, Tensor input, Size normalized_shape, Tensor? weight, "
    "Tensor mean, Tensor rstd)",
    Kind.COMPOSITE,
    meta=_layer_norm_backward_meta,
    decompose=_layer_norm_backward_decompose,
    eager=_layer_norm_backward_eager,
)
internal(
    "layer_norm_gradients(Tensor grad, Tensor input, Size normalized_shape, Tensor? weight, "
    "Tensor mean, Tensor rstd)",
    Kind.COMPOSITE,
    meta=_layer_norm_gradients_meta,
    decompose=_layer_norm_gradients_decompose,
    eager=_layer_norm_gradients_eager,
)
internal(
    "rms_norm(Tensor input, Size normalized_shape, Tensor? weight=None, float? eps=None)",
    Kind.COMPOSITE,
    meta=_rms_norm_meta,
    vjp=_rms_norm_vjp,
    saves=("input", "weight"),
    decompose=_rms_norm_decompose,
    eager=_rms_norm_eager,
)
internal(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05)",
    Kind.COMPOSITE,
    meta=_group_norm_meta,
    decompose=_group_norm_decompose,
)
internal(
    "group_norm_backward(Tensor grad, Tensor input, int num_groups, Tensor? weight, float eps)",
    Kind.COMPOSITE,
    meta=_group_norm_backward_meta,
    decompose=_group_norm_backward_decompose,
)
