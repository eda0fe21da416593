"""What was recorded, as events, and their averages by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from graphwright.profiler.stacks import write_stacks
from graphwright.profiler.table import build_table
from graphwright.profiler.units import format_time

_METRICS = (
    *("count", "cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage"),
    *("self_cpu_memory_usage", "flops", "device_time", "device_time_total"),
    *("self_device_time_total", "cuda_time", "cuda_time_total", "self_cuda_time_total"),
    *("device_memory_usage", "self_device_memory_usage"),
)
_STEP = re.compile(r"ProfilerStep#\d+")


class Interval:
    """From when to when, in microseconds since the profile's start."""

    __slots__ = ("end", "start")

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start

    def __repr__(self) -> str:
        return f"Interval(start={self.start}, end={self.end})"


class _Measured:
    """The names that events and their averages share; times in microseconds, memory in bytes."""

    __slots__ = ()
    name: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    cpu_memory_usage: int
    self_cpu_memory_usage: int
    # nothing is recorded of devices
    device_time_total = self_device_time_total = device_time = 0.0
    cuda_time_total = self_cuda_time_total = cuda_time = 0.0
    device_memory_usage = self_device_memory_usage = 0
    device_type = "cpu"
    node_id = -1
    is_legacy = is_remote = is_async = False
    use_device = None
    overload_name = ""

    @property
    def cpu_time(self) -> float:
        """The time of one call, on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """`cpu_time` with its unit."""
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """`cpu_time_total` with its unit."""
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """`self_cpu_time_total` with its unit."""
        return format_time(self.self_cpu_time_total)


class FunctionEvent(_Measured):
    """One span: an op, the call of a compiled graph, a label.

    Attributes:
        name, id, thread: its name, its number in the profile, the number of its thread.
        kind: the category in the trace: "cpu_op", "user_annotation" ...
        time_range: from when to when.
        cpu_parent, cpu_children: the event around it, or None; those directly within it.
        cpu_time_total, self_cpu_time_total: with and without the children.
        cpu_memory_usage, self_cpu_memory_usage: bytes allocated less bytes freed meanwhile.
        input_shapes: of the arguments, with `record_shapes`; [] for what is no tensor.
        flops: with `with_flops`, of products, convolutions, attention; else 0.
        stack: with `with_stack`, "file(line): function", the innermost first.
    """

    __slots__ = (
        "count", "cpu_children", "cpu_memory_usage", "cpu_parent", "cpu_time_total", "flops", "id",
        "input_shapes", "kind", "name", "self_cpu_memory_usage", "self_cpu_time_total", "stack",
        "thread", "time_range",
    )  # fmt: skip

    def __init__(self, number: int, name: str, kind: str, thread: int, start: int, end: int
                 ) -> None:
        self.id, self.name, self.kind, self.thread, self.count = number, name, kind, thread, 1
        self.time_range = Interval(start / 1000, end / 1000)
        self.cpu_time_total = self.self_cpu_time_total = (end - start) / 1000
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.input_shapes: list[Any] = []
        self.stack: list[str] = []
        self.flops = 0

    @property
    def key(self) -> str:
        """What it is averaged under: its name, and one for all steps."""
        return "ProfilerStep*" if _STEP.fullmatch(self.name) else self.name

    @property
    def is_user_annotation(self) -> bool:
        """Whether it is a label of the program's."""
        return self.kind == "user_annotation"

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} thread={self.thread} "
            f"cpu_time={self.cpu_time_str} self_cpu_time={self.self_cpu_time_total_str} "
            f"input_shapes={self.input_shapes}>"
        )


class FunctionEventAvg(_Measured):
    """All events of a name, added up.

    Attributes:
        key: the name. count: how many there are.
        cpu_time_total, self_cpu_time_total, cpu_memory_usage, self_cpu_memory_usage, flops: sums.
        cpu_time: the average of a call.
        input_shapes, stack: of all of them, where they are grouped by these.
    """

    __slots__ = (
        "count", "cpu_memory_usage", "cpu_parent", "cpu_time_total", "flops", "input_shapes",
        "is_user_annotation", "key", "self_cpu_memory_usage", "self_cpu_time_total", "stack",
    )  # fmt: skip

    def __init__(self, key: str, input_shapes: list[Any], stack: list[str]) -> None:
        self.key, self.count, self.flops = key, 0, 0
        self.input_shapes, self.stack = input_shapes, stack
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.cpu_parent: FunctionEvent | None = None
        self.is_user_annotation = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """The key."""
        return self.key

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Count an event, or all of another average."""
        if self.count == 0:
            self.cpu_parent, self.is_user_annotation = other.cpu_parent, other.is_user_annotation
        self.count += other.count
        self.flops += other.flops
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        return self

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes}>"
        )


class EventList(list[Any]):
    """Events, or averages of events; what `profile.events()` and `key_averages()` return."""

    def __init__(
        self, events: Iterable[Any] = (), *, profile_memory: bool = False,
        with_flops: bool = False, write_trace: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(events)
        self._profile_memory, self._with_flops = profile_memory, with_flops
        self._write_trace = write_trace

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the events' own times, in microseconds."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """One average for each name, in the order of their first events.

        Args:
            group_by_input_shapes: one for each name and shapes of arguments.
            group_by_stack_n: one for each name and innermost n places of the Python stack.
        """
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shapes else []
            stack = event.stack[:group_by_stack_n]
            key = (event.key, str(shapes), *stack)
            if key not in found:
                found[key] = FunctionEventAvg(event.key, shapes, stack)
            found[key].add(event)
        return self._like(found.values())

    def total_average(self) -> FunctionEventAvg:
        """All of them, added up."""
        total = FunctionEventAvg("Total", [], [])
        for event in self:
            total.add(event)
        return total

    def sorted_by(self, sort_by: str) -> EventList:
        """In falling order of a metric.

        Raises ValueError for names that are no metrics.
        """
        if sort_by not in _METRICS:
            raise ValueError(f"sort_by={sort_by!r} is no metric; there are {', '.join(_METRICS)}")
        return self._like(sorted(self, key=lambda e: getattr(e, sort_by), reverse=True))

    def _like(self, events: Iterable[Any]) -> EventList:
        return EventList(events, profile_memory=self._profile_memory,
                         with_flops=self._with_flops, write_trace=self._write_trace)

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80,
        header: str | None = None, top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """A table, a line for each event.

        Args:
            sort_by: the metric that comes first: "self_cpu_time_total", "cpu_time_total",
                "cpu_time", "count", "cpu_memory_usage", "self_cpu_memory_usage", "flops"; by
                default events are in the order of their starts.
            row_limit: the most lines; -1 for all.
            max_src_column_width, max_name_column_width, max_shapes_column_width: what is longer
                is cut.
            header: a line above.
            top_level_events_only: leave out what ran within others.
            time_unit: "s", "ms" or "us" for all times; by default what suits each.

        Raises ValueError for another metric or unit.
        """
        events = self if sort_by is None else self.sorted_by(sort_by)
        return build_table(
            events, row_limit, (max_name_column_width, max_shapes_column_width,
                                max_src_column_width),
            header, top_level_events_only, time_unit, self._profile_memory, self._with_flops)

    def export_chrome_trace(self, path: str) -> None:
        """Write the trace of the profile that these events are of: `profile.export_chrome_trace`.

        Raises RuntimeError for events of no profile.
        """
        if self._write_trace is None:
            raise RuntimeError("export_chrome_trace: these events are of no profile")
        self._write_trace(path)

    def export_stacks(self, path: str, metric: str) -> None:
        """Write the stacks with a metric: `profile.export_stacks`."""
        write_stacks(self, path, metric)

    def __str__(self) -> str:
        return self.table()
