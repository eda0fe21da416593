"""batch_norm and instance_norm: normalisation of channels, with running statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import (
    cast,
    internal,
    is_half,
    require_alike,
    require_floating,
    same,
    spec,
    widened,
)
from graphwright.runtime.ops.reductions.moments import gaps, squared_gaps
from graphwright.runtime.ops.strides import product
from graphwright.runtime.ops.table import Kind, refuse_gradients
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.dtypes import float32
from graphwright.runtime.tensor.tensor import Tensor


def _check(input: Any, *per_channel: Any) -> None:
    require_floating("batch_norm", input)
    if len(input.shape) < 2:
        raise RuntimeError(
            f"batch_norm: expected input with at least 2 dimensions, got {describe(input)}"
        )
    for tensor in per_channel:
        if tensor is not None and tuple(tensor.shape) != (input.shape[1],):
            raise RuntimeError(
                f"batch_norm: expected one value for each of the {input.shape[1]} channels of "
                f"{describe(input)}, got {describe(tensor)}"
            )
    require_alike("batch_norm", input, *per_channel)


def _reduced_dims(input: Any) -> tuple[int, ...]:
    return (0, *range(2, len(input.shape)))


def _per_channel(tensor: Any, input: Any) -> Any:
    """[C] as [C, 1, ...], to broadcast against [N, C, ...]."""
    return ops.view(tensor, (tensor.shape[0],) + (1,) * (len(input.shape) - 2))


def _count(input: Any) -> Any:
    """How many values a channel has."""
    return input.shape[0] * product(input.shape[2:])


# Channels that lie together, as channels_last has them: each place is a row


def _lies_by_places(input: Any) -> bool:
    """Whether [N, C, *] is contiguous as [N, *, C] and not as itself."""
    if input.ndim < 3 or input.is_contiguous():
        return False
    return bool(ops.movedim(input, 1, -1).is_contiguous())


def _by_places(tensor: Any) -> Any:
    """[N, C, *] as [N * places, C]: a view where the channels of a place lie together."""
    return ops.reshape(ops.movedim(tensor, 1, -1), (-1, tensor.shape[1]))


def _from_places(rows: Tensor, input: Any) -> Tensor:
    """[N * places, C] as a result for the input."""
    shape = input.shape
    like = _like(input)
    out = _core.empty_strided(Tensor, shape, like.strides, rows.dtype)
    apart = rows._nd.reshape(shape[0], *shape[2:], shape[1])
    np.copyto(out._nd, np.moveaxis(apart, -1, 1))
    return out


def _keeps_layout(input: Any) -> bool:
    """Whether a result has the input's strides; images and volumes have, where they are so."""
    return len(input.shape) > 3 and _lies_by_places(input)


def _like(input: Any) -> TensorSpec:
    if not _keeps_layout(input):
        return same(input)
    return TensorSpec(input.shape, input.stride(), input.dtype, input.device)


# Training: batch statistics


def _train_meta(input: Any, weight: Any, bias: Any, eps: float) -> Any:
    _check(input, weight, bias)
    kind = float32 if is_half(input.dtype) else input.dtype
    statistic = spec((input.shape[1],), input, kind)
    return _like(input), statistic, statistic


def _train_eager(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    _check(input, weight, bias)
    if _lies_by_places(input):
        rows, mean, variance = ops.batch_norm_train(_by_places(input), weight, bias, eps)
        return _from_places(rows, input), mean, variance
    out, mean, variance = _train_decompose(input, weight, bias, eps)
    return ops.contiguous(out), mean, variance


def _train_decompose(input: Any, weight: Any, bias: Any, eps: float) -> Any:
    _check(input, weight, bias)
    x = widened(input)
    dims = _reduced_dims(input)
    mean = ops.mean(x, dims)
    squares = squared_gaps(*_gaps(x, mean), dims)
    variance = ops.reshape(ops.div(squares, _count(x)), mean.shape)
    rstd = ops.rsqrt(ops.add(variance, eps))
    out = _normal(x, mean, rstd)
    if weight is not None:
        out = ops.mul(out, _per_channel(widened(weight), x))
    if bias is not None:
        out = ops.add(out, _per_channel(widened(bias), x))
    return cast(out, input.dtype), mean, variance


def _gaps(x: Any, mean: Any) -> tuple[Any, Any]:
    return gaps(x, _per_channel(mean, x), _reduced_dims(x))


def _normal(x: Any, mean: Any, rstd: Any) -> Any:
    return ops.mul(ops.sub(*_gaps(x, mean)), _per_channel(rstd, x))


def _train_vjp(ctx: Any, grad: Any, grad_mean: Any, grad_variance: Any) -> Any:
    to_input = to_weight = to_bias = None
    if grad is not None:
        rstd = ops.rsqrt(ops.add(ctx.out2, ctx.eps))
        to_input, to_weight, to_bias = ops.batch_norm_backward(
            grad, ctx.input, ctx.weight, ctx.out1, rstd
        )
        to_weight = cast(to_weight, ctx.weight.dtype) if ctx.needs["weight"] else None
        to_bias = cast(to_bias, ctx.bias.dtype) if ctx.needs["bias"] else None
    for part in _through_statistics(ctx, grad_mean, grad_variance):
        to_input = part if to_input is None else ops.add(to_input, part)
    return to_input, to_weight, to_bias


def _through_statistics(ctx: Any, grad_mean: Any, grad_variance: Any) -> list[Any]:
    """Gradients that come back through mean and variance: where a backward was differentiated.

    d mean / dx = 1/n and d variance / dx = 2 * (x - mean) / n.
    """
    parts = []
    x, count = widened(ctx.input), _count(ctx.input)
    if grad_mean is not None:
        spread = _per_channel(ops.div(grad_mean, count), x)
        parts.append(cast(ops.expand(spread, ctx.input.shape), ctx.input.dtype))
    if grad_variance is not None:
        factor = _per_channel(ops.div(ops.mul(grad_variance, 2.0), count), x)
        centred = ops.sub(x, _per_channel(ctx.out1, x))
        parts.append(cast(ops.mul(centred, factor), ctx.input.dtype))
    return parts


def _backward_meta(grad: Any, input: Any, weight: Any, mean: Any, rstd: Any) -> Any:
    statistic = spec(mean.shape, mean)
    return _like(input), statistic, statistic


def _backward_by_places(
    grad: Tensor, input: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    to_input, to_weight, to_bias = ops.batch_norm_backward(
        _by_places(grad), _by_places(input), weight, mean, rstd
    )
    return _from_places(to_input, input), to_weight, to_bias


def _backward_eager(
    grad: Tensor, input: Tensor, weight: Tensor | None, mean: Tensor, rstd: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    if _lies_by_places(input):
        return _backward_by_places(grad, input, weight, mean, rstd)
    to_input, *others = _backward_decompose(grad, input, weight, mean, rstd)
    return ops.contiguous(to_input), *others


def _backward_decompose(grad: Any, input: Any, weight: Any, mean: Any, rstd: Any) -> Any:
    g, x = widened(grad), widened(input)
    dims = _reduced_dims(input)
    normal = _normal(x, mean, rstd)
    to_bias = ops.sum(g, dims)
    to_weight = ops.sum(ops.mul(g, normal), dims)
    count = _count(input)
    shift = _per_channel(ops.div(to_bias, count), x)
    slope = _per_channel(ops.div(to_weight, count), x)
    scale = rstd if weight is None else ops.mul(rstd, widened(weight))
    centred = ops.sub(ops.sub(g, ops.mul(normal, slope)), shift)
    return cast(ops.mul(centred, _per_channel(scale, x)), input.dtype), to_weight, to_bias


# Evaluation: given statistics


def _eval_scale(weight: Any, bias: Any, mean: Any, variance: Any, eps: float) -> tuple[Any, Any]:
    """(scale, shift) per channel of the affine map that evaluation applies."""
    scale = ops.rsqrt(ops.add(widened(variance), eps))
    if weight is not None:
        scale = ops.mul(scale, widened(weight))
    shift = ops.neg(ops.mul(widened(mean), scale))
    return scale, shift if bias is None else ops.add(shift, widened(bias))


def _eval_decompose(
    input: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float
) -> Any:
    scale, shift = _eval_scale(weight, bias, mean, variance, eps)
    x = widened(input)
    out = ops.add(ops.mul(x, _per_channel(scale, x)), _per_channel(shift, x))
    return cast(out, input.dtype)


def _move(running: Any, batch: Any, momentum: Any) -> None:
    """running = (1 - momentum) * running + momentum * batch; `momentum` may be a 0-d tensor."""
    running.mul_(1 - momentum)
    if isinstance(momentum, Tensor):
        running.add_(batch * momentum)
    else:
        running.add_(batch, alpha=momentum)


def _update_running(
    running_mean: Any, running_var: Any, mean: Any, variance: Any, count: Any, momentum: float
) -> None:
    """running = (1 - momentum) * running + momentum * batch; the variance made unbiased.

    A batch without elements changes nothing.
    """
    if count == 0:
        return
    if running_mean is not None:
        _move(running_mean, cast(mean, running_mean.dtype), momentum)
    if running_var is not None:
        unbiased = ops.div(ops.mul(variance, count), count - 1)
        _move(running_var, cast(unbiased, running_var.dtype), momentum)


def _batch_norm_decompose(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    if len(input.shape) == 1 and input.shape[0] == 0:
        return ops.clone(input)
    _check(input, weight, bias, running_mean, running_var)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when training=False"
            )
        refuse_gradients("batch_norm", running_mean=running_mean, running_var=running_var)
        return _eval_decompose(input, weight, bias, running_mean, running_var, eps)
    out, mean, variance = ops.batch_norm_train(input, weight, bias, eps)
    _update_running(
        running_mean, running_var, ops.detach(mean), ops.detach(variance), _count(input), momentum
    )
    return out


# instance_norm and local_response_norm


def _repeated(tensor: Any, batch: Any) -> Any:
    """[C] as [N * C]."""
    return None if tensor is None else ops.repeat(tensor, (batch,))


def _instance_norm_decompose(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Any:
    """batch_norm of every sample on its own: [N, C, *] as [1, N * C, *]."""
    _check(input, weight, bias, running_mean, running_var)
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when use_input_stats=False"
            )
        return _eval_decompose(input, weight, bias, running_mean, running_var, eps)
    batch, channels = input.shape[:2]
    single = ops.reshape(input, (1, batch * channels, *input.shape[2:]))
    out, mean, variance = ops.batch_norm_train(
        single, _repeated(weight, batch), _repeated(bias, batch), eps
    )
    if running_mean is not None or running_var is not None:
        by_sample = [ops.view(ops.detach(s), (batch, channels)) for s in (mean, variance)]
        averages = [ops.mean(s, 0) for s in by_sample]
        count = product(input.shape[2:])
        _update_running(running_mean, running_var, averages[0], averages[1], count, momentum)
    return ops.view(out, tuple(input.shape))


def _local_response_norm(input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
    """x / (k + alpha * mean of x**2 over `size` neighbouring channels)**beta.

    Krizhevsky et al. (2012); channels beyond the border count as zeros.
    """
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if input.numel() == 0:
        return input
    channels = input.shape[1]
    before, after = size // 2, (size - 1) // 2
    if channels.__class__ is int:
        before, after = min(before, channels), min(after, channels)
    around = (0, 0) * (input.ndim - 2) + (before, after)
    squares = ops.constant_pad(ops.mul(input, input), around, 0)
    total = ops.narrow(squares, 1, 0, channels)
    for i in range(1, before + after + 1):
        total = ops.add(total, ops.narrow(squares, 1, i, channels))
    scale = ops.add(ops.mul(ops.div(total, size), alpha), k)
    return ops.div(input, ops.pow(scale, beta))


internal(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps)",
    Kind.COMPOSITE,
    decompose=_batch_norm_decompose,
)
internal(
    "batch_norm_train(Tensor input, Tensor? weight, Tensor? bias, float eps)",
    Kind.COMPOSITE,
    meta=_train_meta,
    vjp=_train_vjp,
    saves=("input", "weight", "out1", "out2"),
    decompose=_train_decompose,
    eager=_train_eager,
)
internal(
    "batch_norm_backward(Tensor grad, Tensor input, Tensor? weight, Tensor mean, Tensor rstd)",
    Kind.COMPOSITE,
    meta=_backward_meta,
    decompose=_backward_decompose,
    eager=_backward_eager,
)
internal(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool use_input_stats, float momentum, float eps)",
    Kind.COMPOSITE,
    decompose=_instance_norm_decompose,
)
internal(
    "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, "
    "float k=1.0)",
    Kind.COMPOSITE,
    decompose=_local_response_norm,
    doc="""Each element divided by the strength of its neighbours across channels.

    `y = x / (k + alpha * m)**beta`, where m is the mean of the squares of `size` neighbouring
    channels, zeros beyond the border (Krizhevsky et al., 2012).

    Args:
        input: `(N, C, *)`, of at least 3 dims.
        size: the number of channels that are averaged.
        alpha: factor of the mean.
        beta: exponent.
        k: term added.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `input` has less than 3 dims.

    Example:
        >>> F.local_response_norm(gw.ones(1, 4, 2), size=2).shape
        graphwright.Size([1, 4, 2])
    """,
)
