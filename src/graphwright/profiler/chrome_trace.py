"""Traces in Chrome's format."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from graphwright.profiler.events import FunctionEvent
from graphwright.profiler.files import open_text
from graphwright.profiler.recording import MemoryChange, Recording


def write_trace(path: str | os.PathLike[str], recording: Recording,
                metadata: Mapping[str, Any]) -> None:
    """Write a recording as JSON that chrome://tracing and ui.perfetto.dev open.

    Times are microseconds since the start; "baseTimeNanoseconds" is that start.
    """
    trace = {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": recording.began,
        **metadata,
        "traceEvents": [*_threads(recording), *map(_span, recording.events),
                        *map(_memory, recording.memory)],
    }
    with open_text(path) as file:
        json.dump(trace, file)


def _threads(recording: Recording) -> Iterable[dict[str, Any]]:
    process = os.getpid()
    yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "ts": 0,
           "args": {"name": "python"}}
    for number, name in sorted(recording.threads.items()):
        yield {"ph": "M", "name": "thread_name", "pid": process, "tid": number, "ts": 0,
               "args": {"name": name}}


def _span(event: FunctionEvent) -> dict[str, Any]:
    args: dict[str, Any] = {"External id": event.id}
    if event.input_shapes:
        args["Input Dims"] = event.input_shapes
    if event.stack:
        args["Call stack"] = ";".join(event.stack)
    if event.flops:
        args["flops"] = event.flops
    if event.cpu_memory_usage:
        args["Bytes"] = event.cpu_memory_usage
    return {
        "ph": "X", "cat": event.kind, "name": event.name, "pid": os.getpid(),
        "tid": event.thread, "ts": event.time_range.start,
        "dur": round(event.time_range.elapsed_us(), 3), "args": args,
    }


def _memory(change: MemoryChange) -> dict[str, Any]:
    return {
        "ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": os.getpid(),
        "tid": change.thread, "ts": change.time / 1000,
        "args": {"Device Type": 0, "Device Id": -1, "Addr": change.address,
                 "Bytes": change.nbytes, "Total Allocated": change.live},
    }
