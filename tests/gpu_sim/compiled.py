"""Triton kernels compiled for an architecture without a device, and run on the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from .fake_driver import FakeDriver
from .ptx.values import Array
from .session import Session, Value

DIVISIBLE = [["tt.divisibility", 16]]
LETTERS = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q",
           "u64": "Q", "fp32": "f", "fp64": "d"}


@dataclass(frozen=True)
class Tile:
    """An argument that is a matrix behind a tensor map, with the box that a program takes."""

    array: Array
    box: tuple[int, int]


@dataclass(frozen=True)
class Offset:
    """An argument that points so many bytes behind the start of an allocation."""

    array: Array
    by: int


@dataclass(frozen=True)
class Compiled:
    """What Triton made of a kernel: its text, and what a launch needs to know."""

    name: str
    ptx: str
    shared: int
    warps: int
    scratch: int
    maps: tuple[Any, ...]


@dataclass(frozen=True)
class Kernel:
    """A Triton kernel with its signature, constants, and the arguments that 16 divides."""

    function: Any
    signature: dict[str, str]
    constants: dict[str, Any]
    divisible: str | None = None  # names; None: all pointers
    warps: int = 4
    stages: int = 3
    debug: bool = False
    built: dict[int, Compiled] = field(default_factory=dict, compare=False, hash=False)

    def compile(self, arch: int) -> Compiled:
        """Its PTX for an architecture; Triton's own assembler accepted it."""
        if arch not in self.built:
            names = self.function.arg_names
            kinds = {**self.signature, **dict.fromkeys(self.constants, "constexpr")}
            pointers = [name for name in names if kinds[name].startswith("*")]
            chosen = pointers if self.divisible is None else self.divisible.split()
            source = ASTSource(
                fn=self.function, signature={name: kinds[name] for name in names},
                constexprs=self.constants,
                attrs={(names.index(name),): DIVISIBLE for name in chosen})
            options = {"num_warps": self.warps, "num_stages": self.stages}
            if self.debug:
                options["debug"] = True
            done = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
            about = done.metadata
            self.built[arch] = Compiled(
                about.name, done.asm["ptx"], about.shared, about.num_warps,
                about.global_scratch_size, tuple(about.tensordesc_meta or ()))
        return self.built[arch]

    def run(self, driver: FakeDriver, arch: int, grid: tuple[int, ...],
            arguments: Sequence[Array | Value | Tile | Offset], shared: int | None = None) -> None:
        """Upload the arrays, launch, and download all of them into the arrays."""
        driver.set("arch", arch)
        made, session = self.compile(arch), Session(driver)
        shared = made.shared if shared is None else shared
        places: list[tuple[int, Array]] = []
        packed: list[tuple[str, Value]] = []
        kinds = [self.signature[name] for name in self.function.arg_names
                 if name in self.signature]
        maps = iter(made.maps)
        for kind, value in zip(kinds, arguments, strict=True):
            if isinstance(value, Tile):
                places.append((session.upload(value.array), value.array))
                packed += tensor_map(session, places[-1][0], value.array, next(maps))
            elif isinstance(value, Offset):
                places.append((session.upload(value.array), value.array))
                packed.append(("Q", places[-1][0] + value.by))
            elif isinstance(value, np.ndarray):
                places.append((session.upload(value), value))
                packed.append(("Q", places[-1][0]))
            else:
                packed.append((LETTERS.get(kind, "Q"), value))
        scratch = session.empty(max(made.scratch * int(np.prod(grid)), 16))
        function = session.function(made.ptx, made.name, shared)
        session.launch(function, grid, (32 * made.warps,), [*packed, ("Q", scratch), ("Q", 0)],
                       shared)
        for address, array in places:
            session.download(array, address)
        session.synchronize()
        for address, _ in places:
            session.free(address)
        session.free(scratch)


def tensor_map(session: Session, address: int, array: Array,
               about: dict[str, Any]) -> list[tuple[str, Value]]:
    """The five parameters that a tensor map is: the map, two sizes, two strides."""
    rows, columns = array.shape
    room = ctypes.create_string_buffer(192)
    place = (ctypes.addressof(room) + 63) // 64 * 64
    box = list(reversed(about["block_size"]))
    session.call(
        "cuTensorMapEncodeTiled", ctypes.c_void_p(place), about["elem_type"], 2,
        ctypes.c_void_p(address), (ctypes.c_uint64 * 2)(columns, rows),
        (ctypes.c_uint64 * 1)(columns * array.itemsize), (ctypes.c_uint32 * 2)(*box),
        (ctypes.c_uint32 * 2)(1, 1), 0, about["swizzle"], 2, 0)
    return [("map", ctypes.string_at(place, 128)), ("i", rows), ("i", columns), ("q", columns),
            ("q", 1)]


