"""Optimiser steps as ops: each changes a parameter and its state in place."""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import internal
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.tensor.dtypes import float64
from graphwright.runtime.tensor.tensor import Tensor


def real_pairs(*values: Any) -> list[Any]:
    """`values` with complex tensors seen as real ones whose last dim has two elements."""
    return [
        ops.view_as_real(value)
        if isinstance(value, Tensor) and value.dtype.is_complex
        else value
        for value in values
    ]


def as_is(state: Any, other: Any = None) -> Any:
    """`state` to calculate with, perhaps beside `other`: it is written again, so that what is
    recorded for gradients gets a copy.
    """
    recorded = state.requires_grad or (other is not None and other.requires_grad)
    return ops.clone(state) if recorded else state


def _decayed(grad: Any, param: Any, weight_decay: Any) -> Any:
    """`grad` with the gradient of the penalty on `param`, whose factor may be a tensor."""
    if isinstance(weight_decay, Tensor):
        return ops.add(grad, ops.mul(as_is(param, weight_decay), weight_decay))
    return ops.add(grad, param, alpha=weight_decay)


# SGD


def sgd_rule(
    param: Any,
    grad: Any,
    momentum_buffer: Any,
    first: bool,
    lr: Any,
    momentum: float,
    dampening: float,
    weight_decay: Any,
    nesterov: bool,
    maximize: bool,
) -> Any:
    """The step as ops; `lr` and `weight_decay` are numbers, or tensors that it is recorded for."""
    g = ops.neg(grad) if maximize else grad
    if weight_decay != 0:
        g = _decayed(g, param, weight_decay)
    if momentum_buffer is not None:
        if first:
            momentum_buffer.copy_(g)
        else:
            momentum_buffer.mul_(momentum).add_(g, alpha=1 - dampening)
        g = ops.add(g, momentum_buffer, alpha=momentum) if nesterov else momentum_buffer
    if isinstance(lr, Tensor):
        return param.sub_(ops.mul(as_is(g, lr), lr))
    return param.add_(g, alpha=-lr)


def _sgd_eager(
    param: Tensor,
    grad: Tensor,
    momentum_buffer: Tensor | None,
    first: bool,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> Tensor:
    done = _core.sgd_step(
        param, grad, momentum_buffer, first, lr, momentum, dampening, weight_decay, nesterov,
        maximize,
    )  # fmt: skip
    if not done:
        return sgd_rule(
            param, grad, momentum_buffer, first, lr, momentum, dampening, weight_decay,
            nesterov, maximize,
        )  # fmt: skip
    return param


# Adam


def adam_rule(
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    max_exp_avg_sq: Any,
    step: Any,
    lr: Any,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: Any,
    maximize: bool,
    decoupled: bool,
) -> Any:
    """The step as ops; `lr` and `weight_decay` are numbers, or tensors that it is recorded for."""
    step.add_(1)
    whole = param
    param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq = real_pairs(
        param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq
    )
    g = ops.neg(grad) if maximize else grad
    if weight_decay != 0:
        if decoupled:
            kept = 1 - lr * weight_decay
            if isinstance(kept, Tensor):
                param.copy_(ops.mul(ops.clone(param), kept))
            else:
                param.mul_(kept)
        else:
            g = _decayed(g, param, weight_decay)
    exp_avg.add_(ops.sub(g, exp_avg), alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).add_(ops.mul(ops.mul(g, 1 - beta2), g))
    second = exp_avg_sq
    if max_exp_avg_sq is not None:
        largest = ops.maximum(as_is(max_exp_avg_sq, exp_avg_sq), as_is(exp_avg_sq))
        second = max_exp_avg_sq.copy_(largest)
    count = ops.to_dtype(step, float64)
    correction1 = ops.sub(1.0, ops.pow(beta1, count))
    correction2 = ops.sqrt(ops.sub(1.0, ops.pow(beta2, count)))
    denominator = ops.add(ops.div(ops.sqrt(as_is(second)), correction2), eps)
    size = ops.div(lr, correction1)
    stepped = param.sub_(ops.mul(ops.div(as_is(exp_avg), denominator), size))
    return whole if whole.dtype.is_complex else stepped


def _adam_eager(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Tensor | None,
    step: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    decoupled: bool,
) -> Tensor:
    count = step.item() + 1
    done = _core.adam_step(
        param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, count, lr, beta1, beta2, eps,
        weight_decay, maximize, decoupled,
    )  # fmt: skip
    if not done:
        return adam_rule(
            param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step, lr, beta1, beta2, eps,
            weight_decay, maximize, decoupled,
        )  # fmt: skip
    ops.fill_(step, count)
    return param


internal(
    "sgd_step_(Tensor param, Tensor grad, Tensor? momentum_buffer, bool first, float lr, "
    "float momentum, float dampening, float weight_decay, bool nesterov, bool maximize)",
    Kind.COMPOSITE,
    decompose=sgd_rule,
    eager=_sgd_eager,
)
internal(
    "adam_step_(Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_avg_sq, "
    "Tensor? max_exp_avg_sq, Tensor step, float lr, float beta1, float beta2, float eps, "
    "float weight_decay, bool maximize, bool decoupled)",
    Kind.COMPOSITE,
    decompose=adam_rule,
    eager=_adam_eager,
)
