"""`LRScheduler`: what all schedules share."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from graphwright.optim.optimizer import Group, Optimizer
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class LRScheduler:
    """Base class. `step()` after each epoch (or batch) sets the groups' learning rates.

    Subclasses define `get_lr()`, the rates at `last_epoch`, usually from the present ones, so
    that schedules can be chained; `_get_closed_form_lr`, where defined, serves `step(epoch)`.
    `last_epoch` other than -1 resumes: every group must have "initial_lr" then (KeyError).
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked_optimizer(optimizer)
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                lr = group["lr"]
                group.setdefault("initial_lr", ops.clone(lr) if isinstance(lr, Tensor) else lr)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when "
                    "resuming an optimizer"
                )
        self.base_lrs: list[Any] = [
            _copied(group["initial_lr"]) for group in optimizer.param_groups
        ]
        self.last_epoch = last_epoch
        self._is_initial = False
        self._get_lr_called_within_step = False
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The rate of each group at `last_epoch`."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to `epoch`, and set the rates."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. Call them in "
                "the opposite order: otherwise the first value of the learning rate schedule is "
                "skipped.",
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            values = self._rates_of_step()
        else:
            warnings.warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated where possible. Please use `scheduler.step()` to step the scheduler.",
                stacklevel=2,
            )
            self.last_epoch = epoch
            values = self._at_epoch()
        self._set(values)

    def _rates_of_step(self) -> list[Any]:
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _at_epoch(self) -> list[Any]:
        closed = getattr(self, "_get_closed_form_lr", None)
        return self._rates_of_step() if closed is None else closed()

    def _set(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_option(group, "lr", value)
        self._last_lr = present_rates(self.optimizer)

    def _rates(self, factor: float = 1.0) -> list[Any]:
        """The present rates times `factor`."""
        rates = [group["lr"] for group in self.optimizer.param_groups]
        return [_copied(lr) if factor == 1.0 else lr * factor for lr in rates]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict()` gave."""
        self.__dict__.update(state_dict)


def warn_outside_of_step(schedule: LRScheduler) -> None:
    """For `get_lr`, which continues from the present rates: it is right within `step` only."""
    if not schedule._get_lr_called_within_step:
        warnings.warn(
            "To get the last learning rate computed by the scheduler, please use "
            "`get_last_lr()`.",
            stacklevel=3,
        )


def checked_optimizer(optimizer: Any) -> Optimizer:
    """TypeError unless `optimizer` is an Optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def set_option(group: Group, name: str, value: Any) -> None:
    """Set an option; one that is a tensor is written in place."""
    if isinstance(group[name], Tensor):
        ops.fill_(group[name], value.item() if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def present_rates(optimizer: Optimizer) -> list[Any]:
    """The rate of each group; of one that is a tensor, which steps write in place, a copy."""
    return [_copied(group["lr"]) for group in optimizer.param_groups]


def _copied(value: Any) -> Any:
    return ops.clone(value) if isinstance(value, Tensor) else value


def per_group(optimizer: Optimizer, name: str, value: Any) -> list[Any]:
    """One value for every group, or a list of one for each (ValueError otherwise)."""
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return list(value)


def packed_functions(functions: list[Any]) -> list[dict[str, Any] | None]:
    """What can be saved of callables: the attributes of objects, None for functions."""
    return [None if isinstance(f, FunctionType) else dict(f.__dict__) for f in functions]


def unpack_functions(functions: list[Any], packed: list[Any]) -> None:
    """Restore what `packed_functions` kept."""
    for function, attributes in zip(functions, packed, strict=True):
        if attributes is not None:
            function.__dict__.update(attributes)
