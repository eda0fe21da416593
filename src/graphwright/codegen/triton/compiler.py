"""Triton source to PTX and cubin with `triton.compile`, which needs no GPU."""

from __future__ import annotations

import hashlib
import linecache
import warnings
from typing import Any

from graphwright.codegen.program import NativeProgram
from graphwright.codegen.triton.emitter import TritonKernel, listing
from graphwright.codegen.triton.names import OFFSET, SEED
from graphwright.runtime.record import Record

_POINTERS = {
    "bool": "*i8", "uint8": "*u8", "int8": "*i8", "int16": "*i16", "int32": "*i32",
    "int64": "*i64", "float16": "*fp16", "bfloat16": "*bf16", "float32": "*fp32",
    "float64": "*fp64",
}


class CompiledKernel(Record):
    """A kernel for one GPU architecture."""

    name: str
    ptx: str
    cubin: bytes
    num_warps: int
    shared_bytes: int


def jit_function(kernel: TritonKernel) -> Any:
    """The kernel's function as Triton sees it; `inspect` finds its source in `linecache`."""
    digest = hashlib.sha256(kernel.source.encode()).hexdigest()[:16]
    filename = f"<graphwright triton {kernel.name} {digest}>"
    lines = kernel.source.splitlines(keepends=True)
    linecache.cache[filename] = (len(kernel.source), None, lines, filename)
    namespace: dict[str, Any] = {"__name__": f"graphwright_triton_{digest}"}
    exec(compile(kernel.source, filename, "exec"), namespace)
    return namespace[kernel.name]


def _warps(kernel: TritonKernel) -> int:
    """4 warps for a block of up to 2,048 elements, more for longer rows."""
    widest = max(kernel.blocks.values(), default=1)
    return 4 if widest <= 2048 else 8 if widest <= 8192 else 16


def compile_kernel(kernel: TritonKernel, arch: int = 90) -> CompiledKernel:
    """Compile for compute capability `arch` (90: Hopper).

    Pointers are taken to be 16-byte aligned, as allocators give them.
    Raises: ImportError where Triton is not installed.
    """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    types = [*(_POINTERS[b.dtype.name] for b in kernel.buffers), *["i64"] * len(kernel.sizes)]
    signature = dict(zip(kernel.parameters, types, strict=True))
    if kernel.random:
        signature |= {SEED: "i64", OFFSET: "i64"}
    signature |= dict.fromkeys(kernel.blocks, "constexpr")
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(len(kernel.buffers))}
    source = ASTSource(fn=jit_function(kernel), signature=signature, constexprs=kernel.blocks,
                       attrs=aligned)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")
        done = triton.compile(source, target=GPUTarget("cuda", arch, 32),
                              options={"num_warps": _warps(kernel)})
    return CompiledKernel(kernel.name, done.asm["ptx"], done.asm["cubin"],
                          done.metadata.num_warps, done.metadata.shared)


def compile_ptx(program: NativeProgram, arch: int = 90) -> list[tuple[str, str]]:
    """(name, PTX) of each kernel of the program; a comment for those without a Triton form.

    Raises: ImportError without Triton.
    """
    return listing(program, "//", lambda kernel: compile_kernel(kernel, arch).ptx)
