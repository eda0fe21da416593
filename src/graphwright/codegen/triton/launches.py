"""A GPU program as launches: what a launcher needs of each kernel, and nothing of Triton."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from graphwright.codegen.gpu.tile_ir import GpuProgram
from graphwright.codegen.gpu.wide_accesses import deciding_sizes
from graphwright.codegen.triton.compiler import CompiledKernel, Request, compile_kernels
from graphwright.codegen.triton.listing import kernels
from graphwright.codegen.triton.writer import TritonKernel
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr


class Kind(Enum):
    """What a kernel is given as an argument."""

    BUFFER = "buffer"
    SIZE = "size"
    ERROR = "error word"
    SEED = "seed"
    OFFSET = "offset"


class Argument(Record):
    """An argument: the address of buffer `name`, the size `name`, the address of the error word,
    or the generator's seed or offset.

    The error word is an int64, 0 at first; after that it is the greatest of what was reported.
    """

    kind: Kind
    name: str = ""


class Launch(Record):
    """One kernel: `grid` programs of it run; `arguments` are in the order of its signature."""

    kernel: CompiledKernel
    grid: Expr
    arguments: tuple[Argument, ...]
    limited: tuple[Expr, ...]
    most: int


def kernel_requests(
    program: GpuProgram, arch: int = 90, unaligned: Collection[str] = (), narrow: bool = False,
    multiples: Collection[str] = (),
) -> list[Request]:
    """A program's kernels, one for each step, to be compiled.

    unaligned: see `Request`; narrow: all sizes, which are `Launch.limited`, are less than
    `Launch.most`: indices have 32 bits; multiples: the sizes that are multiples of 16, of which a
    kernel is given those that matter to it.

    Raises: CannotEmit for a step without a Triton form.
    """
    return [Request(kernel, arch, unaligned, program.may_contract(step),
                    deciding_sizes(step).intersection(multiples) if multiples else ())
            for step, kernel in zip(program.steps, kernels(program, narrow), strict=True)]


def compile_launches(
    program: GpuProgram, arch: int = 90, unaligned: Collection[str] = (), narrow: bool = False,
    multiples: Collection[str] = (),
) -> list[Launch]:
    """Compile a program's kernels; see `kernel_requests` and `compile_kernels`."""
    requests = kernel_requests(program, arch, unaligned, narrow, multiples)
    return [Launch(made, request.kernel.grid, _arguments(request.kernel), step.limited, step.most)
            for step, request, made in zip(program.steps, requests, compile_kernels(requests),
                                           strict=True)]


def _arguments(kernel: TritonKernel) -> tuple[Argument, ...]:
    return (*[Argument(Kind.BUFFER, buffer.name) for buffer in kernel.buffers],
            *[Argument(Kind.SIZE, name) for name in kernel.sizes],
            *([Argument(Kind.ERROR)] if kernel.checked else []),
            *([Argument(Kind.SEED), Argument(Kind.OFFSET)] if kernel.random else []))
