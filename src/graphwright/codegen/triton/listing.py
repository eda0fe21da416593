"""The Triton kernels of a GPU program, and their texts."""

from __future__ import annotations

from collections.abc import Iterator

from graphwright.codegen.gpu.tile_ir import GpuProgram
from graphwright.codegen.gpu.wide_accesses import deciding_sizes
from graphwright.codegen.triton.compiler import Request, compile_kernels
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


def list_source(program: GpuProgram, narrow: bool = False) -> list[tuple[str, str]]:
    """(name, Triton source) of each step; a comment for one that has none. narrow: see
    `TileKernel.wide`."""
    return [(name, f"# {found}\n" if isinstance(found, str) else found.source)
            for name, found in attempts(program, narrow)]


def list_ptx(
    program: GpuProgram, arch: int = 90, narrow: bool = False
) -> list[tuple[str, str]]:
    """(name, PTX) of each step; a comment for one that has none. narrow: see `TileKernel.wide`.

    Raises: as `compile_kernels`.
    """
    found = dict(attempts(program, narrow))
    requests = [Request(kernel, arch, (), program.may_contract(step),
                        deciding_sizes(step) & program.multiples)
                for step, kernel in zip(program.steps, found.values(), strict=True)
                if not isinstance(kernel, str)]
    texts = iter([kernel.ptx for kernel in compile_kernels(requests)])
    return [(name, f"// {kernel}\n" if isinstance(kernel, str) else next(texts))
            for name, kernel in found.items()]
