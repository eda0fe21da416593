"""`LaunchPlan`: all that calls of a native program need besides its code, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.codegen.emit.native import LoadedProgram
from graphwright.codegen.loops import Buffer
from graphwright.codegen.lowering.graph import LoweredGraph
from graphwright.codegen.program import NativeProgram, Output
from graphwright.codegen.results import Result, results_of, with_results
from graphwright.codegen.weights import Weight, weight_inputs
from graphwright.nn.parameter import Parameter
from graphwright.runtime import _core
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import Expr, as_int
from graphwright.runtime.tensor.dtypes import dtype
from graphwright.runtime.tensor.tensor import Tensor

LONG_WORK = 1 << 16
"""Elements from which on other Python threads may run meanwhile."""

Ints = tuple[int, ...]
Layout = tuple[dtype, Ints, Ints] | tuple[dtype, int, None]
"""Of an output: dtype, shape and strides; where these are symbolic its rank and None."""


class LaunchPlan(Record):
    """How a native program is called, and its results put together.

    Attributes:
        n_inputs: of the graph; the program takes the constants after them.
        outputs: what the program allocates.
        arena_bytes: of its temporaries; -1 where that is symbolic.
        symbols: size symbol, input, place in it: see `runtime.symbolic.places`.
        rng_ops, mutated, messages: as in `NativeProgram`.
        release_gil: whether other Python threads run meanwhile.
        blas: whether matrix products are a library's.
        weights: which inputs are right factors of products that are kept packed where they are
            parameters.
        results: of the graph; constants: tensors of the graph.
        stages: of each what is dead and what is born; blocks: as in `NativeProgram`.
    """

    n_inputs: int
    outputs: tuple[Layout, ...]
    arena_bytes: int
    symbols: tuple[tuple[str, int, int], ...]
    rng_ops: int
    mutated: Ints
    messages: tuple[str, ...]
    release_gil: bool
    blas: bool
    weights: tuple[Weight, ...]
    results: tuple[Result, ...]
    constants: tuple[Any, ...]
    stages: tuple[tuple[Ints, Ints], ...]
    blocks: Ints


def launch_plan(
    program: NativeProgram, graph: LoweredGraph, n_inputs: int, blas: bool,
    packed_weights: int | None,
) -> LaunchPlan:
    """The plan for a program that was made from `graph`, a graph of `n_inputs`.

    packed_weights: see `compile_graph`.
    """
    arena = as_int(program.arena_bytes)
    return LaunchPlan(
        n_inputs, tuple([_output_layout(o) for o in program.outputs]),
        -1 if arena is None else arena, program.symbols, program.rng_ops, program.mutated,
        program.messages, _is_long(program), blas,
        () if program.stages else weight_inputs(program, packed_weights),
        results_of(graph.outputs), graph.constants,
        tuple([(stage.dead, stage.born) for stage in program.stages]), program.blocks)


def native_launcher(plan: LaunchPlan, loaded: LoadedProgram, label: str) -> _core.Launcher:
    """What calls the code of a plan. label: what profiles call it."""
    return _core.Launcher(
        run=loaded.run_address, shapes=loaded.shapes_address, keepalive=loaded.keepalive,
        n_inputs=plan.n_inputs + len(plan.constants), outputs=list(plan.outputs),
        arena_bytes=plan.arena_bytes, symbols=[(place, dim) for _, place, dim in plan.symbols],
        rng_ops=plan.rng_ops, mutated=list(plan.mutated), messages=list(plan.messages),
        cls=Tensor, release_gil=plan.release_gil, label=label, blas=plan.blas,
        weights=list(plan.weights), weight_class=Parameter,
        stages=list(plan.stages), blocks=list(plan.blocks))


def plan_results(plan: LaunchPlan, native: _core.Launcher) -> Callable[..., Any]:
    """What gives the results of the graph of a plan, by its launcher."""
    return with_results(plan.results, plan.constants, plan.symbols, native, plan.n_inputs,
                        bool(plan.stages))


def _is_long(program: NativeProgram) -> bool:
    buffers: list[Buffer] = [*program.inputs, *(o.buffer for o in program.outputs)]
    sizes = [as_int(b.size) for b in buffers]
    return any(s is None or s >= LONG_WORK for s in sizes)


def _output_layout(output: Output) -> Layout:
    shape, strides = _ints(output.shape), _ints(output.strides)
    if shape is None or strides is None:
        return (output.buffer.dtype, len(output.shape), None)
    return (output.buffer.dtype, shape, strides)


def _ints(exprs: Sequence[Expr]) -> Ints | None:
    values = tuple(as_int(e) for e in exprs)
    return None if None in values else values  # type: ignore[return-value]
