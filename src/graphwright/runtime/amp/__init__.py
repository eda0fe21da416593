"""Automatic mixed precision, after `torch.amp`: `autocast` and `GradScaler`."""

from graphwright.runtime.amp.autocast import autocast, is_autocast_available
from graphwright.runtime.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "is_autocast_available"]
