"""The driver's functions by ctypes alone: what a program that launches kernels calls."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from .fake_driver import FakeDriver, host_array
from .ptx.values import Array

Handle = ctypes.c_void_p


class DriverError(Exception):
    """A call that the driver refused; `code` is its error."""

    def __init__(self, call: str, code: int, faults: list[str]) -> None:
        super().__init__(f"{call}: error {code}" + "".join(f"; {fault}" for fault in faults))
        self.code = code


class Session:
    """A device, one stream, and its allocations."""

    def __init__(self, driver: FakeDriver, ordinal: int = 0) -> None:
        self.driver = driver
        self.call("cuInit", 0)
        self.context = self.handle("cuDevicePrimaryCtxRetain", ordinal)
        self.call("cuCtxSetCurrent", self.context)
        self.stream = self.new_stream()

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; integers above 32 bits need a type of ctypes.

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

    def new_stream(self) -> Handle:
        return self.handle("cuStreamCreateWithPriority", 1, 0)

    def empty(self, size: int) -> int:
        """The address of a fresh allocation of device memory."""
        return self.handle("cuMemAlloc_v2", ctypes.c_size_t(size)).value or 0

    def free(self, address: int) -> None:
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def pinned(self, size: int) -> Array:
        """Pinned host memory as an array of bytes."""
        return host_array(self.handle("cuMemHostAlloc", ctypes.c_size_t(size), 0).value or 0, size)

    def upload(self, array: Array, address: int | None = None) -> int:
        """Enqueue a copy to the device; where it goes. The array must live until it has run."""
        address = self.empty(array.nbytes) if address is None else address
        self.call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), Handle(array.ctypes.data),
                  ctypes.c_size_t(array.nbytes), self.stream)
        return address

    def download(self, array: Array, address: int, stream: Handle | None = None) -> None:
        """Enqueue a copy from the device."""
        self.call("cuMemcpyDtoHAsync_v2", Handle(array.ctypes.data), ctypes.c_uint64(address),
                  ctypes.c_size_t(array.nbytes), self.stream if stream is None else stream)

    def synchronize(self) -> None:
        self.call("cuStreamSynchronize", self.stream)

    def function(self, ptx: str, name: str) -> Handle:
        """A kernel of a module."""
        module = self.handle("cuModuleLoadData", ptx.encode())
        return self.handle("cuModuleGetFunction", module, name.encode())

    def launch(self, function: Handle, grid: tuple[int, ...], block: tuple[int, ...],
               arguments: Sequence[tuple[str, int | float]], shared: int = 0,
               stream: Handle | None = None) -> None:
        """Enqueue a kernel. An argument is a letter of `struct` and its value."""
        values = [np.frombuffer(struct.pack("<" + letter, value), np.uint8)
                  for letter, value in arguments]
        pointers = (Handle * len(values))(*(one.ctypes.data for one in values))
        self.call("cuLaunchKernel", function, *(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], shared,
                  self.stream if stream is None else stream, pointers, None)
