"""The state spaces: global allocations, and the shared and local memory of a group of blocks.

Lanes are the threads that run together. Every access is checked: against the bounds of the
allocations, the natural alignment of the whole access (a vector's too) and, in shared memory,
against reads of bytes that nothing has written.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from .values import BITS, ILLEGAL_ADDRESS, MISALIGNED_ADDRESS, Array, Fault

# Addresses of shared memory start here, so that zero is none of them; swizzled tiles need 1,024.
SHARED_BASE = 1024
# Generic addresses of shared and local memory lie in these windows.
WINDOWS = {"local": 1 << 57, "shared": 1 << 56, "global": 0}
# Where a launch has its parameters, and the module's global variables.
PARAMETERS, GLOBALS = 0x7E00_0000_0000, 0x7E10_0000_0000
UNWRITTEN = 0xFF  # a NaN in every floating-point type

Describe = Callable[[int], str]
Access = Literal["read", "write", "start"]  # to start a copy is to make its target unwritten


class Cells(NamedTuple):
    """Where some of the lanes' accesses lie: `view[at]` is what `lanes` of them access."""

    lanes: slice | Array
    view: Array
    at: Array


def words(data: Array, size: int) -> Array:
    """Bytes as elements of `size` bytes: integers, or rows of integers of 8 bytes."""
    view = data[:len(data) // size * size].view(BITS[min(size, 8)])
    return view.reshape(-1, size // 8) if size > 8 else view


def check_alignment(addresses: Array, size: int, describe: Describe) -> None:
    """Raise a fault unless all addresses are multiples of `size`."""
    if size > 1 and (wrong := addresses & addresses.dtype.type(size - 1)).any():
        lane = int(wrong.argmax())
        raise Fault(f"misaligned address {int(addresses[lane]):#x} of {size} bytes, "
                    f"{describe(lane)}", MISALIGNED_ADDRESS)


class GlobalMemory:
    """Allocations: address ranges that alias arrays of bytes."""

    def __init__(self) -> None:
        self.bases: list[int] = []
        self.buffers: dict[int, Array] = {}
        self.freed: list[tuple[int, int]] = []
        self.next = 0x7F00_0000_0000
        self.shuffle: np.random.Generator | None = None  # orders atomic updates

    def add(self, contents: Array, base: int | None = None) -> int:
        """Make an allocation of the array's memory; its address."""
        if not contents.flags.c_contiguous:
            raise ValueError("an allocation aliases a contiguous array")
        buffer = contents.reshape(-1).view(np.uint8)
        if base is None:
            base = self.next
            self.next += (len(buffer) + 1023) // 512 * 512
        bisect.insort(self.bases, base)
        self.buffers[base] = buffer
        return base

    def drop(self, base: int) -> None:
        """Remove an allocation that only a launch has."""
        del self.buffers[base]
        self.bases.remove(base)

    def holder(self, address: int) -> tuple[int, int]:
        """Start and end of the last allocation that starts at or before the address."""
        at = bisect.bisect_right(self.bases, address) - 1
        return (self.bases[at], self.bases[at] + len(self.buffers[self.bases[at]])) if (
            at >= 0) else (0, 0)

    def cells(self, addresses: Array, size: int, describe: Describe) -> Iterator[Cells]:
        """The places of `size` bytes at `addresses`, one group for each allocation touched."""
        if not len(addresses):
            return
        check_alignment(addresses, size, describe)
        base, end = self.holder(int(addresses.min()))
        if int(addresses.max()) + size <= end:
            yield self.part(slice(None), base, addresses, size)
            return
        which = np.searchsorted(np.array(self.bases, np.uint64), addresses, side="right")
        for number in np.unique(which):
            lanes = np.nonzero(which == number)[0]
            base, end = self.holder(int(addresses[lanes[0]]))
            outside = addresses[lanes] + np.uint64(size) > np.uint64(end)
            if outside.any():
                lane = int(lanes[outside.argmax()])
                raise Fault(self.outside(int(addresses[lane]), size, int(outside.sum()))
                            + f", {describe(lane)}", ILLEGAL_ADDRESS)
            yield self.part(lanes, base, addresses[lanes], size)

    def part(self, lanes: slice | Array, base: int, addresses: Array, size: int) -> Cells:
        index = (addresses - np.uint64(base)).view(np.int64) >> (size.bit_length() - 1)
        return Cells(lanes, words(self.buffers[base], size), index)

    def outside(self, address: int, size: int, lanes: int) -> str:
        """What is wrong with an address that no allocation holds."""
        what = f"illegal address {address:#x} of {size} bytes"
        for start, end in self.freed:
            if start <= address < end:
                return f"{what}: byte {address - start} of a freed allocation of {end - start}"
        if address < 4096:
            return f"{what}: a null pointer"
        base, end = self.holder(address)
        if end and address - base < max((end - base) * 16, 1 << 20):
            return (f"{what}: byte {address - base} of an allocation of {end - base} bytes "
                    f"({lanes} threads)")
        return f"{what}: in no allocation ({lanes} threads)"

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address, all in one allocation."""
        base, end = self.holder(address)
        if address + size > end:
            raise Fault(self.outside(address, size, 1), ILLEGAL_ADDRESS)
        return self.buffers[base][address - base:address - base + size].tobytes()


class BlockMemory:
    """Memory of equal size for each of several owners: shared of blocks, local of threads."""

    def __init__(self, owners: int, base: int, size: int, space: str, check: bool) -> None:
        self.base, self.limit, self.space, self.check = base, base + size, space, check
        self.stride = (base + size + 15) // 16 * 16 if size else 0
        self.bytes = np.full(owners * self.stride, UNWRITTEN, np.uint8)
        # All ones where something was written, in a view of any width.
        self.written = np.zeros(owners * self.stride if check else 0, np.uint8)

    def cells(self, owners: Array, addresses: Array, size: int, describe: Describe,
              access: Access) -> Cells:
        """The places of `size` bytes at `addresses` of each owner's memory."""
        if len(addresses):
            low, high = int(addresses.min()), int(addresses.max())
            if low < self.base or high + size > self.limit:
                outside = (addresses < self.base) | (addresses > self.limit - size)
                lane = int(outside.argmax())
                raise Fault(
                    f"{self.space} address {int(addresses[lane]) - self.base} of {size} bytes "
                    f"where there are {self.limit - self.base} ({int(outside.sum())} threads), "
                    f"{describe(lane)}", ILLEGAL_ADDRESS)
            check_alignment(addresses, size, describe)
        index = (owners * self.stride + addresses.astype(np.int64)) >> (size.bit_length() - 1)
        if self.check:
            written = words(self.written, size)
            if access == "read":
                self.check_written(written[index], addresses, describe)
            else:
                written[index] = np.iinfo(written.dtype).max if access == "write" else 0
        return Cells(slice(None), words(self.bytes, size), index)

    def check_written(self, written: Array, addresses: Array, describe: Describe) -> None:
        """Raise a fault where a byte was not written."""
        missing = written != np.iinfo(written.dtype).max
        if missing.any():
            lane = int(missing.reshape(len(written), -1).any(1).argmax())
            raise Fault(f"{self.space} address {int(addresses[lane]) - self.base} is read before "
                        f"it is written ({int(missing.sum())} threads), {describe(lane)}")
