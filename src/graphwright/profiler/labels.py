"""`record_function`: labels of parts of a program."""

from __future__ import annotations

from contextlib import ContextDecorator

from graphwright.runtime import _core
from graphwright.runtime.spans import Kind


class record_function(ContextDecorator):
    """A named part of a program, in a profile: a context manager, and a decorator.

    Args:
        name: what tables and traces call it.
        args: shown with the name in the trace.

    Within a compiled function it has no effect, as its graph is one span.

    >>> with gw.profiler.profile() as profile:
    ...     with gw.profiler.record_function("forward"):
    ...         y = gw.ones(2) * 3
    >>> [event.name for event in profile.events()]
    ['forward', 'aten::ones', 'aten::mul']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self._begun: list[int | None] = []

    def _recreate_cm(self) -> record_function:
        """A label of its own for each call of a decorated function: calls may be nested."""
        return record_function(self.name, self.args)

    def __enter__(self) -> record_function:
        begun = None
        if _core.is_profiling():    # False to captured code, which has no spans of its own
            name = self.name if self.args is None else f"{self.name} {self.args}"
            begun = _core.begin_span(name, Kind.LABEL)
        self._begun.append(begun)
        return self

    def __exit__(self, *exc: object) -> None:
        begun = self._begun.pop()
        if begun is not None:
            _core.end_span(begun)
