"""What GPUs there are to run eager tensors on: none, as eager tensors live on the CPU.

The names are those that device-independent scripts ask for.
"""

from __future__ import annotations


def is_available() -> bool:
    """Whether tensors can be on a GPU: False."""
    return False


def device_count() -> int:
    """How many GPUs tensors can be on: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the GPU's generator; without one there is nothing to seed."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs; without one there is nothing to seed."""


def synchronize(device: object = None) -> None:
    """Wait for the GPU; without one there is nothing to wait for."""


def empty_cache() -> None:
    """Give back unused memory of the GPU; without one there is nothing to give back."""
