"""What GPUs there are to run eager tensors on: none, as eager tensors live on the CPU.

The names are those that device-independent scripts ask for: questions have the answers of a
machine without GPUs, and what cannot be done without one raises AssertionError, as in PyTorch.
"""

from graphwright.runtime._core import OutOfMemoryError
from graphwright.runtime.cuda import amp
from graphwright.runtime.cuda.facts import (
    current_device,
    current_stream,
    default_stream,
    device_count,
    empty_cache,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_rng_state,
    get_rng_state_all,
    init,
    initial_seed,
    ipc_collect,
    is_available,
    is_bf16_supported,
    is_current_stream_capturing,
    is_initialized,
    is_tf32_supported,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_peak_memory_stats,
    seed,
    seed_all,
    set_device,
    set_per_process_memory_fraction,
    set_rng_state,
    set_rng_state_all,
    synchronize,
)
from graphwright.runtime.cuda.streams import (
    CUDAGraph,
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    device,
    device_of,
    set_stream,
    stream,
)

__all__ = [
    "CUDAGraph", "Event", "ExternalStream", "OutOfMemoryError", "Stream", "StreamContext",
    "amp", "current_device", "current_stream", "default_stream", "device", "device_count",
    "device_of", "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties", "get_rng_state", "get_rng_state_all", "init", "initial_seed",
    "ipc_collect", "is_available", "is_bf16_supported", "is_current_stream_capturing",
    "is_initialized", "is_tf32_supported", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_reserved", "memory_stats", "reset_peak_memory_stats", "seed", "seed_all",
    "set_device", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all",
    "set_stream", "stream", "synchronize",
]  # fmt: skip
