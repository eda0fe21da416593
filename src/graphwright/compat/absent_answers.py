"""What a machine without an accelerator answers."""

from __future__ import annotations

from typing import Any

default_generators: tuple[Any, ...] = ()


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


def memory_stats(device: object = None) -> dict[str, int]:
    """Figures of the GPU's memory: none."""
    return {}


memory_stats_as_nested_dict = memory_stats


def get_gencode_flags() -> str:
    """The flags of the GPU's compiler: none."""
    return ""


def reset_peak_memory_stats(device: object = None) -> None:
    """Forget the greatest use of memory; without a GPU there is none."""


reset_accumulated_memory_stats = reset_peak_memory_stats


def manual_seed(seed: int) -> None:
    """Seed generators of GPUs; without one there is nothing to seed."""


manual_seed_all = manual_seed


def seed() -> None:
    """Seed generators of GPUs at random; without one there is nothing to seed."""


seed_all = seed


def get_rng_state_all() -> list[Any]:
    """The states of all GPUs' generators: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of all GPUs' generators; without one there is nothing to set."""


def synchronize(device: object = None) -> None:
    """Wait for the GPU; without one there is nothing to wait for."""


def empty_cache() -> None:
    """Give back unused memory of the GPU; without one there is nothing to give back."""
