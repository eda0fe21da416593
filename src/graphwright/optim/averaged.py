"""ASGD (Polyak & Juditsky, 1992) and Rprop (Riedmiller & Braun, 1993).

Both take `foreach` and `capturable` as hints that change nothing, record their steps for
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
    require_rate,
)
from graphwright.runtime.ops import functions as ops


class ASGD(Optimizer):
    """p = (1 - lambd*eta)*p - eta*g, and from step `t0` on the mean of p in state["ax"].

    eta = lr / (1 + lambd*lr*t)**alpha.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        require_rate(lr)
        require(weight_decay >= 0, "weight_decay value", weight_decay)
        check_hints(differentiable)
        options = dict(
            lr=lr,
            lambd=lambd,
            alpha=alpha,
            t0=t0,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        lr = number(group["lr"])
        for param in group["params"]:
            if param.grad is None:
                continue
            if not self.state[param]:
                self.state[param] = {
                    "step": ops.zeros((), dtype=_scalar_dtype()),
                    "eta": ops.full((), lr, dtype=_scalar_dtype()),
                    "mu": ops.ones((), dtype=_scalar_dtype()),
                    "ax": ops.zeros_like(param.detach()),
                }
            state = self.state[param]
            ops.asgd_step_(
                param,
                param.grad,
                state["step"],
                state["ax"],
                state["eta"],
                state["mu"],
                lr,
                group["lambd"],
                group["alpha"],
                group["t0"],
                group["weight_decay"],
                group["maximize"],
            )


class Rprop(Optimizer):
    """p -= sign(g) * s, where s grows while g keeps its sign and shrinks when it changes.

    `etas` are the factors of shrinking and growing, `step_sizes` the bounds of s.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_rate(lr)
        require(0 < etas[0] < 1 < etas[1], "eta values", f"{etas[0]}, {etas[1]}")
        check_hints(differentiable)
        options = dict(
            lr=lr,
            etas=etas,
            step_sizes=step_sizes,
            foreach=foreach,
            maximize=maximize,
            differentiable=differentiable,
            capturable=capturable,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        (shrink, grow), (smallest, largest) = group["etas"], group["step_sizes"]
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self._state_of(param, "prev")
            if "step_size" not in state:
                size: Any = number(group["lr"])
                size = complex(size, size) if param.dtype.is_complex else size
                state["step_size"] = ops.full_like(param.detach(), size)
            ops.rprop_step_(
                param,
                param.grad,
                state["step"],
                state["prev"],
                state["step_size"],
                shrink,
                grow,
                smallest,
                largest,
                group["maximize"],
            )
