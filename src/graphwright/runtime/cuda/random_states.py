"""Where the random numbers of each GPU come from: a seed, and how many draws were taken."""

from __future__ import annotations

from graphwright.runtime.tensor.generator import DEFAULT_SEED, checked_seed


class _States:
    """The states of devices that have one of their own, and the seed of all others."""

    __slots__ = ("common", "own")

    def __init__(self) -> None:
        self.common = DEFAULT_SEED
        self.own: dict[int, tuple[int, int]] = {}


_STATES = _States()


def state(device: int) -> tuple[int, int]:
    """(seed, offset) of the GPU of that index."""
    return _STATES.own.get(device, (_STATES.common, 0))


def set_state(device: int, seed: int, offset: int) -> None:
    """Draw from there on. Raises RuntimeError, TypeError as `checked_seed`."""
    _STATES.own[device] = checked_seed(seed), offset


def seed_all(seed: int) -> None:
    """Start the same stream on every GPU. Raises RuntimeError, TypeError as `checked_seed`."""
    _STATES.common = checked_seed(seed)
    _STATES.own.clear()
