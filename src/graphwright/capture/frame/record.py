"""What happened while capturing: the one record that explain, logs, CLI and counters read."""

from __future__ import annotations

import threading
import types
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from graphwright.capture.vm.bytecode import source_line
from graphwright.runtime.record import Record, field
from graphwright.runtime.spans import Span

RUNS_EAGERLY = "runs_eagerly"
"""A graph's `meta` holds under this key why its backend runs it op by op, where it does."""


class Location(Record):
    """A place in the user's source.

    of_package: `function` is one of this package, and the line is the user's that called it.
    """

    file: str
    line: int
    function: str
    of_package: bool = False

    @property
    def source(self) -> str:
        """The text of the line, read when it is asked for."""
        return source_line(self.file, self.line)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}: {self.source}"


class BreakRecord(Record):
    """One graph break. `fallback`: the whole frame runs as plain Python because of it.

    location: the instruction, which may be in an inlined function; frame: the captured function.
    """

    code: str
    title: str
    detail: str
    advice: str
    location: Location
    fallback: bool
    frame: Location | None = None

    @property
    def what(self) -> str:
        """What the break led to."""
        return "runs as plain Python" if self.fallback else "graph break"

    def __str__(self) -> str:
        reason = f"{self.title}: {self.detail}"
        return f"{self.code} {self.what} at {self.location}\n  {reason}\n  {self.advice}"


class GraphRecord(Record):
    """One captured graph: the GraphModule, where it started, its number of tensor operations."""

    graph: Any
    location: Location
    n_ops: int
    n_inputs: int


class RecompileRecord(Record):
    """Why the entries of a frame did not fit a call: one failed guard per entry.

    code, title, advice: of the registry, for the first of the reasons.
    """

    location: Location
    reasons: tuple[str, ...]
    code: str = ""
    title: str = ""
    advice: str = ""

    def __str__(self) -> str:
        first = f"{self.code} recompile of {self.location}"
        return "\n  ".join([first, self.title, *self.reasons, self.advice])


class FrameRecord(Record):
    """One translated frame: its guards, and the code that runs in its place.

    translated: None where the frame hook calls the graph itself, without bytecode.
    resumed: where a resume function goes on, None for a function from its start.
    graph, broken: what the frame ended in. pieces: the graphs behind `graph` where calls of the
    program's own functions cut it. costs: nanoseconds per guard, evaluated alone;
    cost: of all guards together, which share what they load. Both only where they were measured.
    """

    location: Location
    guards: tuple[Any, ...]
    original: types.CodeType
    translated: types.CodeType | None
    resumed: Location | None = None
    graph: GraphRecord | None = None
    broken: BreakRecord | None = None
    costs: tuple[float, ...] = ()
    cost: float = 0.0
    pieces: tuple[GraphRecord, ...] = ()

    @property
    def graphs(self) -> list[GraphRecord]:
        """`graph`, if there is one, and the pieces behind it."""
        return [*([self.graph] if self.graph is not None else []), *self.pieces]

    @property
    def kinds(self) -> dict[str, int]:
        """How many guards there are of each kind, the most frequent first."""
        names = Counter(guard.kind.name.lower().replace("_", " ") for guard in self.guards)
        return dict(names.most_common())


class CaptureRecord(Record, frozen=False):
    """Everything that one front end captured, in order. Listeners get each new record.

    measured: whether the guards of each new frame are timed: "" is not at all, "together", and
        "each", which takes a while.
    watch: a context for the compilation of the function at a place.
    spans: when each frame was captured, the compilation of its graphs included, and its guards
        were made.
    """

    graphs: list[GraphRecord] = field(default_factory=list)
    breaks: list[BreakRecord] = field(default_factory=list)
    recompiles: list[RecompileRecord] = field(default_factory=list)
    frames: list[FrameRecord] = field(default_factory=list)
    skipped: list[tuple[Location, str]] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    listeners: list[Callable[[Any], None]] = field(default_factory=list)
    measured: str = ""
    watch: Callable[[Location], AbstractContextManager[None]] = nullcontext  # type: ignore[assignment]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, record: Any) -> None:
        """Append a record to the list of its kind and call the listeners."""
        name = _LISTS[type(record)]
        with self._lock:
            getattr(self, name).append(record)
            self.counts[name] += 1
        for listener in self.listeners:
            listener(record)

    def skip(self, location: Location, reason: str) -> None:
        """Note a frame that runs as plain Python."""
        with self._lock:
            self.skipped.append((location, reason))
            self.counts["skipped"] += 1

    def clear(self) -> None:
        """Forget everything; listeners stay."""
        with self._lock:
            for name in (*_LISTS.values(), "skipped", "spans"):
                getattr(self, name).clear()
            self.counts.clear()


_LISTS: dict[type, str] = {
    GraphRecord: "graphs",
    BreakRecord: "breaks",
    RecompileRecord: "recompiles",
    FrameRecord: "frames",
}
