"""`Measurement`: the times that a statement took, and what follows from them."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphwright.runtime import _core

_MOST_FIGURES = 4
_LEAST_INTERVAL = 25e-9     # seconds
_WIDE, _VERY_WIDE = 0.1, 0.25   # interquartile ranges, of the median


@dataclass(frozen=True)
class TaskSpec:
    """What is measured, but for the values of its names."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        sub = self.sub_label
        if self.label is not None or "\n" not in self.stmt:
            name = self.stmt if self.label is None else self.label
            return f"{name}: {sub}" if sub else name
        return f"stmt:{f' ({sub})' if sub else ''}\n{textwrap.indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """The setup; "" where there is none."""
        if not self.setup or self.setup == "pass":
            return ""
        if "\n" in self.setup:
            return f"setup:\n{textwrap.indent(self.setup, '  ')}"
        return f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup."""
        sections = (self.title, self.description or "", self.setup_str())
        return "\n".join(f"{text}\n" if "\n" in text else text for text in sections if text)


@dataclass(repr=False)
class Measurement:
    """The times of a statement.

    Attributes:
        number_per_run: how often it ran for each time.
        raw_times: seconds of these runs together.
        task_spec: what was measured; its attributes are this object's, too.
        metadata: the program's own.
    """

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    def __getattr__(self, name: str) -> Any:
        if name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"Measurement has no attribute {name!r}")

    @property
    def times(self) -> list[float]:
        """Seconds of one run, for each time."""
        return [time / self.number_per_run for time in self.raw_times]

    @cached_property
    def _quartiles(self) -> tuple[float, float, float]:
        low, middle, high = np.quantile(self.times, (0.25, 0.5, 0.75)).tolist()
        return low, middle, high

    @property
    def median(self) -> float:
        """The median time in seconds."""
        return self._quartiles[1]

    @property
    def mean(self) -> float:
        """The mean time in seconds."""
        return float(np.mean(self.times))

    @property
    def iqr(self) -> float:
        """The interquartile range in seconds."""
        return self._quartiles[2] - self._quartiles[0]

    @property
    def significant_figures(self) -> int:
        """How many figures of the median mean something, by the times within the quartiles."""
        ordered = sorted(self.times)
        inner = ordered[len(ordered) // 4:math.ceil(3 * len(ordered) / 4)]
        interval = max(1.645 * float(np.std(inner)) / math.sqrt(len(inner)), _LEAST_INTERVAL)
        return min(max(math.floor(math.log10(self.median / interval)), 1), _MOST_FIGURES)

    @property
    def has_warnings(self) -> bool:
        """Whether the times differ much."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = _WIDE) -> bool:
        """Whether the interquartile range is less than this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """That of what was measured."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a `Compare`."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def _warning(self) -> list[str]:
        if self.meets_confidence():
            return []
        why = ("This could indicate system fluctuation." if self.meets_confidence(_VERY_WIDE)
               else "This suggests significant environmental influence.")
        share = 100 * self.iqr / self.median
        return [f"  WARNING: Interquartile range is {share:.1f}% of the median measurement.",
                f"           {why}"]

    def __repr__(self) -> str:
        count, threads = len(self.raw_times), self.task_spec.num_threads
        unit, scale = select_unit(self.median)
        low, median, high = (value / scale for value in self._quartiles)
        lines = [object.__repr__(self), self.task_spec.summarize(),
                 f"  {'Median: ' if count > 1 else ''}{median:.2f} {unit}"]
        if count >= 4:
            lines.append(f"  IQR:    {high - low:.2f} {unit} ({low:.2f} to {high:.2f})")
        runs = "runs per measurement," if count > 1 else "runs ,"
        lines.append(f"  {count} measurement{'s' if count > 1 else ''}, {self.number_per_run} "
                     f"{runs} {threads} thread{'s' if threads > 1 else ''}")
        return "\n".join([*lines, *self._warning()])

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One measurement for each task, of all the times of one run."""
        grouped: defaultdict[TaskSpec, list[float]] = defaultdict(list)
        for measurement in measurements:
            grouped[measurement.task_spec] += measurement.times
        return [Measurement(1, times, task) for task, times in grouped.items()]


def select_unit(t: float) -> tuple[str, float]:
    """The unit for a time in seconds, and that unit in seconds: ("us", 1e-06)."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if t >= scale:
            return unit, scale
    return "ns", 1e-9


def unit_to_english(u: str) -> str:
    """"microsecond" for "us"."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


def trim_sigfig(x: float, n: int) -> float:
    """`x` rounded to n significant figures.

    >>> gw.utils.benchmark.trim_sigfig(3.14159, 2)
    3.1
    """
    if n != int(n):
        raise ValueError(f"trim_sigfig: n must be an integer, but is {n}")
    return 0.0 if x == 0 else round(x, int(n) - math.ceil(math.log10(abs(x))))


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements, each once, in the order of their first places."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_threads(n: int) -> Iterator[None]:
    """Within it kernels run on n threads."""
    before = _core.set_num_threads(n)
    try:
        yield
    finally:
        _core.set_num_threads(before)
