"""GPU programs on the PTX interpreter of `tests/gpu_sim`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphwright.codegen.gpu.tile_ir import GpuProgram
from graphwright.codegen.triton import CompiledKernel, Kind, compile_launches

from ...gpu_sim.ptx.machine import program as ptx_program
from ...gpu_sim.ptx.memory import GlobalMemory

POISON = 0xA5


def run_kernel(
    kernel: CompiledKernel, programs: int, arguments: Sequence[int], memory: GlobalMemory
) -> None:
    """Launch a kernel and wait for it; scratch memory that Triton adds has no address."""
    module = ptx_program(kernel.ptx)
    module.launch(
        kernel.name, (programs, 1, 1), (32 * kernel.num_warps, 1, 1),
        module.pack(kernel.name, arguments), memory, kernel.shared_bytes)


class Device:
    """The memory of one run of a program."""

    def __init__(
        self, program: GpuProgram, inputs: Sequence[np.ndarray], sizes: Mapping[str, int],
        shuffle: int | None = None,
    ) -> None:
        self.memory = GlobalMemory()
        if shuffle is not None:
            self.memory.shuffle = np.random.default_rng(shuffle)
        self.addresses: dict[str, int] = {}
        self.arrays: dict[str, np.ndarray] = {}
        for buffer, given in zip(program.inputs, inputs, strict=True):
            self._place(buffer.name, np.array(given) if given.size else None)
        for output in program.outputs:
            count = output.buffer.size.evaluate(sizes)
            self._place(output.buffer.name, _poisoned(count, output.buffer.dtype.numpy))
        arena = self.memory.add(_poisoned(program.arena_bytes.evaluate(sizes), np.uint8))
        for name, slot in program.slots.items():
            if slot.kind == "arena":
                assert slot.offset is not None
                self.addresses[name] = arena + slot.offset.evaluate(sizes)
        self.error = np.zeros(1, np.int64)
        self.error_address = self.memory.add(self.error)

    def _place(self, name: str, array: np.ndarray | None) -> None:
        self.arrays[name] = np.zeros(1, np.uint8) if array is None else array
        self.addresses[name] = self.memory.add(self.arrays[name])


def _poisoned(count: int, kind: Any) -> np.ndarray:
    """Elements that were never written; one where there are none, to have an address."""
    return np.full(max(count, 1) * np.dtype(kind).itemsize, POISON, np.uint8).view(kind)


def run_program(
    program: GpuProgram, inputs: Sequence[np.ndarray], sizes: Mapping[str, int] | None = None,
    seed: int = 0, offset: int = 0, arch: int = 80, narrow: bool = False,
    shuffle: int | None = None,
) -> tuple[list[np.ndarray], Device]:
    """The memory of the program's outputs, and of all that it touched.

    shuffle: the seed of the order of atomic updates, which is that of the lanes if None.
    """
    sizes = sizes or {}
    device = Device(program, inputs, sizes, shuffle)
    given = {Kind.BUFFER: device.addresses, Kind.SIZE: sizes,
             Kind.ERROR: {"": device.error_address}, Kind.SEED: {"": seed},
             Kind.OFFSET: {"": offset}}
    multiples = [name for name in program.multiples if sizes[name] % 16 == 0]
    for launch in compile_launches(program, arch, narrow=narrow, multiples=multiples):
        assert not narrow or all(e.evaluate(sizes) < launch.most for e in launch.limited)
        arguments = [given[a.kind][a.name] for a in launch.arguments]
        run_kernel(launch.kernel, launch.grid.evaluate(sizes), arguments, device.memory)
    outputs = [device.arrays[o.buffer.name][:o.buffer.size.evaluate(sizes)]
               for o in program.outputs]
    return outputs, device
