"""`compile_graph`: a functional graph of primitives becomes a native program with a launcher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphwright.codegen.emit.native import LoadedProgram, compile_program
from graphwright.codegen.loop_printer import print_program
from graphwright.codegen.loops import Buffer, Check, For, Reduce, Stmt
from graphwright.codegen.lowering.graph import (
    ConstantOutput,
    InputOutput,
    LoweredGraph,
    OutputSpec,
    SizeOutput,
    TensorOutput,
    lower_graph,
)
from graphwright.codegen.memory_plan import plan_memory
from graphwright.codegen.program import Gemm, NativeProgram, Output, Slot, Step
from graphwright.codegen.scheduler.schedule import Schedule, schedule
from graphwright.runtime import _core
from graphwright.runtime.symbolic.expr import Expr, as_int
from graphwright.runtime.tensor import Tensor


def build_program(graph: LoweredGraph) -> NativeProgram:
    """Schedule a lowered graph and plan its memory."""
    plan = schedule(graph)
    memory = plan_memory(plan.steps, plan.temps)
    outputs = _outputs(graph, plan)
    slots = {b.name: Slot("input", n) for n, b in enumerate(plan.inputs)}
    slots |= {o.buffer.name: Slot("output", n) for n, o in enumerate(outputs)}
    slots |= {name: Slot("arena", 0, offset) for name, offset in memory.offsets.items()}
    return NativeProgram(
        inputs=plan.inputs, outputs=outputs, slots=slots, arena_bytes=memory.arena_bytes,
        steps=memory.steps, symbols=graph.symbols, rng_ops=graph.rng_ops, mutated=plan.mutated,
        messages=_messages(memory.steps),
    )


def _outputs(graph: LoweredGraph, plan: Schedule) -> tuple[Output, ...]:
    return tuple(
        Output(plan.outputs[position], spec.shape, spec.strides)
        for position, spec in enumerate(graph.outputs) if isinstance(spec, TensorOutput))


def _messages(steps: Sequence[Step]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for step in steps:
        if not isinstance(step, Gemm):
            _collect_messages(step.body, found)
    return tuple(found)


def _collect_messages(stmts: Sequence[Stmt], found: dict[str, None]) -> None:
    for stmt in stmts:
        if isinstance(stmt, Check):
            found[stmt.message] = None
        elif isinstance(stmt, For):
            _collect_messages(stmt.body, found)
        elif isinstance(stmt, Reduce):
            _collect_messages(stmt.prologue, found)


@dataclass(slots=True)
class CompiledGraph:
    """A compiled graph. Call it, or its `launch`, with the graph's inputs: a tuple of results.

    Attributes:
        launch: what runs it; the C launcher itself where nothing is left to do in Python.
        program: the native program.
        kernels: how many kernels and matrix products it runs.
        sources: text by stage: "loops", then what the backend made of them.
    """

    launch: Callable[..., Any]
    program: NativeProgram
    loaded: LoadedProgram
    extra_sources: dict[str, str] = field(default_factory=dict)

    def __call__(self, *inputs: Any) -> Any:
        return self.launch(*inputs)

    @property
    def kernels(self) -> int:
        return len(self.program.steps)

    @property
    def sources(self) -> dict[str, str]:
        return {"loops": print_program(self.program), **self.loaded.sources}


def compile_graph(module: Any, fake_inputs: Sequence[Any], *, target: str) -> CompiledGraph:
    """Compile `module`, whose inputs are like `fake_inputs`, for "llvm" or "c"."""
    graph = lower_graph(module, fake_inputs)
    program = build_program(graph)
    loaded = compile_program(program, target)
    return CompiledGraph(_wrapped(graph, _launcher(program, loaded)), program, loaded)


def _launcher(program: NativeProgram, loaded: LoadedProgram) -> Callable[..., Any]:
    arena = as_int(program.arena_bytes)
    return _core.Launcher(
        run=loaded.run_address, shapes=loaded.shapes_address, keepalive=loaded.keepalive,
        n_inputs=len(program.inputs), outputs=[_output_layout(o) for o in program.outputs],
        arena_bytes=-1 if arena is None else arena,
        symbols=[(position, dim) for _, position, dim in program.symbols],
        rng_ops=program.rng_ops, mutated=list(program.mutated),
        messages=list(program.messages), cls=Tensor, release_gil=_is_long(program))


LONG_WORK = 1 << 16
"""Elements from which on other Python threads may run meanwhile."""


def _is_long(program: NativeProgram) -> bool:
    buffers: list[Buffer] = [*program.inputs, *(o.buffer for o in program.outputs)]
    sizes = [as_int(b.size) for b in buffers]
    return any(s is None or s >= LONG_WORK for s in sizes)


def _output_layout(output: Output) -> tuple[Any, Any, Any]:
    shape, strides = _ints(output.shape), _ints(output.strides)
    if shape is None or strides is None:
        return (output.buffer.dtype, len(output.shape), None)
    return (output.buffer.dtype, shape, strides)


def _ints(exprs: Sequence[Expr]) -> tuple[int, ...] | None:
    values = tuple(as_int(e) for e in exprs)
    return None if None in values else values  # type: ignore[return-value]


def _wrapped(graph: LoweredGraph, launcher: Callable[..., Any]) -> Callable[..., Any]:
    """The launcher itself, or around it what it does not do: constants, inputs as results."""
    if not graph.constants and all(isinstance(o, TensorOutput) for o in graph.outputs):
        return launcher
    return Assembled(launcher, graph.outputs, graph.constants, graph.symbols)


class Assembled:
    """A launcher whose results are joined by inputs, sizes and constants."""

    def __init__(
        self, launcher: Callable[..., Any], outputs: tuple[OutputSpec, ...],
        constants: tuple[Any, ...], symbols: tuple[tuple[str, int, int], ...],
    ) -> None:
        self.launcher = launcher
        self.outputs = outputs
        self.constants = constants
        self.symbols = symbols

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        fresh = iter(self.launcher(*inputs, *self.constants))
        results: list[Any] = []
        for spec in self.outputs:
            if isinstance(spec, TensorOutput):
                results.append(next(fresh))
            elif isinstance(spec, InputOutput):
                results.append(inputs[spec.position])
            elif isinstance(spec, SizeOutput):
                results.append(spec.expr.evaluate(self._sizes(inputs)))
            else:
                assert isinstance(spec, ConstantOutput), f"unknown output {spec}"
                results.append(spec.value)
        return tuple(results)

    def _sizes(self, inputs: tuple[Any, ...]) -> dict[str, int]:
        return {name: inputs[position] if dim < 0 else inputs[position].shape[dim]
                for name, position, dim in self.symbols}
