"""The driver's functions by ctypes alone: what a program that launches kernels calls."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from .fake_driver import FakeDriver
from .ptx.values import Array

Handle = ctypes.c_void_p
Value = int | float | bytes


class DriverError(Exception):
    """A call that the driver refused; `code` is its error."""

    def __init__(self, call: str, code: int, faults: list[str]) -> None:
        super().__init__(f"{call}: error {code}" + "".join(f"; {fault}" for fault in faults))
        self.code = code


class Session:
    """A device, one stream, and its allocations."""

    def __init__(self, driver: FakeDriver, ordinal: int = 0, flags: int = 1) -> None:
        self.driver = driver
        self.call("cuInit", 0)
        context = Handle()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ordinal)
        self.call("cuCtxSetCurrent", context)
        self.context, self.stream = context, self.handle("cuStreamCreate", flags)
        self.modules: dict[bytes, Handle] = {}

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver.

        Raises:
            DriverError: it did not succeed.
        """
        code = getattr(self.driver.library, name)(*arguments)
        if code:
            raise DriverError(name, code, self.driver.faults[-1:])

    def handle(self, name: str, *arguments: Any) -> Handle:
        """What a function that makes something makes."""
        made = Handle()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def empty(self, size: int) -> int:
        """The address of a fresh allocation of device memory."""
        made = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(made), ctypes.c_size_t(max(size, 1)))
        return made.value

    def free(self, address: int) -> None:
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def pinned(self, size: int) -> Array:
        """Pinned host memory as an array of bytes."""
        memory = self.handle("cuMemHostAlloc", ctypes.c_size_t(size), 0)
        assert memory.value is not None
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(memory.value))

    def upload(self, array: Array, address: int | None = None) -> int:
        """Enqueue a copy to the device; where it goes. The array must live until it has run."""
        address = self.empty(array.nbytes) if address is None else address
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), Handle(array.ctypes.data),
                  ctypes.c_size_t(array.nbytes), self.stream)
        return address

    def download(self, array: Array, address: int) -> None:
        """Enqueue a copy from the device."""
        self.call("cuMemcpyDtoHAsync_v2", Handle(array.ctypes.data), ctypes.c_uint64(address),
                  ctypes.c_size_t(array.nbytes), self.stream)

    def synchronize(self) -> None:
        self.call("cuStreamSynchronize", self.stream)

    def function(self, ptx: str, name: str, shared: int = 0) -> Handle:
        """A kernel of a module, allowed that much dynamic shared memory."""
        text = ptx.encode() + b"\0"
        if text not in self.modules:
            self.modules[text] = self.handle("cuModuleLoadData", text)
        found = self.handle("cuModuleGetFunction", self.modules[text], name.encode())
        if shared > 49152:
            self.call("cuFuncSetAttribute", found, 8, shared)
        return found

    def parameters(self, function: Handle) -> list[tuple[int, int]]:
        """Offset and size of each parameter, as the driver packs them."""
        found: list[tuple[int, int]] = []
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        while self.driver.library.cuFuncGetParamInfo(
                function, ctypes.c_size_t(len(found)), ctypes.byref(offset),
                ctypes.byref(size)) == 0:
            found.append((offset.value, size.value))
        return found

    def launch(self, function: Handle, grid: tuple[int, ...], block: tuple[int, ...],
               arguments: Sequence[tuple[str, Value]], shared: int = 0,
               stream: Handle | None = None) -> None:
        """Enqueue a kernel. An argument is a letter of `struct` and its value."""
        buffers = [ctypes.create_string_buffer(value if isinstance(value, bytes)
                                               else struct.pack("<" + letter, value), 136)
                   for letter, value in arguments]
        pointers = (Handle * len(buffers))(*(ctypes.addressof(one) for one in buffers))
        sizes = [*(*grid, 1, 1)[:3], *(*block, 1, 1)[:3]]
        self.call("cuLaunchKernel", function, *sizes, shared,
                  self.stream if stream is None else stream, pointers, None)


