"""What `gw.explain` returns and `graphwright explain` prints, read from the capture record."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from graphwright.capture.frame.record import (
    BreakRecord,
    CaptureRecord,
    FrameRecord,
    GraphRecord,
    Location,
    RecompileRecord,
)
from graphwright.face.stage_dumps import artifacts_of, count
from graphwright.ir.graph.printing import describe
from graphwright.runtime.record import Record
from graphwright.runtime.spans import Span


class Stats(Record):
    """Counts: captured graphs, graph breaks, frames run as plain Python, recompiles, kernels."""

    graphs: int
    breaks: int
    fallbacks: int
    recompiles: int
    kernels: int

    @classmethod
    def of(cls, record: CaptureRecord) -> Stats:
        """Count what the record holds."""
        artifacts = [artifacts_of(entry.graph) for entry in record.graphs]
        fallbacks = sum(entry.fallback for entry in record.breaks)
        return cls(
            graphs=len(record.graphs),
            breaks=len(record.breaks) - fallbacks,
            fallbacks=fallbacks,
            recompiles=len(record.recompiles),
            kernels=sum(found.kernels for found in artifacts if found is not None),
        )


class Explanation(Record):
    """Frames, graphs, breaks, guards and recompiles of one call; `str()` gives them as a tree."""

    stats: Stats
    graphs: tuple[GraphRecord, ...]
    breaks: tuple[BreakRecord, ...]
    frames: tuple[FrameRecord, ...]
    recompiles: tuple[RecompileRecord, ...]
    skipped: tuple[tuple[Location, str], ...]
    spans: tuple[Span, ...] = ()
    name: str = ""

    @classmethod
    def of(cls, record: CaptureRecord, name: str = "") -> Explanation:
        """A snapshot of the record. `name`: of the function, or the class, that was compiled."""
        return cls(Stats.of(record), tuple(record.graphs), tuple(record.breaks),
                   tuple(record.frames), tuple(record.recompiles), tuple(record.skipped),
                   tuple(record.spans), name)

    @property
    def bytecode(self) -> tuple[tuple[Any, Any], ...]:
        """Of each frame what Python would run, and what runs in its place, as `bytecode.Bytecode`.

        The second is None where the frame hook calls the graph without bytecode. Raises
        ImportError where the library bytecode is not installed.
        """
        from bytecode import Bytecode

        return tuple(
            (Bytecode.from_code(frame.original),
             None if frame.translated is None else Bytecode.from_code(frame.translated))
            for frame in self.frames)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML page that shows all: source, graphs, passes, kernels, memory, times.

        The page loads nothing from elsewhere. What was not compiled yet, such as a backward
        graph, is compiled for it.

        Raises:
            ValueError: the page would have more than 5 MB.
            OSError: the file cannot be written.
        """
        from graphwright.report.viewer import write

        write(path, self)

    def _repr_html_(self) -> str:
        from graphwright.report.notebook import explanation_html

        return explanation_html(self, describe)

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        stats = self.stats
        yield (f"{count(stats.graphs, 'graph')}, {count(stats.breaks, 'graph break')}, "
               f"{count(stats.fallbacks, 'fallback')}, {count(stats.recompiles, 'recompile')}, "
               f"{count(stats.kernels, 'kernel')}")
        for function, children in self.tree().items():
            yield f"{function.function} ({function.file}:{function.line})"
            yield from draw(children)

    def tree(self) -> dict[Location, list[Branch]]:
        """For each captured function what became of it, in order."""
        functions: dict[Location, list[Branch]] = {}
        for frame in self.frames:
            functions.setdefault(frame.location, []).append(frame_branch(frame))
        for broken in self.breaks:
            if broken.fallback:
                place = broken.frame or broken.location
                functions.setdefault(place, []).append(break_branch(broken))
        for recompile in self.recompiles:
            title = f"{recompile.code} recompile: {recompile.title}"
            advice = [(reason, ()) for reason in (*recompile.reasons, recompile.advice)]
            functions.setdefault(recompile.location, []).append((title, advice))
        reported = {broken.frame for broken in self.breaks if broken.fallback}
        for place, reason in self.skipped:
            if place not in reported:
                functions.setdefault(place, []).append((f"runs as plain Python: {reason}", ()))
        return functions

    def __str__(self) -> str:
        return "\n".join(self.lines())


Branch = tuple[str, Sequence[Any]]
"""A line of the tree, and the branches below it."""


def draw(branches: Sequence[Branch], indent: str = "") -> Iterator[str]:
    """The lines of a tree."""
    for number, (text, below) in enumerate(branches):
        last = number == len(branches) - 1
        yield f"{indent}{'└─' if last else '├─'} {text}"
        yield from draw(below, indent + ("   " if last else "│  "))


def frame_branch(frame: FrameRecord) -> Branch:
    """A translated frame: its graph, its guards, the break that it ended in."""
    below: list[Branch] = []
    graphs = (*([frame.graph] if frame.graph is not None else []), *frame.pieces)
    below += [(graph_text(graph), ()) for graph in graphs]
    below.append(guards_branch(frame))
    if frame.broken is not None:
        below.append(break_branch(frame.broken))
    if frame.resumed is None:
        return "frame, from the start of the function", below
    return f"resume function, from line {frame.resumed.line}: {frame.resumed.source}", below


def graph_text(graph: GraphRecord) -> str:
    """The sizes of a graph."""
    text = f"graph: {count(graph.n_ops, 'operation')}, {count(graph.n_inputs, 'input')}"
    found = artifacts_of(graph.graph)
    if found is None:
        return text
    return f"{text}, {count(found.kernels, 'kernel')}" + (
        f"; runs eagerly: {found.note}" if found.note else "")


def guards_branch(frame: FrameRecord) -> Branch:
    """The guards, the dearest first where their times were measured."""
    if not frame.costs:
        title = f"guards: {len(frame.guards)}"
        return title, [(guard.sentence(), ()) for guard in frame.guards]
    timed = sorted(zip(frame.costs, frame.guards, strict=True), key=lambda pair: -pair[0])
    title = f"guards: {len(frame.guards)}, {frame.cost:.0f} ns together"
    return title, [(f"{cost:4.0f} ns  {guard.sentence()}", ()) for cost, guard in timed]


def break_branch(broken: BreakRecord) -> Branch:
    """A graph break: where, why, and what to do."""
    place = broken.location
    title = f"{broken.code} {broken.what} at {place.file}:{place.line}: {place.source}"
    return title, [(f"{broken.title}: {broken.detail}", ()), (broken.advice, ())]
