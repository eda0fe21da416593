"""Losses: elementwise ones, nll_loss and cross_entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import OutOfRange, describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import has_values, is_inexact
from graphwright.runtime.ops.kernels import wrap
from graphwright.runtime.ops.nn_support import (
    Array,
    cast,
    compute,
    internal,
    output,
    reduced,
    require_floating,
    spec,
    widened,
)
from graphwright.runtime.ops.reductions.folds import check_floating
from graphwright.runtime.ops.strides import broadcast_shapes, pointwise_strides, product
from graphwright.runtime.ops.table import Kind, refuse_gradients
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.ops.value_checks import checked, inside
from graphwright.runtime.tensor.dtypes import bool_, int64, uint8
from graphwright.runtime.tensor.promotion import result_type
from graphwright.runtime.tensor.tensor import Tensor


def _scaled_grad(grad: Any, shape: Any, reduction: str) -> Any:
    """The gradient of each unreduced element."""
    return ops.div(grad, product(shape)) if reduction == "mean" else grad


# mse_loss, l1_loss


def _reduced_spec(input: Any, target: Any, reduction: str) -> TensorSpec:
    if reduction == "mean":
        check_floating("mean", input.dtype)
    if reduction != "none":
        return spec((), input)
    shape = broadcast_shapes("mse_loss", (input.shape, target.shape))
    layouts = [(x.shape, x.stride()) for x in (input, target)]
    return TensorSpec(shape, pointwise_strides(shape, layouts), input.dtype, input.device)


def _operands(name: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Both for a difference of floating dtype: a mask among them as numbers.

    Raises NotImplementedError where the result would be of another dtype.
    """
    dtype = result_type(input, target)
    if not dtype.is_floating_point:
        raise NotImplementedError(f'"{name}" not implemented for {dtype.name}')
    input, target = (cast(x, dtype) if x.dtype is bool_ else x for x in (input, target))
    return input, target


def _mse_meta(input: Any, target: Any, reduction: str) -> TensorSpec:
    _operands("mse_loss", input, target)
    like = _reduced_spec(input, target, reduction)
    return TensorSpec(like.shape, like.strides, result_type(input, target), like.device)


def _mse_decompose(input: Any, target: Any, reduction: str) -> Any:
    """Of half types that are reduced in float32, as by the kernel."""
    one, two = _operands("mse_loss", input, target)
    dtype = one.dtype
    if reduction == "none" or two.dtype is not dtype:
        return _squares(one, two, reduction)
    return cast(_squares(widened(one), widened(two), reduction), dtype)


def _squares(input: Any, target: Any, reduction: str) -> Any:
    difference = ops.sub(input, target)
    return reduced(ops.mul(difference, difference), reduction)


def _mse_eager(input: Tensor, target: Tensor, reduction: str) -> Tensor:
    input, target = _operands("mse_loss", input, target)
    if input.dtype is not target.dtype or input.shape != target.shape or reduction == "none":
        return _mse_decompose(input, target, reduction)
    difference = ops.reshape(ops.sub(widened(input), widened(target)), (-1,))
    norm = _core.two_norm(Tensor, difference, (0,), False)
    if norm is None:
        return _mse_decompose(input, target, reduction)
    total = np.float64(norm.item()) ** 2
    if reduction == "mean":
        total = total / difference.numel()
    return wrap(total, input.dtype)


def _mse_vjp(ctx: Any, grad: Any) -> Any:
    shape = broadcast_shapes("mse_loss", (ctx.input.shape, ctx.target.shape))
    scaled = ops.mul(_scaled_grad(grad, shape, ctx.reduction), 2.0)
    g = ops.mul(ops.sub(*_operands("mse_loss", ctx.input, ctx.target)), scaled)
    return (
        ops.sum_to_size(g, ctx.input.shape) if ctx.needs["input"] else None,
        ops.sum_to_size(ops.neg(g), ctx.target.shape) if ctx.needs["target"] else None,
    )


def _l1_decompose(input: Any, target: Any, reduction: str) -> Any:
    return reduced(ops.abs(ops.sub(input, target)), reduction)


LEAST_BETA = 1e-30
"""The least beta of smooth_l1_loss that makes a difference; float32 has its inverse."""


def _smooth_l1_decompose(input: Any, target: Any, reduction: str, beta: float) -> Any:
    distance = ops.abs(ops.sub(*_operands("smooth_l1_loss", input, target)))
    if 0 <= beta < LEAST_BETA:
        return reduced(distance, reduction)
    near = ops.clamp(distance, None, beta)
    part = near if beta == 1 else ops.mul(near, 1 / beta)
    return reduced(ops.mul(part, ops.sub(distance, near, alpha=0.5)), reduction)


# Binary cross entropy and KL divergence


def _check_bce(input: Any, target: Any) -> None:
    require_floating("binary_cross_entropy", input)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Using a target size ({tuple(target.shape)}) that is different to the input size "
            f"({tuple(input.shape)}) is deprecated. Please ensure they have the same size."
        )
    if target.dtype is not input.dtype:
        raise RuntimeError(
            f"binary_cross_entropy: Found dtype {target.dtype.name} but expected "
            f"{input.dtype.name}"
        )
    for what, given in (("input", input), ("target", target)):
        if has_values(given) and given.numel():
            low, high = ops.aminmax(given.detach())
            if not (low.item() >= 0 and high.item() <= 1):
                raise RuntimeError(_no_probability(what))


def _no_probability(what: str) -> str:
    return f"binary_cross_entropy: all elements of {what} should be between 0 and 1"


def _bce_decompose(input: Any, target: Any, weight: Any, reduction: str) -> Any:
    _check_bce(input, target)
    if not has_values(input):
        input = checked(input, inside(input, 0, 1), _no_probability("input"))
    if not has_values(target):
        target = checked(target, inside(target, 0, 1), _no_probability("target"))
    loss = ops.neg(
        ops.add(
            ops.mul(target, ops.clamp(ops.log(input), -100.0, None)),
            ops.mul(ops.sub(1.0, target), ops.clamp(ops.log1p(ops.neg(input)), -100.0, None)),
        )
    )
    return reduced(loss if weight is None else ops.mul(loss, weight), reduction)


def _bce_meta(input: Any, target: Any, weight: Any, reduction: str) -> Any:
    _check_bce(input, target)
    return _reduced_spec(input, target, reduction)


def _bce_vjp(ctx: Any, grad: Any) -> Any:
    p, t = ctx.input, ctx.target
    grad = _scaled_grad(grad, p.shape, ctx.reduction)
    if ctx.weight is not None:
        grad = ops.mul(grad, ctx.weight)
    to_input = to_target = None
    if ctx.needs["input"]:
        spread = ops.clamp(ops.mul(ops.sub(1.0, p), p), 1e-12, None)
        to_input = ops.mul(grad, ops.div(ops.sub(p, t), spread))
    if ctx.needs["target"]:
        odds = ops.sub(
            ops.clamp(ops.log1p(ops.neg(p)), -100.0, None), ops.clamp(ops.log(p), -100.0, None)
        )
        to_target = ops.mul(grad, odds)
    return to_input, to_target, None


def _bce_logits_decompose(
    input: Any, target: Any, weight: Any, pos_weight: Any, reduction: str
) -> Any:
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Target size ({tuple(target.shape)}) must be the same as input size "
            f"({tuple(input.shape)})"
        )
    log_p, dtype = ops.logsigmoid(input), target.dtype
    if not is_inexact(dtype):
        raise RuntimeError(
            "binary_cross_entropy_with_logits: the result has the target's dtype, which cannot "
            f"be {dtype.name}"
        )
    rest = ops.mul(ops.sub(1.0, target), input)
    if pos_weight is not None:
        log_p = ops.mul(log_p, ops.add(ops.mul(ops.sub(pos_weight, 1.0), target), 1.0))
    loss = ops.sub(rest, log_p)
    return reduced(cast(loss if weight is None else ops.mul(loss, weight), dtype), reduction)


def _kl_div_decompose(input: Any, target: Any, reduction: str, log_target: bool) -> Any:
    for tensor in (input, target):
        if not tensor.dtype.is_floating_point:
            raise RuntimeError(f"kl_div: {describe(tensor)} is not supported, only floating point")
    if log_target:
        loss = ops.mul(ops.exp(target), ops.sub(target, input))
    else:
        log_t = ops.log(ops.where(ops.ne(target, 0), target, 1.0))
        loss = ops.sub(ops.mul(target, log_t), ops.mul(target, input))
    return reduced(loss, reduction)


# nll_loss


def _class_dim(input: Any) -> int:
    return 0 if input.ndim == 1 else 1


def _check_nll(input: Any, target: Any, weight: Any) -> None:
    if input.ndim == 0:
        raise ValueError("Expected input with 1 or more dimensions, got a scalar")
    if target.dtype not in (int64, uint8):
        raise RuntimeError(
            f"nll_loss: expected target dtype to be int64 or uint8, but got {target.dtype.name}"
        )
    if weight is not None and weight.dtype is not input.dtype:
        raise RuntimeError(
            f"nll_loss: expected scalar type {input.dtype.name} but found {weight.dtype.name}"
        )
    dim = _class_dim(input)
    if dim and target.ndim and target.shape[0] != input.shape[0]:
        raise ValueError(
            f"nll_loss: Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    expected = tuple(input.shape[:dim]) + tuple(input.shape[dim + 1 :])
    if tuple(target.shape) != expected:
        if input.ndim <= 2:
            raise RuntimeError(
                "nll_loss: 0D or 1D target tensor expected, multi-target not supported, got "
                f"{describe(target)} for input {describe(input)}"
            )
        raise RuntimeError(
            f"nll_loss: Expected target size {list(expected)}, got {list(target.shape)}"
        )
    if weight is not None and tuple(weight.shape) != (input.shape[dim],):
        raise RuntimeError(
            "weight tensor should be defined either for all "
            f"{input.shape[dim]} classes or no classes but got weight tensor of shape: "
            f"{tuple(weight.shape)}"
        )


def _nll_meta(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    require_floating("nll_loss", input)
    _check_nll(input, target, weight)
    return spec(target.shape if reduction == "none" else (), input)


def _nll_parts(input: Any, target: Any, weight: Any, ignore_index: int) -> tuple[Any, Any]:
    """(the weight of every target, 0 where ignored; the targets, 0 where ignored)."""
    valid = ops.ne(target, ignore_index)
    safe = ops.where(valid, target, 0)
    if weight is None:
        return ops.to_dtype(valid, input.dtype), safe
    picked = ops.view(ops.index_select(weight, 0, ops.reshape(safe, (-1,))), target.shape)
    return ops.where(valid, picked, 0.0), safe


def _nll_decompose(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    require_floating("nll_loss", input)
    _check_nll(input, target, weight)
    dim = _class_dim(input)
    target, x = ops.to_dtype(target, int64), widened(input)
    weight = None if weight is None else widened(weight)
    weights, safe = _nll_parts(x, target, weight, ignore_index)
    index = ops.unsqueeze(safe, dim)
    picked = ops.squeeze(ops.gather(x, dim, index), dim)
    loss = ops.where(ops.ne(target, ignore_index), ops.neg(ops.mul(weights, picked)), 0.0)
    if reduction != "none":
        loss = ops.sum(loss)
    if reduction == "mean":
        loss = ops.div(loss, ops.sum(weights))
    return cast(loss, input.dtype)


def _target_rows(target: Tensor, classes: int, ignore_index: int) -> tuple[Array, Array | None]:
    """(targets as one row with 0 where ignored, which are valid: None for all).

    The targets are copied, as another thread may write them once they are checked. OutOfRange for
    a target that is not a class.
    """
    t = target._nd.flatten()
    if t.size == 0:
        return t, None
    valid = None
    low, high = t.min(), t.max()
    if low < 0 or high >= classes or low <= ignore_index <= high:
        valid = t != ignore_index
        if valid.all():
            valid = None
        else:
            t = np.where(valid, t, 0)
        bad = (t < 0) | (t >= classes)
        if bad.any():
            raise OutOfRange(f"nll_loss(): Target {t[bad][0]} is out of bounds.")
    return t, valid


def _class_rows(array: Array, dim: int) -> Array:
    """[N, C, *] (or [C]) as [N * rest, C]."""
    return np.moveaxis(array, dim, -1).reshape(-1, array.shape[dim])


def _target_weights(
    t: Array, valid: Array | None, weight: Tensor | None, dtype: Any
) -> Array | None:
    if weight is not None:
        weights = compute(weight)[t]
        return weights if valid is None else np.where(valid, weights, 0)
    return None if valid is None else valid.astype(dtype)


def _nll_eager(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str
) -> Tensor:
    require_floating("nll_loss", input)
    _check_nll(input, target, weight)
    dim = _class_dim(input)
    rows = _class_rows(compute(input), dim)
    t, valid = _target_rows(target, rows.shape[1], ignore_index)
    picked = rows[np.arange(t.size), t]
    weights = _target_weights(t, valid, weight, picked.dtype)
    if weights is not None:
        picked = picked * weights
        if valid is not None:
            picked = np.where(valid, picked, 0)
    if reduction == "none":
        return wrap(-picked.reshape(target.shape), input.dtype)
    total = -picked.sum()
    if reduction == "mean":
        count = t.size if weights is None else weights.sum()
        total = total / count if count != 0 else total * np.nan
    return wrap(total, input.dtype)


def _nll_vjp(ctx: Any, grad: Any) -> Any:
    return (
        ops.nll_loss_backward(
            grad, ctx.input.shape, ctx.target, ctx.weight, ctx.ignore_index, ctx.reduction
        ),
        None,
        None,
    )


def _nll_backward_meta(
    grad: Any, size: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> Any:
    return spec(size, grad)


def _nll_backward_decompose(
    grad: Any, size: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> Any:
    dim = 0 if len(size) == 1 else 1
    target, g = ops.to_dtype(target, int64), widened(grad)
    weight = None if weight is None else widened(weight)
    weights, safe = _nll_parts(g, target, weight, ignore_index)
    g = ops.mul(g, weights)
    if reduction == "mean":
        g = ops.div(g, ops.sum(weights))
    classes = ops.arange(0, size[dim], 1, dtype=int64, device=target.device)
    classes = ops.view(classes, (size[dim],) + (1,) * (len(size) - 1 - dim))
    counted = ops.unsqueeze(ops.ne(target, ignore_index), dim)
    chosen = ops.logical_and(ops.eq(classes, ops.unsqueeze(safe, dim)), counted)
    return cast(ops.where(chosen, ops.neg(ops.unsqueeze(g, dim)), 0.0), grad.dtype)


def _nll_backward_eager(
    grad: Tensor,
    size: Any,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
) -> Tensor:
    dim = 0 if len(size) == 1 else 1
    g = compute(grad)
    t, valid = _target_rows(target, size[dim], ignore_index)
    weights = _target_weights(t, valid, weight, g.dtype)
    if reduction == "mean":
        g = g / (g.dtype.type(t.size) if weights is None else weights.sum())
    g = -g.reshape(-1) if g.ndim else -g
    if weights is not None:
        g = g * weights
        if valid is not None:
            g = np.where(valid, g, 0)
    by_row = np.zeros((t.size, size[dim]), g.dtype)
    by_row[np.arange(t.size), t] = g
    rest = [extent for i, extent in enumerate(size) if i != dim]
    result, out = output(size, grad.dtype)
    out[...] = np.moveaxis(by_row.reshape(*rest, size[dim]), -1, dim)
    if out is not result._nd:
        result._nd[...] = out
    return result


# cross_entropy


def _cross_entropy_decompose(
    input: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    label_smoothing: float,
) -> Any:
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    dim = _class_dim(input)
    log_p = ops.log_softmax(input, dim)
    if target.ndim == input.ndim and not target.dtype.is_floating_point:
        raise RuntimeError(
            "cross_entropy: Expected floating point type for target with class probabilities, "
            f"got {target.dtype.name}"
        )
    if target.dtype.is_floating_point:
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _soft_cross_entropy(log_p, target, weight, reduction, label_smoothing)
    refuse_gradients("nll_loss", weight=weight)
    loss = ops.nll_loss(log_p, target, weight, ignore_index, reduction)
    if label_smoothing == 0.0:
        return loss
    smooth = _smoothing_loss(log_p, target, weight, ignore_index, reduction)
    share = ops.div(ops.mul(smooth, label_smoothing), input.shape[dim])
    return ops.add(ops.mul(loss, 1.0 - label_smoothing), share)


def _along_classes(weight: Any, ndim: int, dim: int) -> Any:
    return ops.view(weight, (weight.shape[0],) + (1,) * (ndim - 1 - dim))


def _smoothing_loss(
    log_p: Any, target: Any, weight: Any, ignore_index: int, reduction: str
) -> Any:
    """-sum over classes of log_p (weighted), ignored targets left out, reduced."""
    dim = _class_dim(log_p)
    if weight is not None:
        log_p = ops.mul(log_p, _along_classes(weight, log_p.ndim, dim))
    loss = ops.where(ops.ne(target, ignore_index), ops.neg(ops.sum(log_p, dim)), 0.0)
    if reduction == "none":
        return loss
    total = ops.sum(loss)
    if reduction == "sum":
        return total
    weights, _ = _nll_parts(log_p, ops.to_dtype(target, int64), weight, ignore_index)
    return ops.div(total, ops.sum(weights))


def _soft_cross_entropy(
    log_p: Any, target: Any, weight: Any, reduction: str, label_smoothing: float
) -> Any:
    """Cross entropy with class probabilities."""
    if target.ndim == log_p.ndim - 1:
        raise RuntimeError(
            f"cross_entropy: expected target dtype to be int64 or uint8, but got "
            f"{target.dtype.name}"
        )
    if target.shape[0] != log_p.shape[0]:
        raise ValueError(
            f"cross_entropy: expected input batch_size ({log_p.shape[0]}) to match target "
            f"batch_size ({target.shape[0]})"
        )
    if tuple(target.shape) != tuple(log_p.shape):
        raise RuntimeError(
            "cross_entropy: input and target of class probabilities must have one shape, got "
            f"{describe(log_p)} and {describe(target)}"
        )
    dim = _class_dim(log_p)
    classes = log_p.shape[dim]
    if label_smoothing > 0.0:
        share = ops.full((), label_smoothing, dtype=target.dtype, device=target.device)
        target = ops.add(ops.mul(target, 1.0 - label_smoothing), ops.div(share, classes))
    if weight is not None:
        target = ops.mul(target, _along_classes(weight, log_p.ndim, dim))
    loss = ops.neg(ops.sum(ops.mul(log_p, target), dim))
    if reduction == "mean":
        batch = product(log_p.shape[:dim]) * product(log_p.shape[dim + 1 :])
        return ops.div(ops.sum(loss), batch)
    return loss if reduction == "none" else ops.sum(loss)


internal(
    "mse_loss(Tensor input, Tensor target, str reduction='mean')",
    Kind.COMPOSITE,
    vjp=_mse_vjp,
    saves=("input", "target"),
    decompose=_mse_decompose,
    eager=_mse_eager,
    meta=_mse_meta,
)
internal(
    "l1_loss(Tensor input, Tensor target, str reduction='mean')",
    Kind.COMPOSITE,
    decompose=_l1_decompose,
)
internal(
    "smooth_l1_loss(Tensor input, Tensor target, str reduction='mean', float beta=1.0)",
    Kind.COMPOSITE,
    decompose=_smooth_l1_decompose,
)
internal(
    "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, str reduction='mean')",
    Kind.COMPOSITE,
    meta=_bce_meta,
    vjp=_bce_vjp,
    saves=("input", "target", "weight"),
    decompose=_bce_decompose,
)
internal(
    "binary_cross_entropy_with_logits(Tensor input, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, str reduction='mean')",
    Kind.COMPOSITE,
    decompose=_bce_logits_decompose,
)
internal(
    "kl_div(Tensor input, Tensor target, str reduction='mean', bool log_target=False)",
    Kind.COMPOSITE,
    decompose=_kl_div_decompose,
)
internal(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, SymInt ignore_index=-100, "
    "str reduction='mean')",
    Kind.COMPOSITE,
    meta=_nll_meta,
    vjp=_nll_vjp,
    saves=("target", "weight"),
    decompose=_nll_decompose,
    eager=_nll_eager,
)
internal(
    "nll_loss_backward(Tensor grad, Size size, Tensor target, Tensor? weight, "
    "SymInt ignore_index, str reduction)",
    Kind.COMPOSITE,
    meta=_nll_backward_meta,
    decompose=_nll_backward_decompose,
    eager=_nll_backward_eager,
)
internal(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, SymInt ignore_index=-100, "
    "str reduction='mean', float label_smoothing=0.0)",
    Kind.COMPOSITE,
    decompose=_cross_entropy_decompose,
)
