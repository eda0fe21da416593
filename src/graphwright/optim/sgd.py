"""Stochastic gradient descent with momentum (Sutskever et al., 2013, in PyTorch's form)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.optim.optimizer import (
    Group,
    Optimizer,
    check_hints,
    number,
    require,
    require_rate,
    step_as_ops,
)
from graphwright.runtime.ops import functions as ops


class SGD(Optimizer):
    """g = grad + weight_decay*p; b = momentum*b + (1-dampening)*g; p -= lr * b.

    The first b is g. `nesterov` uses g + momentum*b instead of b; `maximize` negates the
    gradient. `foreach` and `fused` are taken as hints that change nothing. ValueError for
    options out of range.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_rate(lr)
        require(momentum >= 0, "momentum value", momentum)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        check_hints(differentiable, fused, foreach)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        options = dict(
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
            foreach=foreach,
            differentiable=differentiable,
            fused=fused,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        momentum, lr, weight_decay = group["momentum"], group["lr"], group["weight_decay"]
        step = step_as_ops(group, "sgd_rule")
        if step is None:
            step, lr, weight_decay = ops.sgd_step_, number(lr), number(weight_decay)
        for param in group["params"]:
            if param.grad is None:
                continue
            buffer, first = None, False
            if momentum != 0:
                state = self.state[param]
                buffer = state.get("momentum_buffer")
                first = buffer is None
                if first:
                    buffer = state["momentum_buffer"] = ops.zeros_like(param.detach())
            step(
                param,
                param.grad,
                buffer,
                first,
                lr,
                momentum,
                group["dampening"],
                weight_decay,
                group["nesterov"],
                group["maximize"],
            )
