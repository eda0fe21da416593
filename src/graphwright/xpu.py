"""Intel's GPUs: none, as eager tensors live on the CPU, and the answers say so.

What cannot be done without one raises AssertionError, as in PyTorch.
"""

from __future__ import annotations

from typing import Any

from graphwright.compat import absent_devices
from graphwright.compat.absent_answers import (
    default_generators,
    device_count,
    empty_cache,
    get_arch_list,
    get_gencode_flags,
    get_rng_state_all,
    is_available,
    is_bf16_supported,
    is_current_stream_capturing,
    is_initialized,
    is_tf32_supported,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_stats_as_nested_dict,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    seed,
    seed_all,
    set_rng_state_all,
    synchronize,
)
from graphwright.compat.absent_devices import AbsentObject, Block, refusal

__all__ = [
    "Event", "Stream", "StreamContext", "XPUGraph", "can_device_access_peer",
    "change_current_allocator", "clock_rate", "current_device", "current_stream",
    "default_generators", "device", "device_count", "device_memory_used", "device_of",
    "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties", "get_gencode_flags", "get_per_process_memory_fraction",
    "get_rng_state", "get_rng_state_all", "get_stream_from_external", "graph",
    "graph_pool_handle", "init", "initial_seed", "is_available", "is_bf16_supported",
    "is_current_stream_capturing", "is_initialized", "is_tf32_supported",
    "make_graphed_callables", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "mem_get_info", "memory_allocated", "memory_reserved",
    "memory_snapshot", "memory_stats", "memory_stats_as_nested_dict", "memory_usage",
    "power_draw", "reset_accumulated_memory_stats", "reset_peak_memory_stats", "seed",
    "seed_all", "set_device", "set_per_process_memory_fraction", "set_rng_state",
    "set_rng_state_all", "set_stream", "stream", "synchronize", "temperature", "utilization",
]  # fmt: skip

refuse = refusal("xpu")
can_device_access_peer = change_current_allocator = clock_rate = current_device = refuse
current_stream = device_memory_used = get_device_capability = get_device_name = refuse
get_device_properties = get_per_process_memory_fraction = get_rng_state = refuse
get_stream_from_external = graph_pool_handle = init = initial_seed = refuse
make_graphed_callables = mem_get_info = memory_snapshot = memory_usage = power_draw = refuse
set_device = set_per_process_memory_fraction = set_rng_state = temperature = refuse
utilization = refuse


class Stream(absent_devices.Stream):
    """A queue of a GPU's work."""

    of = "XPU"


class Event(absent_devices.Event):
    """A mark in a queue of a GPU's work."""

    of = "XPU"


class XPUGraph(AbsentObject):
    """Work of a GPU that is recorded once and run again."""

    of = "XPU"


class graph(AbsentObject):
    """A `with` block that records into an `XPUGraph`."""

    of = "XPU"


class StreamContext(Block):
    """What `stream(s)` gives; a queue other than None raises RuntimeError."""

    of = "XPU"


class device(Block):
    """The GPU in use inside of a `with` block: None or -1, others raise RuntimeError."""

    of = "XPU"


class device_of(device):
    """The same of a tensor's device: no change, as tensors lie on the CPU."""

    def __init__(self, obj: Any) -> None:
        super().__init__(None)


def stream(stream: Any) -> StreamContext:
    """A `with` block in which a queue is in use; None changes nothing."""
    return StreamContext(stream)


def set_stream(stream: Any) -> None:
    """Use a queue from now on; None changes nothing, others raise RuntimeError."""
    StreamContext(stream).__enter__()
