"""What `gw.explain` returns and `graphwright explain` prints, read from the capture record."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from graphwright.capture.frame.record import (
    BreakRecord,
    CaptureRecord,
    FrameRecord,
    GraphRecord,
    Location,
    RecompileRecord,
)
from graphwright.face.stage_dumps import Artifacts, artifacts_of
from graphwright.ir.graph.printing import describe
from graphwright.runtime.record import Record, replace
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
    """Frames, graphs, breaks, guards and recompiles of one call; `str()` gives them as a tree.

    subject: the function or module that was called, None for all that one record holds.
    error: the exception that the call ended in; the rest is what was found until then.
    spans: when the stages ran.
    """

    stats: Stats
    graphs: tuple[GraphRecord, ...]
    breaks: tuple[BreakRecord, ...]
    frames: tuple[FrameRecord, ...]
    recompiles: tuple[RecompileRecord, ...]
    skipped: tuple[tuple[Location, str], ...]
    subject: Location | None = None
    error: BaseException | None = None
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, record: CaptureRecord, subject: Location | None = None,
           called: Collection[Location] = (), error: BaseException | None = None) -> Explanation:
        """A snapshot of the record.

        called: where the record has what is the subject's: the subject is called by a function of
            this package, as modules are, or is an object whose code stands elsewhere.
        """

        def named(place: Location | None) -> Location | None:
            return subject if subject is not None and place in called else place

        def moved(entry: Any) -> Any:
            return replace(entry, location=named(entry.location))

        return cls(
            Stats.of(record),
            tuple(record.graphs),
            tuple(replace(entry, frame=named(entry.frame)) for entry in record.breaks),
            tuple(map(moved, record.frames)),
            tuple(map(moved, record.recompiles)),
            tuple((named(place) or place, reason) for place, reason in record.skipped),
            subject,
            error,
            tuple(record.spans),
        )

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

    @property
    def nothing_compiled(self) -> str | None:
        """Why no frame was compiled, probably; None where one was."""
        if self.frames:
            return None
        broken = [f"{entry.title}: {entry.detail}" for entry in self.breaks]
        reasons = [*broken, *(reason for _, reason in self.skipped)]
        if reasons:
            return reasons[0]
        if self.error is not None:
            return f"it raised {type(self.error).__name__} first"
        return ("no Python code of its own ran under the compiler: it is disabled, written in C, "
                "or was called in a mode in which code runs as it is")

    def text(self, guards: bool = False, libraries: bool = False) -> str:
        """The tree: the subject, counts, and for each function its frames.

        Args:
            guards: show each guard, the dearest first, not only how many there are of each kind.
            libraries: show the frames of libraries too, not only how many there are.
        """
        from graphwright.face.explain_text import lines

        return "\n".join(lines(self, guards, libraries))

    def __str__(self) -> str:
        return self.text()

    def to_dict(self, guards: bool = False) -> dict[str, Any]:
        """The same as values that JSON has; docs/cli.md lists the keys.

        guards: include the sentence of every guard, and what it costs.
        """
        return {
            "subject": None if self.subject is None else place_dict(self.subject),
            "stats": {name: getattr(self.stats, name) for name in Stats._fields},
            "frames": [frame_dict(frame, guards) for frame in self.frames],
            "breaks": [break_dict(entry) for entry in self.breaks],
            "recompiles": [recompile_dict(entry) for entry in self.recompiles],
            "plain": [{**place_dict(place), "reason": reason} for place, reason in self.skipped],
            "nothing_compiled": self.nothing_compiled,
            "error": None if self.error is None else
            {"type": type(self.error).__qualname__, "message": str(self.error)},
        }


def place_dict(place: Location) -> dict[str, Any]:
    """The keys of a place."""
    return {"function": place.function, "file": place.file, "line": place.line}


def frame_dict(frame: FrameRecord, guards: bool) -> dict[str, Any]:
    """The keys of a frame."""
    counted: dict[str, Any] = {"count": len(frame.guards), "ns": round(frame.cost, 1),
                               "kinds": frame.kinds}
    if guards:
        costs = frame.costs or (None,) * len(frame.guards)
        counted["all"] = [
            {"guard": guard.sentence(), "ns": None if cost is None else round(cost, 1)}
            for cost, guard in zip(costs, frame.guards, strict=True)]
    return {
        **place_dict(frame.location),
        "resumed_line": None if frame.resumed is None else frame.resumed.line,
        "graphs": [graph_dict(graph) for graph in frame.graphs],
        "guards": counted,
        "break": None if frame.broken is None else break_dict(frame.broken),
    }


def graph_dict(graph: GraphRecord) -> dict[str, Any]:
    """The keys of a graph."""
    found = artifacts_of(graph.graph)
    number, size = (0, 0) if found is None else found.packed
    return {"operations": graph.n_ops, "inputs": graph.n_inputs,
            "kernels": None if found is None else found.kernels,
            "packed_weights": {"count": number, "bytes": size},
            "loaded": found is not None and "lowered" in found.loaded,
            "runs_eagerly": found.note if found is not None and found.note else None,
            "activations": None if found is None else activations_dict(found)}


def activations_dict(found: Artifacts) -> dict[str, Any] | None:
    """The keys of what a graph saves for its gradients; None without gradients."""
    activations = None if found.lowered is None else found.lowered.activations
    return None if activations is None else {
        "saved": dict(activations.saved), "saved_bytes": activations.saved_bytes,
        "eager_bytes": activations.eager_bytes, "recomputed": list(activations.recomputed)}


def break_dict(broken: BreakRecord) -> dict[str, Any]:
    """The keys of a graph break or fallback."""
    return {**place_dict(broken.location), "source": broken.location.source, "code": broken.code,
            "title": broken.title, "detail": broken.detail, "advice": broken.advice,
            "fallback": broken.fallback}


def recompile_dict(recompile: RecompileRecord) -> dict[str, Any]:
    """The keys of a recompile."""
    return {**place_dict(recompile.location), "code": recompile.code, "title": recompile.title,
            "reasons": list(recompile.reasons), "advice": recompile.advice}
