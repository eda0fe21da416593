"""Optimiser steps as ops: each changes a parameter and its state in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.dtypes import float64
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.ops.nn_support import Array, internal, is_half
from graphwright.runtime.ops.table import Kind, not_differentiable
from graphwright.runtime.tensor import Tensor

_BLOCK = 16 * 1024


def _blockwise(tensors: tuple[Tensor | None, ...], function: Any) -> bool:
    """function(*blocks, scratch1, scratch2) over flat blocks that stay in cache.

    False where a tensor is not contiguous, or half precision: nothing is done then.
    """
    given = [tensor for tensor in tensors if tensor is not None]
    if not all(t.is_contiguous() and t.dtype is given[0].dtype for t in given):
        return False
    if is_half(given[0].dtype):
        return False
    flat = [None if t is None else t._nd.reshape(-1) for t in tensors]
    size = given[0].numel()
    first, second = np.empty((2, min(size, _BLOCK)), given[0].dtype.numpy)
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        blocks = [None if array is None else array[start:stop] for array in flat]
        function(*blocks, first[: stop - start], second[: stop - start])
    return True


def _touched(*tensors: Tensor | None) -> None:
    for tensor in tensors:
        if tensor is not None:
            _core.bump_version(tensor)


# SGD


def _sgd_decompose(
    param: Any,
    grad: Any,
    momentum_buffer: Any,
    first: bool,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> Any:
    g = ops.neg(grad) if maximize else grad
    if weight_decay != 0:
        g = ops.add(g, param, alpha=weight_decay)
    if momentum_buffer is not None:
        if first:
            momentum_buffer.copy_(g)
        else:
            momentum_buffer.mul_(momentum).add_(g, alpha=1 - dampening)
        g = ops.add(g, momentum_buffer, alpha=momentum) if nesterov else momentum_buffer
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
    def step(p: Array, g: Array, b: Array | None, work: Array, other: Array) -> None:
        if maximize:
            g = np.negative(g, out=work)
        if weight_decay != 0:
            np.multiply(p, weight_decay, out=other)
            g = np.add(g, other, out=work)
        if b is not None:
            if first:
                b[...] = g
            else:
                b *= momentum
                np.multiply(g, 1 - dampening, out=other)
                b += other
            if nesterov:
                np.multiply(b, momentum, out=other)
                g = np.add(g, other, out=work)
            else:
                g = b
        np.multiply(g, lr, out=work)
        p -= work

    if not _blockwise((param, grad, momentum_buffer), step):
        return _sgd_decompose(
            param, grad, momentum_buffer, first, lr, momentum, dampening, weight_decay,
            nesterov, maximize,
        )  # fmt: skip
    _touched(param, momentum_buffer)
    return param


# Adam


def _adam_decompose(
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    max_exp_avg_sq: Any,
    step: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    decoupled: bool,
) -> Any:
    step.add_(1)
    g = ops.neg(grad) if maximize else grad
    if weight_decay != 0:
        if decoupled:
            param.mul_(1 - lr * weight_decay)
        else:
            g = ops.add(g, param, alpha=weight_decay)
    exp_avg.add_(ops.sub(g, exp_avg), alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).add_(ops.mul(g, g), alpha=1 - beta2)
    second = exp_avg_sq
    if max_exp_avg_sq is not None:
        second = max_exp_avg_sq.copy_(ops.maximum(max_exp_avg_sq, exp_avg_sq))
    count = ops.to_dtype(step, float64)
    correction1 = ops.sub(1.0, ops.pow(beta1, count))
    correction2 = ops.sqrt(ops.sub(1.0, ops.pow(beta2, count)))
    denominator = ops.add(ops.div(ops.sqrt(second), correction2), eps)
    size = ops.div(lr, correction1)
    return param.sub_(ops.mul(ops.div(exp_avg, denominator), size))


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
    count = float(step._nd[()]) + 1
    size = lr / (1 - beta1**count)
    root = math.sqrt(1 - beta2**count)

    def update(
        p: Array, g: Array, m: Array, v: Array, top: Array | None, work: Array, other: Array
    ) -> None:
        if maximize:
            g = np.negative(g, out=other)
        if weight_decay != 0:
            if decoupled:
                p *= 1 - lr * weight_decay
            else:
                np.multiply(p, weight_decay, out=work)
                g = np.add(g, work, out=other)
        np.subtract(g, m, out=work)
        work *= 1 - beta1
        m += work
        np.multiply(g, g, out=work)
        work *= 1 - beta2
        v *= beta2
        v += work
        if top is not None:
            np.maximum(top, v, out=top)
        np.sqrt(v if top is None else top, out=work)
        work /= root
        work += eps
        np.divide(m, work, out=work)
        work *= size
        p -= work

    if not _blockwise((param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq), update):
        return _adam_decompose(
            param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step, lr, beta1, beta2, eps,
            weight_decay, maximize, decoupled,
        )  # fmt: skip
    step._nd[()] = count
    _touched(param, exp_avg, exp_avg_sq, max_exp_avg_sq, step)
    return param


internal(
    "sgd_step_(Tensor param, Tensor grad, Tensor? momentum_buffer, bool first, float lr, "
    "float momentum, float dampening, float weight_decay, bool nesterov, bool maximize)",
    Kind.COMPOSITE,
    vjp=not_differentiable,
    decompose=_sgd_decompose,
    eager=_sgd_eager,
)
internal(
    "adam_step_(Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_avg_sq, "
    "Tensor? max_exp_avg_sq, Tensor step, float lr, float beta1, float beta2, float eps, "
    "float weight_decay, bool maximize, bool decoupled)",
    Kind.COMPOSITE,
    vjp=not_differentiable,
    decompose=_adam_decompose,
    eager=_adam_eager,
)
