"""Schedules in cycles: warm restarts, triangles, one cycle."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from graphwright.optim.lr_scheduler.base import (
    LRScheduler,
    checked_optimizer,
    packed_functions,
    per_group,
    set_option,
    unpack_functions,
    warn_outside_of_step,
)
from graphwright.optim.optimizer import Group, Optimizer


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial rate to `eta_min`, again and again.

    The first takes `T_0` epochs, each further one `T_mult` times the one before. `step(epoch)`
    may be given fractions of epochs. Loshchilov & Hutter, 2017: https://arxiv.org/abs/1608.03983
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        part = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (lr - self.eta_min) * part for lr in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to `epoch` (ValueError below 0), and set the rates."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._find_cycle(epoch)
        self.last_epoch = math.floor(epoch)
        self._set(self._rates_of_step())

    def _find_cycle(self, epoch: float) -> None:
        self.T_i, self.T_cur = self.T_0, epoch
        if epoch < self.T_0:
            return
        if self.T_mult == 1:
            self.T_cur = epoch % self.T_0
            return
        n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
        self.T_i = self.T_0 * self.T_mult**n


class _WithMomentum(LRScheduler):
    """Cycles momentum, or the first beta, against the rate."""

    use_beta1 = False
    cycle_momentum = False

    def _check_momentum(self, optimizer: Optimizer) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in optimizer.defaults

    def _set_momentum(self, group: Group, value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """Linearly from `base_lr` to `max_lr` in `step_size_up` steps and back, again and again.

    `mode`: "triangular", "triangular2" (the amplitude halves every cycle), "exp_range" (it is
    gamma**step), or `scale_fn` of the cycle or the iteration (`scale_mode`).
    Smith, 2017: https://arxiv.org/abs/1506.01186
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        checked_optimizer(optimizer)
        base_lrs = per_group(optimizer, "base_lr", base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_option(group, "lr", lr)
        self.max_lrs = per_group(optimizer, "max_lr", max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            self.base_momentums = per_group(optimizer, "base_momentum", base_momentum)
            self.max_momentums = per_group(optimizer, "max_momentum", max_momentum)
            if last_epoch == -1:
                self._start_momentum(optimizer)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _start_momentum(self, optimizer: Optimizer) -> None:
        pairs = zip(self.max_momentums, self.base_momentums, strict=True)
        for (largest, base), group in zip(pairs, optimizer.param_groups, strict=True):
            self._set_momentum(group, largest)
            group["max_momentum"], group["base_momentum"] = largest, base

    def scale_fn(self, x: float) -> float:
        """The amplitude at cycle or iteration `x`."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        position = 1 + self.last_epoch / self.total_size
        cycle = math.floor(position)
        x = position - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            moments = zip(self.base_momentums, self.max_momentums, strict=True)
            groups = self.optimizer.param_groups
            for (base, largest), group in zip(moments, groups, strict=True):
                self._set_momentum(group, largest - (largest - base) * height)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [base + (largest - base) * height for base, largest in pairs]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser; of a custom `scale_fn`, only an object's."""
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None if custom is None else packed_functions([custom])[0]
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict()` gave; a `scale_fn` that is a function stays."""
        rest = dict(state_dict)
        attributes = rest.pop("_scale_fn_custom")
        if attributes is not None:
            unpack_functions([self._scale_fn_custom], [attributes])
        super().load_state_dict(rest)


class OneCycleLR(_WithMomentum):
    """From max_lr/div_factor up to `max_lr`, then down to 1/final_div_factor of the start.

    The rise takes `pct_start` of all steps: `total_steps`, or epochs * steps_per_epoch. With
    `three_phase` the fall first mirrors the rise. Momentum goes the other way between
    `base_momentum` and `max_momentum`. Stepping further raises ValueError.
    Smith & Topin, 2018: https://arxiv.org/abs/1708.07120
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        checked_optimizer(optimizer)
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        largest = per_group(optimizer, "max_lr", max_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, largest, strict=True):
                group["initial_lr"] = lr / div_factor
                group["max_lr"] = lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._check_momentum(optimizer)
            bases = per_group(optimizer, "base_momentum", base_momentum)
            tops = per_group(optimizer, "max_momentum", max_momentum)
            if last_epoch == -1:
                for base, top, group in zip(bases, tops, optimizer.param_groups, strict=True):
                    self._set_momentum(group, top)
                    group["max_momentum"], group["base_momentum"] = top, base
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, part: float) -> Any:
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self) -> list[Any]:
        warn_outside_of_step(self)
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        begin = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            begin = end
        part = (step - begin) / (end - begin)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(
                self._between(group[phase["start_lr"]], group[phase["end_lr"]], part)
            )
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(*ends, part))
        return rates


def _total_steps(
    total_steps: int | None, epochs: int | None, steps_per_epoch: int | None
) -> int:
    named = {"total_steps": total_steps}
    if total_steps is None:
        named = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
        if epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    total = 1
    for name, value in named.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
        total *= value
    return total


def _phases(total: int, share: float, three: bool) -> list[dict[str, Any]]:
    """Last step, rates and momenta of each phase, by the groups' names for them."""
    rise = float(share * total) - 1
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    rows: list[tuple[Any, ...]] = [
        (rise, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    ]
    if three:
        mirrored = float(2 * share * total) - 2
        rows.append((mirrored, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        rows.append((total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        rows.append((total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    return [dict(zip(names, row, strict=True)) for row in rows]
