"""L-BFGS (Nocedal & Wright, Numerical Optimization, 2nd ed., algorithms 7.4, 3.5 and 3.6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from graphwright.autograd.grad_mode import enable_grad, no_grad
from graphwright.optim.optimizer import Optimizer, number, require_rate
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.optim.sgd_adam import real_pairs

Objective = Callable[[float], tuple[float, Any, float]]


def _dot(a: Any, b: Any) -> float:
    return float(ops.dot(a, b).item())


def _largest(x: Any) -> float:
    return float(ops.amax(ops.abs(x)).item())


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last `history_size` pairs of steps and gradient changes.

    `step(closure)` makes up to `max_iter` iterations with at most `max_eval` evaluations
    (default 1.25 * max_iter), and ends early where the gradient is within `tolerance_grad` or
    the progress within `tolerance_change`. `line_search_fn`: None (steps of `lr`) or
    "strong_wolfe". One parameter group only (ValueError).
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        require_rate(lr)
        options = dict(
            lr=lr,
            max_iter=max_iter,
            max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad,
            tolerance_change=tolerance_change,
            history_size=history_size,
            line_search_fn=line_search_fn,
        )
        super().__init__(params, options)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups)"
            )
        self._params = self.param_groups[0]["params"]

    def _flat_grad(self) -> Any:
        grads = [ops.zeros_like(p) if p.grad is None else p.grad for p in self._params]
        return ops.cat([ops.reshape(grad, (-1,)) for grad in real_pairs(*grads)], 0)

    def _move(self, size: float, direction: Any) -> None:
        """Every parameter += size * its part of `direction`."""
        offset = 0
        for param in real_pairs(*self._params):
            count = param.numel()
            part = direction[offset : offset + count].view(param.shape)
            ops.add_(param, part, alpha=size)
            offset += count

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimise; returns the first value of `closure`, which is required (TypeError)."""
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that computes the loss anew")
        with no_grad():
            return self._minimise(closure)

    def _evaluate(self, closure: Callable[[], Any]) -> Any:
        with enable_grad():
            return closure()

    def _minimise(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = self._evaluate(closure)
        loss, evals = float(first_loss), 1
        state["func_evals"] += 1
        gradient = self._flat_grad()
        if _largest(gradient) <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, gradient)
            previous_loss = loss
            state["prev_flat_grad"], state["prev_loss"] = ops.clone(gradient), loss
            size = number(group["lr"])
            if state["n_iter"] == 1:
                size *= min(1.0, 1.0 / float(ops.sum(ops.abs(gradient)).item()))
            slope = _dot(gradient, direction)
            state["t"] = size
            if slope > -group["tolerance_change"]:
                break
            last = iteration == group["max_iter"]
            if group["line_search_fn"] is not None:
                loss, gradient, size, used = self._search(
                    closure, size, direction, loss, gradient, slope
                )
            else:
                self._move(size, direction)
                used = 0
                if not last:
                    loss, used = float(self._evaluate(closure)), 1
                    gradient = self._flat_grad()
            state["t"] = size
            evals += used
            state["func_evals"] += used
            if (
                last
                or evals >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(direction * size) <= group["tolerance_change"]
                or abs(loss - previous_loss) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _direction(self, state: dict[str, Any], gradient: Any) -> Any:
        """The two-loop recursion; the newest pair is added to the history first."""
        if state["n_iter"] == 1:
            state.update(d=ops.neg(gradient), old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return state["d"]
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change = gradient - state["prev_flat_grad"]
        moved = state["d"] * number(state["t"])
        curvature = _dot(change, moved)
        if curvature > 1e-10:
            if len(changes) == self.param_groups[0]["history_size"]:
                for history in (changes, steps, inverses):
                    history.pop(0)
            changes.append(change)
            steps.append(moved)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / _dot(change, change)
        d = ops.neg(gradient)
        weights = state.setdefault("al", [None] * self.param_groups[0]["history_size"])
        for i in reversed(range(len(changes))):
            weights[i] = _dot(steps[i], d) * number(inverses[i])
            ops.add_(d, changes[i], alpha=-weights[i])
        d = d * number(state["H_diag"])
        for i in range(len(changes)):
            weight = _dot(changes[i], d) * number(inverses[i])
            ops.add_(d, steps[i], alpha=weights[i] - weight)
        state["d"] = d
        return d

    def _search(
        self,
        closure: Callable[[], Any],
        size: float,
        direction: Any,
        loss: float,
        gradient: Any,
        slope: float,
    ) -> tuple[float, Any, float, int]:
        group = self.param_groups[0]
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        start = [ops.clone(param) for param in self._params]

        def restore() -> None:
            for param, value in zip(self._params, start, strict=True):
                ops.copy_(param, value)

        def objective(t: float) -> tuple[float, Any, float]:
            self._move(t, direction)
            value = float(self._evaluate(closure))
            grad = self._flat_grad()
            restore()
            return value, grad, _dot(grad, direction)

        begin = (0.0, loss, gradient, slope)
        tolerance = group["tolerance_change"] / max(_largest(direction), math.ulp(0.0))
        (t, value, grad, _), used = strong_wolfe(objective, size, begin, tolerance)
        self._move(t, direction)
        return value, grad, t, used


Point = tuple[float, float, Any, float]
"""Step size, value, gradient, slope along the direction."""


def strong_wolfe(
    objective: Objective,
    size: float,
    begin: Point,
    tolerance: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    limit: int = 25,
) -> tuple[Point, int]:
    """A step that satisfies the strong Wolfe conditions, and the number of evaluations.

    `begin` is the point at step 0. A bracket narrower than `tolerance` is not narrowed.
    """
    _, value, _, slope = begin

    def at(t: float) -> Point:
        return (t, *objective(t))

    def too_high(point: Point) -> bool:
        return point[1] > value + c1 * point[0] * slope

    def flat(point: Point) -> bool:
        return abs(point[3]) <= -c2 * slope

    previous, current = begin, at(size)
    used = 1
    bracket = None
    for iteration in range(limit):
        if too_high(current) or (iteration > 1 and current[1] >= previous[1]):
            bracket = [previous, current]
        elif flat(current):
            return current, used
        elif current[3] >= 0:
            bracket = [previous, current]
        if bracket is not None:
            break
        t = current[0]
        bounds = (t + 0.01 * (t - previous[0]), t * 10)
        previous, current = current, at(cubic_minimum(previous, current, bounds))
        used += 1
    if bracket is None:
        return (begin if begin[1] <= current[1] else current), used
    return _zoom(at, bracket, too_high, flat, tolerance, used, limit)


def _zoom(
    at: Callable[[float], Point],
    bracket: list[Point],
    too_high: Callable[[Point], bool],
    flat: Callable[[Point], bool],
    tolerance: float,
    used: int,
    limit: int,
) -> tuple[Point, int]:
    """Narrow `bracket` until a point satisfies the conditions."""
    low = 0 if bracket[0][1] <= bracket[1][1] else 1
    stuck = False
    for _ in range(limit - used + 1):
        first, last = sorted((bracket[0][0], bracket[1][0]))
        if last - first < tolerance:
            break
        t = cubic_minimum(bracket[0], bracket[1])
        margin = 0.1 * (last - first)
        near = min(last - t, t - first) < margin
        if near and (stuck or t >= last or t <= first):
            t = last - margin if abs(t - last) < abs(t - first) else first + margin
            near = False
        stuck = near
        point = at(t)
        used += 1
        if too_high(point) or point[1] >= bracket[low][1]:
            bracket[1 - low] = point
            low = 0 if bracket[0][1] <= bracket[1][1] else 1
            continue
        if flat(point):
            return point, used
        if point[3] * (bracket[1 - low][0] - bracket[low][0]) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = point
    return bracket[low], used


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic through two points with their slopes is least, within the bounds."""
    if b[0] < a[0]:
        a, b = b, a
    (x1, f1, _, g1), (x2, f2, _, g2) = a, b
    lowest, highest = (x1, x2) if bounds is None else bounds
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (lowest + highest) / 2
    d2 = math.sqrt(square)
    x = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    return min(max(x, lowest), highest)
