"""Adam (Kingma & Ba, 2015), AMSGrad (Reddi et al., 2018), AdamW (Loshchilov & Hutter, 2019)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.runtime.dtypes import float32
from graphwright.runtime.ops import _face as ops
from graphwright.runtime.optim.optimizer import Group, Optimizer, require
from graphwright.runtime.tensor import Tensor


class Adam(Optimizer):
    """m = b1*m + (1-b1)*g; v = b2*v + (1-b2)*g*g; p -= lr * m' / (sqrt(v') + eps).

    m' = m / (1 - b1**t), v' = v / (1 - b2**t); `amsgrad` takes the largest v so far. Weight
    decay is added to the gradient, or, if `decoupled_weight_decay`, shrinks the parameter.
    ValueError for options out of range.
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
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
    ) -> None:
        require(lr >= 0, "learning rate", lr)
        require(eps >= 0, "epsilon value", eps)
        require(0 <= betas[0] < 1, "beta parameter at index 0", betas[0])
        require(0 <= betas[1] < 1, "beta parameter at index 1", betas[1])
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        options = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            amsgrad=amsgrad,
            maximize=maximize,
            decoupled_weight_decay=decoupled_weight_decay,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        beta1, beta2 = group["betas"]
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self.state[param] or self._start(param, group["amsgrad"])
            ops.adam_step_(
                param,
                param.grad,
                state["exp_avg"],
                state["exp_avg_sq"],
                state.get("max_exp_avg_sq"),
                state["step"],
                group["lr"],
                beta1,
                beta2,
                group["eps"],
                group["weight_decay"],
                group["maximize"],
                group["decoupled_weight_decay"],
            )

    def _start(self, param: Tensor, amsgrad: bool) -> dict[str, Any]:
        state = self.state[param]
        values = param.detach()
        state["step"] = ops.zeros((), dtype=float32)
        state["exp_avg"] = ops.zeros_like(values)
        state["exp_avg_sq"] = ops.zeros_like(values)
        if amsgrad:
            state["max_exp_avg_sq"] = ops.zeros_like(values)
        return state


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
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            decoupled_weight_decay=True,
        )
