"""What `_core` recorded, as events."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from itertools import dropwhile
from typing import Any, NamedTuple

from graphwright.profiler.events import FunctionEvent
from graphwright.profiler.flops import flops_of
from graphwright.runtime import _core, spans
from graphwright.runtime.spans import Kind
from graphwright.runtime.stderr_notices import warn

SHAPES, MEMORY, STACK, RESULTS = 2, 4, 8, 16
"""What `_core.start_profile` records besides times."""

CATEGORIES = {
    Kind.OP: "cpu_op",
    Kind.GRAPH: "compiled_graph",
    Kind.KERNEL: "kernel",
    Kind.CALL: "compiled_function",
    Kind.GUARDS: "guards",
    Kind.COMPILE: "compiler",
    Kind.NODE: "autograd",
    Kind.LIBRARY: "library",
    Kind.LABEL: "user_annotation",
}

_PREFIXES = {
    Kind.GRAPH: "graph::",
    Kind.CALL: "compiled::",
    Kind.GUARDS: "guards::",
    Kind.NODE: "autograd::engine::evaluate_function: ",
}


class MemoryChange(NamedTuple):
    """Memory that was allocated, or freed: then `nbytes` is negative. The time is in ns."""

    time: int
    nbytes: int
    live: int
    address: int
    thread: int
    event: FunctionEvent | None


class Recording:
    """One recorded stretch of a program.

    Attributes:
        began: the wall clock's time at its start, in ns since the epoch.
        duration: in ns.
        events: by their starts; what is within another follows it.
        memory: in the order of time.
        threads: the names of threads by their numbers.
        live_before: bytes of tensors at its start.
    """

    def __init__(self, drained: Any, began: int, live_before: int, with_flops: bool) -> None:
        start, end, threads = drained
        self.began, self.duration, self.live_before = began, end - start, live_before
        self.memory: list[MemoryChange] = []
        self.threads: dict[int, str] = {}
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        found: list[FunctionEvent] = []
        for native_id, ident, found_spans, changes, lost in threads:
            self.threads[native_id] = names.get(ident, f"thread {native_id}")
            events = [_event(span, native_id, start, with_flops) for span in found_spans]
            _connect(events, found_spans)
            self.memory += [
                MemoryChange(when - start, nbytes, live, address, native_id,
                             events[number] if number >= 0 else None)
                for when, nbytes, live, address, number in changes]
            found += events
            if lost:
                warn(f"profiler: memory did not suffice for {lost} spans of thread {native_id}",
                     RuntimeWarning, 2)
        self.events = sorted(found, key=_order)
        for number, event in enumerate(self.events):
            event.id = number
        self.memory.sort(key=lambda change: change.time)


def begin(flags: int) -> tuple[int, int]:
    """Start recording: what `Recording` takes as `began` and `live_before`.

    Raises RuntimeError where another profile is active.
    """
    _core.start_profile(flags)
    return time.time_ns(), _core.memory_stats()["live"]


def _order(event: FunctionEvent) -> tuple[float, float]:
    return event.time_range.start, -event.time_range.end


def _event(span: _core.Span, thread: int, origin: int, with_flops: bool) -> FunctionEvent:
    kind, name, start, end, _, nbytes, shapes, result, stack, address = span
    text = _text(kind, name, shapes, address)
    event = FunctionEvent(0, text, CATEGORIES[kind], thread, start - origin, end - origin)
    event.self_cpu_memory_usage = nbytes
    if shapes is not None:
        event.input_shapes = [shapes] if kind == Kind.KERNEL else [_shape(s) for s in shapes]
    if stack is not None:
        event.stack = list(_places(stack))
    if with_flops and kind == Kind.OP:
        event.flops = flops_of(name.name, shapes, result)
    return event


def _shape(shape: Any) -> list[Any]:
    """A list for a tensor's sizes, and for a list of tensors one of theirs."""
    if isinstance(shape, bool):
        return []
    return [_shape(item) if isinstance(item, tuple) else item for item in shape]


def _text(kind: int, name: Any, shapes: Any, address: int) -> str:
    if kind == Kind.KERNEL:
        if not address:
            return f"kernel::gemm {' x '.join(map(str, shapes or ()))}".rstrip()
        routine = _ROUTINES.get(address) or name.name_at(address)
        return f"kernel::{routine or 'parallel loop'}"
    if kind == Kind.OP:
        return str(name.name) if "::" in name.name else f"aten::{name.name}"
    return f"{_PREFIXES.get(kind, '')}{name}"


_ROUTINES = {number + 1: routine for routine, number in _core.ROUTINES.items()}
_OWN = (os.path.dirname(__file__), spans.__file__)


def _places(stack: list[Any]) -> Iterator[str]:
    """The frames, without those by which Python code records its spans."""
    frames = zip(stack[::2], stack[1::2], strict=True)
    for code, line in dropwhile(lambda frame: frame[0].co_filename.startswith(_OWN), frames):
        yield f"{code.co_filename}({line}): {code.co_name}"


def _connect(events: list[FunctionEvent], recorded: list[_core.Span]) -> None:
    """Parents and children of one thread's events; times and memory with and without these.

    Floating point operations are those of the innermost ops that have a formula.
    """
    for event, span in zip(events, recorded, strict=True):
        event.cpu_memory_usage += event.self_cpu_memory_usage
        if span[4] >= 0:
            parent = event.cpu_parent = events[span[4]]
            parent.cpu_children.append(event)
            parent.self_cpu_time_total -= event.cpu_time_total
    counted: set[int] = set()       # events within which operations are counted already
    for event in reversed(events):  # a parent's number is less than its children's
        if id(event) in counted:
            event.flops = 0
        if event.cpu_parent is not None:
            event.cpu_parent.cpu_memory_usage += event.cpu_memory_usage
            if event.flops or id(event) in counted:
                counted.add(id(event.cpu_parent))
