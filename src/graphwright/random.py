"""`graphwright.random`: seeding, and the state of the default generator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.runtime.tensor.generator import (
    CUDA_GENERATORS,
    Generator,
    default_generator,
    restore_rng,
    rng_states,
)
from graphwright.runtime.tensor.tensor import Tensor


def manual_seed(seed: int) -> Generator:
    """Seed the default generator.

    Args:
        seed: a number, converted to an int from -2**63 to 2**64 - 1.

    Returns: the default generator.

    Raises:
        RuntimeError: the seed is out of range.
        ValueError: a text that is no number.

    Example:
        >>> gw.manual_seed(3).initial_seed()
        3
    """
    CUDA_GENERATORS.seed_all(int(seed))
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator with a number that cannot be foreseen.

    Returns: the seed, an int.

    Example:
        >>> gw.seed() == gw.initial_seed()
        True
    """
    made = default_generator.seed()
    CUDA_GENERATORS.seed_all(made)
    return made


def initial_seed() -> int:
    """Seed of the default generator.

    Returns: an int.

    Example:
        >>> generator = gw.manual_seed(3)
        >>> gw.initial_seed()
        3
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """State of the default generator, for `set_rng_state`.

    Returns: a uint8 tensor.

    Example:
        >>> gw.get_rng_state().dtype
        graphwright.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator.

    Args:
        new_state: a uint8 tensor of `get_rng_state`.

    Raises:
        RuntimeError: a tensor that is no state.
        TypeError: no tensor, or one of another dtype.

    Example:
        >>> state = gw.get_rng_state()
        >>> a = gw.rand(2)
        >>> gw.set_rng_state(state)
        >>> gw.equal(a, gw.rand(2))
        True
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Within the block the default generators go their own way; after it, on as before.

    Those of all GPUs do, also where `devices` names but some.
    """
    if not enabled:
        yield
        return
    states = rng_states()
    try:
        yield
    finally:
        restore_rng(states)


__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
