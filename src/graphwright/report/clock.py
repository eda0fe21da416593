"""Samples of how long calls take, in turns; with the standard library alone.

It is loaded by its path where graphwright is not installed: by `graphwright bench`, in the
processes of other libraries.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping

CLOCK_FLOOR = 2e-3
"""Seconds that one sample lasts at least; shorter cases are repeated within a sample."""


def sample(call: Callable[[], object], repeats: int) -> float:
    """Seconds per call over `repeats` calls."""
    loop = range(repeats)
    start = time.perf_counter()
    for _ in loop:
        call()
    return (time.perf_counter() - start) / repeats


def calibrate(call: Callable[[], object]) -> int:
    """How many repeats make a sample last `CLOCK_FLOOR`; also warms the case up."""
    repeats = 1
    while sample(call, repeats) * repeats < CLOCK_FLOOR:
        repeats *= 2
    return repeats


def samples_in_turns(
    cases: Mapping[str, Callable[[], object]], *, seconds: float, least_rounds: int,
    pause: float = 0.0,
) -> dict[str, list[float]]:
    """Seconds per call of each case, all cases once in each round; see `measure.in_turns`.

    pause: seconds to sleep, and then to call without timing, before each sample: for cases of
        several libraries, whose threads spin for a while after a call, and after a sleep may
        share a CPU for a while.
    """
    repeats = {name: calibrate(call) for name, call in cases.items()}
    times: dict[str, list[float]] = {name: [] for name in cases}
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        end = time.perf_counter() + seconds * len(cases)
        while time.perf_counter() < end or len(next(iter(times.values()))) < least_rounds:
            for name, call in cases.items():
                if pause:
                    time.sleep(pause)
                    warm = time.perf_counter() + pause
                    while time.perf_counter() < warm:
                        call()
                times[name].append(sample(call, repeats[name]))
    finally:
        if collecting:
            gc.enable()
    return times
