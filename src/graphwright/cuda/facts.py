"""What a machine without GPUs answers, and what it refuses."""

from __future__ import annotations

from typing import Any

from graphwright.compat.absent_devices import refusal

default_generators: tuple[Any, ...] = ()
has_half = has_magma = False


def is_available() -> bool:
    """Whether tensors can be on a GPU: False."""
    return False


def is_initialized() -> bool:
    """Whether a GPU is in use: False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the GPU knows bfloat16: False."""
    return False


def is_tf32_supported() -> bool:
    """Whether the GPU knows TF32: False."""
    return False


def is_current_stream_capturing() -> bool:
    """Whether a CUDA graph is being recorded: False."""
    return False


def device_count() -> int:
    """How many GPUs tensors can be on: 0."""
    return 0


def get_arch_list() -> list[str]:
    """The GPU architectures that there are kernels for: none."""
    return []


def memory_allocated(device: object = None) -> int:
    """Bytes of tensors on the GPU: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
memory_cached = max_memory_cached = memory_allocated


def memory_stats(device: object = None) -> dict[str, int]:
    """Figures of the GPU's memory: none."""
    return {}


memory_stats_as_nested_dict = memory_stats


def host_memory_stats() -> dict[str, int]:
    """Figures of the host's memory that the GPU reads: none."""
    return {}


host_memory_stats_as_nested_dict = host_memory_stats


def get_gencode_flags() -> str:
    """The flags of the GPU's compiler: none."""
    return ""


def reset_peak_memory_stats(device: object = None) -> None:
    """Forget the greatest use of memory; without a GPU there is none."""


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats
reset_accumulated_memory_stats = reset_peak_memory_stats


def manual_seed(seed: int) -> None:
    """Seed the GPU's generator; without one there is nothing to seed."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all GPUs; without one there is nothing to seed."""


def seed() -> None:
    """Seed the GPU's generator at random; without one there is nothing to seed."""


def seed_all() -> None:
    """Seed the generators of all GPUs at random; without one there is nothing to seed."""


def get_rng_state_all() -> list[Any]:
    """The states of all GPUs' generators: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of all GPUs' generators; without one there is nothing to set."""


def synchronize(device: object = None) -> None:
    """Wait for the GPU; without one there is nothing to wait for."""


def empty_cache() -> None:
    """Give back unused memory of the GPU; without one there is nothing to give back."""


refuse = refusal("cuda")
current_device = current_stream = default_stream = set_device = init = ipc_collect = refuse
get_device_name = get_device_capability = get_device_properties = mem_get_info = refuse
get_rng_state = set_rng_state = initial_seed = refuse
set_per_process_memory_fraction = get_per_process_memory_fraction = refuse
can_device_access_peer = get_sync_debug_mode = set_sync_debug_mode = cudart = check_error = refuse
current_blas_handle = current_solver_handle = get_stream_from_external = refuse
caching_allocator_alloc = caching_allocator_delete = caching_allocator_enable = refuse
get_allocator_backend = change_current_allocator = use_mem_pool = refuse
memory_summary = memory_snapshot = list_gpu_processes = memory_usage = device_memory_used = refuse
utilization = temperature = power_draw = clock_rate = refuse
graph_pool_handle = make_graphed_callables = refuse
