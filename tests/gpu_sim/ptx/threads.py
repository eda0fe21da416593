"""What a step of the interpreter sees: the lanes' registers, which lanes run it, memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .memory import WINDOWS, Access, BlockMemory, Cells, GlobalMemory
from .values import BITS, ILLEGAL_ADDRESS, Array, Fault

Step = Callable[["Threads"], None]
Reader = Callable[["Threads"], Array]
Writer = Callable[["Threads", Array], None]


class Special(dict[str, Array]):
    """The special registers of the lanes: one value each, or one for all."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks

    def __missing__(self, name: str) -> Array:
        blocks = self.blocks
        if name in ("%laneid", "%warpid"):
            threads = blocks.thread % 32 if name == "%laneid" else blocks.thread // 32
        else:
            kind, axis = name[1:-2], "xyz".index(name[-1])
            of_block = kind.endswith("ctaid")
            sizes = blocks.grid if of_block else blocks.block
            if kind.startswith("n"):
                threads = np.full(1, sizes[axis])
            else:
                number = blocks.index + blocks.first if of_block else blocks.thread
                threads = number // math.prod(sizes[:axis]) % sizes[axis]
        self[name] = found = threads.astype(np.uint32)
        return found


@dataclass
class Blocks:
    """The blocks of a grid that run together; lane = block * threads + thread."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    first: int
    count: int
    memory: GlobalMemory
    shared: BlockMemory
    parameters: Array
    symbols: dict[str, int]

    def __post_init__(self) -> None:
        self.threads = math.prod(self.block)
        self.lanes = self.count * self.threads
        self.every = np.arange(self.lanes)
        self.special = Special(self)

    @cached_property
    def thread(self) -> Array:
        """The lane's number in its block."""
        return np.tile(np.arange(self.threads), self.count)

    @cached_property
    def index(self) -> Array:
        """The number of the lane's block among these."""
        return np.repeat(np.arange(self.count), self.threads)

    def describe(self, lane: int) -> str:
        """Which thread a lane is."""
        one, place = (tuple(int(self.special[f"%{name}.{axis}"][lane]) for axis in "xyz")
                      for name in ("tid", "ctaid"))
        return f"thread {one} of block {place}"


class Threads:
    """The lanes in one call of a function.

    A register holds bit patterns (booleans for a predicate): one for each lane, or a single one
    that all lanes share. Arrays are never changed in place, so that registers may share them.
    """

    def __init__(
        self, blocks: Blocks, registers: list[Array], local: BlockMemory, copies: Any
    ) -> None:
        self.blocks, self.registers, self.copies = blocks, registers, copies
        self.local = local
        self.count = blocks.lanes
        # The lanes that run the step; None where all do.
        self.mask: Array | None = None
        self.carry = np.zeros(1, np.bool_)
        self.frame: dict[str, Array] = {}  # parameters of calls, as bytes
        self.stalled = False

    # ---- lanes

    def full(self, values: Array) -> Array:
        """The values as one for each lane."""
        return values if len(values) == self.count else np.broadcast_to(values, (self.count,))

    def active(self) -> Array:
        """The numbers of the lanes that run the step."""
        return self.blocks.every if self.mask is None else np.nonzero(self.mask)[0]

    def members(self) -> Array:
        """Whether each lane runs the step."""
        return np.ones(self.count, np.bool_) if self.mask is None else self.mask

    def chosen(self, values: Array) -> Array:
        """The values of the active lanes."""
        return self.full(values) if self.mask is None else self.full(values)[self.mask]

    def spread(self, values: Array) -> Array:
        """Values of the active lanes as one for each lane."""
        if self.mask is None:
            return values
        result = np.zeros(self.count, values.dtype)
        result[self.mask] = values
        return result

    def groups(self, size: int, what: str) -> Array:
        """The numbers of the groups of so many threads that run the step, all of them."""
        if self.mask is None:
            return np.arange(self.count // size)
        rows = self.mask.reshape(-1, size)
        some, every = rows.any(1), rows.all(1)
        if (some != every).any():
            lane = int((some != every).argmax()) * size
            raise Fault(f"only some threads of a {what} reach an instruction of the whole {what}, "
                        f"{self.blocks.describe(lane)}")
        return np.nonzero(every)[0]

    def whole_warps(self) -> None:
        """Raise a fault unless all lanes of each warp that runs the step run it."""
        self.groups(32, "warp")

    # ---- memory

    def cells(self, space: str, lanes: Array, addresses: Array, size: int,
              access: Access) -> Iterator[Cells]:
        """Where the accesses of some lanes lie, by parts."""
        def describe(at: int) -> str:
            return self.blocks.describe(int(lanes[at]))

        if space == "generic" and len(lanes):
            space, addresses = space_of(addresses)
        if space == "shared":
            yield self.blocks.shared.cells(self.blocks.index[lanes], addresses, size, describe,
                                           access)
        elif space == "local":
            yield self.local.cells(lanes, addresses, size, describe, access)
        else:
            yield from self.blocks.memory.cells(addresses, size, describe)

    def load(self, space: str, lanes: Array, addresses: Array, size: int) -> Array:
        """The bit patterns that lanes load: rows of 8-byte words where `size` is above 8."""
        width = (size // 8,) if size > 8 else ()
        result = np.empty((len(lanes), *width), BITS[min(size, 8)])
        for some, view, at in self.cells(space, lanes, addresses, size, "read"):
            if isinstance(some, slice):
                return np.take(view, at, axis=0)
            result[some] = view[at]
        return result

    def store(self, space: str, lanes: Array, addresses: Array, values: Array, size: int) -> None:
        """Store one value for each lane, as `load` has them."""
        for some, view, at in self.cells(space, lanes, addresses, size, "write"):
            view[at] = values[some]


def space_of(addresses: Array) -> tuple[str, Array]:
    """The state space that generic addresses are in, and those in it."""
    for name, start in WINDOWS.items():
        inside = addresses >= np.uint64(start)
        if inside.all():
            return name, addresses - np.uint64(start)
        if inside.any():
            break
    raise Fault("generic addresses in several state spaces at once", ILLEGAL_ADDRESS)
