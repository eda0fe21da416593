"""Whose code it is: this package's, or the user's that called it."""

from __future__ import annotations

import sys

from graphwright.capture.frame.record import Location
from graphwright.capture.frame.resume import origin_of

_PACKAGE = __file__.rsplit("capture", 1)[0]


def is_library(filename: str) -> bool:
    """Whether a file is one of this package."""
    return filename.startswith(_PACKAGE)


def users_call() -> Location | None:
    """The line of the user's code that is running, whatever of this package it has called.

    None where no code of the user's is on the thread's stack.
    """
    frame = sys._getframe(1)
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    return Location(frame.f_code.co_filename, frame.f_lineno,
                    origin_of(frame.f_code).code.co_qualname)
