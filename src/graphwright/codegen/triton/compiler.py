"""Triton source to PTX and cubin with `triton.compile`, which needs no GPU."""

from __future__ import annotations

import hashlib
import linecache
import warnings
from collections.abc import Collection
from typing import Any

from graphwright.codegen.triton.names import ERROR, OFFSET, SEED
from graphwright.codegen.triton.writer import TritonKernel
from graphwright.runtime.record import Record
from graphwright.runtime.tensor.dtypes import FLOAT8

_POINTERS = {
    "bool": "*i8", "uint8": "*u8", "int8": "*i8", "int16": "*i16", "int32": "*i32",
    "int64": "*i64", "float16": "*fp16", "bfloat16": "*bf16", "float32": "*fp32",
    "float64": "*fp64",
}


class CompiledKernel(Record):
    """A kernel for one GPU architecture.

    signature: the types of its parameters in order, as Triton spells them ("*fp32", "i64"). After
    them come two addresses of scratch memory, which may be null.
    """

    name: str
    ptx: str
    cubin: bytes
    num_warps: int
    shared_bytes: int
    signature: tuple[str, ...]


def jit_function(kernel: TritonKernel) -> Any:
    """The kernel's function as Triton sees it; `inspect` finds its source in `linecache`."""
    digest = hashlib.sha256(kernel.source.encode()).hexdigest()[:16]
    filename = f"<graphwright triton {kernel.name} {digest}>"
    lines = kernel.source.splitlines(keepends=True)
    linecache.cache[filename] = (len(kernel.source), None, lines, filename)
    namespace: dict[str, Any] = {"__name__": f"graphwright_triton_{digest}"}
    exec(compile(kernel.source, filename, "exec"), namespace)
    return namespace[kernel.name]


def signature(kernel: TritonKernel) -> dict[str, str]:
    """The type of each parameter, as Triton spells it."""
    types = ["*u8" if b.dtype in FLOAT8 else _POINTERS[b.dtype.name] for b in kernel.buffers]
    sizes = ["i64" if kernel.wide else "i32"] * len(kernel.sizes)
    found = dict(zip(kernel.parameters, [*types, *sizes], strict=True))
    if kernel.checked:
        found[ERROR] = "*i64"
    if kernel.random:
        found |= {SEED: "i64", OFFSET: "i64"}
    return found | dict.fromkeys(kernel.blocks, "constexpr")


def compile_kernel(
    kernel: TritonKernel, arch: int = 90, unaligned: Collection[str] = ()
) -> CompiledKernel:
    """Compile for compute capability `arch` (90: Hopper).

    unaligned: names of buffers whose addresses are no multiples of 16 bytes; allocators give such
    to all, but views may begin anywhere.

    Raises: ImportError where Triton is not installed.
    """
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    aligned = {(i,): [["tt.divisibility", 16]] for i, buffer in enumerate(kernel.buffers)
               if buffer.name not in unaligned}
    source = ASTSource(fn=jit_function(kernel), signature=signature(kernel),
                       constexprs=kernel.blocks, attrs=aligned)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="TRITON_DEFAULT_FP_FUSION")
        done = triton.compile(source, target=GPUTarget("cuda", arch, 32),
                              options={"num_warps": kernel.num_warps})
    return CompiledKernel(kernel.name, done.asm["ptx"], done.asm["cubin"],
                          done.metadata.num_warps, done.metadata.shared,
                          tuple(t for t in signature(kernel).values() if t != "constexpr"))
