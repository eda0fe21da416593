"""GRAPHWRIGHT_LOGS: what the capture records is written to standard error as it happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from graphwright.capture.record import (
    BreakRecord,
    CaptureRecord,
    FrameRecord,
    GraphRecord,
    RecompileRecord,
)


def _guards(record: FrameRecord) -> str:
    sentences = "\n".join(f"  {guard.sentence()}" for guard in record.guards)
    return f"guards of {record.location}\n{sentences}"


def _graph(record: GraphRecord) -> str:
    return f"graph of {record.location}\n{record.graph.readable()}"


def _recompile(record: RecompileRecord) -> str:
    return "\n".join([f"recompile of {record.location}", *(f"  {r}" for r in record.reasons)])


LOGS: dict[str, tuple[type, Callable[[Any], str]]] = {
    "graph_breaks": (BreakRecord, str),
    "recompiles": (RecompileRecord, _recompile),
    "guards": (FrameRecord, _guards),
    "graph": (GraphRecord, _graph),
}


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


def attach(record: CaptureRecord) -> None:
    """Write what GRAPHWRIGHT_LOGS asks for to standard error as it is recorded."""
    names = parse(os.environ.get("GRAPHWRIGHT_LOGS", ""))
    writers = {LOGS[name][0]: LOGS[name][1] for name in names}
    if not writers:
        return

    def write(entry: Any) -> None:
        writer = writers.get(type(entry))
        if writer is not None:
            print(f"[graphwright] {writer(entry)}", file=sys.stderr, flush=True)

    record.listeners.append(write)
