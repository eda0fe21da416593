"""What this machine can run: CPU features, SIMD width, and where its C compiler is."""

from __future__ import annotations

import os
import platform
from functools import lru_cache

from graphwright.runtime.record import Record


class CompilerMissing(RuntimeError):
    """What a backend compiles with was not found, or does not work: a C compiler, or LLVM."""


class TritonMissing(ModuleNotFoundError):
    """A kernel for GPUs is to be compiled, and Triton is not installed.

    problem: this sentence, with the kernels; remedy: the command that installs Triton.
    """

    remedy = "pip install graphwright[cuda]"

    def __init__(self, kernels: str) -> None:
        self.problem = ("Triton, which compiles kernels for GPUs, is not installed, and the cache "
                        f"has no {kernels}")
        super().__init__(f"{self.problem}: {self.remedy}", name="triton")


class KernelFailure(Exception):
    """A kernel for a GPU that cannot be compiled; the message has its name and the reason."""


class Machine(Record):
    """A CPU to emit for: its architecture and features, and the width of its SIMD registers."""

    arch: str
    features: frozenset[str]
    vector_bits: int

    def has(self, feature: str) -> bool:
        return feature in self.features

    def key(self) -> str:
        """Text that names everything of the machine that code depends on."""
        return f"{self.arch} {self.vector_bits} {','.join(sorted(self.features))}"


AARCH64 = Machine("aarch64", frozenset({"fma", "sse4_1", "f16c"}), 128)
"""What each of them has, by the names of x86 for the same instructions."""
_AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl")


def _cpu_flags() -> frozenset[str]:
    """The flags of the first processor that Linux lists; none where it lists none."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() in ("flags", "Features"):
                    return frozenset(value.split())
    except OSError:
        pass
    return frozenset()


V3 = frozenset({"avx2", "fma", "f16c", "sse4_1"})
"""The features of x86-64-v3 that emitters look for."""
LIMITS = {"avx2": (256, V3), "x86-64": (128, frozenset[str]())}
"""What GRAPHWRIGHT_CPU leaves of an x86-64 processor: vector bits, and features beyond SSE2."""


@lru_cache(maxsize=1)
def host() -> Machine:
    """The machine to emit for: this one, or as much of it as GRAPHWRIGHT_CPU allows."""
    here, limit = detected(), LIMITS.get(os.environ.get("GRAPHWRIGHT_CPU", ""))
    if limit is None or here.arch != "x86_64":
        return here
    bits, features = limit
    return Machine(here.arch, here.features & features, min(bits, here.vector_bits))


@lru_cache(maxsize=1)
def detected() -> Machine:
    """The machine this process runs on."""
    arch = platform.machine()
    flags = _cpu_flags()
    if all(flag in flags for flag in _AVX512):
        return Machine(arch, flags, 512)
    if "avx2" in flags and "fma" in flags:
        return Machine(arch, flags, 256)
    if arch in ("aarch64", "arm64"):
        return Machine(arch, flags | AARCH64.features, AARCH64.vector_bits)
    return Machine(arch, flags, 128)


class Compiler(Record):
    """A C compiler: the words that begin its command, and the text that identifies its version
    in a cache key."""

    command: tuple[str, ...]
    identity: str


_FOUND: dict[tuple[str, ...], Compiler] = {}
_BROKEN: dict[Compiler, str] = {}
"""Compilers that hung or crashed in this process, which are not run again, to what is wrong."""


def mark_broken(compiler: Compiler, reason: str) -> CompilerMissing:
    """Find the compiler no more; the exception that says why."""
    _BROKEN[compiler] = f"{compiler.command[0]} {reason}"
    return CompilerMissing(_BROKEN[compiler])


def _words(command: str) -> list[str]:
    """A shell's words; all of it where it is none of a shell's commands."""
    import shlex

    try:
        return shlex.split(command) or [command]
    except ValueError:
        return [command]


def program_identity(word: str) -> str:
    """A word of a compiler's command; that of a program says which version it is."""
    import shutil

    path = shutil.which(word)
    if path is None:
        return word
    real = os.path.realpath(path)
    status = os.stat(real)
    return f"{real} {status.st_size} {status.st_mtime_ns}"


def find_compiler() -> Compiler:
    """The compiler named by `CC` (a command: "gcc", "ccache gcc", "clang -m64"), or the first of
    cc, gcc, clang on PATH.

    Raises: CompilerMissing where there is none, or it is broken.
    """
    import shutil

    named = os.environ.get("CC")
    for command in (_words(named),) if named else (["cc"], ["gcc"], ["clang"]):
        path = shutil.which(command[0])
        if path is None:
            continue
        words = (path, *command[1:])
        if words not in _FOUND:
            _FOUND[words] = Compiler(words, " ".join(map(program_identity, words)))
        found = _FOUND[words]
        if found in _BROKEN:
            raise CompilerMissing(_BROKEN[found])
        return found
    wanted = f"CC={named}" if named else "cc, gcc or clang"
    raise CompilerMissing(
        f"no C compiler was found ({wanted}): install one, or use backend='llvm', which needs none"
    )
