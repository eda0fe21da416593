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
from graphwright.runtime.cuda.devices import placed
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
        device: "cpu", or a GPU such as "cuda:1" (without an index: the current one). Numbers are
            drawn where the generator is; those of one seed are the same on all devices.

    Raises RuntimeError: there is no such device.
    """

    __slots__ = ("__weakref__", "device")

    def __new__(cls, device: Any = "cpu", *more: Any) -> Generator:
        on_gpu = cls is Generator and Device(device).type == "cuda"
        return super().__new__(CudaGenerator if on_gpu else cls)

    def __init__(self, device: Any = "cpu") -> None:
        self.device = Device(device)
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

    def get_offset(self) -> int:
        """Raises RuntimeError: a CPU's generator has no offset; a GPU's has."""
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """Raises RuntimeError: a CPU's generator has no offset; a GPU's has."""
        raise RuntimeError("CPU Generator does not use offset")

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


class CudaGenerator(Generator):
    """A stream of the numbers that are drawn on one GPU, which ops of the CPU refuse.

    Its draws are those of a CPU's generator with the same state.
    """

    __slots__ = ()

    def __init__(self, device: Any = "cuda") -> None:
        self.device = placed(Device(device))
        self._set(DEFAULT_SEED, 0)

    def draw(self, count: int = 1) -> tuple[int, int]:
        """Raises RuntimeError: the numbers are drawn on the CPU."""
        raise RuntimeError("Expected a 'cpu' device type for generator but found 'cuda'")

    def take(self, count: int = 1) -> tuple[int, int]:
        """Take draws: the seed, and the offset of the first."""
        return super().draw(count)

    def get_offset(self) -> int:
        """How many draws were taken."""
        return self._get()[1]

    def set_offset(self, offset: int) -> None:
        """Go on after so many draws. Raises RuntimeError for a negative number."""
        if offset < 0:
            raise RuntimeError(f"set_offset: expected an offset of 0 or more, got {offset}")
        self._set(self._get()[0], offset)

    def __repr__(self) -> str:
        return f"<{NAMING.root}.Generator on {self.device}, seed {self.initial_seed()}>"


class DefaultCudaGenerators:
    """The generators that GPUs draw from where none is named; they need no driver to be seeded.

    Those that were not seeded alone have one seed.
    """

    __slots__ = ("_made", "_seed")

    def __init__(self) -> None:
        self._seed = DEFAULT_SEED
        self._made: dict[int, CudaGenerator] = {}

    def of(self, index: int) -> CudaGenerator:
        """That of the GPU of an index."""
        found = self._made.get(index)
        if found is None:
            made: Any = _continued(CudaGenerator, Device("cuda", index), self._seed, 0)
            found = self._made.setdefault(index, made)
        return found

    def seed_all(self, seed: int) -> None:
        """Start one stream on every GPU. Raises RuntimeError, TypeError as `checked_seed`."""
        self._seed = checked_seed(seed)
        for generator in self._made.values():
            generator._set(self._seed, 0)

    def states(self) -> tuple[int, dict[int, tuple[int, int]]]:
        """The seed of those that were not used, and where the others are."""
        return self._seed, {index: made._get() for index, made in self._made.items()}

    def restore(self, states: tuple[int, dict[int, tuple[int, int]]]) -> None:
        """Go on where `states` was called."""
        self._seed, places = states
        for index, generator in self._made.items():
            generator._set(*places.get(index, (self._seed, 0)))


CUDA_GENERATORS = DefaultCudaGenerators()


def rng_states() -> Any:
    """Where the default generators are, the CPU's and those of GPUs, for `restore_rng`."""
    return _core.rng_state(), CUDA_GENERATORS.states()


def restore_rng(states: Any) -> None:
    """Go on where `rng_states` was called."""
    on_cpu, on_gpus = states
    _core.set_rng_state(*on_cpu)
    CUDA_GENERATORS.restore(on_gpus)


def take_draws(device: Device, count: int) -> None:
    """Take draws of a device's default generator that nothing reads."""
    if device.type == "cuda":
        CUDA_GENERATORS.of(device.index or 0).take(count)
    else:
        default_generator.draw(count)


def draw_on_gpu(
    index: int, generator: Generator | None = None, count: int = 1
) -> tuple[int, int]:
    """Take draws for numbers on the GPU of an index, by default from its default generator.

    Returns: the seed, and the offset of the first.

    Raises:
        RuntimeError: the generator is a CPU's.
        TypeError: for what is no Generator.
    """
    if generator is None:
        return CUDA_GENERATORS.of(index).take(count)
    given = _checked(generator)
    if not isinstance(given, CudaGenerator):
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    return given.take(count)


def reserve(generator: Generator, count: int) -> Tensor:
    """Take `count` draws at once: the `place` of `ReservedDraws`."""
    take = generator.take if isinstance(generator, CudaGenerator) else generator.draw
    seed, offset = take(count)
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
    return _checked(generator).draw(count)


def _checked(generator: Any) -> Any:
    if not isinstance(generator, Generator):
        raise TypeError(
            f"argument 'generator' must be graphwright.Generator, not {type(generator).__name__}"
        )
    return generator
