"""Stacks for flame graphs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from graphwright.profiler.files import open_text

STACK_METRICS = ("self_cpu_time_total", "cpu_time_total", "count")


def write_stacks(events: Sequence[Any], path: str | os.PathLike[str], metric: str) -> None:
    """Write a line for each stack, the outermost frame first, and the sum of its metric.

    Raises ValueError for another metric, and where no event has a stack.
    """
    if metric not in STACK_METRICS:
        raise ValueError(f"metric {metric!r} is none of {', '.join(STACK_METRICS)}")
    if not any(event.stack for event in events):
        raise ValueError("no stacks were recorded: profile(with_stack=True) records them")
    sums: Counter[str] = Counter()
    for event in events:
        if event.stack:
            frames = [frame.replace(";", ",") for frame in (*reversed(event.stack), event.name)]
            sums[";".join(frames)] += round(getattr(event, metric))
    with open_text(path) as file:
        file.writelines(f"{stack} {value}\n" for stack, value in sums.items() if value > 0)
