"""Spans of a profile that Python code records; the kinds are those of `_core/capi.h`."""

from __future__ import annotations

from graphwright.runtime import _core


class Kind:
    """What a span is of."""

    OP = 0
    GRAPH = 1
    KERNEL = 2
    CALL = 3
    GUARDS = 4
    COMPILE = 5
    NODE = 6
    LIBRARY = 7
    LABEL = 8


class ProfiledSpan:
    """A context manager: what runs within it is a span of this name, if a profile is active.

    Args:
        name: what the profile calls it.
        kind: ops within a span of the compiler, `Kind.COMPILE`, are not recorded: they are not
            the program's.
    """

    __slots__ = ("_begun", "_kind", "_name")

    def __init__(self, name: str, kind: int = Kind.COMPILE) -> None:
        self._name, self._kind = name, kind
        self._begun: int | None = None

    def __enter__(self) -> None:
        if _core.is_profiling():
            self._begun = _core.begin_span(self._name, self._kind)

    def __exit__(self, *exc: object) -> None:
        if self._begun is not None:
            _core.end_span(self._begun)
