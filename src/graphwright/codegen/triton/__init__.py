"""Triton kernels from the same loop nests, for NVIDIA GPUs."""

from __future__ import annotations

from graphwright.codegen.triton.compiler import CompiledKernel, compile_kernel, compile_ptx
from graphwright.codegen.triton.emitter import TritonKernel, attempts, emit, kernels
from graphwright.codegen.triton.names import CannotEmit

__all__ = [
    "CannotEmit", "CompiledKernel", "TritonKernel", "attempts", "compile_kernel", "compile_ptx",
    "emit", "kernels",
]
