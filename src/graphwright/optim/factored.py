"""Optimisers of matrices: Adafactor, whose state is rows and columns, and Muon."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from graphwright.optim.optimizer import Group, Optimizer, number
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor


def _require_rate(lr: Any) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if lr < 0:
        raise ValueError(f"Learning rate should be >= 0 but is: {lr}")


def _require(holds: bool, text: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{text} but is: {value}")


class Adafactor(Optimizer):
    """g scaled by estimates of its square from the means of rows and columns of g**2.

    The last two dims are rows and columns; tensors of fewer dims keep all of g**2. Estimates
    move by t**beta2_decay; the step is lr (at most 1/sqrt(t)) times the parameter's root mean
    square, at least eps[1], and the update's root mean square is at most `d`. eps[0] is the
    dtype's precision where it is None. Shazeer & Stern, 2018.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        _require_rate(lr)
        _require(beta2_decay <= 0, "beta2_decay should be <= 0", beta2_decay)
        _require(eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0", eps[0])
        _require(eps[1] >= 0, "epsilon2 should be >= 0", eps[1])
        _require(d >= 1, "Clipping threshold d should be >= 1", d)
        _require(weight_decay >= 0, "weight_decay should be >= 0", weight_decay)
        options = dict(
            lr=lr,
            beta2_decay=beta2_decay,
            eps=eps,
            d=d,
            weight_decay=weight_decay,
            foreach=foreach,
            maximize=maximize,
        )
        super().__init__(params, options)

    def _update(self, group: Group) -> None:
        for param in group["params"]:
            if param.grad is not None:
                grad = -param.grad if group["maximize"] else param.grad
                self._move(group, param, grad)

    def _move(self, group: Group, param: Tensor, grad: Tensor) -> None:
        lr, (first, second) = number(group["lr"]), group["eps"]
        small = finfo(param.dtype).eps if first is None else first
        state = self._state(param, grad)
        state["step"].add_(1)
        count = state["step"].item()
        size = float(ops.linalg_norm(param.detach())) / math.sqrt(max(param.numel(), 1))
        rate = max(second, size) * min(lr, 1 / math.sqrt(count))
        if group["weight_decay"]:
            param.mul_(1 - lr * group["weight_decay"])
        squares = _estimate(state, grad, count ** group["beta2_decay"], small)
        update = squares.clamp_min_(small * small).rsqrt_().mul_(grad)
        length = float(ops.linalg_norm(update)) / (math.sqrt(max(update.numel(), 1)) * group["d"])
        param.add_(update, alpha=-rate / max(1.0, length))

    def _state(self, param: Tensor, grad: Tensor) -> dict[str, Any]:
        fresh = not self.state[param]
        if grad.ndim < 2:
            return self._state_of(param, "variance")
        state = self._state_of(param)
        if fresh:
            state["row_var"] = ops.zeros_like(grad[..., :1])
            state["col_var"] = ops.zeros_like(grad[..., :1, :])
        return state


def _estimate(state: dict[str, Any], grad: Tensor, weight: float, small: float) -> Tensor:
    """Of g**2: kept whole, or the product of its rows' and columns' means over their mean."""
    if grad.ndim < 2:
        state["variance"].lerp_(grad * grad, weight)
        return state["variance"].clone()
    rows, columns = state["row_var"], state["col_var"]
    for kept, dim in ((rows, -1), (columns, -2)):
        kept.lerp_(grad.square().mean(dim, keepdim=True), weight)
    scale = rows.mean(-2, keepdim=True).clamp_min(small)
    return ops.matmul(rows, columns).div_(scale)


class Muon(Optimizer):
    """Momentum whose matrix is made orthogonal by some steps of Newton and Schulz.

    For parameters of two dims only (ValueError for others). Jordan et al., 2024:
    https://kellerjordan.github.io/posts/muon/. `adjust_lr_fn`: "original" scales lr by
    sqrt(max(1, rows/columns)), "match_rms_adamw" by 0.2 sqrt(max(rows, columns)).
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        _require_rate(lr)
        _require(momentum >= 0, "momentum should be >= 0", momentum)
        _require(weight_decay >= 0, "weight decay should be >= 0", weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        options = dict(
            lr=lr,
            weight_decay=weight_decay,
            momentum=momentum,
            nesterov=nesterov,
            ns_coefficients=ns_coefficients,
            eps=eps,
            ns_steps=ns_steps,
            adjust_lr_fn=adjust_lr_fn,
        )
        super().__init__(params, options)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with "
                        f"size: {param.size()}"
                    )

    def _update(self, group: Group) -> None:
        lr, momentum = number(group["lr"]), group["momentum"]
        for param in group["params"]:
            if param.grad is None:
                continue
            state = self.state[param]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = ops.zeros_like(param.grad)
            buffer = state["momentum_buffer"]
            buffer.lerp_(param.grad, 1 - momentum)
            update = param.grad.lerp(buffer, momentum) if group["nesterov"] else buffer
            update = _orthogonal(
                update, group["ns_coefficients"], group["ns_steps"], group["eps"]
            )
            param.mul_(1 - lr * group["weight_decay"])
            param.add_(update, alpha=-lr * _ratio(group["adjust_lr_fn"], *param.shape))


def _orthogonal(
    matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Tensor:
    """About U V^H of a matrix U S V^H, in bfloat16: X <- a X + (b G + c G G) X with G = X X^T."""
    a, b, c = coefficients
    X = matrix.to(dtypes.bfloat16)
    tall = X.shape[0] > X.shape[1]
    if tall:
        X = X.T
    X = X / ops.linalg_norm(X).clamp_min(eps)
    for _ in range(steps):
        gram = ops.matmul(X, X.T)
        X = ops.addmm(X, ops.addmm(gram, gram, gram, beta=b, alpha=c), X, beta=a)
    return X.T if tall else X


def _ratio(kind: str | None, rows: int, columns: int) -> float:
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
