"""Averages of a model's weights over training, after `torch.optim.swa_utils`."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any

from graphwright.autograd.grad_mode import no_grad
from graphwright.nn.module import Module
from graphwright.optim.lr_scheduler.base import LRScheduler, per_group
from graphwright.optim.optimizer import Optimizer
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

Average = Callable[[Any, Any, Any], Any]


def get_swa_avg_fn() -> Average:
    """The equal average: averaged + (current - averaged) / (count + 1)."""
    return lambda averaged, current, count: averaged + (current - averaged) / (count + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """The exponential average: decay * averaged + (1 - decay) * current."""
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in "
                         "[0,1] range.")  # fmt: skip
    return lambda averaged, current, count: decay * averaged + (1 - decay) * current


def _of_lists(average: Average) -> Average:
    """`average` of every pair of two lists, written into the first."""

    def multi(averaged: list[Tensor], current: list[Tensor], count: Any) -> None:
        with no_grad():
            for own, other in zip(averaged, current, strict=True):
                ops.copy_(own, average(own, other, count))

    return multi


def get_swa_multi_avg_fn() -> Average:
    """The equal average of lists of tensors, in place of the first list's values."""
    return _of_lists(get_swa_avg_fn())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """The exponential average of lists of tensors, in place of the first list's values."""
    return _of_lists(get_ema_avg_fn(decay))


class AveragedModel(Module):
    """A copy of `model` whose parameters are averages of those given to `update_parameters`.

    `avg_fn(averaged, current, n_averaged)`, or `multi_avg_fn` of lists of tensors, gives the new
    average (default: the equal one, Izmailov et al., 2018: https://arxiv.org/abs/1803.05407).
    `use_buffers` averages buffers as well, those of integers rounded towards zero; otherwise
    they are copied.
    """

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", ops.zeros((), dtype=dtypes.int64, device=device))
        self.avg_fn = avg_fn or get_swa_avg_fn()
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of `model` into the averages."""
        count = self.n_averaged.item()
        with no_grad():
            own_members, members = self._averaged(self.module), self._averaged(model)
            if self.multi_avg_fn is not None and count:
                self.multi_avg_fn(own_members, members, self.n_averaged)
                own_members = members = []
            for own, other in zip(own_members, members, strict=True):
                value = other.detach()
                if count:
                    value = self.avg_fn(own.detach(), value, self.n_averaged)
                ops.copy_(own, value)
            if not self.use_buffers:
                buffers = zip(self.module.buffers(), model.buffers(), strict=True)
                for own, other in buffers:
                    ops.copy_(own, other)
            ops.add_(self.n_averaged, 1)

    def _averaged(self, model: Module) -> list[Tensor]:
        tensors: list[Tensor] = list(model.parameters())
        return tensors + list(model.buffers()) if self.use_buffers else tensors


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch norms anew from the inputs of `loader`.

    Batches that are tuples or lists give their first element.
    """
    norms = [m for m in model.modules() if hasattr(m, "running_mean") and hasattr(m, "momentum")]
    norms = [m for m in norms if m.running_mean is not None]
    if not norms:
        return
    was_training = model.training
    momenta = [norm.momentum for norm in norms]
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    with no_grad():
        for batch in loader:
            inputs = batch[0] if isinstance(batch, list | tuple) else batch
            model(inputs if device is None else inputs.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From each group's rate to `swa_lr` over `anneal_epochs` along a cosine or a line."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, lr in zip(
            optimizer.param_groups, per_group(optimizer, "swa_lr", swa_lr), strict=True
        ):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}"
            )
        self._anneal_func_type, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return t if self._anneal_func_type == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[Any]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, target = group["lr"], group["swa_lr"]
            start = target if before == 1 else (lr - before * target) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates
