"""Relatives of Adam: Adamax, NAdam, RAdam, RMSprop, Adagrad, Adadelta.

All take `foreach`, `capturable` and `fused` as hints that change nothing, record their steps for
autograd if `differentiable`, and raise ValueError for options out of range.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.optim.optimizer import (
    Group,
    Optimizer,
    _scalar_dtype,
    check_hints,
    number,
    require,
    require_betas,
    require_rate,
)
from graphwright.runtime.ops import functions as ops


def _require(lr: Any, eps: float, weight_decay: float, betas: Any = (0.0, 0.0)) -> None:
    require_rate(lr)
    require(eps >= 0, "epsilon value", eps)
    require_betas(betas)
    require(weight_decay >= 0, "weight_decay value", weight_decay)


class Adamax(Optimizer):
    """m = b1*m + (1-b1)*g; u = max(b2*u, |g| + eps); p -= lr / (1 - b1**t) * m / u.

    Kingma & Ba, 2015, section 7.1.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        _require(lr, eps, weight_decay, betas)
        check_hints(differentiable)
        options = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        lr, (beta1, beta2) = number(group["lr"]), group["betas"]
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self._state_of(param, "exp_avg", "exp_inf")
            ops.adamax_step_(
                param,
                param.grad,
                state["step"],
                state["exp_avg"],
                state["exp_inf"],
                lr,
                beta1,
                beta2,
                group["eps"],
                group["weight_decay"],
                group["maximize"],
            )


class NAdam(Optimizer):
    """Adam with Nesterov's momentum under a schedule mu(t) = b1*(1 - 0.5*0.96**(t*psi)).

    psi is `momentum_decay`. Dozat, 2016: https://openreview.net/forum?id=OM0jvwB8jIp57ZJjtNEZ
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _require(lr, eps, weight_decay, betas)
        require(momentum_decay >= 0, "momentum_decay value", momentum_decay)
        check_hints(differentiable)
        options = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        lr, (beta1, beta2) = number(group["lr"]), group["betas"]
        for param in group["params"]:
            if param.grad is None:
                continue
            if not self.state[param]:
                self.state[param] = {
                    "step": ops.zeros((), dtype=_scalar_dtype()),
                    "mu_product": ops.ones((), dtype=_scalar_dtype()),
                    "exp_avg": ops.zeros_like(param.detach()),
                    "exp_avg_sq": ops.zeros_like(param.detach()),
                }
            state = self.state[param]
            ops.nadam_step_(
                param,
                param.grad,
                state["step"],
                state["exp_avg"],
                state["exp_avg_sq"],
                state["mu_product"],
                lr,
                beta1,
                beta2,
                group["eps"],
                group["weight_decay"],
                group["momentum_decay"],
                group["decoupled_weight_decay"],
                group["maximize"],
            )


class RAdam(Optimizer):
    """Adam whose adaptive step is rectified, and left out while its variance is unknown.

    Liu et al., 2020: https://arxiv.org/abs/1908.03265
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _require(lr, eps, weight_decay, betas)
        check_hints(differentiable)
        options = dict(
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            decoupled_weight_decay=decoupled_weight_decay,
            differentiable=differentiable,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        lr, (beta1, beta2) = number(group["lr"]), group["betas"]
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self._state_of(param, "exp_avg", "exp_avg_sq")
            ops.radam_step_(
                param,
                param.grad,
                state["step"],
                state["exp_avg"],
                state["exp_avg_sq"],
                lr,
                beta1,
                beta2,
                group["eps"],
                group["weight_decay"],
                group["decoupled_weight_decay"],
                group["maximize"],
            )


class RMSprop(Optimizer):
    """v = alpha*v + (1-alpha)*g*g; p -= lr * g / (sqrt(v) + eps).

    `centered` subtracts the square of the mean gradient from v (Graves, 2013); `momentum`
    keeps a buffer of the steps.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _require(lr, eps, weight_decay)
        require(momentum >= 0, "momentum value", momentum)
        require(alpha >= 0, "alpha value", alpha)
        check_hints(differentiable)
        options = dict(
            lr=lr,
            momentum=momentum,
            alpha=alpha,
            eps=eps,
            centered=centered,
            weight_decay=weight_decay,
            capturable=capturable,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        lr = number(group["lr"])
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self._state_of(param, *names)
            ops.rmsprop_step_(
                param,
                param.grad,
                state["step"],
                state["square_avg"],
                state["momentum_buffer"] if group["momentum"] > 0 else None,
                state["grad_avg"] if group["centered"] else None,
                lr,
                group["alpha"],
                group["eps"],
                group["weight_decay"],
                group["momentum"],
                group["maximize"],
            )


class Adagrad(Optimizer):
    """s += g*g; p -= lr / (1 + (t-1)*lr_decay) * g / (sqrt(s) + eps).

    Duchi et al., 2011. The state is made at once, s of `initial_accumulator_value`.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _require(lr, eps, weight_decay)
        require(lr_decay >= 0, "lr_decay value", lr_decay)
        start = initial_accumulator_value
        require(start >= 0, "initial_accumulator_value value", start)
        check_hints(differentiable, fused, foreach)
        options = dict(
            lr=lr,
            lr_decay=lr_decay,
            eps=eps,
            weight_decay=weight_decay,
            initial_accumulator_value=start,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            fused=fused,
        )
        super().__init__(params, options)

    def add_param_group(self, param_group: Group) -> None:
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        for param in group["params"]:
            self._sum_of(param, group)

    def _sum_of(self, param: Any, group: Group) -> dict[str, Any]:
        """The state of `param`; made here if it has none."""
        state = self.state[param]
        if not state:
            state["step"] = ops.zeros((), dtype=_scalar_dtype())
            start = group["initial_accumulator_value"]
            start = complex(start, start) if param.dtype.is_complex else start
            state["sum"] = ops.full_like(param.detach(), start)
        return state

    def _update(self, group: Group) -> None:
        lr = number(group["lr"])
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self._sum_of(param, group)
            ops.adagrad_step_(
                param,
                param.grad,
                state["step"],
                state["sum"],
                lr,
                group["lr_decay"],
                group["eps"],
                group["weight_decay"],
                group["maximize"],
            )


class Adadelta(Optimizer):
    """v = rho*v + (1-rho)*g*g; d = sqrt(a + eps) / sqrt(v + eps) * g; p -= lr * d.

    a is the running mean of d*d. Zeiler, 2012: https://arxiv.org/abs/1212.5701
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_rate(lr)
        require(0 <= rho <= 1, "rho value", rho)
        _require(lr, eps, weight_decay)
        check_hints(differentiable)
        options = dict(
            lr=lr,
            rho=rho,
            eps=eps,
            weight_decay=weight_decay,
            maximize=maximize,
            capturable=capturable,
            foreach=foreach,
            differentiable=differentiable,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        lr = number(group["lr"])
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self._state_of(param, "square_avg", "acc_delta")
            ops.adadelta_step_(
                param,
                param.grad,
                state["step"],
                state["square_avg"],
                state["acc_delta"],
                lr,
                group["rho"],
                group["eps"],
                group["weight_decay"],
                group["maximize"],
            )
