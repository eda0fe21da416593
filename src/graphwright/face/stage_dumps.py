"""What a compilation left behind, stage by stage, as text.

A built-in backend keeps an `Artifacts` in the metadata of the captured graph; `stages_of` reads
them back for `gw.compiler.dump` and the command line.
"""

from __future__ import annotations

import dis
import io
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from graphwright.capture.frame.record import CaptureRecord, FrameRecord
from graphwright.codegen.compile import CompiledGraph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.lowered_graph import Lowered
from graphwright.runtime.record import Record, field
from graphwright.runtime.spans import Span

if TYPE_CHECKING:
    from graphwright.codegen.gpu.tile_ir import GpuProgram

STAGES = ("bytecode", "graph", "joint", "loops", "c", "llvm", "asm", "tiles", "triton", "ptx")
KEY = "artifacts"
COSTLY = frozenset({"tiles", "triton", "ptx"})
"""Stages that are only made when they are asked for by name."""


class Artifacts(Record, frozen=False):
    """What one captured graph became.

    Attributes:
        target: the backend that compiled it, "eager" where it runs as it was captured.
        lowered: the graphs of primitives; None where the graph runs as it was captured.
        programs: "forward", and once they were needed "backward" and "backward by 0, 2", where
            only some outputs of the forward graph had gradients, to the compiled graph.
        note: why the graph runs eagerly, where it does.
        strict: whether half types are rounded where eager execution rounds them.
        blas: whether matrix products may be a library's, and convolutions the core's.
        packed_weights: the most bytes in which parameters are kept packed; None: no bound but the
            process's.
        activation_memory_budget: see `ir.pipeline.lower_graph`.
        autotune: whether products are made the way that was measured to be the fastest.
        function: the function that the graph is of, and where it is defined.
        spans: when the passes over the graph and the code generation for it ran.
        loaded: which of "lowered", "forward" and "backward" came from the graph cache.
    """

    target: str
    lowered: Lowered | None = None
    programs: dict[str, CompiledGraph] = field(default_factory=dict)
    note: str = ""
    strict: bool = False
    blas: bool = True
    packed_weights: int | None = 0
    activation_memory_budget: float = 1.0
    autotune: bool = False
    function: str = "a function"
    spans: list[Span] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    @property
    def kernels(self) -> int:
        """How many fused kernels and matrix products run natively, forward and backward."""
        return sum(program.kernels for program in self.programs.values())

    @property
    def packed(self) -> tuple[int, int]:
        """How many parameters the last calls had packed, and in how many bytes."""
        counts = [program.packed_weights for program in self.programs.values()]
        return sum(number for number, _ in counts), sum(size for _, size in counts)


def artifacts_of(graph: GraphModule) -> Artifacts | None:
    """The artifacts of a captured graph; None where a user's backend compiled it."""
    found = graph.meta.get(KEY)
    return found if isinstance(found, Artifacts) else None


def count(number: int, noun: str) -> str:
    """'1 graph', '2 graphs'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def stages_of(record: CaptureRecord, wanted: Iterable[str] | None) -> dict[str, str]:
    """Stage to text, over all graphs of the record; empty stages are left out."""
    chosen = set(STAGES) - COSTLY if wanted is None else set(wanted)
    texts = {stage: MAKERS[stage](record) for stage in STAGES if stage in chosen}
    return {stage: text for stage, text in texts.items() if text}


def bytecode(frames: Iterable[FrameRecord]) -> str:
    """Each translated frame's bytecode, before and after."""
    parts = []
    for frame in frames:
        for title, code in (("original", frame.original), ("translated", frame.translated)):
            parts.append(f"# {title}: {frame.location}\n{_disassembled(code)}")
    return "\n".join(parts)


def _disassembled(code: types.CodeType | None) -> str:
    if code is None:
        return "no bytecode: the frame hook calls the graph and returns its result\n"
    text = io.StringIO()
    dis.dis(code, file=text, depth=0)
    return text.getvalue()


def graph(record: CaptureRecord) -> str:
    """The captured graphs, each operation with its source line."""
    return "\n".join(f"# {entry.location}\n{entry.graph.readable()}" for entry in record.graphs)


def joint(record: CaptureRecord) -> str:
    """The graphs of primitives: forward, and backward where there is one."""
    parts = []
    for _, found in compiled_graphs(record):
        if found.lowered is None:
            continue
        parts.append(f"# forward\n{found.lowered.forward.readable()}")
        if found.lowered.backward is not None:
            parts.append(f"# backward\n{found.lowered.backward.readable()}")
    return "\n".join(parts)


def compiled_graphs(record: CaptureRecord) -> list[tuple[str, Artifacts]]:
    """Location and artifacts of the graphs that a built-in backend compiled."""
    pairs = [(str(entry.location), artifacts_of(entry.graph)) for entry in record.graphs]
    return [(location, found) for location, found in pairs if found is not None]


def source(stage: str) -> Callable[[CaptureRecord], str]:
    """Reads a stage that the compiled graphs keep as text."""

    def read(record: CaptureRecord) -> str:
        return "\n".join(
            f"{COMMENT[stage]} {direction}: {location}\n{program.sources[stage]}"
            for location, found in compiled_graphs(record)
            for direction, program in found.programs.items()
            if stage in program.sources
        )

    return read


COMMENT = {"loops": "#", "c": "//", "llvm": ";", "asm": "#"}


class GpuPart(Record):
    """A part of a graph as a program for a GPU.

    graph: "forward", "backward" and so on. arch: of the GPU that runs it, as 90; None for what
    runs on the CPU, or has not run.
    """

    graph: str
    program: GpuProgram
    arch: int | None = None


def gpu_parts(record: CaptureRecord) -> Iterator[GpuPart]:
    """The graphs of the record as programs for GPUs: those that run there, and those that graphs
    on the CPU, and a backward graph that has not run, would have there."""
    from graphwright.codegen.gpu.build import GpuSegment, gpu_segments

    for _, found in compiled_graphs(record):
        graphs: dict[str, tuple[GraphModule, Sequence[Any]]] = {}
        for name, compiled in found.programs.items():
            running = [s for s in compiled.segments if isinstance(s, GpuSegment)]
            yield from (GpuPart(name, s.program, s.arch) for s in running)
            if not running:
                graphs[name] = compiled.module, compiled.examples
        backward = None if found.lowered is None else found.lowered.backward
        if backward is not None and "backward" not in found.programs:
            inputs = [node.meta["val"] for node in backward.graph.placeholders]
            graphs["backward"] = backward, inputs
        for name, (module, examples) in graphs.items():
            yield from (GpuPart(name, program)
                        for program in gpu_segments(module, examples, found.strict))


def gpu_stage(made: Callable[[GpuPart], list[tuple[str, str]]]) -> Callable[
        [CaptureRecord], str]:
    """Prints the programs for GPUs, which nothing else needs of graphs on the CPU."""

    def read(record: CaptureRecord) -> str:
        return "\n".join(f"# {part.graph}: {name}\n{text}"
                         for part in gpu_parts(record) for name, text in made(part))

    return read


def tiles(part: GpuPart) -> list[tuple[str, str]]:
    """The program over tiles, as one text."""
    from graphwright.codegen.gpu.tile_printer import print_tiles

    return [("program", print_tiles(part.program))]


def triton_source(part: GpuPart) -> list[tuple[str, str]]:
    """The Triton source of each kernel."""
    from graphwright.codegen.triton import list_source

    return list_source(part.program, narrow=part.arch is not None)


def ptx(part: GpuPart) -> list[tuple[str, str]]:
    """The PTX of each kernel: of the GPU that runs it, or of sm_90."""
    from graphwright.codegen.triton import list_ptx

    return list_ptx(part.program, part.arch or 90, narrow=part.arch is not None)


MAKERS: dict[str, Callable[[CaptureRecord], str]] = {
    "bytecode": lambda record: bytecode(record.frames),
    "graph": graph,
    "joint": joint,
    **{stage: source(stage) for stage in COMMENT},
    "tiles": gpu_stage(tiles),
    "triton": gpu_stage(triton_source),
    "ptx": gpu_stage(ptx),
}
