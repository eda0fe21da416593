"""Meta's accelerators: none, as eager tensors live on the CPU, and the answers say so.

What cannot be done without one raises RuntimeError, as in PyTorch.
"""

from __future__ import annotations

from graphwright.compat.absent_answers import (
    device_count,
    get_rng_state_all,
    is_available,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    memory_allocated,
    memory_stats,
    reset_peak_memory_stats,
    seed,
    seed_all,
    set_rng_state_all,
)
from graphwright.compat.absent_devices import refusal

__all__ = [
    "current_device", "current_stream", "default_stream", "device_count", "empty_cache",
    "get_device_capability", "get_device_properties", "get_rng_state", "get_rng_state_all",
    "graph_pool_handle", "init", "initial_seed", "is_available", "is_initialized",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "memory_allocated",
    "memory_stats", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_rng_state", "set_rng_state_all", "set_stream", "snapshot", "synchronize",
]  # fmt: skip

refuse = refusal("mtia", RuntimeError)
current_device = current_stream = default_stream = empty_cache = get_device_capability = refuse
get_device_properties = get_rng_state = graph_pool_handle = init = initial_seed = refuse
set_device = set_rng_state = set_stream = snapshot = synchronize = refuse
