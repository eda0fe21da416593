"""`Generator`: where random numbers come from, and the default one.

A generator is a Philox4x32-10 key, its seed, and an offset that counts the draws taken. Draw
`offset` gives element i of a tensor word i of that stream, so numbers do not depend on how many
threads write them.
"""

from __future__ import annotations

import os
import struct
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.naming import NAMING
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor

DEFAULT_SEED = 67280421310721
_MASK = (1 << 64) - 1
_STATE = struct.Struct("<QQ")


def checked_seed(seed: int) -> int:
    """A seed as an unsigned 64-bit number; negative ones count from the end.

    Raises:
        RuntimeError: outside of [-2**63, 2**64).
        TypeError: for what is no int.
    """
    if not hasattr(seed, "__index__"):
        raise TypeError(f"manual_seed expected a long, but got {type(seed).__name__}")
    value = int(seed)
    if not -(1 << 63) <= value <= _MASK:
        raise RuntimeError(f"Overflow when unpacking long: the seed {value} needs over 64 bits")
    return value & _MASK


def state_tensor(seed: int, offset: int) -> Tensor:
    """Seed and offset as a uint8 tensor of 16 elements."""
    data = np.frombuffer(_STATE.pack(seed, offset), np.uint8).copy()
    return _core.from_ndarray(Tensor, data, dtypes.uint8)


def read_state(state: Any) -> tuple[int, int]:
    """What `state_tensor` wrote. Raises TypeError, or RuntimeError for another size."""
    if not isinstance(state, Tensor) or state.dtype is not dtypes.uint8:
        raise TypeError(f"expected a uint8 tensor as RNG state, but got {type(state).__name__}")
    if state.numel() != _STATE.size:
        raise RuntimeError(
            f"RNG state must be a uint8 tensor of {_STATE.size} elements, got {state.dtype} of "
            f"shape {list(state.shape)}"
        )
    seed, offset = _STATE.unpack(state.numpy().tobytes())
    return seed, offset


class Generator(_core.GeneratorBase):
    """A stream of random numbers of its own, for the `generator=` of random functions.

    Args:
        device: "cpu".
    """

    __slots__ = ("__weakref__", "device")

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
        if self.device.type == "cuda" and _core.cuda_absence() is None:
            raise NotImplementedError(
                "Generator('cuda') is not there yet; cuda.manual_seed seeds the GPU's own")
        if self.device.type != "cpu":
            raise RuntimeError(f"Generator(): {absence(self.device.type)}")
        self._set(DEFAULT_SEED, 0)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed`, an int in [-2**63, 2**64); returns self."""
        self._set(checked_seed(seed), 0)
        return self

    def seed(self) -> int:
        """Start a stream that nobody knows in advance; returns its seed."""
        value = int.from_bytes(os.urandom(8), "little")
        self._set(value, 0)
        return value

    def initial_seed(self) -> int:
        """The seed of the present stream."""
        return self._get()[0]

    def get_state(self) -> Tensor:
        """Seed and offset, as a uint8 tensor for `set_state`."""
        return state_tensor(*self._get())

    def set_state(self, state: Tensor) -> Generator:
        """Go on where `get_state` was called; returns self. Raises as `read_state`."""
        self._set(*read_state(state))
        return self

    def clone_state(self) -> Generator:
        """A new generator at the same place of the same stream."""
        twin = Generator(self.device)
        twin._set(*self._get())
        return twin

    def __reduce__(self) -> Any:
        state = getattr(self, "__dict__", None)
        return _continued, (type(self), self.device, *self._get()), state

    def __repr__(self) -> str:
        return f"<{NAMING.root}.Generator, seed {self.initial_seed()}>"


def _continued(cls: type[Generator], device: Device, seed: int, offset: int) -> Generator:
    """A copy of a generator, at the same place of its stream."""
    made = cls.__new__(cls)
    made.device = device
    made._set(seed, offset)
    return made


class DefaultGenerator(Generator):
    """The generator that is used where none is named; compiled code draws from it too."""

    __slots__ = ()

    def __init__(self) -> None:
        self.device = Device("cpu")

    def draw(self, count: int = 1) -> tuple[int, int]:
        return _core.seed(), _core.reserve_offset(count)

    def _get(self) -> tuple[int, int]:
        return _core.rng_state()

    def _set(self, seed: int, offset: int) -> None:
        _core.set_rng_state(seed, offset)

    def __reduce__(self) -> str:
        return "default_generator"


default_generator = DefaultGenerator()


class CudaStates:
    """Where the random numbers of each GPU come from: a seed, and how many draws were taken.

    Those that were not seeded alone have one seed.
    """

    __slots__ = ("_common", "_own")

    def __init__(self) -> None:
        self._common = DEFAULT_SEED
        self._own: dict[int, tuple[int, int]] = {}

    def get(self, device: int) -> tuple[int, int]:
        """(seed, offset) of the GPU of that index."""
        return self._own.get(device, (self._common, 0))

    def set(self, device: int, seed: int, offset: int) -> None:
        """Draw from there on. Raises RuntimeError, TypeError as `checked_seed`."""
        self._own[device] = checked_seed(seed), offset

    def seed_all(self, seed: int) -> None:
        """Start one stream on every GPU. Raises RuntimeError, TypeError as `checked_seed`."""
        self._common = checked_seed(seed)
        self._own.clear()


CUDA_STATES = CudaStates()


def reserve(generator: Generator, count: int) -> Tensor:
    """Take `count` draws at once: the `place` of `ReservedDraws`."""
    seed, offset = generator.draw(count)
    data = np.array([seed, offset], np.uint64).view(np.int64)
    return _core.from_ndarray(Tensor, data, dtypes.int64)


class ReservedDraws(Generator):
    """Draws that were taken of a generator beforehand, handed out in order.

    Args:
        place: their seed and the offset of the first, an int64 tensor of the bits of both.
        index: the first of them that is still there.
    """

    __slots__ = ("index", "place")

    def __init__(self, place: Tensor, index: int = 0) -> None:
        self.device = Device("cpu")
        self.place = place
        self.index = index

    def draw(self, count: int = 1) -> tuple[int, int]:
        seed, offset = drawn_at(self.place, self.index)
        self.index += count
        return seed, offset


def drawn_at(place: Tensor, index: int) -> tuple[int, int]:
    """Seed and offset of one of the draws that `reserve` took."""
    seed, offset = place.numpy().view(np.uint64)
    return int(seed), (int(offset) + index) & _MASK


def draw(generator: Generator | None, count: int = 1) -> tuple[int, int]:
    """Take draws from a generator, by default from the default one.

    Raises:
        TypeError: for what is no Generator.
    """
    if generator is None:
        return _core.seed(), _core.reserve_offset(count)
    if not isinstance(generator, Generator):
        raise TypeError(
            f"argument 'generator' must be graphwright.Generator, not {type(generator).__name__}"
        )
    return generator.draw(count)
