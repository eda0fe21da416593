"""What a step of the interpreter sees: the lanes' registers, which lanes run it, memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .memory import BlockMemory, GlobalMemory
from .values import Array, Fault

Step = Callable[["Threads"], None]
Reader = Callable[["Threads"], Array]
Writer = Callable[["Threads", Array], None]


@dataclass
class Blocks:
    """The blocks of a grid that run together; lane = block * threads + thread."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    first: int
    count: int
    memory: GlobalMemory
    shared: BlockMemory
    parameters: Array
    symbols: dict[str, int]
    printed: list[str]
    threads: int = 0
    lanes: int = 0
    special: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        x, y, _ = self.block
        self.threads = int(np.prod(self.block))
        self.lanes = self.count * self.threads
        thread = np.tile(np.arange(self.threads, dtype=np.uint32), self.count)
        index = np.repeat(np.arange(self.count, dtype=np.int64), self.threads)
        self.index = index  # of the lane's block among these
        block = (index + self.first).astype(np.uint32)
        width, height = (np.uint32(n) for n in self.grid[:2])
        one = (thread % np.uint32(x), thread // np.uint32(x) % np.uint32(y),
               thread // np.uint32(x * y))
        place = (block % width, block // width % height, block // (width * height))
        for at, axis in enumerate("xyz"):
            self.special[f"%tid.{axis}"] = one[at]
            self.special[f"%ctaid.{axis}"] = place[at]
            self.special[f"%ntid.{axis}"] = np.full(1, self.block[at], np.uint32)
            self.special[f"%nctaid.{axis}"] = np.full(1, self.grid[at], np.uint32)
        self.special["%laneid"] = thread % np.uint32(32)
        self.special["%warpid"] = thread // np.uint32(32)
        self.every = np.arange(self.lanes)

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

    def __init__(self, blocks: Blocks, registers: list[Array], local: int) -> None:
        self.blocks, self.registers = blocks, registers
        self.count = blocks.lanes
        # The lanes that run the step; None where all do.
        self.mask: Array | None = None
        self.carry = np.zeros(1, np.bool_)
        self.local = BlockMemory(self.count, 0, local, "local", False)
        self.frame: dict[str, Array] = {}  # parameters of calls, as bytes
        self.copies: Any = None  # async_copies.Copies of the kernel
        self.stalled = False

    def full(self, values: Array) -> Array:
        """The values as one for each lane."""
        return values if len(values) == self.count else np.broadcast_to(values, (self.count,))

    def active(self) -> Array:
        """The numbers of the lanes that run the step."""
        return self.blocks.every if self.mask is None else np.nonzero(self.mask)[0]

    def describe(self, lanes: Array | None = None) -> Callable[[int], str]:
        """Names the thread of an entry of an array over `lanes`, or over the active ones."""
        return lambda at: self.blocks.describe(
            int((self.active() if lanes is None else lanes)[at]))

    def warps(self, values: Array) -> Array:
        """The values as rows of a warp's 32."""
        return self.full(values).reshape(-1, 32)

    def whole_warps(self) -> None:
        """Raise a fault unless all lanes of each warp that runs the step run it."""
        if self.mask is not None:
            rows = self.mask.reshape(-1, 32)
            some, every = rows.any(1), rows.all(1)
            if (some != every).any():
                lane = int((some != every).argmax()) * 32
                raise Fault("only some threads of a warp reach an instruction of the whole warp, "
                            f"{self.blocks.describe(lane)}")

