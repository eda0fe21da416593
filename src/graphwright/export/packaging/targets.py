"""The processors that packages are made for."""

from __future__ import annotations

from graphwright.codegen.target import AARCH64, V3, Machine, host
from graphwright.runtime.record import Record


class Target(Record):
    """A processor: what code is emitted for, how Zig calls it (system, CPU), and flags of cc
    besides those for single features, as its default may be newer."""

    machine: Machine
    system: str
    cpu: str
    baseline: tuple[str, ...] = ()


_V4 = V3 | {"avx512f", "avx512bw", "avx512dq", "avx512vl"}
_GLIBC = "2.17"
"""The oldest that libraries linked by Zig run with."""
_X86, _ARM = f"x86_64-linux-gnu.{_GLIBC}", f"aarch64-linux-gnu.{_GLIBC}"

_BASELINE = ("-march=x86-64",)

NATIVE = "native"
TARGETS = {
    "x86-64": Target(Machine("x86_64", frozenset(), 128), _X86, "x86_64", _BASELINE),
    "x86-64-v3": Target(Machine("x86_64", V3, 256), _X86, "x86_64_v3", _BASELINE),
    "x86-64-v4": Target(Machine("x86_64", _V4, 512), _X86, "x86_64_v4", _BASELINE),
    "aarch64": Target(AARCH64, _ARM, "generic"),
}
"""By name; besides them there is `NATIVE`, this machine."""


def target_of(name: str) -> Target:
    """The target of this name. Raises ValueError where there is none."""
    if name == NATIVE:
        machine = host()
        arch = "aarch64" if machine.arch == "arm64" else machine.arch
        return Target(machine, f"{arch}-linux-gnu.{_GLIBC}", "native")
    if name not in TARGETS:
        raise ValueError(f"{name!r} is no target: these are {', '.join((NATIVE, *TARGETS))}")
    return TARGETS[name]
