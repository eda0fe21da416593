"""What this machine can run: CPU features, SIMD width, and where its C compiler is."""

from __future__ import annotations

import os
import platform
from functools import lru_cache

from graphwright.runtime.records import Record


class CompilerMissing(RuntimeError):
    """No working C compiler was found; the LLVM backend needs none."""


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


@lru_cache(maxsize=1)
def host() -> Machine:
    """The machine this process runs on."""
    arch = platform.machine()
    flags = _cpu_flags()
    if all(flag in flags for flag in _AVX512):
        return Machine(arch, flags, 512)
    if "avx2" in flags and "fma" in flags:
        return Machine(arch, flags, 256)
    if arch in ("aarch64", "arm64"):
        return Machine(arch, flags | {"fma", "sse4_1", "f16c"}, 128)
    return Machine(arch, flags, 128)


class Compiler(Record):
    """A C compiler: its path, and what tells its versions apart in a cache key."""

    path: str
    identity: str


_FOUND: dict[str, Compiler] = {}


def find_compiler() -> Compiler:
    """The compiler named by `CC`, or the first of cc, gcc, clang on PATH.

    Raises: CompilerMissing where there is none.
    """
    import shutil

    named = os.environ.get("CC")
    for name in (named,) if named else ("cc", "gcc", "clang"):
        path = shutil.which(name)
        if path is None:
            continue
        real = os.path.realpath(path)
        if real not in _FOUND:
            status = os.stat(real)
            _FOUND[real] = Compiler(path, f"{real} {status.st_size} {status.st_mtime_ns}")
        return _FOUND[real]
    wanted = f"CC={named}" if named else "cc, gcc or clang"
    raise CompilerMissing(
        f"no C compiler was found ({wanted}): install one, or use backend='llvm', which needs none"
    )
