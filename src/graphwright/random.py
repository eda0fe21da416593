"""`graphwright.random`: seeding, and the state of the default generator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.runtime.tensor.generator import Generator, default_generator
from graphwright.runtime.tensor.tensor import Tensor


def manual_seed(seed: int) -> Generator:
    """Seed the default generator, which is returned; `seed` is converted to an int.

    Raises:
        ValueError: for a text that is no number.
        RuntimeError: for a seed outside of [-2**63, 2**64).
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator with a number that nobody knows in advance; returns it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator, as a uint8 tensor for `set_rng_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the default generator's state. Raises TypeError or RuntimeError for other tensors."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Within the block the default generator goes its own way; after it, on as before."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
