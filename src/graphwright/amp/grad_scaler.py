"""`GradScaler`: losses are scaled up, so that small gradients do not vanish in float16.

Source: Micikevicius et al., "Mixed Precision Training" (2018), section 3.2, with PyTorch's rule
for the scale: it shrinks with each step whose gradients overflow, and grows after
`growth_interval` steps in a row whose gradients did not.
"""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.amp.autocast import is_autocast_available
from graphwright.autograd.grad_mode import no_grad
from graphwright.optim.optimizer import Optimizer
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.trees import of_kind

_READY, _UNSCALED, _STEPPED = "ready", "unscaled", "stepped"


class _Progress:
    """What happened to an optimiser's gradients since the last `update`."""

    def __init__(self) -> None:
        self.stage = _READY
        self.looked = False
        self.overflowed = False


class GradScaler:
    """Scales losses, unscales gradients, and leaves out steps whose gradients are not finite.

    Args:
        device: "cpu", or "cuda" where there is a GPU; another one switches the scaler off, with a
            UserWarning. Tensors of either device are scaled.
        init_scale: the first scale.
        growth_factor: what the scale is multiplied by after `growth_interval` good steps, > 1.
        backoff_factor: what it is multiplied by after a step that overflowed, < 1.
        enabled: False makes `scale` and `step` do nothing but their optimiser's step.

    Use: `scaler.scale(loss).backward()`, `scaler.step(optimizer)`, `scaler.update()`.
    """

    def __init__(
        self,
        device: str = "cpu",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and not is_autocast_available(device):
            warnings.warn(
                f"GradScaler: device {device!r} is not available here. Disabling.", stacklevel=2
            )
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._enabled = enabled
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._good_steps = 0
        self._has_scaled = False
        self._progress: dict[Optimizer, _Progress] = {}

    def scale(self, outputs: Any) -> Any:
        """A tensor, or a list or tuple of them, times the scale.

        ValueError for anything else.
        """
        if not self._enabled:
            return outputs
        self._has_scaled = True
        if isinstance(outputs, Tensor):
            factor = ops.full((), self._scale, dtype=dtypes.float32, device=outputs.device)
            return ops.mul(outputs, factor)
        if isinstance(outputs, list | tuple):
            return of_kind(outputs, [self.scale(output) for output in outputs])
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the optimiser's gradients by the scale, in place; to clip them, for example.

        RuntimeError where that was done since the last `update`, or after `step`; ValueError
        where a gradient is float16; AssertionError where nothing was ever scaled.
        """
        if not self._enabled:
            return
        self._check_scaled("unscale_")
        progress = self._of(optimizer)
        if progress.stage == _UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if progress.stage == _STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        finite = self._divide(optimizer)
        progress.looked = bool(finite)
        progress.overflowed = not all(
            bool(ops.all(ops.stack(found))) for found in finite.values())
        progress.stage = _UNSCALED

    def _divide(self, optimizer: Optimizer) -> dict[Device, list[Tensor]]:
        """Divide gradients by the scale; whether each of them is finite, by its device."""
        finite: dict[Device, list[Tensor]] = {}
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if param.grad.dtype is dtypes.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    ops.mul_(param.grad, 1.0 / self._scale)
                    found = finite.setdefault(param.grad.device, [])
                    found.append(ops.all(ops.isfinite(param.grad)))
            return finite

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step(*args, **kwargs)` on unscaled gradients; None where one is not finite.

        RuntimeError where it was called since the last `update`, or a closure is given;
        AssertionError where no parameter has a gradient, or nothing was ever scaled.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scaled("step")
        progress = self._of(optimizer)
        if progress.stage == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if progress.stage == _READY:
            self.unscale_(optimizer)
        if not progress.looked:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        progress.stage = _STEPPED
        return None if progress.overflowed else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapt the scale to what `step` found, or set it to `new_scale`.

        AssertionError where no gradients were looked at since the last call, or nothing was ever
        scaled.
        """
        if not self._enabled:
            return
        self._check_scaled("update")
        if new_scale is not None:
            if isinstance(new_scale, Tensor) and new_scale.numel() != 1:
                raise AssertionError(
                    "new_scale should be a float or a tensor of one element, got one of shape "
                    f"{tuple(new_scale.shape)}"
                )
            self._scale = float(new_scale)
        else:
            looked = [p for p in self._progress.values() if p.looked]
            if not looked:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(any(progress.overflowed for progress in looked))
        self._progress.clear()

    def _adapt(self, overflowed: bool) -> None:
        if overflowed:
            self._scale *= self._backoff_factor
            self._good_steps = 0
            return
        self._good_steps += 1
        if self._good_steps == self._growth_interval:
            grown = self._scale * self._growth_factor
            self._scale = grown if grown <= finfo(dtypes.float32).max else self._scale
            self._good_steps = 0

    def _check_scaled(self, what: str) -> None:
        if not self._has_scaled:
            raise AssertionError(
                f"Attempted {what} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )

    def _of(self, optimizer: Optimizer) -> _Progress:
        return self._progress.setdefault(optimizer, _Progress())

    def get_scale(self) -> float:
        """The scale; 1.0 of a scaler that is switched off."""
        return self._scale if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by when it shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many steps in a row must be finite before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set how many steps in a row must be finite before the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """The scale and how it moves; empty for a scaler that is switched off."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._good_steps,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave. RuntimeError where it is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._good_steps = state_dict["_growth_tracker"]
