"""`compile_graph`: a functional graph of primitives becomes a native program with a launcher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphwright.codegen.build import build_program
from graphwright.codegen.emit.native import LoadedProgram, compile_program
from graphwright.codegen.loop_printer import print_program
from graphwright.codegen.loops import Buffer
from graphwright.codegen.lowering.graph import (
    CannotLowerNode,
    ConstantOutput,
    InputOutput,
    LoweredGraph,
    OutputSpec,
    SizeOutput,
    TensorOutput,
    lower_graph,
    needs_eager,
)
from graphwright.codegen.program import NativeProgram, Output
from graphwright.codegen.segments import split
from graphwright.ir.graph.python_emitter import Script
from graphwright.ir.passes.convolutions import without_convolutions
from graphwright.runtime import _core
from graphwright.runtime.record import Record
from graphwright.runtime.spans import Span, Timed
from graphwright.runtime.symbolic.expr import Expr, as_int
from graphwright.runtime.tensor.tensor import Tensor


class Segment(Record, frozen=False):
    """A compiled graph without eager ops in it.

    module: the graph, whose inputs are like `examples`; strict: see `compile_graph`.
    """

    launch: Callable[..., Any]
    program: NativeProgram
    loaded: LoadedProgram
    module: Any
    examples: Sequence[Any]
    strict: bool

    @property
    def sources(self) -> dict[str, str]:
        """Text by stage."""
        return {"loops": print_program(self.program), **self.loaded.sources}


class CompiledGraph(Record, frozen=False):
    """A compiled graph. Call it, or its `launch`, with the graph's inputs: a tuple of results.

    Attributes:
        launch: what runs it; the C launcher itself where nothing is left to do in Python.
        segments: its native parts, one unless it has ops that run eagerly.
        module: the graph of primitives, whose inputs are like `examples`; strict: see
            `compile_graph`.
    """

    launch: Callable[..., Any]
    segments: list[Segment]
    module: Any
    examples: Sequence[Any]
    strict: bool

    def __call__(self, *inputs: Any) -> Any:
        return self.launch(*inputs)

    @property
    def program(self) -> NativeProgram:
        """The native program (the first, if there are several)."""
        return self.segments[0].program

    @property
    def kernels(self) -> int:
        """How many kernels and matrix products it runs."""
        return sum(len(s.program.steps) for s in self.segments)

    @property
    def sources(self) -> dict[str, str]:
        """Text by stage: "loops", then what the backend made of it."""
        texts: dict[str, str] = {}
        for segment in self.segments:
            for stage, text in segment.sources.items():
                texts[stage] = texts.get(stage, "") + text
        return texts


def compile_graph(
    module: Any, fake_inputs: Sequence[Any], *, target: str, strict: bool = False,
    blas: bool = True, label: str = "graph", spans: list[Span] | None = None,
) -> CompiledGraph:
    """Compile `module`, whose inputs are like `fake_inputs`, for "llvm" or "c".

    Ops without a lowering run eagerly between native segments. strict: half types are rounded
    where each node of the graph ends, and no quotient becomes a product that rounds otherwise.
    blas: False takes matrix products from own kernels alone, and makes products of convolutions.
    label: what profiles call it. spans: gets when it was lowered, scheduled, and emitted or taken
    from the cache.
    """
    module = module if blas else without_convolutions(module)
    compile_segment = partial(_compile_segment, target, strict, blas, label, spans)
    eager: set[Any] = needs_eager(module)
    if not eager:
        try:
            segment = compile_segment(module, fake_inputs)
            return CompiledGraph(segment.launch, [segment], module, fake_inputs, strict)
        except CannotLowerNode as reason:
            eager.add(reason.node)
    symbols = dict(module.meta.get("symbols", {}))
    compile_whole = partial(
        compile_graph, target=target, strict=strict, blas=blas, label=label, spans=spans)
    launch, segments = split(module, eager, symbols, compile_segment, compile_whole)
    return CompiledGraph(launch, segments, module, fake_inputs, strict)


def _compile_segment(
    target: str, strict: bool, blas: bool, label: str, spans: list[Span] | None, module: Any,
    fake_inputs: Sequence[Any],
) -> Segment:
    with Timed("compile::lowering", into=spans):
        graph = lower_graph(module, fake_inputs, strict)
    program = build_program(graph, spans)
    with Timed(f"compile::codegen {target}", into=spans):
        loaded = compile_program(program, target)
    launch = _wrapped(graph, _launcher(program, loaded, label, blas), len(fake_inputs))
    return Segment(launch, program, loaded, module, fake_inputs, strict)


def _launcher(
    program: NativeProgram, loaded: LoadedProgram, label: str, blas: bool
) -> Callable[..., Any]:
    arena = as_int(program.arena_bytes)
    return _core.Launcher(
        run=loaded.run_address, shapes=loaded.shapes_address, keepalive=loaded.keepalive,
        n_inputs=len(program.inputs), outputs=[_output_layout(o) for o in program.outputs],
        arena_bytes=-1 if arena is None else arena,
        symbols=[(position, dim) for _, position, dim in program.symbols],
        rng_ops=program.rng_ops, mutated=list(program.mutated),
        messages=list(program.messages), cls=Tensor, release_gil=_is_long(program),
        label=label, blas=blas)


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


def _wrapped(
    graph: LoweredGraph, launcher: Callable[..., Any], n_inputs: int,
) -> Callable[..., Any]:
    """The launcher itself, or around it what it does not do: constants, inputs as results."""
    if not graph.constants and all(isinstance(o, TensorOutput) for o in graph.outputs):
        return launcher
    return _assembled(graph, launcher, n_inputs)


def _assembled(
    graph: LoweredGraph, launcher: Callable[..., Any], n_inputs: int,
) -> Callable[..., Any]:
    """A function that calls the launcher and inserts the results that are inputs, sizes and
    constants::

        def run(a0, a1):
            [r0] = launcher(a0, a1, constant)
            return (r0, a1, size.evaluate(sizes), None)
    """
    arguments = [f"a{number}" for number in range(n_inputs)]
    symbols = {name: (position, place) for name, position, place in graph.symbols}
    script = Script(arguments, symbols)
    fresh: list[str] = []
    results = [_result(output, script, fresh) for output in graph.outputs]
    constants = [script.constant(constant) for constant in graph.constants]
    call = script.call(launcher, *arguments, *constants)
    script.add(f"[{', '.join(fresh)}] = {call}")
    script.add(f"return ({''.join([f'{result}, ' for result in results])})")
    return script.function()


def _result(output: OutputSpec, script: Script, fresh: list[str]) -> str:
    """The text for a result; one that the launcher makes gets the next name in `fresh`."""
    if isinstance(output, TensorOutput):
        fresh.append(f"r{len(fresh)}")
        return fresh[-1]
    if isinstance(output, InputOutput):
        return script.arguments[output.position]
    if isinstance(output, SizeOutput):
        return script.value(output.expr, {})
    assert isinstance(output, ConstantOutput), f"unknown output {output}"
    return script.constant(output.value)
