"""Kernels over tiles as Triton source, and compiled for NVIDIA GPUs."""

from __future__ import annotations

from graphwright.codegen.triton.compiler import CompiledKernel, compile_kernel
from graphwright.codegen.triton.launches import Argument, Kind, Launch, compile_launches
from graphwright.codegen.triton.listing import attempts, kernels, list_ptx, list_source
from graphwright.codegen.triton.names import CannotEmit
from graphwright.codegen.triton.writer import TritonKernel, write_kernel

__all__ = [
    "Argument", "CannotEmit", "CompiledKernel", "Kind", "Launch", "TritonKernel", "attempts",
    "compile_kernel", "compile_launches", "kernels", "list_ptx", "list_source", "write_kernel",
]
