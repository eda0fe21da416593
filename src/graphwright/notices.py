"""One short line on standard error for each function that could not be captured as a whole."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

from graphwright.capture.record import BreakRecord, CaptureRecord
from graphwright.runtime.standard_error import tell

_enabled = [os.environ.get("GRAPHWRIGHT_NOTICES", "1") != "0"]
_told: set[tuple[str, str]] = set()


def set_notices(enabled: bool) -> None:
    """Whether the first graph break or fallback of each function is told on standard error.

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


_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
