"""`graphwright warm`: compile the kernels of a function ahead, for a GPU that need not be here."""

from __future__ import annotations

import argparse
import time
from typing import Any

from graphwright.capture.frame.record import CaptureRecord
from graphwright.cli.dump import called
from graphwright.cli.errors import FAILED, NOTHING_COMPILED, UserError
from graphwright.cli.options import add_target, add_train
from graphwright.cli.output import say, say_table
from graphwright.codegen.cache import kernel_cache
from graphwright.codegen.target import KernelFailure, TritonMissing
from graphwright.codegen.triton import (
    ARCHITECTURES,
    CompiledKernel,
    compile_kernels,
    kernel_requests,
)
from graphwright.face.stage_dumps import count, gpu_parts

HEADERS = ("graph", "kernel", "registers", "spilled", "shared", "bytes")


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "warm", help="compile the kernels of a function ahead, for a GPU",
        description="Compile the kernels of a function's forward and backward graphs for a GPU, "
                    "which need not be here, into the kernel cache, where a run on such a GPU "
                    "finds them. The function is called once, on the CPU. Needs Triton.")
    add_target(parser)
    parser.add_argument("--target", required=True, dest="architecture",
                        choices=[f"sm_{arch}" for arch in ARCHITECTURES],
                        help="the GPU's architecture: sm_90 is Hopper")
    gradients = parser.add_mutually_exclusive_group()
    add_train(gradients)
    gradients.add_argument("--no-grad", action="store_true",
                           help="call it without gradients, as for inference")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Call the function, compile its kernels, and print what they are and what was done."""
    cache = kernel_cache()
    if cache.folder is None:
        raise UserError("there is no folder to keep kernels in",
                        "GRAPHWRIGHT_CACHE_DIR must be an absolute path")
    record = called(arguments, "auto", not arguments.no_grad).record
    begun, missed = time.perf_counter(), cache.counts.misses
    try:
        made = compiled(record, int(arguments.architecture.removeprefix("sm_")))
    except TritonMissing as missing:
        raise UserError(missing.problem, missing.remedy) from None
    except KernelFailure as error:
        raise UserError(str(error), "please report it", FAILED) from None
    if not made:
        raise UserError(f"{arguments.target} has no kernels",
                        f"graphwright explain {arguments.target} says why", NOTHING_COMPILED)
    say_table(HEADERS, [row(graph, kernel) for graph, kernel in made])
    new, size = cache.counts.misses - missed, sum(code_size(kernel) for _, kernel in made)
    say(f"{count(len(made), 'kernel')} for {arguments.architecture}: {new} compiled, "
        f"{len(made) - new} there already, {size:,} bytes, {time.perf_counter() - begun:.1f} s, "
        f"in {cache.folder}")


def compiled(record: CaptureRecord, arch: int) -> list[tuple[str, CompiledKernel]]:
    """The kernels of all graphs, each once, with the graph that it is of.

    Raises: as `kernel_requests` and `compile_kernels`.
    """
    requests = [(part.graph, request) for part in gpu_parts(record) for narrow in (True, False)
                for request in kernel_requests(
                    part.program, arch, narrow=narrow, multiples=part.program.multiples)]
    kernels = compile_kernels([request for _, request in requests])
    return list({kernel.key: (graph, kernel)
                 for (graph, _), kernel in zip(requests, kernels, strict=True)}.values())


def code_size(kernel: CompiledKernel) -> int:
    """Bytes of machine code and PTX."""
    return len(kernel.cubin) + len(kernel.ptx)


def row(graph: str, kernel: CompiledKernel) -> tuple[str, ...]:
    """The cells of a kernel, see `HEADERS`."""
    numbers = (kernel.registers, kernel.spill_bytes, kernel.shared_bytes, code_size(kernel))
    return (graph, kernel.name, *["-" if n is None else f"{n:,}" for n in numbers])
