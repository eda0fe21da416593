"""`profile`: records a `with` block, or steps of it by a schedule."""

from __future__ import annotations

import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from graphwright.profiler.chrome_trace import write_trace
from graphwright.profiler.events import EventList
from graphwright.profiler.labels import record_function
from graphwright.profiler.memory_timeline import write_memory_timeline
from graphwright.profiler.recording import MEMORY, RESULTS, SHAPES, STACK, Recording, begin
from graphwright.profiler.schedules import ProfilerAction, ProfilerActivity
from graphwright.profiler.stacks import write_stacks
from graphwright.runtime import _core

_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class profile:
    """Records what runs within a `with` block, on all threads.

    Args:
        activities: what to record; only `ProfilerActivity.CPU` is there, others are left out with
            a warning.
        schedule: from the number of a step to what to do in it: `schedule(...)`. The program calls
            `step()` after each; each recorded one is a span `ProfilerStep#n`.
        on_trace_ready: called with the profile after the last active step of each cycle, and at
            the end of the block if it records then; see `tensorboard_trace_handler`.
        record_shapes: record the shapes of ops' arguments.
        profile_memory: record what tensors allocate and free.
        with_stack: record the Python stack of each span; slow.
        with_flops: count floating point operations of products, convolutions, attention and
            recurrences; of ops, not of compiled graphs.
        with_modules, use_cuda: without effect.
        acc_events: keep the events of earlier cycles.

    What is recorded: ops (`aten::mul`), compiled functions (`compiled::f`), their guards
    (`guards::f`), graphs (`graph::forward f`), and matrix products and parallel loops in them
    (`kernel::...`), the phases of the compiler (`compile::...`), nodes of backward passes
    (`autograd::engine::evaluate_function: MulBackward0`), `Optimizer.step#Adam.step`,
    `enumerate(DataLoader)#...`, and labels, `record_function`.

    Only one profile can be active; starting another raises RuntimeError. A process that is
    forked meanwhile, as of a DataLoader, records nothing. ValueError where `activities` has no
    CPU.

    >>> with gw.profiler.profile(record_shapes=True) as profile:
    ...     y = gw.ones(2, 3) @ gw.ones(3, 4)
    >>> [(event.name, event.input_shapes) for event in profile.events()][-1]
    ('aten::matmul', [[2, 3], [3, 4]])
    """

    def __init__(
        self, *, activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False,
        with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None,
        execution_trace_observer: Any = None, acc_events: bool = False,
        use_cuda: bool | None = None,
    ) -> None:
        for name, value in (("experimental_config", experimental_config),
                            ("execution_trace_observer", execution_trace_observer)):
            if value is not None:
                raise NotImplementedError(f"profile: {name} is not supported")
        self.activities = _checked(activities)
        self.schedule = schedule if schedule is not None else _always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_stack, self.with_flops, self.with_modules = with_stack, with_flops, with_modules
        self.acc_events = acc_events
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._metadata: dict[str, Any] = {}
        self._recordings: list[Recording] = []
        self._begun: tuple[int, int] | None = None
        self._step: record_function | None = None
        self._warming = False

    # -- when it records

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin: what `with` does. RuntimeError where a profile is active."""
        self._enter_action(self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End: what the end of `with` does; nothing where it has ended already."""
        self._end_step()
        if self._begun is not None:
            self._leave_action(self.current_action, None)

    def step(self) -> None:
        """The next step begins."""
        self._end_step()
        before = self.current_action
        self.current_action = self.schedule(self.step_num + 1)
        self.step_num += 1
        self._leave_action(before, self.current_action)
        self._enter_action(self.current_action)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _enter_action(self, action: ProfilerAction) -> None:
        """Record from here on, if it is not done already."""
        if action in _RECORDING and not self._recordings_open():
            self.start_trace()
        elif action is ProfilerAction.WARMUP and not self._warming:
            self.prepare_trace()

    def _leave_action(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        saves = before is ProfilerAction.RECORD_AND_SAVE or (
            after is None and before is ProfilerAction.RECORD)
        if before in _RECORDING and (saves or after not in _RECORDING):
            if not saves:
                warnings.warn(f"Incorrect schedule: RECORD followed by {after and after.name}",
                              stacklevel=3)
            self.stop_trace()
            if saves and self.on_trace_ready is not None:
                self.on_trace_ready(self)
        elif before is ProfilerAction.WARMUP and after in (None, ProfilerAction.NONE):
            self._drop()

    def _recordings_open(self) -> bool:
        return self._begun is not None and not self._warming

    def _drop(self) -> None:
        if self._warming:
            self._warming, self._begun = False, None
            _core.stop_profile()

    def prepare_trace(self) -> None:
        """Record, and discard it: a warm-up."""
        self._begun = begin(self._flags())
        self._warming = True

    def start_trace(self) -> None:
        """Record from here on; what a warm-up has recorded is dropped."""
        self._drop()
        self._begun = begin(self._flags())

    def stop_trace(self) -> None:
        """End what `start_trace` began; the events are there from here on."""
        if self._begun is None:
            raise RuntimeError("profile: nothing is recorded; start() or `with` comes first")
        drained = _core.stop_profile()
        began, live = self._begun
        self._begun = None
        if not self.acc_events:
            self._recordings.clear()
        self._recordings.append(Recording(drained, began, live, self.with_flops))

    def _flags(self) -> int:
        flags = MEMORY * self.profile_memory | STACK * self.with_stack
        return flags | SHAPES * self.record_shapes | (SHAPES | RESULTS) * self.with_flops

    # -- what was recorded

    def _recorded(self) -> list[Recording]:
        if not self._recordings:
            raise RuntimeError("profile: there are no events yet; they are there once the `with` "
                               "block, or a cycle of the schedule, has ended")
        return self._recordings

    def events(self) -> EventList:
        """All events, in the order of their starts. RuntimeError before there are some."""
        events = [event for recording in self._recorded() for event in recording.events]
        return EventList(events, profile_memory=self.profile_memory, with_flops=self.with_flops,
                         write_trace=self.export_chrome_trace)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
    ) -> EventList:
        """One average for each name; with shapes, or the innermost places of the stack, too.

        RuntimeError before there are events.
        """
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the last recording in Chrome's format; compressed where `path` ends with .gz."""
        write_trace(path, self._recorded()[-1], {
            "record_shapes": int(self.record_shapes), "profile_memory": int(self.profile_memory),
            "with_stack": int(self.with_stack), "with_flops": int(self.with_flops),
            "host_name": socket.gethostname(), **self._metadata})

    def export_stacks(self, path: str | os.PathLike[str],
                      metric: str = "self_cpu_time_total") -> None:
        """Write "outermost;...;innermost;op microseconds" lines, as tools for flame graphs read.

        ValueError without `with_stack`, or for another metric than "self_cpu_time_total",
        "cpu_time_total" and "count".
        """
        write_stacks(self.events(), path, metric)

    def export_memory_timeline(self, path: str | os.PathLike[str],
                               device: str | None = None) -> None:
        """Write the memory of tensors over time: .html, .json or .raw.json, these also with .gz.

        RuntimeError without `profile_memory`, ValueError for other names of files and devices.
        """
        if not self.profile_memory:
            raise RuntimeError("export_memory_timeline needs profile(profile_memory=True)")
        if device not in (None, "cpu"):
            raise ValueError(f"export_memory_timeline: nothing is recorded of device {device!r}")
        write_memory_timeline(path, self._recorded()[-1])

    def add_metadata(self, key: str, value: str) -> None:
        """Write a string with the trace."""
        self._metadata[key] = str(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Write a value, given as JSON, with the trace. ValueError for what is no JSON."""
        self._metadata[key] = json.loads(value)


def _checked(activities: Iterable[ProfilerActivity] | None) -> set[ProfilerActivity]:
    given = {ProfilerActivity.CPU} if activities is None else set(activities)
    if ProfilerActivity.CPU not in given:
        raise ValueError("profile: activities must have ProfilerActivity.CPU, the only one that "
                         "can be recorded")
    others = sorted(activity.name for activity in given - {ProfilerActivity.CPU})
    if others:
        warnings.warn(f"{', '.join(others)} is not available, disabling its profiling",
                      stacklevel=3)
    return {ProfilerActivity.CPU}


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False,
    use_python_export: bool = False,
) -> Callable[[profile], None]:
    """An `on_trace_ready` that writes each trace to a folder, as TensorBoard's plugin reads it.

    Args:
        dir_name: the folder, made where it does not exist.
        worker_name: the start of the files' names; by default the host and the process.
        use_gzip: compress them.
        use_python_export: without effect.
    """

    def write(ready: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' if use_gzip else ''}"
        ready.export_chrome_trace(os.path.join(dir_name, name))

    return write
