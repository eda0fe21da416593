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
from graphwright.runtime.stderr_notices import tell

PATIENCE = 2.0
"""Seconds from which on a compilation is reported, while it goes on."""

_enabled = [os.environ.get("GRAPHWRIGHT_NOTICES", "1") != "0"]
_told: set[tuple[str, str]] = set()


def set_notices(enabled: bool) -> None:
    """Whether the first graph break or fallback of each function, and each compilation that takes
    longer than 2 seconds, is reported on standard error.

    On from the start, unless the environment has GRAPHWRIGHT_NOTICES=0.
    """
    _enabled[0] = enabled


def forget() -> None:
    """Tell about every function once more."""
    _told.clear()


def attach(record: CaptureRecord, root: Callable[[], str]) -> None:
    """Tell of the breaks of a record as they are recorded.

    root: the name of the compiled function, which counts where a break is in this package.
    """
    record.listeners.append(functools.partial(_tell, root))


def _tell(root: Callable[[], str], entry: Any) -> None:
    if not isinstance(entry, BreakRecord) or not _enabled[0] or entry.code == "GB0100":
        return
    where = entry.location
    function = root() if where.file.startswith(_PACKAGE) else where.function
    key = ("" if where.file.startswith(_PACKAGE) else where.file, function)
    if key not in _told:
        _told.add(key)
        place = f"{function} ({where.file}:{where.line})"
        tell(f"[graphwright] {place}: {entry.code} {entry.what}, {entry.title}; "
             "gw.explain tells more")


class Progress:
    """What a compilation is at, and of what. It is reported from a thread of its own."""

    __slots__ = ("doing", "started", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.doing = "capture"
        self.started = time.monotonic()

    def report(self) -> None:
        """Write the line."""
        if _enabled[0]:
            elapsed = time.monotonic() - self.started
            tell(f"[graphwright] compiling {self.what} has taken {elapsed:.1f} s so far; stage: "
                 f"{self.doing}")


class _Thread(threading.local):
    progress: Progress | None = None


_THREAD = _Thread()


def compiled_now() -> str:
    """What this thread compiles, if that is watched."""
    return _THREAD.progress.what if _THREAD.progress is not None else "a function"


def note_stage(doing: str) -> None:
    """From now on this thread's compilation is at that stage."""
    if _THREAD.progress is not None:
        _THREAD.progress.doing = doing


def watch(location: Location) -> contextlib.AbstractContextManager[None]:
    """`watched`, of the function at a place."""
    return watched(f"{location.function} ({location.file}:{location.line})")


@contextlib.contextmanager
def watched(what: str) -> Iterator[None]:
    """Report the compilation of `what` if the block takes longer than `PATIENCE`.

    A compilation within one that is watched is part of it. Where no thread can be had, as while
    the interpreter ends, nothing is reported.
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
        timer.cancel()
        if timer.ident is not None:
            timer.join()    # who forks or counts threads next finds none of ours


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
