"""What became of one captured graph, made when a page about it is: see `viewer`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from graphwright.capture._eval_frame import run_unhooked
from graphwright.capture.frame.record import GraphRecord
from graphwright.codegen.compile import CompiledGraph, Segment, compile_graph
from graphwright.codegen.loop_printer import print_step
from graphwright.codegen.loops import Kernel
from graphwright.codegen.memory_plan import lifetimes
from graphwright.codegen.program import Gemm, NativeProgram, RoutineCall, Slot, step_buffers
from graphwright.face.stage_dumps import Artifacts
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.pipeline import lower_graph
from graphwright.runtime import _core
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.expr import as_int

if TYPE_CHECKING:
    from graphwright.codegen.gpu.build import GpuSegment
    from graphwright.codegen.gpu.tile_ir import GpuProgram


class Step(Record):
    """A kernel or matrix product: its name, its loops as text, and the nodes that it computes."""

    name: str
    title: str
    loops: str
    nodes: frozenset[str]
    buffers: tuple[str, ...]


class Memory(Record):
    """A buffer of a program: what it is, where it lies, and the steps that it is in use for.

    Attributes:
        size: in bytes; None where it is symbolic. shape: the number of elements, and the dtype.
        place: "input 0", "output 1" or "arena + 64".
    """

    name: str
    kind: str
    place: str
    shape: str
    size: int | None
    first: int
    last: int


class Part(Record):
    """A native segment of a half: its steps, its memory, the code generated for it by stage."""

    steps: tuple[Step, ...]
    memory: tuple[Memory, ...]
    arena: str
    sources: Mapping[str, str]


class Half(Record):
    """The forward or the backward graph of primitives, and the parts that it was compiled to.

    compiled: whether a call has needed it; a backward graph that none has is compiled for the
    page alone.
    """

    name: str
    module: GraphModule
    parts: tuple[Part, ...]
    compiled: bool


class PassText(Record):
    """The graph `half` before and after a pass, as text. Before the first pass that has a graph
    of this name, `before` is the graph that it was split from."""

    name: str
    half: str
    before: str
    after: str


def halves(artifacts: Artifacts) -> tuple[Half, ...]:
    """The graphs of primitives with their programs."""
    lowered = artifacts.lowered
    if lowered is None:
        return ()
    found = [_half(artifacts, "forward", lowered.forward)]
    if lowered.backward is not None:
        found.append(_half(artifacts, "backward", lowered.backward))
    return tuple(found)


def _half(artifacts: Artifacts, name: str, module: GraphModule) -> Half:
    program = artifacts.programs.get(name)
    compiled = program is not None
    if program is None:
        program = run_unhooked(_compiled, artifacts, name, module)
    values = {node.name: node.meta.get("val") for node in module.graph.nodes}
    parts = tuple(_part(segment, values) for segment in program.segments)
    return Half(name, module, parts, compiled)


def _compiled(artifacts: Artifacts, name: str, module: GraphModule) -> CompiledGraph:
    examples = [node.meta["val"] for node in module.graph.placeholders]
    lowered = artifacts.lowered
    return compile_graph(module, examples, target=artifacts.target, strict=artifacts.strict,
                         blas=artifacts.blas, staged=name != "forward",
                         trains=lowered is not None and lowered.has_backward)


def _part(segment: Segment | GpuSegment, values: Mapping[str, Any]) -> Part:
    """A segment of the graph whose nodes have these values, or of a graph within that one, whose
    nodes may have the same names."""
    program = segment.program
    own = {node.name for node in segment.module.graph.nodes
           if node.name in values and values[node.name] is node.meta.get("val")}
    nodes = [names & own for names in run_unhooked(segment.fused_nodes)]
    steps = []
    for number, (step, names) in enumerate(zip(program.steps, nodes, strict=True)):
        buffers = tuple(buffer.name for buffer in step_buffers(step))
        if isinstance(step, Gemm | RoutineCall):
            kind = "gemm" if isinstance(step, Gemm) else step.routine
            steps.append(Step("", f"k{number} {kind}", print_step(step), names, buffers))
        else:
            steps.append(Step(step.name, step.name, _printed(step), names, buffers))
    arena = f"{program.arena_bytes} bytes"
    return Part(tuple(steps), tuple(_memory(program)), arena, segment.sources)


def _printed(step: Any) -> str:
    """A kernel as text."""
    if isinstance(step, Kernel):
        return print_step(step)
    from graphwright.codegen.gpu.tile_printer import print_tile_kernel

    return print_tile_kernel(step)


def _memory(program: NativeProgram | GpuProgram) -> Iterator[Memory]:
    lives = lifetimes(program.steps)
    buffers = {b.name: b for step in program.steps for b in step_buffers(step)}
    for name, buffer in buffers.items():
        slot = program.slots.get(name, Slot("constant"))
        kind = buffer.role
        place = slot.kind if slot.kind in ("arena", "constant") else f"{slot.kind} {slot.index}"
        place += f" + {slot.offset}" if slot.offset is not None else ""
        first, last = lives[name]
        if kind in ("input", "constant"):
            first = 0
        elements = as_int(buffer.size)
        yield Memory(name, kind, place, f"{buffer.dtype.name}[{buffer.size}]",
                     None if elements is None else elements * buffer.dtype.itemsize,
                     first, len(program.steps) - 1 if kind == "output" else last)


def passes(record: GraphRecord, artifacts: Artifacts) -> Iterator[PassText]:
    """Each pass over the graph, run once more to see the graphs between them."""
    if artifacts.lowered is None:
        return
    graph = record.graph
    inputs = [node.meta["val"] for node in graph.graph.placeholders]
    needs_grad = artifacts.lowered.backward is not None
    texts: dict[str, list[str]] = {}

    def note(name: str, module: GraphModule) -> None:
        texts.setdefault(name, []).append(module.readable())

    def run() -> None:
        lower_graph(graph, inputs, needs_grad=needs_grad, dump=note)

    _core.with_grad_mode(True, run_unhooked, run)
    previous = [graph.readable()]
    for name, after in texts.items():
        before = previous if len(previous) == len(after) else previous * len(after)
        titles = ("forward", "backward") if len(after) == 2 else ("graph",)
        for title, old, new in zip(titles, before, after, strict=True):
            yield PassText(name, title, old, new)
        previous = after


HEADS = {
    "triton": re.compile(r"def (\w+)\("),
    "llvm": re.compile(r"define .*@(\w+)\("),
    "c": re.compile(r"static void (\w+?)_body\("),
    "asm": re.compile(r"(\w+):$"),
}
"""The line that begins the function of a kernel, by stage."""
ENDS = {"triton": re.compile("$")}
END = re.compile(r"\}|\.Lfunc_end")
"""The line that ends it; of stages without one of their own, END."""
NUMBER = re.compile(r"_\d+$")


def by_kernel(stage: str, text: str, kernels: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Generated code in pieces: the name of a kernel and its function, or "" and what is between.

    Kernels that run on one thread are part of the function `run`; others may have several
    functions, with numbers behind their names.
    """
    head = HEADS.get(stage)
    owner, lines = "", list[str]()
    for line in text.splitlines():
        found = head.match(line) if head is not None and not owner else None
        name = "" if found is None else found.group(1)
        name = name if name in kernels else NUMBER.sub("", name)
        if name in kernels:
            yield owner, "\n".join(lines)
            owner, lines = name, []
        lines.append(line)
        if owner and ENDS.get(stage, END).match(line):
            yield owner, "\n".join(lines)
            owner, lines = "", []
    yield owner, "\n".join(lines)
