"""The older profiler, after `torch.autograd.profiler`: `profile` records a block as one."""

from __future__ import annotations

from typing import Any

from graphwright.profiler.absent import emit_itt, emit_nvtx
from graphwright.profiler.events import EventList, FunctionEventAvg
from graphwright.profiler.labels import record_function
from graphwright.profiler.profile import profile as _Profile
from graphwright.profiler.schedules import kineto_available

__all__ = ["EventList", "emit_itt", "emit_nvtx", "kineto_available", "profile", "record_function"]


class profile:
    """Records what runs within a `with` block; see `graphwright.profiler.profile`.

    Args:
        enabled: False: nothing is recorded.
        use_cpu: must be True.
        use_cuda, use_device, with_modules, use_kineto: without effect.
        record_shapes, with_flops, profile_memory, with_stack: as there.

    >>> with gw.autograd.profiler.profile() as profile:
    ...     y = gw.ones(2) + 1
    >>> [event.name for event in profile.function_events]
    ['aten::ones', 'aten::add']
    """

    def __init__(
        self, enabled: bool = True, *, use_cpu: bool = True, use_cuda: bool = False,
        use_device: str | None = None, record_shapes: bool = False, with_flops: bool = False,
        profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False,
        use_kineto: bool = True,
    ) -> None:
        if not use_cpu:
            raise ValueError("profile: nothing but the CPU can be recorded; use_cpu must be True")
        self.enabled = enabled
        self._profile = _Profile(
            record_shapes=record_shapes, with_flops=with_flops, profile_memory=profile_memory,
            with_stack=with_stack)

    def __enter__(self) -> profile:
        if self.enabled:
            self._profile.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            self._profile.stop()

    @property
    def function_events(self) -> EventList:
        """The events. RuntimeError before the block has ended."""
        return self._profile.events()

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the events' own times, in microseconds."""
        return self.function_events.self_cpu_time_total

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """One average for each name."""
        return self._profile.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """All events, added up."""
        return self.function_events.total_average()

    def table(self, *args: Any, **kwargs: Any) -> str:
        """A line for each event: `EventList.table`."""
        return self.function_events.table(*args, **kwargs)

    def export_chrome_trace(self, path: str) -> None:
        """Write the trace."""
        self._profile.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks."""
        self._profile.export_stacks(path, metric)

    def __str__(self) -> str:
        try:
            return str(self.function_events)
        except RuntimeError:
            return "<unfinished profile>"
