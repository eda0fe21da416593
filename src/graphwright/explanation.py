"""What `gw.explain` returns and `graphwright explain` prints, read from the capture record."""

from __future__ import annotations

from collections.abc import Iterator

from graphwright.artifacts import artifacts_of
from graphwright.capture.record import (
    BreakRecord,
    CaptureRecord,
    FrameRecord,
    GraphRecord,
    Location,
    RecompileRecord,
)
from graphwright.runtime.records import Record


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
    """Graphs, breaks, guards and recompiles of one call; `str()` gives the text."""

    stats: Stats
    graphs: tuple[GraphRecord, ...]
    breaks: tuple[BreakRecord, ...]
    frames: tuple[FrameRecord, ...]
    recompiles: tuple[RecompileRecord, ...]
    skipped: tuple[tuple[Location, str], ...]

    @classmethod
    def of(cls, record: CaptureRecord) -> Explanation:
        """A snapshot of the record."""
        return cls(Stats.of(record), tuple(record.graphs), tuple(record.breaks),
                   tuple(record.frames), tuple(record.recompiles), tuple(record.skipped))

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        stats = self.stats
        yield (f"{count(stats.graphs, 'graph')}, {count(stats.breaks, 'graph break')}, "
               f"{count(stats.recompiles, 'recompile')}, {count(stats.kernels, 'kernel')}")
        for entry in self.graphs:
            yield f"graph: {count(entry.n_ops, 'operation')}, {count(entry.n_inputs, 'input')}"
            yield f"  {entry.location}"
            found = artifacts_of(entry.graph)
            if found is not None and found.note:
                yield f"  runs eagerly: {found.note}"
        for broken in self.breaks:
            yield str(broken)
        for frame in self.frames:
            yield f"guards: {len(frame.guards)} on {frame.location}"
            yield from (f"  {guard.sentence()}" for guard in frame.guards)
        for recompile in self.recompiles:
            yield f"recompile: {recompile.location}"
            yield from (f"  {reason}" for reason in recompile.reasons)
        for location, reason in self.skipped:
            yield f"runs as plain Python: {location}"
            yield f"  {reason}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


def count(number: int, noun: str) -> str:
    """'1 graph', '2 graphs'."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
