"""Steps of the optimisers but SGD and Adam, as ops.

Each rule is written with in-place ops. Eagerly the step count is a Python number, so that
corrections cost nothing; when traced it is a tensor, so that a compiled step counts as it runs.
Contiguous float32 and float64 tensors take one pass of a kernel in the core instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.nn_support import internal
from graphwright.runtime.ops.optim.sgd_adam import as_is, real_pairs
from graphwright.runtime.ops.table import Kind
from graphwright.runtime.tensor.dtypes import float64


def _gradient(param: Any, grad: Any, weight_decay: float, maximize: bool) -> Any:
    g = ops.neg(grad) if maximize else grad
    return g if weight_decay == 0 else ops.add(g, param, alpha=weight_decay)


def _towards(average: Any, value: Any, weight: float) -> Any:
    """average += weight * (value - average)."""
    return average.add_(value - average, alpha=weight)


def _running(average: Any, first: Any, second: Any, decay: float) -> Any:
    """average = decay * average + (1 - decay) * first * second, overflowing late."""
    return average.mul_(decay).add_(first * (1 - decay) * second)


def _value(scalar: Any) -> Any:
    """A scalar of the state to calculate with: a Python number, or in traces a tensor."""
    return ops.to_dtype(scalar, float64) if scalar.is_fake else scalar.item()


def _assign(scalar: Any, value: Any) -> None:
    """Write a number, or in traces a tensor, into a scalar of the state."""
    if isinstance(value, float):
        ops.fill_(scalar, value)
    else:
        ops.copy_(scalar, value)


def _adamax(
    count: Any,
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_inf: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    g = _gradient(param, grad, weight_decay, maximize)
    _towards(exp_avg, g, 1 - beta1)
    exp_inf.copy_(ops.maximum(exp_inf * beta2, ops.abs(g) + eps))
    size = lr / (1 - beta1**count)
    return param.sub_(as_is(exp_avg) / as_is(exp_inf) * size)


def _nadam(
    count: Any,
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    mu_product: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    momentum_decay: float,
    decoupled: bool,
    maximize: bool,
) -> Any:
    if decoupled and weight_decay != 0:
        param.mul_(1 - lr * weight_decay)
    g = _gradient(param, grad, 0 if decoupled else weight_decay, maximize)
    mu = beta1 * (1 - 0.5 * 0.96 ** (count * momentum_decay))
    mu_next = beta1 * (1 - 0.5 * 0.96 ** ((count + 1) * momentum_decay))
    mu_product.mul_(mu)
    product = _value(mu_product)
    _towards(exp_avg, g, 1 - beta1)
    _running(exp_avg_sq, g, g, beta2)
    denominator = ops.sqrt(as_is(exp_avg_sq) / (1 - beta2**count)) + eps
    param.sub_(g / denominator * (lr * (1 - mu) / (1 - product)))
    return param.sub_(as_is(exp_avg) / denominator * (lr * mu_next / (1 - product * mu_next)))


def _radam(
    count: Any,
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> Any:
    if decoupled and weight_decay != 0:
        param.mul_(1 - lr * weight_decay)
    g = _gradient(param, grad, 0 if decoupled else weight_decay, maximize)
    _towards(exp_avg, g, 1 - beta1)
    _running(exp_avg_sq, g, g, beta2)
    mean = as_is(exp_avg) / (1 - beta1**count)
    correction = 1 - beta2**count
    longest = 2 / (1 - beta2) - 1
    if longest <= 5:  # no length, which is below it, is rectified
        return param.sub_(mean * lr)
    length = longest - 2 * count * beta2**count / correction
    scale = longest / ((longest - 4) * (longest - 2))
    if isinstance(length, float):
        if length <= 5:
            return param.sub_(mean * lr)
        rectified = ((length - 4) * (length - 2) * scale / length) ** 0.5
        return param.sub_(
            mean * (lr * correction**0.5 * rectified) / (ops.sqrt(exp_avg_sq) + eps)
        )
    inside = ops.clamp((length - 4) * (length - 2) * scale / length, min=0)
    adaptive = (ops.sqrt(inside) * ops.sqrt(correction)) / (ops.sqrt(exp_avg_sq) + eps)
    return param.sub_(mean * lr * ops.where(length > 5, adaptive, 1.0))


def _rmsprop(
    count: Any,
    param: Any,
    grad: Any,
    square_avg: Any,
    momentum_buffer: Any,
    grad_avg: Any,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    maximize: bool,
) -> Any:
    g = _gradient(param, grad, weight_decay, maximize)
    _running(square_avg, g, g, alpha)
    square = square_avg
    if grad_avg is not None:
        _towards(grad_avg, g, 1 - alpha)
        mean = as_is(grad_avg)
        square = square_avg - mean * mean
    step = g / (ops.sqrt(square) + eps)
    if momentum_buffer is not None:
        step = momentum_buffer.mul_(momentum).add_(step)
    return param.sub_(step * lr)


def _adagrad(
    count: Any,
    param: Any,
    grad: Any,
    total: Any,
    lr: float,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    g = _gradient(param, grad, weight_decay, maximize)
    total.add_(g * g)
    size = lr / (1 + (count - 1) * lr_decay)
    return param.sub_(g / (ops.sqrt(total) + eps) * size)


def _adadelta(
    count: Any,
    param: Any,
    grad: Any,
    square_avg: Any,
    acc_delta: Any,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    g = _gradient(param, grad, weight_decay, maximize)
    _running(square_avg, g, g, rho)
    delta = ops.sqrt(acc_delta + eps) / ops.sqrt(square_avg + eps) * g
    _running(acc_delta, delta, delta, rho)
    return param.sub_(delta * lr)


def _asgd(
    count: Any,
    param: Any,
    grad: Any,
    average: Any,
    eta: Any,
    mu: Any,
    lr: float,
    lambd: float,
    alpha: float,
    t0: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    g = _gradient(param, grad, weight_decay, maximize)
    size, weight = _value(eta), _value(mu)
    param.mul_(1 - lambd * size)
    param.sub_(g * size)
    if isinstance(weight, float):
        average.copy_(param if weight == 1 else average + (param - average) * weight)
    else:
        moved = average + (param - average) * weight
        average.copy_(ops.where(weight == 1, param, moved))
    _assign(eta, lr / (1 + lambd * lr * count) ** alpha)
    late = count - t0
    _assign(mu, 1 / (max(1.0, late) if isinstance(late, float) else ops.clamp(late, min=1)))
    return param


def _rprop(
    count: Any,
    param: Any,
    grad: Any,
    previous: Any,
    step_size: Any,
    shrink: float,
    grow: float,
    smallest: float,
    largest: float,
    maximize: bool,
) -> Any:
    g = _gradient(param, grad, 0, maximize)
    product, former = g * as_is(previous, g), as_is(step_size)
    changed = ops.where(product < 0, former * shrink, former)
    changed = ops.where(product > 0, former * grow, changed)
    step_size.copy_(ops.clamp(changed, min=smallest, max=largest))
    g = ops.where(product < 0, 0.0, g)
    param.sub_(ops.sign(g) * as_is(step_size, g))
    previous.copy_(g)
    return param


# The same rules as one pass over memory, by kernels of the core (optim.c says what their numbers
# mean); False, with nothing done, where the kernel does not take the tensors.


def _fused_adamax(
    count: float,
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_inf: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> bool:
    numbers = (1 - beta1, beta2, eps, lr / (1 - beta1**count))
    return _core.rule_step(
        "adamax", param, grad, exp_avg, exp_inf, None, numbers, weight_decay, maximize
    )


def _fused_nadam(
    count: float,
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    mu_product: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    momentum_decay: float,
    decoupled: bool,
    maximize: bool,
) -> bool:
    mu = beta1 * (1 - 0.5 * 0.96 ** (count * momentum_decay))
    mu_next = beta1 * (1 - 0.5 * 0.96 ** ((count + 1) * momentum_decay))
    product = ops.mul(mu_product, mu)
    total = product.item()
    numbers = (
        1 - beta1,
        beta2,
        1 - beta2,
        1 - beta2**count,
        eps,
        lr * (1 - mu) / (1 - total),
        lr * mu_next / (1 - total * mu_next),
        1 - lr * weight_decay if decoupled else 1.0,
    )
    decay = 0.0 if decoupled else weight_decay
    done = _core.rule_step(
        "nadam", param, grad, exp_avg, exp_avg_sq, None, numbers, decay, maximize
    )
    if done:
        ops.copy_(mu_product, product)
    return done


def _fused_radam(
    count: float,
    param: Any,
    grad: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> bool:
    correction = 1 - beta2**count
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * count * beta2**count / correction
    rate = lr / (1 - beta1**count)
    if length > 5:
        scale = longest / ((longest - 4) * (longest - 2))
        rate *= (correction * (length - 4) * (length - 2) * scale / length) ** 0.5
    shrink = 1 - lr * weight_decay if decoupled else 1.0
    numbers = (1 - beta1, beta2, 1 - beta2, float(length > 5), eps, rate, 0.0, shrink)
    decay = 0.0 if decoupled else weight_decay
    return _core.rule_step(
        "radam", param, grad, exp_avg, exp_avg_sq, None, numbers, decay, maximize
    )


def _fused_rmsprop(
    count: float,
    param: Any,
    grad: Any,
    square_avg: Any,
    momentum_buffer: Any,
    grad_avg: Any,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    maximize: bool,
) -> bool:
    numbers = (alpha, 1 - alpha, eps, lr, momentum)
    return _core.rule_step(
        "rmsprop", param, grad, square_avg, momentum_buffer, grad_avg, numbers, weight_decay,
        maximize,
    )  # fmt: skip


def _fused_adagrad(
    count: float,
    param: Any,
    grad: Any,
    total: Any,
    lr: float,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> bool:
    numbers = (eps, lr / (1 + (count - 1) * lr_decay))
    return _core.rule_step(
        "adagrad", param, grad, total, None, None, numbers, weight_decay, maximize
    )


def _fused_adadelta(
    count: float,
    param: Any,
    grad: Any,
    square_avg: Any,
    acc_delta: Any,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> bool:
    numbers = (rho, 1 - rho, eps, lr)
    return _core.rule_step(
        "adadelta", param, grad, square_avg, acc_delta, None, numbers, weight_decay, maximize
    )


def _define(
    name: str,
    rule: Callable[..., Any],
    parameters: str,
    fused: Callable[..., bool] | None = None,
) -> None:
    """`name`(param, grad, step, *parameters), counting `step` before the rule.

    Complex tensors are stepped as pairs of real numbers.
    """

    def eager(param: Any, grad: Any, step: Any, *rest: Any) -> Any:
        count = step.item() + 1
        ops.fill_(step, count)
        if fused is not None and fused(count, param, grad, *rest):
            return param
        rule(count, *real_pairs(param, grad, *rest))
        return param

    def decompose(param: Any, grad: Any, step: Any, *rest: Any) -> Any:
        ops.add_(step, 1)
        stepped = rule(ops.to_dtype(step, float64), *real_pairs(param, grad, *rest))
        return param if param.dtype.is_complex else stepped

    internal(
        f"{name}(Tensor param, Tensor grad, Tensor step, {parameters})",
        Kind.COMPOSITE,
        decompose=decompose,
        eager=eager,
    )


_BETAS = "float lr, float beta1, float beta2, float eps, float weight_decay"

_define(
    "adamax_step_",
    _adamax,
    f"Tensor exp_avg, Tensor exp_inf, {_BETAS}, bool maximize",
    _fused_adamax,
)
_define(
    "nadam_step_",
    _nadam,
    f"Tensor exp_avg, Tensor exp_avg_sq, Tensor mu_product, {_BETAS}, float momentum_decay, "
    "bool decoupled, bool maximize",
    _fused_nadam,
)
_define(
    "radam_step_",
    _radam,
    f"Tensor exp_avg, Tensor exp_avg_sq, {_BETAS}, bool decoupled, bool maximize",
    _fused_radam,
)
_define(
    "rmsprop_step_",
    _rmsprop,
    "Tensor square_avg, Tensor? momentum_buffer, Tensor? grad_avg, float lr, float alpha, "
    "float eps, float weight_decay, float momentum, bool maximize",
    _fused_rmsprop,
)
_define(
    "adagrad_step_",
    _adagrad,
    "Tensor total, float lr, float lr_decay, float eps, float weight_decay, bool maximize",
    _fused_adagrad,
)
_define(
    "adadelta_step_",
    _adadelta,
    "Tensor square_avg, Tensor acc_delta, float lr, float rho, float eps, float weight_decay, "
    "bool maximize",
    _fused_adadelta,
)
_define(
    "asgd_step_",
    _asgd,
    "Tensor average, Tensor eta, Tensor mu, float lr, float lambd, float alpha, float t0, "
    "float weight_decay, bool maximize",
)
_define(
    "rprop_step_",
    _rprop,
    "Tensor previous, Tensor step_size, float shrink, float grow, float smallest, "
    "float largest, bool maximize",
)
