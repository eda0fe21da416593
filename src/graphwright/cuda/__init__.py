"""GPUs that tensors can lie on, after `torch.cuda`: devices, memory, streams and events.

Without a driver or a GPU questions have the answers of such a machine, and what cannot be done
raises AssertionError, as in PyTorch. What is not there yet raises NotImplementedError.
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from graphwright.cuda import amp
from graphwright.cuda.allocator import (
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_disabled,
    caching_allocator_enable,
    change_current_allocator,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_host_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
    use_mem_pool,
)
from graphwright.cuda.fallback import (
    fallbacks,
    get_fallback_mode,
    reset_fallbacks,
    set_fallback_mode,
)
from graphwright.cuda.generators import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from graphwright.cuda.queries import (
    CudaError,
    DeferredCudaCallError,
    can_device_access_peer,
    check_error,
    clock_rate,
    cudart,
    cudaStatus,
    current_blas_handle,
    current_device,
    current_solver_handle,
    device_count,
    device_memory_used,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_gencode_flags,
    get_sync_debug_mode,
    graph_pool_handle,
    has_half,
    has_magma,
    init,
    ipc_collect,
    is_bf16_supported,
    is_initialized,
    is_tf32_supported,
    list_gpu_processes,
    make_graphed_callables,
    mem_get_info,
    memory_usage,
    power_draw,
    set_device,
    set_sync_debug_mode,
    synchronize,
    temperature,
    utilization,
)
from graphwright.cuda.streams import (
    CUDAGraph,
    CUDAPluggableAllocator,
    Event,
    ExternalStream,
    GreenContext,
    MemPool,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    device,
    device_of,
    get_stream_from_external,
    graph,
    is_current_stream_capturing,
    set_stream,
    stream,
)
from graphwright.runtime._core import AcceleratorError, OutOfMemoryError
from graphwright.runtime.cuda.devices import is_available
from graphwright.runtime.naming import missing as _missing
from graphwright.runtime.tensor.generator import CUDA_GENERATORS as _CUDA_GENERATORS

_PARTS = ("nvtx", "profiler")


def __getattr__(name: str) -> _Any:
    """Modules, the GPUs' own generators, and the classes of tensors and storages on a GPU."""
    if name == "default_generators":
        return tuple(_CUDA_GENERATORS.of(index) for index in range(device_count()))
    if name in _PARTS:
        return _import_module(f"graphwright.cuda.{name}")
    if name in ("graphs", "memory", "random"):      # what these have in PyTorch is here
        return _import_module(__name__)
    if name.endswith(("Tensor", "Storage")):
        return _import_module("graphwright.cuda.types").named(name)
    raise _missing(__name__, name)


__all__ = [
    "AcceleratorError", "CUDAGraph", "CUDAPluggableAllocator", "CudaError",
    "DeferredCudaCallError", "Event", "ExternalStream", "GreenContext", "MemPool",
    "OutOfMemoryError", "Stream", "StreamContext", "amp", "caching_allocator_alloc",
    "caching_allocator_delete", "caching_allocator_disabled", "caching_allocator_enable",
    "can_device_access_peer", "change_current_allocator", "check_error", "clock_rate",
    "cudaStatus", "cudart", "current_blas_handle", "current_device", "current_solver_handle",
    "current_stream", "default_generators", "default_stream", "device", "device_count",
    "device_memory_used", "device_of", "empty_cache", "fallbacks", "get_allocator_backend",
    "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties",
    "get_fallback_mode", "get_gencode_flags", "get_per_process_memory_fraction",
    "get_rng_state", "get_rng_state_all", "get_stream_from_external", "get_sync_debug_mode",
    "graph", "graph_pool_handle", "has_half", "has_magma", "host_memory_stats",
    "host_memory_stats_as_nested_dict", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "is_tf32_supported",
    "list_gpu_processes", "make_graphed_callables", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats",
    "memory_stats_as_nested_dict", "memory_summary", "memory_usage", "power_draw",
    "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats", "reset_fallbacks",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_host_memory_stats",
    "reset_peak_memory_stats", "seed", "seed_all", "set_device", "set_fallback_mode",
    "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream",
    "set_sync_debug_mode", "stream", "synchronize", "temperature", "use_mem_pool",
    "utilization",
]  # fmt: skip
