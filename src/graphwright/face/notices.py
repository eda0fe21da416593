"""One short line on standard error for each function that could not be captured as a whole, and
for each compilation that takes long."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from graphwright.capture.frame.record import BreakRecord, CaptureRecord, Location
from graphwright.runtime.stderr_notices import (
    erase_progress,
    is_terminal,
    show_progress,
    write_line,
)

PATIENCE = 2.0
"""Seconds after which a running compilation is reported."""

_enabled = [os.environ.get("GRAPHWRIGHT_NOTICES", "1") != "0"]
_reported: set[tuple[str, str]] = set()


def set_notices(enabled: bool) -> None:
    """Report each function's first graph break, and slow compilations, on standard error or not.

    The first graph break or fallback of each function gives one line, and so does a compilation
    that takes longer than 2 seconds. They are reported by default, unless the environment has
    GRAPHWRIGHT_NOTICES=0.
    """
    _enabled[0] = enabled


def forget() -> None:
    """Forget which functions were reported: each is reported once more."""
    _reported.clear()


def attach(record: CaptureRecord, root: Callable[[], str]) -> None:
    """Report the breaks of a record as they are recorded.

    root: the name of the compiled function, which is reported for a break in this package.
    """
    record.listeners.append(functools.partial(_report, root))


def _report(root: Callable[[], str], entry: Any) -> None:
    if not isinstance(entry, BreakRecord) or not _enabled[0] or entry.code == "GB0100":
        return
    if _THREAD.explaining:
        return
    where = entry.location
    function = root() if where.file.startswith(_PACKAGE) else where.function
    key = ("" if where.file.startswith(_PACKAGE) else where.file, function)
    if key not in _reported:
        _reported.add(key)
        place = f"{function} ({where.file}:{where.line})"
        write_line(f"[graphwright] {place}: {entry.code} {entry.what}, {entry.title}; "
                   "gw.explain shows more")


class Progress:
    """The stage of one compilation, which a timer thread reports: on a terminal by a line that it
    updates until the compilation is done and then takes away, else by one line."""

    __slots__ = ("doing", "done", "started", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.doing = "capture"
        self.started = time.monotonic()
        self.done = threading.Event()

    def report(self) -> None:
        """Write the line."""
        if not _enabled[0]:
            return
        if not is_terminal():
            write_line(f"[graphwright] compiling {self.what} has taken {self.elapsed} so far; "
                       f"stage: {self.doing}")
            return
        while not self.done.is_set():
            show_progress(f"[graphwright] {self.elapsed}, {self.doing}: compiling {self.what}")
            self.done.wait(0.2)
        erase_progress()

    @property
    def elapsed(self) -> str:
        """The time since the start."""
        return f"{time.monotonic() - self.started:.1f} s"


class _Thread(threading.local):
    progress: Progress | None = None
    explaining: bool = False


_THREAD = _Thread()


@contextlib.contextmanager
def explaining() -> Iterator[None]:
    """Within, no breaks are reported on this thread: whoever explains a call shows them all."""
    before, _THREAD.explaining = _THREAD.explaining, True
    try:
        yield
    finally:
        _THREAD.explaining = before


def compiled_now() -> str:
    """The function that this thread compiles; "a function" if nothing is watched."""
    return _THREAD.progress.what if _THREAD.progress is not None else "a function"


def note_stage(doing: str) -> None:
    """Set the stage of this thread's compilation."""
    if _THREAD.progress is not None:
        _THREAD.progress.doing = doing


def watch(location: Location) -> contextlib.AbstractContextManager[None]:
    """`watched` for the function at a location."""
    return watched(f"{location.function} ({location.file}:{location.line})")


@contextlib.contextmanager
def watched(what: str) -> Iterator[None]:
    """Report the compilation of `what` if the block takes longer than `PATIENCE`.

    A compilation within a watched one is part of it. Where no thread can be started, as while
    the interpreter shuts down, nothing is reported.
    """
    if not _enabled[0] or _THREAD.progress is not None:
        yield
        return
    progress = _THREAD.progress = Progress(what)
    timer = threading.Timer(PATIENCE, progress.report)
    timer.daemon = True
    try:
        with contextlib.suppress(RuntimeError):
            timer.start()
        yield
    finally:
        _THREAD.progress = None
        progress.done.set()
        timer.cancel()
        if timer.ident is not None:
            timer.join()    # so that a fork, or a count of threads, does not see it


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
