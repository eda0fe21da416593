"""Labels of parts of a program, after `torch.profiler`: taken, and not reported anywhere.

Nothing records what labels and ops take: `profile` and its like raise NotImplementedError. What a
compiled function does and takes is reported by `gw.explain` and `GRAPHWRIGHT_LOGS`.
"""

from __future__ import annotations

import enum
from contextlib import ContextDecorator
from typing import Any, NoReturn

__all__ = [
    "EventList", "ExecutionTraceObserver", "ProfilerAction", "ProfilerActivity", "emit_itt",
    "emit_nvtx", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


def schedule(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: there is no profiler."""
    raise NotImplementedError(
        "profiler: graphwright has no profiler of single ops. gw.explain(function)(*args) and "
        "GRAPHWRIGHT_LOGS=kernels report what compiled code does"
    )


tensorboard_trace_handler = schedule


class profile:
    """A profiler of a `with` block; making one raises NotImplementedError."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        schedule()


class ExecutionTraceObserver(profile):
    """A recorder of what is run."""


class emit_nvtx(profile):
    """Marks of ops for a GPU's profiler."""


class emit_itt(profile):
    """Marks of ops for VTune."""


class EventList(list[Any]):
    """What a profiler recorded."""


class ProfilerActivity(enum.Enum):
    """What a profiler records."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def kineto_available() -> bool:
    """Whether there is a profiler: False."""
    return False


def supported_activities() -> set[ProfilerActivity]:
    """What a profiler could record: nothing."""
    return set()


class record_function(ContextDecorator):
    """A named part of a program: a context manager, and a decorator."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *exc: object) -> None:
        """Nothing is to be ended."""
