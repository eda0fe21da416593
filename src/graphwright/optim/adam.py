"""Adam (Kingma & Ba, 2015), AMSGrad (Reddi et al., 2018), AdamW (Loshchilov & Hutter, 2019)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.optim.optimizer import (
    Group,
    Optimizer,
    check_hints,
    number,
    require,
    require_betas,
    require_rate,
    step_as_ops,
)
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class Adam(Optimizer):
    """m = b1*m + (1-b1)*g; v = b2*v + (1-b2)*g*g; p -= lr * m' / (sqrt(v') + eps).

    m' = m / (1 - b1**t), v' = v / (1 - b2**t); `amsgrad` takes the largest v so far. Weight
    decay is added to the gradient, or, if `decoupled_weight_decay`, shrinks the parameter.
    `foreach`, `capturable` and `fused` are taken as hints that change nothing. ValueError for
    options out of range.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if foreach and not capturable:
            for name, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
                if isinstance(value, Tensor):
                    raise ValueError(
                        f"{name} as a Tensor is not supported for capturable=False and "
                        "foreach=True"
                    )
        require_rate(lr)
        require(eps >= 0, "epsilon value", eps)
        require_betas(betas)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        check_hints(differentiable, fused, foreach)
        options = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=decoupled_weight_decay,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        beta1, beta2 = map(number, group["betas"])
        lr, weight_decay = group["lr"], group["weight_decay"]
        step = step_as_ops(group, "adam_rule")
        if step is None:
            step, lr, weight_decay = ops.adam_step_, number(lr), number(weight_decay)
        names = ("exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else []))
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self._state_of(param, *names)
            step(
                param,
                param.grad,
                state["exp_avg"],
                state["exp_avg_sq"],
                state["max_exp_avg_sq"] if group["amsgrad"] else None,
                state["step"],
                lr,
                beta1,
                beta2,
                group["eps"],
                weight_decay,
                group["maximize"],
                group["decoupled_weight_decay"],
            )


class AdamW(Adam):
    """Adam with decoupled weight decay: p -= lr * weight_decay * p before each step."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
