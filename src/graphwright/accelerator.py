"""The device besides the CPU that eager tensors can be on: none, after `torch.accelerator`.

What cannot be done without one raises RuntimeError, as in PyTorch.
"""

from __future__ import annotations

from graphwright.compat.absent_devices import AbsentObject, Block, refusal
from graphwright.cuda import device_count, empty_cache, is_available, synchronize
from graphwright.runtime.tensor.device import device

__all__ = [
    "Graph", "current_accelerator", "current_device_idx", "current_device_index",
    "current_stream", "device_count", "device_index", "empty_cache", "empty_host_cache",
    "get_device_capability", "get_memory_info", "is_available", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx",
    "set_device_index", "set_stream", "synchronize",
]  # fmt: skip

refuse = refusal("accelerator", RuntimeError)
current_device_idx = current_device_index = current_stream = empty_host_cache = refuse
get_device_capability = get_memory_info = max_memory_allocated = max_memory_reserved = refuse
memory_allocated = memory_reserved = memory_stats = reset_accumulated_memory_stats = refuse
reset_peak_memory_stats = set_device_idx = set_device_index = set_stream = refuse


class Graph(AbsentObject):
    """Work of an accelerator that is recorded once and run again."""

    of = "ACCELERATOR"


class device_index(Block):
    """The accelerator in use inside of a `with` block: None or -1, others raise RuntimeError."""

    of = "ACCELERATOR"


def current_accelerator(check_available: bool = False) -> device | None:
    """The accelerator's device: None."""
    return None
