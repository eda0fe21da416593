"""`compile_graph`: a functional graph of primitives becomes a native program with a launcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from graphwright.codegen.autotune import autotuned
from graphwright.codegen.build import build_program
from graphwright.codegen.emit.native import LoadedProgram, compile_program
from graphwright.codegen.fusion_map import fused_nodes
from graphwright.codegen.launch_plan import LaunchPlan, launch_plan, native_launcher, plan_results
from graphwright.codegen.lengthening import NotPeriodic
from graphwright.codegen.loop_printer import print_program
from graphwright.codegen.lowering.graph import (
    CPU_RULES,
    TRAINING_RULES,
    CannotLowerNode,
    InputOutput,
    LoweredGraph,
    lower_graph,
    needs_eager,
)
from graphwright.codegen.lowering.rules import RULES, Rule
from graphwright.codegen.placement import home_of, homes
from graphwright.codegen.program import NativeProgram
from graphwright.codegen.segments import split
from graphwright.codegen.target import KernelFailure
from graphwright.ir.passes.convolutions import without_convolutions
from graphwright.ir.rounds import Removed
from graphwright.runtime._core import Launcher
from graphwright.runtime.later import Later
from graphwright.runtime.record import Record, replace
from graphwright.runtime.spans import Span, Timed
from graphwright.runtime.tensor.device import cpu
from graphwright.runtime.tensor.device import device as Device


class Segment(Record, frozen=False):
    """A compiled graph without eager ops in it.

    launcher: what `launch` calls, or is. plan: how its code is called. module: the graph, whose
    inputs are like `examples`; strict: see `compile_graph`. rules: by which it was lowered.
    """

    launch: Callable[..., Any]
    launcher: Launcher
    program: NativeProgram
    loaded: LoadedProgram
    plan: LaunchPlan
    module: Any
    examples: Sequence[Any]
    strict: bool
    rules: Mapping[str, Rule]

    @property
    def staged(self) -> bool:
        """Whether it frees inputs, and makes outputs, while it runs."""
        return bool(self.program.stages)

    @property
    def failure(self) -> str:
        """Why it runs op by op: it does not."""
        return ""

    @property
    def kernels(self) -> int:
        """How many kernels and matrix products it runs."""
        return len(self.program.steps)

    def fused_nodes(self) -> tuple[frozenset[str], ...]:
        """The names of the graph's nodes in each step: see `fusion_map`."""
        return fused_nodes(self.module, self.examples, self.strict, self.rules)

    @property
    def sources(self) -> dict[str, str]:
        """Text by stage."""
        return {"loops": print_program(self.program), **self.loaded.sources}


class Parts(Record):
    """What a compiled graph consists of.

    Attributes:
        segments: its native parts, each for one device: one unless it has ops that run eagerly,
            or tensors of several devices.
        module: the graph of primitives, whose inputs are like `examples`.
    """

    segments: list[Any]
    module: Any
    examples: Sequence[Any]


class CompiledGraph(Record, frozen=False):
    """A compiled graph. Call it, or its `launch`, with the graph's inputs: a tuple of results.

    Attributes:
        launch: what runs it; the C launcher itself where nothing is left to do in Python.
        kernels: how many kernels and matrix products it runs.
        parts: what it consists of; of a program that was loaded, made when it is asked for.
        launchers: of its segments on the CPU.
    """

    launch: Callable[..., Any]
    kernels: int
    parts: Parts | Later[Parts]
    launchers: tuple[Launcher, ...]

    def __call__(self, *inputs: Any) -> Any:
        return self.launch(*inputs)

    @property
    def segments(self) -> list[Any]:
        """See `Parts`."""
        return self.made_parts().segments

    @property
    def module(self) -> Any:
        """See `Parts`."""
        return self.made_parts().module

    @property
    def examples(self) -> Sequence[Any]:
        """See `Parts`."""
        return self.made_parts().examples

    def made_parts(self) -> Parts:
        """The parts, compiled now if that was left for later."""
        parts = self.parts
        return parts.get() if isinstance(parts, Later) else parts

    @property
    def program(self) -> Any:
        """The native program (the first, if there are several)."""
        return self.segments[0].program

    @property
    def packed_weights(self) -> tuple[int, int]:
        """How many parameters the last call had packed, and in how many bytes."""
        counts = [launcher.packed_weights for launcher in self.launchers]
        return sum(number for number, _ in counts), sum(size for _, size in counts)

    @property
    def failures(self) -> list[str]:
        """Why segments on GPUs run op by op; a program that was loaded has none."""
        parts = self.parts
        return [] if isinstance(parts, Later) else [
            segment.failure for segment in parts.segments if segment.failure]

    @property
    def text(self) -> str:
        """The loops of each segment; of one on a GPU its tiles."""
        return "".join(next(iter(segment.sources.values())) for segment in self.segments)

    @property
    def sources(self) -> dict[str, str]:
        """Text by stage: "loops", then what the backend made of it; "tiles" and "triton" of
        segments on GPUs."""
        texts: dict[str, str] = {}
        for segment in self.segments:
            for stage, text in segment.sources.items():
                texts[stage] = texts.get(stage, "") + text
        return texts


def compile_graph(
    module: Any, fake_inputs: Sequence[Any], *, target: str, strict: bool = False,
    blas: bool = True, packed_weights: int | None = 0, label: str = "graph",
    spans: list[Span] | None = None, staged: bool = False, trains: bool = False,
    autotune: bool = False,
) -> CompiledGraph:
    """Compile `module`, whose inputs are like `fake_inputs`, for "llvm" or "c".

    Ops without a lowering run eagerly between native segments. strict: half types are rounded
    where each node of the graph ends, and no quotient becomes a product that rounds otherwise.
    blas: False takes matrix products from own kernels alone, makes products of convolutions, and
    calls no routines of the runtime core.
    packed_weights: the most bytes in which each segment's launches keep parameters packed, as far
    as their right factors are parameters; None leaves it to the limit of the process.
    label: what profiles call it. spans: gets when it was lowered, scheduled, and emitted or taken
    from the cache. staged: `launch.consume` frees the inputs in its list as they die, and outputs
    get memory when they are first written. trains: it is a part of a training step, whose
    convolutions are eager ops, as their gradients are. autotune: see `codegen.autotune`.
    """
    places = homes(module)
    if places != {cpu}:
        module = gpu_build().prepared(module, fake_inputs)
    elif not blas:
        module = without_convolutions(module)
    compile_segment = partial(
        _compile_segment, target, strict, blas, packed_weights, label, spans, staged, autotune,
        _rules(blas, trains))
    eager = _eager_nodes(module, places, _rules(blas, trains))
    if not eager and len(places) == 1:
        try:
            segment = compile_segment(module, fake_inputs)
            return _compiled(segment.launch, [segment], module, fake_inputs)
        except CannotLowerNode as reason:
            eager.add(reason.node)
    symbols = dict(module.meta.get("symbols", {}))
    compile_whole = partial(
        compile_graph, target=target, strict=strict, blas=blas, packed_weights=packed_weights,
        label=label, spans=spans, trains=trains, autotune=autotune)
    launch, segments = split(module, eager, symbols, compile_segment, compile_whole)
    return _compiled(launch, segments, module, fake_inputs)


def _compiled(
    launch: Callable[..., Any], segments: list[Any], module: Any, examples: Sequence[Any]
) -> CompiledGraph:
    kernels = sum(segment.kernels for segment in segments)
    launchers = tuple([one.launcher for one in segments if isinstance(one, Segment)])
    return CompiledGraph(launch, kernels, Parts(segments, module, examples), launchers)


def emitters(module: Any, target: str) -> str:
    """What makes the code of a graph that is compiled for `target`: "llvm", or with calls on GPUs
    "triton" or "llvm and triton"."""
    names = {target if home == cpu else "triton" for home in homes(module) - {None}}
    return " and ".join(sorted(names))


def gpu_build() -> Any:
    """The module that builds programs for GPUs, imported when a graph has tensors there."""
    return import_module("graphwright.codegen.gpu.build")


def _rules(blas: bool, trains: bool) -> Mapping[str, Rule]:
    return RULES if not blas else TRAINING_RULES if trains else CPU_RULES


def _eager_nodes(
    module: Any, places: set[Device | None], rules: Mapping[str, Rule]
) -> set[Any]:
    """The nodes without native code where they run, and those with tensors of several devices."""
    if places == {cpu}:
        return needs_eager(module, rules)
    on_cpu, on_gpu = needs_eager(module, rules), needs_eager(module, gpu_build().gpu_rules())
    found = set()
    for node in module.graph.nodes:
        home = home_of(node)
        if node.op == "call_function" and (
                home is None or node in (on_cpu if home == cpu else on_gpu)):
            found.add(node)
    return found


def _compile_segment(
    target: str, strict: bool, blas: bool, packed_weights: int | None, label: str,
    spans: list[Span] | None, staged: bool, autotune: bool, rules: Mapping[str, Rule], module: Any,
    fake_inputs: Sequence[Any],
) -> Any:
    (home,) = homes(module)
    if home != cpu:
        build = gpu_build()
        try:
            return build.compile_gpu_segment(module, fake_inputs, strict, home, label, spans)
        except KernelFailure as failure:
            return build.op_by_op_segment(module, fake_inputs, strict, home, label, failure)
    with Timed("compile::lowering", into=spans):
        graph = lower_graph(module, fake_inputs, strict, rules)
    program = build_program(graph, spans, staged)
    make = partial(_loaded, target, blas, packed_weights, label, spans, autotune)
    return make(program, graph, len(fake_inputs), module, fake_inputs, strict, rules)


def _loaded(
    target: str, blas: bool, packed_weights: int | None, label: str, spans: list[Span] | None,
    autotune: bool, program: NativeProgram, graph: LoweredGraph, n_inputs: int, module: Any,
    examples: Sequence[Any], strict: bool, rules: Mapping[str, Rule],
) -> Segment:
    """The segment of a program that was made from `graph`, a graph of `n_inputs`."""
    if autotune and blas:
        with Timed("compile::autotune", into=spans):
            program = autotuned(program, packed_weights != 0 and not program.stages)
    with Timed(f"compile::codegen {target}", into=spans):
        loaded = compile_program(program, target)
    plan = launch_plan(program, graph, n_inputs, blas, packed_weights)
    launcher = native_launcher(plan, loaded, label)
    launch = plan_results(plan, launcher)
    return Segment(launch, launcher, program, loaded, plan, module, examples, strict, rules)


def compile_lengthened(
    module: Any, fake_inputs: Sequence[Any], removed: Removed, *, target: str,
    strict: bool = False, blas: bool = True, packed_weights: int | None = 0, label: str = "graph",
    spans: list[Span] | None = None, autotune: bool = False,
) -> CompiledGraph:
    """Compile the graph of which `module` is the shortened form, with the arguments of
    `compile_graph`. The parts of the result name the nodes of the shortened graph.

    Raises: NotPeriodic where the whole graph is to be compiled.
    """
    if homes(module) != {cpu}:
        raise NotPeriodic("the graph runs on a GPU")
    if not blas:
        module = without_convolutions(module)
    rules = _rules(blas, trains=False)
    if needs_eager(module, rules):
        raise NotPeriodic("an op runs eagerly")
    with Timed("compile::lowering", into=spans):
        try:
            graph = _renumbered(lower_graph(module, fake_inputs, strict, rules), removed)
        except CannotLowerNode as reason:
            raise NotPeriodic(str(reason)) from None
    program = build_program(graph, spans, removed=removed)
    make = partial(_loaded, target, blas, packed_weights, label, spans, autotune)
    segment = make(program, graph, len(removed.names), module, fake_inputs, strict, rules)
    return _compiled(segment.launch, [segment], module, fake_inputs)


def _renumbered(graph: LoweredGraph, removed: Removed) -> LoweredGraph:
    """The shortened graph, where it names inputs by their positions in the whole one."""
    if graph.constants or graph.rng_ops:
        raise NotPeriodic("rounds may have constants or random numbers of their own")
    outputs = tuple([
        InputOutput(removed.position(one.position)) if isinstance(one, InputOutput) else one
        for one in graph.outputs])
    symbols = tuple([(name, removed.position(place), dim) for name, place, dim in graph.symbols])
    return replace(graph, outputs=outputs, symbols=symbols)
