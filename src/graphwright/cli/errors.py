"""Exit codes, mistakes of the user in one line, and errors of the user's program."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator

from graphwright.capture.frame.code_owner import is_library
from graphwright.runtime.stderr_notices import write_line

FAILED, USAGE, NOTHING_COMPILED, INTERRUPTED = 1, 2, 3, 130
EXIT_CODES = {
    0: "fine; also where the reader of a pipe has gone",
    FAILED: "the target failed, its results differ, or --compare found something worse",
    USAGE: "wrong usage, no such target, or output that cannot be written",
    NOTHING_COMPILED: "no frame of the target was compiled",
    INTERRUPTED: "interrupted",
}
"""Exit codes of every command but `run` and `profile`, whose exit code is the program's."""


class UserError(Exception):
    """What is wrong, and what to do about it; `status` is the exit status of the process."""

    def __init__(self, problem: str, way_out: str, status: int = USAGE) -> None:
        super().__init__(f"{problem}\n  {way_out}")
        self.status = status


@contextlib.contextmanager
def users_code(what: str) -> Iterator[None]:
    """Around code of the user, which may not end the process. Raises: UserError if it does."""
    try:
        yield
    except SystemExit as ended:
        raise UserError(f"{what} ended the process (SystemExit: {ended.code})",
                        "guard it by: if __name__ == '__main__'", FAILED) from None


def show_traceback(error: BaseException) -> None:
    """Print an exception with the frames of the user's files and libraries alone.

    All frames are shown where none of them is the user's: the error is this package's.
    """
    report = traceback.TracebackException.from_exception(error)
    parts: list[traceback.TracebackException] = []
    waiting: list[traceback.TracebackException | None] = [report]
    while waiting:
        part = waiting.pop()
        if part is not None and part not in parts:
            parts.append(part)
            group = getattr(part, "exceptions", None) or ()
            waiting += [part.__cause__, part.__context__, *group]
    if any(not is_internal(frame.filename) for frame in report.stack):
        for part in parts:
            kept = [frame for frame in part.stack if not is_internal(frame.filename)]
            part.stack = traceback.StackSummary.from_list(kept)
    write_line("".join(report.format()).rstrip())


def is_internal(filename: str) -> bool:
    """Whether a frame is of this package, or of what started it and imported the user's file."""
    return is_library(filename) or filename.startswith("<frozen ") or filename == sys.argv[0]
