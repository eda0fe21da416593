"""Lines and warnings on standard error; a failure to write one never stops the program."""

from __future__ import annotations

import contextlib
import sys
import warnings


def write_line(text: str) -> None:
    """Write a line to standard error.

    Where there is none, or it takes nothing (closed, full, nobody reads it), the line is lost, as
    warnings are: the program goes on.
    """
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
