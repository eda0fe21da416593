"""`Span` and `Stopwatch`: when the stages of a compilation began and ended."""

from __future__ import annotations

from time import perf_counter

from graphwright.runtime.record import Record


class Span(Record):
    """A stage, from `start` to `end` in seconds of `time.perf_counter`."""

    name: str
    start: float
    end: float


class Stopwatch:
    """Cuts the time from when it is made into spans, each up to the `lap` that names it."""

    __slots__ = ("_last", "spans")

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        """End a span now; two of one name in succession are one."""
        start, self._last = self._last, perf_counter()
        if self.spans and self.spans[-1].name == name:
            start = self.spans.pop().start
        self.spans.append(Span(name, start, self._last))
