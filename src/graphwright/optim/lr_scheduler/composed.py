"""Schedules made of others, and the one that watches a metric."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from graphwright.optim.lr_scheduler.base import (
    LRScheduler,
    checked_optimizer,
    present_rates,
    set_option,
)
from graphwright.optim.optimizer import Optimizer


class _OfOthers(LRScheduler):
    """Keeps `_schedulers` of one optimiser; their states are saved with its own."""

    _schedulers: list[Any]

    def _check_schedulers(self, schedulers: Sequence[Any], optimizer: Optimizer | None) -> Any:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler, but got no scheduler."
            )
        found = optimizer or schedulers[0].optimizer
        for index, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{type(self).__name__} at index {index} should have `optimizer` as its "
                    "attribute."
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{type(self).__name__} does not support `ReduceLROnPlateau` scheduler as "
                    "it requires additional kwargs to be specified when calling `step`, but got "
                    f"one at index {index} in the given schedulers sequence."
                )
            if scheduler.optimizer is not found:
                raise ValueError(
                    f"{type(self).__name__} expects all schedulers to belong to the same "
                    f"optimizer, but got scheduler {type(scheduler).__name__} at index {index} "
                    f"has {scheduler.optimizer}, which is different from "
                    f"{type(found).__name__}."
                )
        return found

    def state_dict(self) -> dict[str, Any]:
        """The attributes, and under "_schedulers" the states of the parts."""
        parts = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": parts}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict()` gave."""
        rest = dict(state_dict)
        for scheduler, part in zip(self._schedulers, rest.pop("_schedulers"), strict=True):
            scheduler.load_state_dict(part)
        super().load_state_dict(rest)


class SequentialLR(_OfOthers):
    """The schedules one after another; the next one starts at each of `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        self._check_schedulers(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers "
                f"{len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self.optimizer = optimizer
        self._schedulers, self._milestones = list(schedulers), milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            set_option(group, "lr", group["initial_lr"])
        _undo(self)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go to the next epoch and set the rates."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            start_anew(scheduler)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def _start_anew(self) -> None:
        self.last_epoch = 0
        start_anew(self._schedulers[0])
        self._last_lr = self._schedulers[0].get_last_lr()


def _undo(scheduler: LRScheduler) -> None:
    """Take back the first steps that all parts have made when they were constructed."""
    for part in getattr(scheduler, "_schedulers", ()):
        _undo(part)
    if not hasattr(scheduler, "_schedulers"):
        scheduler.last_epoch -= 1


def start_anew(scheduler: LRScheduler) -> None:
    """Set the rates of epoch 0, which is no step."""
    if isinstance(scheduler, SequentialLR | ChainedScheduler):
        scheduler._start_anew()
    elif type(scheduler).step is not LRScheduler.step:
        scheduler.step(0)
    else:
        scheduler.last_epoch = 0
        scheduler._set(scheduler._at_epoch())


class ChainedScheduler(_OfOthers):
    """All schedules at every step, each from the rates that the one before has set."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self.optimizer = self._check_schedulers(schedulers, optimizer)
        self._schedulers = list(schedulers)
        self._last_lr = present_rates(self.optimizer)

    def step(self) -> None:  # type: ignore[override]
        """Step all."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = present_rates(self.optimizer)

    def _start_anew(self) -> None:
        for scheduler in self._schedulers:
            start_anew(scheduler)
        self._last_lr = present_rates(self.optimizer)


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` when a metric has not improved for more than `patience` steps.

    `mode`: "min" or "max"; it must improve by `threshold`, "rel" or "abs" (`threshold_mode`).
    After a reduction `cooldown` steps are not counted. Rates stay above `min_lr`, and changes
    below `eps` are left out. `step(metrics)` takes a number or a one-element tensor.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer = checked_optimizer(optimizer)
        count = len(optimizer.param_groups)
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * count
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = present_rates(optimizer)
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether steps are not counted now."""
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the metric of an epoch into account."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = present_rates(self.optimizer)

    def _is_better(self, value: float, best: float) -> bool:
        if self.threshold_mode == "rel":
            sign = -1 if self.mode == "min" else 1
            bound = best * (1.0 + sign * self.threshold)
        else:
            bound = best - self.threshold if self.mode == "min" else best + self.threshold
        return value < bound if self.mode == "min" else value > bound

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    "The number of param groups in the `optimizer` "
                    f"({len(groups)}) differs from when `ReduceLROnPlateau` was initialized "
                    f"({len(self.min_lrs)}), usually due to a new param group being added to "
                    "the optimizer. Please modify the `min_lrs` field to match the length of "
                    "the `optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)
