"""C text to a library for any target, by the system's compiler or by the one of ziglang."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from graphwright.codegen.emit.c_object import shared_library
from graphwright.codegen.target import Compiler, CompilerMissing, find_compiler
from graphwright.export.packaging.source import INCLUDED
from graphwright.export.packaging.targets import Target
from graphwright.runtime.record import replace

LINKERS = ("auto", "cc", "zig")
_GET_ZIG = "install ziglang (pip install 'graphwright[package]')"


def linked(
    text: str, target: Target, linker: str, files: Mapping[str, Iterable[Any]]
) -> bytes:
    """The bytes of the library of a source.

    files: what lies beside the source, by name.
    Raises: CompilerMissing where nothing makes code for the target, or it fails.
    """
    compiler = find_linker(target, linker)
    flags = (*(f"-I{folder}" for folder in INCLUDED), "-Wl,--as-needed", "-pthread")
    return shared_library(text, target.machine, compiler, flags, files)


def find_linker(target: Target, linker: str) -> Compiler:
    """The compiler that makes libraries for a target.

    linker: "cc", "zig", or "auto": cc where it makes code for that processor, else zig.
    Raises: CompilerMissing where there is none, with what to do.
    """
    if linker == "zig":
        return _zig(target)
    try:
        found = find_compiler()
    except CompilerMissing:
        if linker == "cc" or not _zig_path():
            raise CompilerMissing("no C compiler was found (cc, gcc, clang, or what CC names): "
                                  f"install one, or {_GET_ZIG}") from None
        return _zig(target)
    made = _architecture(found)
    if made == target.machine.arch:
        return replace(found, command=(*found.command, *target.baseline))
    if linker == "cc" or not _zig_path():
        raise CompilerMissing(
            f"{found.command[0]} makes code for {made or 'no processor that it names'}, not for "
            f"{target.machine.arch}: "
            + (f"{_GET_ZIG}, which makes it" if not _zig_path() else "take the linker 'zig'"))
    return _zig(target)


@lru_cache(maxsize=8)
def _architecture(compiler: Compiler) -> str:
    """The processor that a compiler makes code for; "" where it does not say so."""
    try:
        said = subprocess.run([*compiler.command, "-dumpmachine"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    arch = said.stdout.strip().partition("-")[0]
    return "aarch64" if arch == "arm64" else arch


def _zig_path() -> str | None:
    spec = find_spec("ziglang")
    folders = spec.submodule_search_locations if spec is not None else None
    paths = [os.path.join(folder, "zig") for folder in folders or ()]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def _zig(target: Target) -> Compiler:
    path = _zig_path()
    if path is None:
        raise CompilerMissing(f"the linker 'zig' is not installed: {_GET_ZIG}")
    command = (path, "cc", "-target", target.system, f"-mcpu={target.cpu}", "-g0",
               "-fno-sanitize=undefined")
    return Compiler(command, " ".join(command))
