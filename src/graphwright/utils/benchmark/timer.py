"""`Timer`: runs a statement many times, on a given number of threads."""

from __future__ import annotations

import sys
import textwrap
import timeit
from collections.abc import Callable
from typing import Any

from graphwright.utils.benchmark.measurement import Measurement, TaskSpec, set_threads

timer = timeit.default_timer
_ROOT = __name__.partition(".")[0]


class Timer:
    """Measures a statement, as `timeit.Timer` does, but on one thread unless it is asked for more,
    with a warm-up, and with times enough to see how they spread.

    Args:
        stmt: what is measured.
        setup: what runs before it, once for each time.
        global_setup: must be "": it is for C++.
        timer: a clock, in seconds.
        globals: the names that `stmt` sees; `graphwright` is one.
        label, sub_label, description, env: what the measurement is called; `Compare` makes a table
            of each label, a row of each sub_label, a column of each description.
        num_threads: on how many threads kernels run.
        language: must be "python".

    >>> timer = gw.utils.benchmark.Timer("x + 1", globals={"x": gw.ones(10)})
    >>> timer.timeit(100).number_per_run
    100
    """

    _timer_cls = timeit.Timer

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
        timer: Callable[[], float] = timer, globals: dict[str, Any] | None = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None,
        env: str | None = None, num_threads: int = 1, language: Any = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Timer: currently only a `str` stmt is supported, but got a "
                             f"{type(stmt).__name__}")
        spoken = str(getattr(language, "name", language)).lower()
        if spoken not in ("python", "py") or global_setup:
            raise NotImplementedError("Timer: only statements of Python are measured")
        names = {_ROOT: sys.modules[_ROOT], **(globals or {})}
        stmt, setup = (textwrap.dedent(text).strip() for text in (stmt, setup))
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env,
                                   num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run it so often, after a warm-up, and measure once."""
        with set_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return Measurement(number, [self._timeit(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raises NotImplementedError: `blocked_autorange` measures several times."""
        raise NotImplementedError("Timer.repeat: see blocked_autorange")

    def autorange(self, callback: Callable[[int, float], object] | None = None) -> None:
        """Raises NotImplementedError: see `blocked_autorange`."""
        raise NotImplementedError("Timer.autorange: see blocked_autorange")

    def _estimate(self, least: float) -> int:
        """How many runs take this many seconds, more than a thousandth of what the clock costs."""
        self._timeit(2)     # what is imported and compiled first
        overhead = sorted(self._timeit(0) for _ in range(5))[2]
        number = 1
        while True:
            taken = self._timeit(number)
            if (overhead / taken <= 1e-4 and taken >= least / 1000) or taken > least:
                return number
            number *= 10

    def blocked_autorange(
        self, callback: Callable[[int, float], object] | None = None, min_run_time: float = 0.2,
    ) -> Measurement:
        """Measure blocks of many runs until they have taken `min_run_time` seconds.

        callback(number, seconds) is called after each block.
        """
        with set_threads(self._task_spec.num_threads):
            number = self._estimate(min_run_time)
            times: list[float] = []
            while sum(times) < min_run_time:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[[int, float], object] | None = None,
    ) -> Measurement:
        """Measure blocks until the times spread little: `meets_confidence(threshold)`.

        At least `min_run_time` seconds, and at most about `max_run_time`.
        """
        with set_threads(self._task_spec.num_threads):
            number = self._estimate(0.05)
            times: list[float] = []
            while True:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
                made, total = Measurement(number, times, self._task_spec), sum(times)
                settled = len(times) > 3 and made.meets_confidence(threshold)
                if total >= max_run_time or (total >= min_run_time and settled):
                    return made

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> None:
        """Raises NotImplementedError: there are no counts of instructions."""
        raise NotImplementedError("Timer.collect_callgrind: instructions are not counted; "
                                  "blocked_autorange measures times")
