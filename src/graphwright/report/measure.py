"""Timings that can be compared: cases take turns within one run, and medians are reported.

Absolute times drift with the machine; ratios of cases measured in turns do not. Each round runs
every case once (a case being repeated until it lasts long enough for the clock), so that a slow
spell of the machine hits all of them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median, quantiles

from graphwright.report.clock import samples_in_turns
from graphwright.runtime.record import Record
from graphwright.utils.benchmark.measurement import select_unit


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
    unit, scale = select_unit(seconds)
    return f"{seconds / scale:.3g} {unit}"


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
    times = samples_in_turns(cases, seconds=seconds, least_rounds=least_rounds)
    first = next(iter(times.values()))
    return {name: summary(samples, first) for name, samples in times.items()}


def summary(samples: list[float], first: list[float] | None = None) -> Timing:
    """The median and quartiles of samples in seconds, and of their ratios to those of `first`.

    Without `first` the ratios are 1.
    """
    first = samples if first is None else first
    low, middle, high = spread(samples)
    ratio = spread([own / other for own, other in zip(samples, first, strict=True)])
    return Timing(middle, low, high, len(samples), ratio)


def spread(samples: list[float]) -> tuple[float, float, float]:
    """Lower quartile, median and upper quartile."""
    low, _, high = quantiles(samples, n=4) if len(samples) > 1 else (samples[0],) * 3
    return low, median(samples), high
