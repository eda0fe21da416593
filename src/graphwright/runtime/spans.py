"""Spans: when parts of a program and of the compiler ran, for profiles and for reports."""

from __future__ import annotations

from time import perf_counter

from graphwright.runtime import _core
from graphwright.runtime.record import Record


class Span(Record):
    """What ran from `start` to `end`, in seconds of `time.perf_counter`."""

    name: str
    start: float
    end: float


class Kind:
    """What a span of a profile is of, as in `_core/capi.h`."""

    OP = 0
    GRAPH = 1
    KERNEL = 2
    CALL = 3
    GUARDS = 4
    COMPILE = 5
    NODE = 6
    LIBRARY = 7
    LABEL = 8


class Timed:
    """A context manager: what runs within it is a span of this name, if a profile is active.

    Args:
        name: what the profile calls it.
        kind: ops within a span of the compiler, `Kind.COMPILE`, are not recorded: they are not
            the program's.
        into: gets a `Span` at the end, whether or not a profile is active.
    """

    __slots__ = ("_begun", "_into", "_kind", "_name", "_start")

    def __init__(
        self, name: str, kind: int = Kind.COMPILE, into: list[Span] | None = None
    ) -> None:
        self._name, self._kind, self._into = name, kind, into
        self._begun: int | None = None
        self._start = 0.0

    def __enter__(self) -> None:
        if self._into is not None:
            self._start = perf_counter()
        if _core.is_profiling():    # False to captured code, which has no spans of its own
            self._begun = _core.begin_span(self._name, self._kind)

    def __exit__(self, *exc: object) -> None:
        if self._begun is not None:
            _core.end_span(self._begun)
        if self._into is not None:
            self._into.append(Span(self._name, self._start, perf_counter()))
