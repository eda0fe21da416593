"""Triton kernels compiled for an architecture without a device, and interpreted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from .ptx.asynchronous import encode_map
from .ptx.machine import program
from .ptx.memory import GlobalMemory
from .ptx.values import Array

DIVISIBLE = [["tt.divisibility", 16]]


@dataclass(frozen=True)
class Tile:
    """An argument that is a matrix behind a tensor map."""

    array: Array


@dataclass(frozen=True)
class Offset:
    """An argument that points so many bytes behind the start of an allocation."""

    array: Array
    by: int


@dataclass
class Kernel:
    """A Triton kernel with its signature, constants, and the arguments that 16 divides."""

    function: Any
    signature: dict[str, str]
    constants: dict[str, Any]
    divisible: str | None = None  # names; None: all pointers
    options: dict[str, Any] = field(default_factory=dict)
    built: dict[int, Any] = field(default_factory=dict)

    def compile(self, arch: int) -> Any:
        """What Triton makes of it for an architecture; its own assembler accepted the PTX."""
        if arch not in self.built:
            names = self.function.arg_names
            kinds = {**self.signature, **dict.fromkeys(self.constants, "constexpr")}
            pointers = [name for name in names if kinds[name].startswith("*")]
            chosen = pointers if self.divisible is None else self.divisible.split()
            source = ASTSource(
                fn=self.function, signature={name: kinds[name] for name in names},
                constexprs=self.constants,
                attrs={(names.index(name),): DIVISIBLE for name in chosen})
            self.built[arch] = triton.compile(source, target=GPUTarget("cuda", arch, 32),
                                              options=self.options)
        return self.built[arch]

    def run(self, arch: int, grid: tuple[int, ...],
            arguments: Sequence[Array | int | float | Tile | Offset],
            shared: int | None = None) -> None:
        """Launch it on arguments whose arrays it may change.

        Raises:
            Fault: it did what ends a kernel.
        """
        made, memory = self.compile(arch), GlobalMemory()
        about, text = made.metadata, program(made.asm["ptx"])
        maps, values = iter(about.tensordesc_meta or ()), []
        for argument in arguments:
            if isinstance(argument, Tile):
                values += tensor_map(memory.add(argument.array), argument.array, next(maps))
            elif isinstance(argument, Offset):
                values.append(memory.add(argument.array) + argument.by)
            else:
                values.append(memory.add(argument) if isinstance(argument, np.ndarray)
                              else argument)
        if about.global_scratch_size:
            values.append(memory.add(np.zeros(about.global_scratch_size * math.prod(grid),
                                              np.uint8)))
        text.launch(about.name, (*grid, 1, 1)[:3], (32 * about.num_warps, 1, 1),
                    text.pack(about.name, values), memory,
                    about.shared if shared is None else shared)


def tensor_map(address: int, array: Array, about: dict[str, Any]) -> list[int | bytes]:
    """The five parameters that a tensor map is: the map, two sizes, two strides."""
    made = encode_map(address, array.shape, about["elem_type"], tuple(about["block_size"]),
                      about["swizzle"])
    return [made, *array.shape, array.shape[1], 1]
