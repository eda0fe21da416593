"""`torch.distributed.rpc`, as in builds of PyTorch without it: `is_available` says no."""

from __future__ import annotations

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether functions can be called in other processes: they cannot."""
    return False
