"""The CPU as a device, after `torch.cpu`: there is always one, and its work is done at once."""

from __future__ import annotations

from graphwright.runtime.cpu import amp as amp


def is_available() -> bool:
    """Whether tensors can be on the CPU: True."""
    return True


def is_initialized() -> bool:
    """Whether the CPU is in use: True."""
    return True


def device_count() -> int:
    """How many CPUs tensors can be on: 1, however many cores it has."""
    return 1


def current_device() -> str:
    """The name of the device: "cpu"."""
    return "cpu"


def set_device(device: object) -> None:
    """Without effect: there is one CPU."""


def synchronize(device: object = None) -> None:
    """Without effect: the CPU's work is done when a function returns."""
