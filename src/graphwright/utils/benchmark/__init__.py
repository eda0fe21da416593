"""Measuring how long statements take, after `torch.utils.benchmark`."""

from graphwright.utils.benchmark.compare import Compare
from graphwright.utils.benchmark.measurement import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    set_threads,
    trim_sigfig,
    unit_to_english,
)
from graphwright.utils.benchmark.timer import Timer, timer

set_torch_threads = set_threads

__all__ = [
    "Compare", "Measurement", "TaskSpec", "Timer", "ordered_unique", "select_unit", "set_threads",
    "set_torch_threads", "timer", "trim_sigfig", "unit_to_english",
]  # fmt: skip
