"""Helpers of the codegen tests: functions as programs, run by the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.codegen.build import build_program
from graphwright.codegen.compile import compile_graph
from graphwright.codegen.interpret import Evaluator
from graphwright.codegen.loop_printer import print_step
from graphwright.codegen.lowering.graph import CPU_RULES, lower_graph
from graphwright.codegen.program import NativeProgram
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.trace import trace
from graphwright.runtime import _core
from graphwright.runtime.fake.fake_tensor import fake_like
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor


def tensor(array: Any, dtype: Any = None) -> Tensor:
    """A tensor over a copy of the array's memory, with the same strides."""
    array = np.asarray(array)
    dtype = dtype or dtypes.from_numpy_dtype(array.dtype)
    return _core.from_ndarray(Tensor, array, dtype)


def memory(x: Tensor) -> np.ndarray:
    """The elements from the tensor's first to its last in memory, writable."""
    array = x._nd
    if not array.size:
        return np.empty(0, array.dtype)
    step = array.itemsize
    count = 1 + sum((d - 1) * (s // step) for d, s in zip(array.shape, array.strides, strict=True))
    return np.lib.stride_tricks.as_strided(array, (count,), (step,))


def traced(
    fn: Callable[..., Any], inputs: Sequence[Tensor], dynamic: bool = False
) -> GraphModule:
    """The primitives that `fn` runs; with `dynamic` sizes of at least 2 are symbols."""
    env = ShapeEnv()
    fakes = [
        fake_like(x, env, [d for d, e in enumerate(x.shape) if e > 1]) if dynamic
        else fake_like(x) for x in inputs]
    return trace(fn, fakes, keep=lambda op: op.is_view or op.name in CPU_RULES)


def program_of(
    fn: Callable[..., Any], inputs: Sequence[Tensor], dynamic: bool = False
) -> tuple[NativeProgram, GraphModule]:
    """The program of a function, and its graph."""
    module = traced(lambda *a: as_tuple(fn(*a)), inputs, dynamic)
    examples = [n.meta["val"] for n in module.graph.placeholders]
    return build_program(lower_graph(module, examples)), module


def as_tuple(result: Any) -> tuple[Any, ...]:
    """One result or several as a tuple."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def uniform(rng_index: int, positions: np.ndarray) -> np.ndarray:
    """Stands for the random numbers of op `rng_index`."""
    return ((positions * 37 + rng_index * 11) % 64 / 64).astype(np.float32)


def evaluate(
    fn: Callable[..., Any], inputs: Sequence[Tensor], dynamic: bool = False
) -> tuple[list[np.ndarray], NativeProgram]:
    """The results of the program of `fn`, by the reference evaluator."""
    program, module = program_of(fn, inputs, dynamic)
    sizes = module.bind_sizes(tuple(inputs))
    results = Evaluator(program, uniform).run([memory(x) for x in inputs], sizes)
    return results, program


def check(
    fn: Callable[..., Any], *inputs: Any, dynamic: bool = False, rtol: float = 1e-5,
    atol: float = 1e-6, kernels: int | None = None, strides: bool = True,
) -> NativeProgram:
    """Assert that the program of `fn` gives what eager ops give."""
    tensors = [x if isinstance(x, Tensor) else tensor(x) for x in inputs]
    expected = as_tuple(fn(*tensors))
    found, program = evaluate(fn, tensors, dynamic)
    assert_same(found, expected, rtol, atol, strides)
    module = traced(lambda *a: as_tuple(fn(*a)), tensors, dynamic)
    examples = [n.meta["val"] for n in module.graph.placeholders]
    compiled = compile_graph(module, examples, target="llvm")
    assert_same([y._nd for y in compiled(*tensors)], expected, rtol, atol, strides)
    if kernels is not None:
        assert len(program.steps) == kernels, text(program)
    return program


def assert_same(
    found: Sequence[np.ndarray], expected: Sequence[Tensor], rtol: float, atol: float,
    strides: bool,
) -> None:
    """Assert equal dtypes, shapes, strides (on demand) and, within the tolerance, values."""
    for got, want in zip(found, expected, strict=True):
        assert got.dtype == want._nd.dtype
        assert got.shape == tuple(want.shape)
        steps = tuple(s // got.itemsize for s in got.strides)
        if got.size and strides:
            assert [s for s, e in zip(steps, got.shape, strict=True) if e != 1] == [
                s for s, e in zip(want.stride(), got.shape, strict=True) if e != 1]
        np.testing.assert_allclose(
            got.astype(np.float64), want._nd.astype(np.float64), rtol=rtol, atol=atol)


def text(program: NativeProgram) -> str:
    """The steps of a program as text."""
    return "\n".join(
        print_step(s) for s in program.steps) + "\n"
