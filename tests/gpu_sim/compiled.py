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

    def run(self, arch: int, grid: tuple[int, ...], arguments: Sequence[Any],
            shared: int | None = None) -> None:
        """Launch it on numbers and arrays, which it may change; `(array, 4)` points behind four
        bytes of an array.

        Raises:
            Fault: it did what ends a kernel.
        """
        made, memory = self.compile(arch), GlobalMemory()
        about, text = made.metadata, program(made.asm["ptx"])
        maps, values = iter(about.tensordesc_meta or ()), []
        kinds = [self.signature[name] for name in self.function.arg_names
                 if name in self.signature]
        for kind, argument in zip(kinds, arguments, strict=True):
            array, by = argument if isinstance(argument, tuple) else (argument, 0)
            value = memory.add(array) + by if isinstance(array, np.ndarray) else array
            values += tensor_map(value, array, next(maps)) if kind[0] == "t" else [value]
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
