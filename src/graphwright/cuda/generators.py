"""Seeds of the random numbers that are drawn on GPUs. Without a GPU there is nothing to seed."""

from __future__ import annotations

import os
from typing import Any

from graphwright.cuda.presence import require
from graphwright.runtime import _core
from graphwright.runtime.cuda.devices import index_of, is_available
from graphwright.runtime.tensor.generator import CUDA_GENERATORS


def manual_seed(seed: int) -> None:
    """Seed the current GPU. Raises RuntimeError for a seed over 64 bits."""
    if is_available():
        CUDA_GENERATORS.of(_core.cuda_current_device()).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Seed all GPUs. Raises RuntimeError for a seed over 64 bits."""
    if is_available():
        CUDA_GENERATORS.seed_all(seed)


def seed() -> None:
    """Seed the current GPU with a number that cannot be foreseen."""
    manual_seed(int.from_bytes(os.urandom(8), "little"))


def seed_all() -> None:
    """Seed all GPUs with one number that cannot be foreseen."""
    manual_seed_all(int.from_bytes(os.urandom(8), "little"))


def initial_seed() -> int:
    """The seed of the current GPU. Raises AssertionError where there is none."""
    require()
    return CUDA_GENERATORS.of(_core.cuda_current_device()).initial_seed()


def get_rng_state(device: Any = "cuda") -> Any:
    """Seed and number of draws of a GPU, 8 bytes each, as a uint8 tensor for `set_rng_state`.

    Raises AssertionError where there is no GPU.
    """
    require()
    return CUDA_GENERATORS.of(index_of(device)).get_state()


def set_rng_state(new_state: Any, device: Any = "cuda") -> None:
    """Go on where `get_rng_state` was called.

    Raises:
        AssertionError: there is no GPU.
        RuntimeError, TypeError: `new_state` is no such tensor.
    """
    require()
    CUDA_GENERATORS.of(index_of(device)).set_state(new_state)


def get_rng_state_all() -> list[Any]:
    """The states of all GPUs; none without one."""
    return [get_rng_state(index) for index in range(_core.cuda_device_count())]


def set_rng_state_all(new_states: Any) -> None:
    """Set the states of all GPUs, as `get_rng_state_all` gives them."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
