"""Automatic mixed precision, after `torch.amp`: `autocast`, `GradScaler`, and decorators."""

from graphwright.amp.autocast import autocast, is_autocast_available
from graphwright.amp.functions import _cast as _cast
from graphwright.amp.functions import custom_bwd, custom_fwd
from graphwright.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
