"""C source to a shared library, through the system's compiler."""

from __future__ import annotations

import os
import subprocess

from graphwright.codegen.private_files import compilers_folder
from graphwright.codegen.target import Compiler, CompilerMissing, Machine, host

_FLAGS = (
    "-std=gnu11", "-O2", "-fPIC", "-shared", "-w", "-fno-math-errno", "-fno-trapping-math",
    "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fvisibility=default",
)
"""Explicit vectors leave little to -O3. Contraction is off: the emitter writes fma itself."""


def flags(machine: Machine) -> tuple[str, ...]:
    """The compiler's flags for `machine`."""
    if machine == host():
        return (*_FLAGS, "-march=native", f"-mprefer-vector-width={machine.vector_bits}")
    wanted = ("avx2", "fma", "f16c", "sse4_1", "avx512f", "avx512bw", "avx512dq", "avx512vl")
    return (*_FLAGS, *(f"-m{name.replace('_', '.')}" for name in wanted if machine.has(name)))


def shared_library(text: str, machine: Machine, compiler: Compiler) -> bytes:
    """The bytes of the library that `compiler` makes of `text`.

    Raises: CompilerMissing if the compiler cannot be run or refuses the source, or there is no
        room for its files.
    """
    with compilers_folder() as folder:
        source, result = os.path.join(folder, "program.c"), os.path.join(folder, "program.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        command = [*compiler.command, *flags(machine), "-o", result, source, "-lm"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                  check=False)
        except OSError as error:
            raise CompilerMissing(f"{compiler.command[0]} cannot be run: {error}") from error
        if done.returncode:
            first = "\n".join(done.stderr.splitlines()[:12])
            raise CompilerMissing(f"{compiler.command[0]} failed on generated code:\n{first}")
        with open(result, "rb") as file:
            return file.read()
