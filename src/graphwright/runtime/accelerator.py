"""The device besides the CPU that eager tensors can be on: none, after `torch.accelerator`."""

from __future__ import annotations

from graphwright.runtime.cuda import device_count, empty_cache, is_available, synchronize
from graphwright.runtime.device import device

__all__ = ["current_accelerator", "device_count", "empty_cache", "is_available", "synchronize"]


def current_accelerator(check_available: bool = False) -> device | None:
    """The accelerator's device: None."""
    return None
