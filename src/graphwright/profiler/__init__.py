"""Where the time and the memory of a program go, after `torch.profiler`.

::

    with gw.profiler.profile(profile_memory=True) as profile:
        loss = model(x).sum()
        loss.backward()
    print(profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))
    profile.export_chrome_trace("trace.json")

docs/profiling.md shows how to read the table and the trace. `ExecutionTraceObserver`, `emit_nvtx`
and `emit_itt`, the recorders of other tools, are names alone.
"""

from graphwright.profiler.absent import ExecutionTraceObserver, emit_itt, emit_nvtx
from graphwright.profiler.events import EventList, FunctionEvent, FunctionEventAvg
from graphwright.profiler.labels import record_function
from graphwright.profiler.profile import profile, tensorboard_trace_handler
from graphwright.profiler.schedules import (
    ProfilerAction,
    ProfilerActivity,
    kineto_available,
    schedule,
    supported_activities,
)

__all__ = [
    "EventList", "ExecutionTraceObserver", "FunctionEvent", "FunctionEventAvg", "ProfilerAction",
    "ProfilerActivity", "emit_itt", "emit_nvtx", "kineto_available", "profile", "record_function",
    "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip
