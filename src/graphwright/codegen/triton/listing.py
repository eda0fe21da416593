"""The Triton kernels of a GPU program, and their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from graphwright.codegen.gpu.tile_ir import GpuProgram
from graphwright.codegen.triton.compiler import compile_kernel
from graphwright.codegen.triton.names import CannotEmit
from graphwright.codegen.triton.writer import TritonKernel, write_kernel


def attempts(
    program: GpuProgram, narrow: bool = False
) -> Iterator[tuple[str, TritonKernel | str]]:
    """Of each step its name, and its kernel or why it has none. narrow: see `TileKernel.wide`."""
    sizes = tuple(name for name, _, _ in program.symbols)
    for step in program.steps:
        try:
            yield step.name, write_kernel(step, sizes, program.checks, narrow)
        except CannotEmit as reason:
            yield step.name, f"{step.name} has no Triton kernel: {reason}"


def kernels(program: GpuProgram, narrow: bool = False) -> list[TritonKernel]:
    """The program's kernels, one for each step. narrow: see `TileKernel.wide`.

    Raises: CannotEmit for a step that has none.
    """
    found: list[TritonKernel] = []
    for _, kernel in attempts(program, narrow):
        if isinstance(kernel, str):
            raise CannotEmit(kernel)
        found.append(kernel)
    return found


def _listed(
    program: GpuProgram, comment: str, text: Callable[[TritonKernel], str]
) -> list[tuple[str, str]]:
    return [(name, f"{comment} {found}\n" if isinstance(found, str) else text(found))
            for name, found in attempts(program)]


def list_source(program: GpuProgram) -> list[tuple[str, str]]:
    """(name, Triton source) of each step; a comment for one that has none."""
    return _listed(program, "#", lambda kernel: kernel.source)


def list_ptx(program: GpuProgram, arch: int = 90) -> list[tuple[str, str]]:
    """(name, PTX) of each step; a comment for one that has none.

    Raises: ImportError without Triton.
    """
    return _listed(program, "//", lambda kernel: compile_kernel(kernel, arch).ptx)
