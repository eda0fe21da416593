"""GRAPHWRIGHT_LOGS: what the capture records is written to standard error as it happens."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from graphwright.capture.frame.record import (
    BreakRecord,
    CaptureRecord,
    FrameRecord,
    GraphRecord,
    RecompileRecord,
)
from graphwright.runtime.stderr_notices import write_line


def _guards(record: FrameRecord) -> str:
    sentences = "\n".join(f"  {guard.sentence()}" for guard in record.guards)
    return f"{len(record.guards)} of {record.location}\n{sentences}"


def _graph(record: GraphRecord) -> str:
    return f"{record.location}\n{record.graph.readable()}"


LOGS: dict[str, tuple[type, Callable[[Any], str]] | None] = {
    "graph_breaks": (BreakRecord, str),
    "recompiles": (RecompileRecord, str),
    "guards": (FrameRecord, _guards),
    "graph": (GraphRecord, _graph),
    "joint": None,
    "loops": None,
    "kernels": None,
    "cache": None,
}
"""Those of capture: the records, and how they are written. The backends write the others."""


def parse(text: str) -> frozenset[str]:
    """The names in a comma-separated list.

    Raises:
        ValueError: a name that is not among `LOGS`.
    """
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    unknown = sorted(names - set(LOGS))
    if unknown:
        raise ValueError(f"GRAPHWRIGHT_LOGS: unknown {', '.join(unknown)}; "
                         f"there are {', '.join(LOGS)}")
    return names


def wanted() -> frozenset[str]:
    """What GRAPHWRIGHT_LOGS asks for."""
    text = os.environ.get("GRAPHWRIGHT_LOGS")
    return parse(text) if text else frozenset()


def log(name: str, text: Callable[[], str]) -> None:
    """Write a text to standard error if GRAPHWRIGHT_LOGS asks for this log."""
    if name in wanted():
        write_line(f"[graphwright] {name}: {text()}")


def attach(record: CaptureRecord) -> bool:
    """Log what a record gets; whether graph breaks are among that.

    Raises:
        ValueError: GRAPHWRIGHT_LOGS has an unknown name.
    """
    names = wanted()
    writers = {found[0]: (name, found[1]) for name in names if (found := LOGS[name]) is not None}

    def write(entry: Any) -> None:
        name, writer = writers.get(type(entry), ("", str))
        if name:
            log(name, lambda: writer(entry))

    if writers:
        record.listeners.append(write)
    return "graph_breaks" in names
