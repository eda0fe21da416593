"""Apple's GPUs: none, as eager tensors live on the CPU, and the answers say so.

What cannot be done without one raises RuntimeError, as in PyTorch.
"""

from __future__ import annotations

from graphwright.compat.absent_answers import (
    device_count,
    empty_cache,
    is_available,
    manual_seed,
    seed,
    synchronize,
)
from graphwright.compat.absent_devices import AbsentObject, refusal

__all__ = [
    "Event", "compile_shader", "current_allocated_memory", "device_count",
    "driver_allocated_memory", "empty_cache", "get_rng_state", "is_available", "load_metallib",
    "manual_seed", "recommended_max_memory", "seed", "set_per_process_memory_fraction",
    "set_rng_state", "synchronize",
]  # fmt: skip

refuse = refusal("mps", RuntimeError)
compile_shader = current_allocated_memory = driver_allocated_memory = get_rng_state = refuse
load_metallib = recommended_max_memory = set_per_process_memory_fraction = refuse
set_rng_state = refuse


class Event(AbsentObject):
    """A mark in a queue of a GPU's work."""

    of = "MPS"
