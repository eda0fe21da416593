"""Triton kernels from the same loop nests, for NVIDIA GPUs."""

from __future__ import annotations

from graphwright.codegen.triton.compiler import CompiledKernel, compile_kernel, compile_ptx
from graphwright.codegen.triton.emitter import TritonKernel, emit, kernels
from graphwright.codegen.triton.values import CannotEmit

__all__ = [
    "CannotEmit", "CompiledKernel", "TritonKernel", "compile_kernel", "compile_ptx", "emit",
    "kernels",
]
