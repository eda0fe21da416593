"""Kernels over tiles as Triton source, and compiled for NVIDIA GPUs."""

from __future__ import annotations

from graphwright.codegen.triton.compiler import (
    ARCHITECTURES,
    CannotCompile,
    CompiledKernel,
    Request,
    compile_kernel,
    compile_kernels,
)
from graphwright.codegen.triton.launches import (
    Argument,
    Kind,
    Launch,
    compile_launches,
    kernel_requests,
)
from graphwright.codegen.triton.listing import attempts, kernels, list_ptx, list_source
from graphwright.codegen.triton.names import CannotEmit
from graphwright.codegen.triton.writer import TritonKernel, write_kernel

__all__ = [
    "ARCHITECTURES", "Argument", "CannotCompile", "CannotEmit", "CompiledKernel", "Kind", "Launch",
    "Request", "TritonKernel", "attempts", "compile_kernel", "compile_kernels", "compile_launches",
    "kernel_requests", "kernels", "list_ptx", "list_source", "write_kernel",
]
