"""C source to a shared library, through the system's compiler."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphwright.codegen.private_files import compilers_folder
from graphwright.codegen.target import Compiler, CompilerMissing, Machine, detected, mark_broken

_FLAGS = (
    "-std=gnu11", "-O2", "-fPIC", "-shared", "-w", "-fno-math-errno", "-fno-trapping-math",
    "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fvisibility=default",
)
"""Explicit vectors leave little to -O3. Contraction is off: the emitter writes fma itself."""

_PATIENCE = 30.0
"""Seconds that a compiler has for any source, and then one for each `_PACE` bytes of it."""
_PACE = 2000
_QUOTED = 1000
"""Bytes of what a compiler says that are quoted, and lines."""
_QUOTED_LINES = 12


def flags(machine: Machine) -> tuple[str, ...]:
    """The compiler's flags for `machine`."""
    if machine == detected():
        return (*_FLAGS, "-march=native", f"-mprefer-vector-width={machine.vector_bits}")
    wanted = ("avx2", "fma", "f16c", "sse4_1", "avx512f", "avx512bw", "avx512dq", "avx512vl")
    if machine.arch != "x86_64":
        return _FLAGS
    return (*_FLAGS, *(f"-m{name.replace('_', '.')}" for name in wanted if machine.has(name)))


def shared_library(
    text: str, machine: Machine, compiler: Compiler, more: Sequence[str] = (),
    files: Mapping[str, Iterable[Any]] | None = None,
) -> bytes:
    """The bytes of the library that `compiler` makes of `text`.

    more: flags besides those for `machine`. files: what lies in the compiler's working directory,
    by name.

    Raises: CompilerMissing if the compiler cannot be run, does not end, crashes, refuses the
        source or makes nothing, or there is no room for its files.
    """
    with compilers_folder() as folder:
        source, result = os.path.join(folder, "program.c"), os.path.join(folder, "program.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        for name, parts in (files or {}).items():
            with open(os.path.join(folder, name), "wb") as beside:
                beside.writelines(parts)
        command = [*compiler.command, *flags(machine), *more, "-o", result, source, "-lm"]
        limit = _PATIENCE + len(text) / _PACE
        try:
            status, said = _run(command, limit, folder if files else None)
        except OSError as error:
            raise CompilerMissing(f"{compiler.command[0]} cannot be run: {error}") from error
        except subprocess.TimeoutExpired:
            reason = f"has not compiled {len(text)} bytes in {limit:.0f} seconds"
            raise mark_broken(compiler, reason) from None
        if status < 0:
            raise mark_broken(compiler, f"was ended by signal {-status}: {said}")
        if status > 0:
            raise CompilerMissing(f"{compiler.command[0]} failed on generated code:\n{said}")
        if not os.path.exists(result):
            raise mark_broken(compiler, "reports success, and has made no library")
        with open(result, "rb") as file:
            return file.read()


def _run(command: list[str], limit: float, folder: str | None) -> tuple[int, str]:
    """The exit status of a command, negative for a signal, and the first of its standard error.

    Raises: OSError if it cannot be run, TimeoutExpired if it has not ended in `limit` seconds; of
        its process group nothing is left then.
    """
    end = time.monotonic() + limit
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, start_new_session=True, cwd=folder) as process:
        try:
            assert process.stderr is not None
            said = _drained(process.stderr.fileno(), end)
            status = process.wait(max(0.0, end - time.monotonic()))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    lines = said.decode(errors="replace").splitlines()
    return status, "\n".join(lines[:_QUOTED_LINES])


def _drained(pipe: int, end: float) -> bytes:
    """The first bytes that come through a pipe; what follows is read and dropped."""
    poll, said = select.poll(), b""
    poll.register(pipe)
    while True:
        left = end - time.monotonic()
        if left <= 0 or not poll.poll(1000 * left):
            raise subprocess.TimeoutExpired("", left)
        part = os.read(pipe, 1 << 16)
        if not part:
            return said
        said += part[: _QUOTED - len(said)]
