"""Builds the stand-in for libcuda from `driver/`, and runs its kernels with the interpreter.

    driver = FakeDriver.shared()
    os.environ["GRAPHWRIGHT_LIBCUDA"] = str(driver.path)

From then on what the process launches is interpreted. `driver.faults` has the messages of what
went wrong, with the instruction; `driver.launches` the kernels that ran.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .ptx.machine import Program
from .ptx.memory import GlobalMemory
from .ptx.values import INVALID_PTX, Array, Fault

SOURCES = Path(__file__).parent / "driver"
FLAGS = ("-shared", "-fPIC", "-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror",
         "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1")
BLOCK = np.dtype([("base", "u8"), ("bytes", "u8"), ("host", "u8"), ("device", "i4"),
                  ("pinned", "i4"), ("freed", "i4"), ("reserved", "i4")])
UNKNOWN_ERROR = 999
LOAD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p,
                          ctypes.POINTER(ctypes.c_uint), ctypes.c_uint, ctypes.c_void_p,
                          ctypes.c_size_t, ctypes.c_int)


class Launched(NamedTuple):
    """A kernel that ran."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    parameters: bytes


@cache
def build() -> Path:
    """Compile the library, unless these sources were compiled before; its path."""
    sources = sorted(SOURCES.glob("*.[ch]"))
    text = b"".join(path.read_bytes() for path in sources)
    key = hashlib.sha256(text + repr(FLAGS).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"graphwright-gpu-sim-{os.getuid()}" / key
    path = folder / "libcuda.so.1"
    if not path.exists():
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = Path(scratch) / path.name
            subprocess.run([os.environ.get("CC", "cc"), *FLAGS, "-o", str(made),
                            *(str(one) for one in sources if one.suffix == ".c"), "-lpthread",
                            "-ldl"], check=True)
            made.replace(path)
    return path


class FakeDriver:
    """The library, loaded, and the interpreter behind it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = ctypes.CDLL(str(self.path))
        self.library.gpusim_blocks.restype = ctypes.c_size_t
        self.library.gpusim_blocks.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        for name in ("gpusim_calls", "gpusim_generation", "gpusim_seed"):
            getattr(self.library, name).restype = ctypes.c_long
        self.library.gpusim_used.restype = ctypes.c_size_t
        self.faults: list[str] = []
        self.launches: list[Launched] = []
        self.printed: list[str] = []
        self.programs: dict[bytes, Program] = {}
        self.loaded: dict[int, Program] = {}
        self.memories: dict[tuple[int, int], GlobalMemory] = {}
        self.generation = -1
        self.callbacks = LOAD(self.load), LAUNCH(self.launch)  # kept, as C holds them
        self.library.gpusim_set_load(self.callbacks[0])
        self.library.gpusim_set_launch(self.callbacks[1])

    @staticmethod
    @cache
    def shared() -> FakeDriver:
        """The driver of this process: what `GRAPHWRIGHT_LIBCUDA` is to name."""
        return FakeDriver(build())

    # ---- what tests set and ask

    def set(self, name: str, value: int) -> None:
        """Set arch, devices, memory, version, null, seed or legacy: see `control.c`."""
        if self.library.gpusim_set(name.encode(), ctypes.c_long(value)):
            raise ValueError(f"no setting {name}")
        self.memories.clear()

    def fail(self, name: str, error: int, *, skip: int = 0, times: int = 1) -> None:
        """Let calls of a function fail, after `skip` that do not; "kernel": kernels that run."""
        if self.library.gpusim_fail(name.encode(), ctypes.c_long(skip), ctypes.c_long(times),
                                    error):
            raise ValueError("too many faults at once")

    def calls(self, name: str) -> int:
        """How often a function was called since `clear`."""
        return int(self.library.gpusim_calls(name.encode()))

    def used(self, device: int = 0) -> int:
        """The bytes that are allocated on a device."""
        return int(self.library.gpusim_used(device))

    def clear(self) -> None:
        """End faults on demand and the state of error of the devices, forget what happened, and
        restore the settings that the process began with."""
        self.library.gpusim_clear_faults()
        self.library.gpusim_reset()
        self.library.gpusim_clear_calls()
        self.library.gpusim_restore()
        self.memories.clear()
        for log in (self.faults, self.launches, self.printed):
            log.clear()

    # ---- what the library calls

    def load(self, text: bytes) -> int:
        """Whether the module's text can be run: 0, or the driver's error."""
        try:
            self.program(text)
        except Fault as fault:
            self.faults.append(str(fault))
            return fault.code
        except Exception:
            self.faults.append(traceback.format_exc())
            print(self.faults[-1], file=sys.stderr)
            return INVALID_PTX
        return 0

    def program(self, text: bytes) -> Program:
        if text not in self.programs:
            self.programs[text] = Program(text.decode())
        return self.programs[text]

    def launch(self, text: int, name: bytes, sizes: ctypes.Array[ctypes.c_uint], shared: int,
               parameters: int | None, size: int, device: int) -> int:
        """Run a kernel: 0, or the driver's error."""
        grid, block = (sizes[0], sizes[1], sizes[2]), (sizes[3], sizes[4], sizes[5])
        data = ctypes.string_at(parameters, size) if parameters else b""
        self.launches.append(Launched(name.decode(), grid, block, shared, data))
        try:
            program = self.loaded.get(text)
            if program is None:
                program = self.loaded[text] = self.program(ctypes.string_at(text))
            self.printed += program.launch(name.decode(), grid, block, data,
                                           self.memory(device), shared)
        except Fault as fault:
            self.faults.append(str(fault))
            return fault.code
        except Exception:  # a callback from C cannot raise: an error of the interpreter's own
            self.faults.append(traceback.format_exc())
            print(self.faults[-1], file=sys.stderr)
            return UNKNOWN_ERROR
        return 0

    def memory(self, device: int) -> GlobalMemory:
        """The allocations that a device may access, as they are now."""
        generation = int(self.library.gpusim_generation())
        if generation != self.generation:
            self.generation = generation
            self.memories.clear()
        key = device, int(self.library.gpusim_peers(device))
        if key not in self.memories:
            self.memories[key] = self.allocations(*key)
        return self.memories[key]

    def allocations(self, device: int, peers: int) -> GlobalMemory:
        """All blocks; those of other devices only where `peers` has their bit."""
        blocks = np.zeros(self.library.gpusim_blocks(None, 0), BLOCK)
        self.library.gpusim_blocks(blocks.ctypes.data, len(blocks))
        memory, seed = GlobalMemory(), int(self.library.gpusim_seed())
        memory.shuffle = np.random.default_rng(seed) if seed else None
        for block in blocks:
            base, size = int(block["base"]), int(block["bytes"])
            if block["freed"]:
                memory.freed.append((base, base + size))
            elif block["device"] == device or block["pinned"] or peers >> block["device"] & 1:
                memory.add(host_array(int(block["host"]), size), base)
        return memory


def host_array(address: int, size: int) -> Array:
    """Memory of the process as an array of bytes."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
