"""The device besides the CPU that eager tensors can be on, after `torch.accelerator`: a GPU.

Without one, what cannot be done raises RuntimeError, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright import cuda
from graphwright.cuda import device_count, empty_cache, is_available, synchronize
from graphwright.cuda.presence import LackingObject
from graphwright.runtime import _core
from graphwright.runtime.tensor.device import absence, device

__all__ = [
    "Graph", "current_accelerator", "current_device_idx", "current_device_index",
    "current_stream", "device_count", "device_index", "empty_cache", "empty_host_cache",
    "get_device_capability", "get_memory_info", "is_available", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx",
    "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def _of_cuda(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `graphwright.cuda`, which raises RuntimeError without a GPU."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not is_available():
            raise RuntimeError(absence("accelerator"))
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = getattr(function, "__name__", "call")
    call.__doc__ = f"{function.__doc__}\n\nRaises RuntimeError where there is no GPU."
    return call


current_device_index = current_device_idx = _of_cuda(cuda.current_device)
current_stream = _of_cuda(cuda.current_stream)
get_device_capability = _of_cuda(cuda.get_device_capability)
get_memory_info = _of_cuda(cuda.mem_get_info)
max_memory_allocated = _of_cuda(cuda.max_memory_allocated)
max_memory_reserved = _of_cuda(cuda.max_memory_reserved)
memory_allocated = _of_cuda(cuda.memory_allocated)
memory_reserved = _of_cuda(cuda.memory_reserved)
memory_stats = _of_cuda(cuda.memory_stats)
reset_accumulated_memory_stats = _of_cuda(cuda.reset_accumulated_memory_stats)
reset_peak_memory_stats = _of_cuda(cuda.reset_peak_memory_stats)
set_device_index = set_device_idx = _of_cuda(cuda.set_device)
set_stream = _of_cuda(cuda.set_stream)
empty_host_cache = _of_cuda(_core.empty_pinned_cache)


class Graph(LackingObject):
    """Work of an accelerator that is recorded once and run again."""

    of = "ACCELERATOR"


class device_index(cuda.device):
    """The accelerator in use inside of a `with` block: an index; None or -1 for no change."""

    of = "ACCELERATOR"


def current_accelerator(check_available: bool = False) -> device | None:
    """The accelerator's device: "cuda" without an index; None where there is none."""
    return device("cuda") if is_available() else None
