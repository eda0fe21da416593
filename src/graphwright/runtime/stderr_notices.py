"""Lines and warnings on standard error; a failure to write one never stops the program."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings

ERASE = "\r\x1b[2K"
"""What empties the line of a terminal."""
_shown = [False]


def is_terminal() -> bool:
    """Whether standard error is a terminal whose lines can be written over."""
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except (AttributeError, ValueError):    # there is none, or it is closed
        return False


def show_progress(text: str) -> None:
    """Write a line over the last one that this function wrote; only on a terminal."""
    with contextlib.suppress(OSError, ValueError):
        width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        _shown[0] = True
        print(f"{ERASE}{text[:max(width - 1, 10)]}", end="", file=sys.stderr, flush=True)


def erase_progress() -> None:
    """Take the line of `show_progress` away."""
    if _shown[0]:
        _shown[0] = False
        with contextlib.suppress(OSError, ValueError):
            print(ERASE, end="", file=sys.stderr, flush=True)


def write_line(text: str) -> None:
    """Write a line to standard error.

    Where there is none, or it takes nothing (closed, full, nobody reads it), the line is lost, as
    warnings are: the program goes on.
    """
    erase_progress()
    stream = sys.stderr
    if stream is not None:  # print would take standard output instead
        with contextlib.suppress(OSError, ValueError):
            print(text, file=stream, flush=True)


def warn(text: str, category: type[Warning], stacklevel: int) -> None:
    """Warn, of the frame that many calls above the caller.

    Where the program's filters make errors of warnings, the text goes to standard error: an
    exception in the midst of the program would change what it does.
    """
    try:
        warnings.warn(text, category, stacklevel=stacklevel + 1)
    except (category, ValueError):  # ValueError of a closed file, which Python raises here
        write_line(text)
