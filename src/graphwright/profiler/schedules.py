"""What a profile does in which step."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable


class ProfilerActivity(enum.Enum):
    """What a profiler records."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What a profile does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def kineto_available() -> bool:
    """Whether PyTorch's own recorder is there: False; `profile` does not need it."""
    return False


def supported_activities() -> set[ProfilerActivity]:
    """What a profile can record: the CPU."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """A function from the number of a step to what a profile does in it.

    Args:
        wait: steps at the start of each cycle in which nothing is recorded.
        warmup: steps after these whose spans are discarded.
        active: steps after these that are recorded; `on_trace_ready` is called after the last.
        repeat: how many cycles there are; 0: as many as the program has steps for.
        skip_first: steps before the first cycle.
        skip_first_wait: not 0: the first cycle has no `wait`.

    Raises ValueError for negative numbers and for `active` below 1.

    >>> plan = gw.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [plan(step).name for step in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise ValueError(
            f"schedule: wait={wait}, warmup={warmup}, repeat={repeat} and skip_first={skip_first} "
            f"must not be negative, and active={active} must be at least 1"
        )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results",
                      stacklevel=2)
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError(f"the number of a step must not be negative, but is {step}")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action
