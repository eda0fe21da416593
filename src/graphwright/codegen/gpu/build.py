"""From a graph of primitives to a `GpuProgram`: lowering, tiles, memory, and the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graphwright.codegen.build import program_outputs
from graphwright.codegen.fusion_map import TracedLowering
from graphwright.codegen.gpu.launcher import Launchers, arch_of
from graphwright.codegen.gpu.op_by_op import Instead, op_by_op
from graphwright.codegen.gpu.rules import gpu_rules
from graphwright.codegen.gpu.schedule import schedule_tiles
from graphwright.codegen.gpu.tile_ir import CheckSite, GpuProgram
from graphwright.codegen.gpu.tile_printer import print_tiles
from graphwright.codegen.gpu.wide_accesses import multiples
from graphwright.codegen.loops import Check, Stmt
from graphwright.codegen.lowering.graph import CannotLowerNode, LoweredGraph, needs_eager
from graphwright.codegen.memory_plan import lifetimes, place
from graphwright.codegen.program import Slot
from graphwright.codegen.results import results_of, with_results
from graphwright.codegen.scheduler.buffer_access import statements
from graphwright.codegen.segments import split
from graphwright.codegen.target import KernelFailure
from graphwright.codegen.triton.listing import list_source
from graphwright.ir.passes.decompose import decompose
from graphwright.runtime.cuda import fallbacks
from graphwright.runtime.cuda.precision import float32_products
from graphwright.runtime.record import Record, replace
from graphwright.runtime.spans import Span, Timed
from graphwright.runtime.tensor.device import device as Device


def _whole(module: Any) -> set[str]:
    """Ops that have a kernel of their own on CPUs only."""
    rules = gpu_rules()
    return {n.target.name for n in module.graph.nodes
            if "whole" in getattr(n.target, "tags", ()) and n.target.name not in rules}


def prepared(module: Any, fake_inputs: Sequence[Any]) -> Any:
    """The graph with the parts of ops that are whole on CPUs only."""
    while names := _whole(module):
        parts = decompose(module, fake_inputs, names)
        parts.meta.update(module.meta)
        module = parts
    return module


def lower_for_gpu(
    module: Any, fake_inputs: Sequence[Any], strict: bool = False
) -> tuple[LoweredGraph, dict[str, str]]:
    """A graph of primitives lowered by the rules for GPUs, and of its loop nodes the source lines.

    Raises: CannotLowerNode for a node without a lowering.
    """
    module = prepared(module, fake_inputs)
    graph, became = _traced(module, fake_inputs, strict)
    stacks = {node.name: node.meta["stack"] for node in module.graph.nodes
              if node.meta.get("stack")}
    lines = {loop_node: f"{filename}:{line}: {text.strip()}"
             for name, made in became.items() if name in stacks
             for filename, line, text in (stacks[name],) for loop_node in made}
    return graph, lines


def _traced(
    module: Any, fake_inputs: Sequence[Any], strict: bool
) -> tuple[LoweredGraph, dict[str, list[str]]]:
    """A prepared graph lowered, and the loop nodes that its nodes became."""
    lowering = TracedLowering(module, fake_inputs, strict, gpu_rules())
    lowering.context.names_calls = True
    return lowering.run(), lowering.became


def build_gpu_program(
    module: Any, fake_inputs: Sequence[Any], strict: bool = False, precision: str = "ieee"
) -> GpuProgram:
    """Lower and schedule a graph of primitives, and plan its memory.

    precision: of float32 products, one of `tile_ir.PRECISIONS`.

    Raises: CannotLowerNode for a node without a lowering.
    """
    graph, lines = lower_for_gpu(module, fake_inputs, strict)
    return gpu_program(graph, lines, fake_inputs, not strict, precision)


def gpu_program(
    graph: LoweredGraph, lines: dict[str, str], inputs: Sequence[Any], contracts: bool = True,
    precision: str = "ieee",
) -> GpuProgram:
    """The program of a lowered graph, of whose loop nodes `lines` are the source lines.

    inputs: fake or not, see `GpuProgram.multiples`; contracts: see `GpuProgram`; precision: of
    float32 products, one of `tile_ir.PRECISIONS`.
    """
    schedule = schedule_tiles(graph, lines, precision)
    plan = schedule.plan
    outputs = program_outputs(graph, plan)
    lives = lifetimes(schedule.steps)
    slots = {b.name: Slot("input", n) for n, b in enumerate(plan.inputs)}
    slots |= {o.buffer.name: Slot("output", n) for n, o in enumerate(outputs)}
    placed, arena_bytes = place([t for t in plan.temps if t.name in lives], lives, ())
    return GpuProgram(
        inputs=plan.inputs, outputs=outputs, slots=slots | placed, arena_bytes=arena_bytes,
        steps=schedule.steps, symbols=graph.symbols, rng_ops=graph.rng_ops,
        mutated=plan.mutated,
        checks=tuple(dict.fromkeys(site for k in schedule.steps for site in _sites(k.body))),
        contracts=contracts, multiples=multiples(graph.symbols, inputs))


def _no_launcher(*inputs: Any) -> Any:
    """Stands where a segment is launched that is made to be looked at.

    Raises: NotImplementedError always.
    """
    raise NotImplementedError("this program was made without a GPU to launch it on")


class GpuSegment(Record, frozen=False):
    """A compiled part of a graph, all of it on one GPU; see `codegen.compile.Segment`.

    failure: why it runs op by op, where it does. arch: of the GPU that is here, as in `Request`;
    None for a segment that is made to be looked at.
    """

    program: GpuProgram
    module: Any
    examples: Sequence[Any]
    strict: bool
    launch: Callable[..., Any] = _no_launcher
    failure: str = ""
    arch: int | None = None

    @property
    def staged(self) -> bool:
        """Whether it frees inputs while it runs: it does not."""
        return False

    @property
    def kernels(self) -> int:
        """How many kernels it runs."""
        return 0 if self.failure else len(self.program.steps)

    def fused_nodes(self) -> list[frozenset[str]]:
        """The names of the graph's nodes in each kernel."""
        graph, became = _traced(self.module, self.examples, self.strict)
        origins: dict[str, str] = {}
        for name, made in became.items():
            origins |= {n: f"{origins[n]} {name}" if n in origins else name for n in made}
        return [frozenset(" ".join(step.source).split())
                for step in gpu_program(graph, origins, self.examples).steps]

    @property
    def sources(self) -> dict[str, str]:
        """Text by stage."""
        texts = list_source(self.program, narrow=self.arch is not None)
        return {"tiles": print_tiles(self.program), "triton": "\n".join(t for _, t in texts)}


class GpuGraph(Record):
    """A branch or the body of a loop, cut as the graph that it is in."""

    segments: list[GpuSegment]
    launch: Callable[..., Any] = _no_launcher


def compile_gpu_segment(
    module: Any, fake_inputs: Sequence[Any], strict: bool, device: Device, label: str,
    spans: list[Span] | None, single: bool = False,
) -> GpuSegment:
    """Compile a graph whose tensors are on one GPU, without ops that run eagerly; see
    `compile_graph`. Products of float32 are as precise as `set_float32_matmul_precision` says, but
    exact in strict graphs. A call that needs kernels of its own which fail to compile, for
    unaligned inputs or sizes past 32 bits, runs op by op.

    single: it is the program of one op: such calls raise KernelFailure, and nothing contracts (see
    `GpuProgram`), as in strict graphs.

    Raises: CannotLowerNode for a node without a lowering; TritonMissing and KernelFailure for a
        kernel that is not in the cache and cannot be compiled.
    """
    with Timed("compile::lowering", into=spans):
        graph, lines = lower_for_gpu(module, fake_inputs, strict)
    precision = "ieee" if strict else float32_products()
    with Timed("compile::schedule", into=spans):
        program = gpu_program(graph, lines, fake_inputs, not (single or strict), precision)
    index, results = device.index or 0, results_of(graph.outputs)
    instead = None if single else Instead(module, device, label, program.rng_ops, results)
    with Timed("compile::codegen triton", into=spans):
        launcher = Launchers(program, index, label, instead).first()
    placed = replace(graph, constants=tuple(c.to(device) for c in graph.constants))
    launch = with_results(
        results, placed.constants, placed.symbols, launcher, len(fake_inputs))
    return GpuSegment(program, module, fake_inputs, strict, launch, arch=arch_of(index))


def op_by_op_segment(
    module: Any, fake_inputs: Sequence[Any], strict: bool, device: Device, label: str,
    failure: KernelFailure,
) -> GpuSegment:
    """What `compile_gpu_segment` failed to compile, to be run op by op.

    Raises: the failure where that is to be an error: see `runtime.cuda.fallbacks`.
    """
    fallbacks.op_by_op(label, failure)
    program = build_gpu_program(module, fake_inputs, strict)
    launch = op_by_op(module, device, program.rng_ops)
    return GpuSegment(program, module, fake_inputs, strict, launch, str(failure),
                      arch_of(device.index or 0))


def gpu_segments(
    module: Any, fake_inputs: Sequence[Any], strict: bool = False
) -> list[GpuProgram]:
    """The programs that a graph of primitives has on GPUs, wherever its tensors are: one, or those
    between ops without native code."""
    module = prepared(module, fake_inputs)
    eager: set[Any] = needs_eager(module, gpu_rules())
    if not eager:
        try:
            return [build_gpu_program(module, fake_inputs, strict)]
        except CannotLowerNode as reason:
            eager.add(reason.node)

    def segment(part: Any, inputs: Sequence[Any]) -> GpuSegment:
        return GpuSegment(build_gpu_program(part, inputs, strict), part, inputs, strict)

    def whole(part: Any, inputs: Sequence[Any]) -> GpuGraph:
        return GpuGraph([GpuSegment(program, part, inputs, strict)
                         for program in gpu_segments(part, inputs, strict)])

    symbols = dict(module.meta.get("symbols", {}))
    return [found.program for found in split(module, eager, symbols, segment, whole)[1]]


def _sites(stmts: Sequence[Stmt]) -> Iterator[CheckSite]:
    return (CheckSite(s.message, s.bound) for s in statements(stmts) if isinstance(s, Check))
