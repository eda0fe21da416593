"""Builds the stand-in for libcuda from `driver/`, and runs its kernels with the interpreter.

    driver = FakeDriver.shared()
    os.environ["GRAPHWRIGHT_LIBCUDA"] = str(driver.path)

From then on what the process launches is interpreted. `driver.faults` has the messages of what
went wrong, with the instruction; `driver.launches` the kernels that ran.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .ptx.machine import Program, program
from .ptx.memory import GlobalMemory
from .ptx.values import Array, Fault

SOURCES = Path(__file__).parent / "driver"
FLAGS = ("-shared", "-fPIC", "-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror",
         "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1")
SUCCESS, NO_BINARY_FOR_GPU, NOT_FOUND, UNKNOWN = 0, 209, 500, 999
BLOCK = np.dtype([("base", "u8"), ("bytes", "u8"), ("host", "u8"), ("owner", "u8"),
                  ("device", "i4"), ("pinned", "i4"), ("freed", "i4"), ("unused", "i4")])
MOST_PARAMETERS, MOST_DEMANDS = 256, 8


class Layout(ctypes.Structure):
    """A kernel's parameters and block, as `module.c` has them."""

    _fields_ = (("count", ctypes.c_int), ("required", ctypes.c_uint * 3),
                ("bytes", ctypes.c_size_t), ("offsets", ctypes.c_size_t * MOST_PARAMETERS),
                ("sizes", ctypes.c_size_t * MOST_PARAMETERS))


class Config(ctypes.Structure):
    """The settings, as `fake.h` has them."""

    _fields_ = tuple((name, ctypes.c_long) for name in (
        "arch", "devices", "memory", "version", "seed", "legacy", "null"))


class Demand(ctypes.Structure):
    """An error that calls are to have, as `control.c` has it."""

    _fields_ = (("name", ctypes.c_char * 48), ("skip", ctypes.c_long), ("times", ctypes.c_long),
                ("error", ctypes.c_long))


LOAD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)
FIND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Layout))
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p,
                          ctypes.POINTER(ctypes.c_uint), ctypes.c_uint, ctypes.c_void_p,
                          ctypes.c_size_t, ctypes.c_int)


class Launched(NamedTuple):
    """A kernel that ran, its block of parameters, and the text of its module."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    parameters: bytes
    module: bytes


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
        self.path, self.library = path, ctypes.CDLL(str(path))
        self.library.gpusim_blocks.restype = ctypes.c_size_t
        self.library.gpusim_blocks.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.library.gpusim_calls.restype = ctypes.c_long
        self.config = Config.in_dll(self.library, "gpusim_config")
        self.demands = (Demand * MOST_DEMANDS).in_dll(self.library, "gpusim_demands")
        self.generation = ctypes.c_long.in_dll(self.library, "gpusim_generation")
        self.faults: list[str] = []
        self.launches: list[Launched] = []
        self.error: BaseException | None = None
        self.memories: tuple[int, dict[int, GlobalMemory]] = -1, {}
        self.callbacks = LOAD(self.load), FIND(self.find), LAUNCH(self.launch)  # C holds them
        self.library.gpusim_attach(*self.callbacks)
        self.first = bytes(self.config)

    @staticmethod
    @cache
    def shared() -> FakeDriver:
        """The driver of this process: what `GRAPHWRIGHT_LIBCUDA` is to name."""
        return FakeDriver(build())

    # ---- what tests set and ask

    def set(self, name: str, value: int) -> None:
        """Change a setting until `clear`.

        - `arch`: 80 or 90.
        - `devices`: how many there are; without any `cuInit` fails.
        - `memory`: the bytes of each device.
        - `version`: of the driver, such as 13000.
        - `seed`: unless it is 0, draws the order between streams, and of atomic updates.
        - `legacy`: 1 allows work on the NULL stream.
        - `null`: 1 lets modules be unread, and launches do nothing.
        """
        if name not in dict(Config._fields_):
            raise ValueError(f"no setting {name}")
        setattr(self.config, name, value)
        self.memories = -1, {}

    def fail(self, name: str, error: int, *, skip: int = 0, times: int = 1) -> None:
        """Let calls of a function fail, after `skip` that do not (-1 times: all of them).

        "kernel" stands for kernels that run, "without cuLaunchKernel" for finding that function.
        """
        free = next(at for at, one in enumerate(self.demands) if one.times == 0)
        self.demands[free] = Demand(name.encode(), skip, times, error)

    def calls(self, name: str) -> int:
        """How often a function was called since `clear`."""
        return int(self.library.gpusim_calls(name.encode()))

    def used(self, device: int = 0) -> int:
        """The bytes that are allocated on a device."""
        return sum(int(one["bytes"]) for one in self.blocks() if one["device"] == device
                   and not one["freed"] and not one["pinned"])

    def clear(self) -> None:
        """Run what is enqueued, end errors, forget what happened, restore the first settings.

        Raises an error that the interpreter itself had.
        """
        self.library.gpusim_reset()
        ctypes.memmove(ctypes.byref(self.config), self.first, len(self.first))
        self.library.gpusim_clear_faults()
        self.library.gpusim_clear_calls()
        self.memories = -1, {}
        self.faults.clear()
        self.launches.clear()
        error, self.error = self.error, None
        if error is not None:
            raise error

    # ---- what the library calls

    def answer(self, call: Callable[[], Any]) -> int:
        """The driver's error of a call, or 0. C cannot raise: another error waits for `clear`."""
        collects = gc.isenabled()
        gc.disable()  # finalizers would call the driver
        try:
            return int(call() or SUCCESS)
        except Fault as fault:
            self.faults.append(str(fault))
            return fault.code
        except BaseException as error:
            self.error = error
            return UNKNOWN
        finally:
            if collects:
                gc.enable()

    def load(self, text: bytes) -> int:
        return self.answer(lambda: self.runs(program(text)))

    def runs(self, module: Program) -> int:
        """Text runs on its architecture and later ones, with a suffix (sm_90a) on that alone."""
        wanted, arch = module.target.removeprefix("sm_"), self.config.arch
        fits = int(wanted) <= arch if wanted.isdigit() else int(wanted[:-1]) == arch
        return SUCCESS if fits else NO_BINARY_FOR_GPU

    def find(self, text: bytes, name: bytes, layout: Any) -> int:
        return self.answer(lambda: describe(program(text), name.decode(), layout.contents))

    def launch(self, text: bytes, name: bytes, sizes: Any, shared: int, parameters: int | None,
               size: int, device: int) -> int:
        data = ctypes.string_at(parameters, size) if parameters else b""
        made = Launched(name.decode(), tuple(sizes[:3]), tuple(sizes[3:6]), shared, data, text)
        self.launches.append(made)
        return self.answer(lambda: program(text).launch(
            made.name, made.grid, made.block, data, self.memory(device), shared))

    def blocks(self) -> Array:
        """All allocations, also those that were freed not long ago."""
        found = np.zeros(self.library.gpusim_blocks(None, 0), BLOCK)
        return found[:self.library.gpusim_blocks(found.ctypes.data, len(found))]

    def memory(self, device: int) -> GlobalMemory:
        """The allocations that a device may access, as they are now."""
        generation, memories = self.memories
        if generation != self.generation.value:
            memories = {}
            self.memories = self.generation.value, memories
        if device not in memories:
            memory = memories[device] = GlobalMemory()
            seed = self.config.seed
            memory.shuffle = np.random.default_rng(seed) if seed else None
            for block in self.blocks():
                base, size = int(block["base"]), int(block["bytes"])
                if block["freed"]:
                    memory.freed.append((base, base + size))
                elif block["device"] == device or block["pinned"]:
                    memory.add(host_array(int(block["host"]), size), base)
        return memories[device]


def describe(module: Program, name: str, layout: Layout) -> int:
    """Fill in the layout of a kernel's parameters; the driver's error."""
    if name not in module.entries:
        return NOT_FOUND
    parameters, layout.bytes = module.entries[name]
    layout.count = len(parameters)
    for at, (offset, size) in enumerate(parameters.values()):
        layout.offsets[at], layout.sizes[at] = offset, size
    for at, threads in enumerate(module.module.functions[name].threads or ()):
        layout.required[at] = threads
    return SUCCESS


def host_array(address: int, size: int) -> Array:
    """Memory of the process as an array of bytes."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
