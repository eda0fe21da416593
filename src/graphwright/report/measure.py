"""Timings that can be compared: cases take turns within one run, and medians are reported.

Absolute times drift with the machine; ratios of cases measured in turns do not. Each round runs
every case once (a case being repeated until it lasts long enough for the clock), so that a slow
spell of the machine hits all of them alike.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median, quantiles

from graphwright.runtime.record import Record

CLOCK_FLOOR = 2e-3
"""Seconds that one sample lasts at least; shorter cases are repeated within a sample."""


class Timing(Record):
    """Seconds per call: the median over samples, and the quartiles.

    ratio: lower quartile, median and upper quartile of its time divided by that of the first
        case in the same round, which a slow spell of the machine changes less.
    """

    median: float
    low: float
    high: float
    samples: int
    ratio: tuple[float, float, float] = (1.0, 1.0, 1.0)

    @property
    def spread(self) -> float:
        """The distance between the quartiles, over the median."""
        return (self.high - self.low) / self.median

    def __str__(self) -> str:
        return format_seconds(self.median)


def format_seconds(seconds: float) -> str:
    """Three significant digits with a unit: '12.3 us'."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


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


def in_turns(
    cases: Mapping[str, Callable[[], object]], *, seconds: float = 1.0, least_rounds: int = 7
) -> dict[str, Timing]:
    """Time all cases in turns for about `seconds` each.

    Args:
        cases: name to a call without arguments. Each is warmed up first.
        seconds: time to spend on each case.
        least_rounds: samples taken of each case however slow it is.

    Returns:
        name to `Timing`, in the order given.
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
                times[name].append(sample(call, repeats[name]))
    finally:
        if collecting:
            gc.enable()
    first = next(iter(times.values()))
    return {name: summary(samples, first) for name, samples in times.items()}


def summary(samples: list[float], first: list[float]) -> Timing:
    """The median and quartiles of samples in seconds, and of their ratios to those of `first`."""
    low, middle, high = spread(samples)
    ratio = spread([own / other for own, other in zip(samples, first, strict=True)])
    return Timing(middle, low, high, len(samples), ratio)


def spread(samples: list[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile."""
    low, _, high = quantiles(samples, n=4) if len(samples) > 1 else (samples[0],) * 3
    return low, median(samples), high
