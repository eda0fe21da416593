"""Functions as programs for GPUs, and their results beside those of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.codegen.compile import compile_graph
from graphwright.codegen.gpu.build import build_gpu_program, lower_for_gpu
from graphwright.codegen.gpu.tile_ir import GpuProgram
from graphwright.codegen.gpu.tile_printer import print_tile_kernel
from graphwright.codegen.lowering.graph import TensorOutput
from graphwright.ir.graph.interpreter import Interpreter
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.pipeline import lower_graph
from graphwright.random import manual_seed
from graphwright.runtime.tensor.dtypes import FLOAT8, uint8

from ...ir.lowering import captured, copies
from ..lowered import memory
from .simulated import run_program

SEED = 7


def graph_of(
    fn: Callable[..., Any], inputs: Sequence[Any], dynamic: bool = False
) -> tuple[GraphModule, list[Any]]:
    """The graph of primitives of a function, without gradients, and fake inputs for it; with
    `dynamic` sizes of at least 2 are symbols."""
    dims = {n: [d for d, e in enumerate(x.shape) if e > 1] for n, x in enumerate(inputs)}
    module, fakes = captured(fn, inputs, dims if dynamic else None)
    return lower_graph(module, fakes, needs_grad=False).forward, fakes


def program_of(
    fn: Callable[..., Any], *inputs: Any, dynamic: bool = False
) -> GpuProgram:
    """The GPU program of a function."""
    return build_gpu_program(*graph_of(fn, inputs, dynamic))


def tiles(fn: Callable[..., Any], *inputs: Any, dynamic: bool = False) -> str:
    """The kernels of a function as text."""
    return "\n".join(map(print_tile_kernel, program_of(fn, *inputs, dynamic=dynamic).steps)) + "\n"


def check(
    fn: Callable[..., Any], *inputs: Any, dynamic: bool = False, tolerance: float = 2e-6,
    arch: int = 80,
) -> GpuProgram:
    """Assert that the simulated program gives what the CPU's gives, and leaves in its inputs what
    that leaves there; see `assert_close`."""
    return _compare(lambda module, fakes: compile_graph(module, fakes, target="llvm"), fn, inputs,
                    dynamic, tolerance, arch)


def check_eager(
    fn: Callable[..., Any], *inputs: Any, dynamic: bool = False, tolerance: float = 2e-6
) -> GpuProgram:
    """The same of ops that the CPU runs eagerly."""
    return _compare(
        lambda module, fakes: Interpreter(module).run, fn, inputs, dynamic, tolerance)


def _compare(
    reference: Callable[..., Callable[..., Any]], fn: Callable[..., Any], inputs: Sequence[Any],
    dynamic: bool, tolerance: float, arch: int = 80,
) -> GpuProgram:
    module, fakes = graph_of(fn, inputs, dynamic)
    graph, _ = lower_for_gpu(module, fakes)
    program = build_gpu_program(module, fakes)
    given = [elements(x).copy() for x in (*inputs, *graph.constants)]
    places = [source.position for source in sorted(graph.inputs, key=lambda s: s.position)]
    sizes = module.bind_sizes(tuple(inputs))
    found, device = run_program(
        program, [given[p] for p in places], sizes, seed=SEED, arch=arch,
        narrow=dynamic and len(inputs) > 1)
    assert device.error[0] == 0
    manual_seed(SEED)
    theirs = copies(inputs)
    results = reference(module, fakes)(*theirs)
    tensors = [r for r, spec in zip(results, graph.outputs, strict=True)
               if isinstance(spec, TensorOutput)]
    for got, want in zip(found, tensors, strict=True):
        assert_close(bits(got), elements(want), tolerance)
    for position in program.mutated:
        name = program.inputs[places.index(position)].name
        assert_close(device.arrays[name], elements(theirs[position]), tolerance)
    return program


def elements(x: Any) -> np.ndarray:
    """A tensor's elements in memory; of float8 their codes."""
    return memory(x.view(uint8) if x.dtype in FLOAT8 else x)


def bits(array: np.ndarray) -> np.ndarray:
    """Float8 numbers as their codes, other arrays as they are."""
    return array.view(np.uint8) if array.dtype.name.startswith("float8") else array


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    """Assert equal elements: of integers and bools, and with tolerance 0 of floats too."""
    want = want[:len(got)]
    assert got.dtype == want.dtype
    if got.dtype.kind in "iub" or tolerance == 0:
        np.testing.assert_array_equal(got.astype("f8"), want.astype("f8"))
        return
    wide = got.astype("f8"), want.astype("f8")
    scale = np.abs(wide[1][np.isfinite(wide[1])]).max(initial=1e-30)
    np.testing.assert_allclose(*wide, rtol=tolerance, atol=tolerance * scale)
