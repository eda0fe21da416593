"""What the commands print and write; where that fails, they report it in one line."""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path

from graphwright.cli.errors import UserError


def say(text: str) -> None:
    """Print to standard output. What its encoding does not have is escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    with _told_of_standard_output():
        print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


@contextlib.contextmanager
def finished() -> Iterator[None]:
    """Around all that prints: it ends with what was printed out of the process.

    Where nobody reads it any more, as of `| head -1`, the process ends quietly.
    """
    try:
        try:
            yield
        except SystemExit:
            _flush()
            raise
        _flush()
    except BrokenPipeError:
        if not _is_unread():
            raise
        _drop()
        raise SystemExit(0) from None


@contextlib.contextmanager
def folder_for_output(path: Path) -> Iterator[Path]:
    """Make a folder; what cannot be written into it is the user's to mend."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield path
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror}",
                        "give a writable folder with --out") from None


@contextlib.contextmanager
def _told_of_standard_output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop()
        raise UserError(f"cannot write to standard output: {error.strerror}",
                        "redirect it to where there is room") from None


def _flush() -> None:
    if sys.stdout is not None:
        with _told_of_standard_output():
            sys.stdout.flush()


def _is_unread() -> bool:
    """Whether standard output is a pipe whose other end is closed."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, io.UnsupportedOperation):   # there is none, or it is in memory
        return False
    asked = select.poll()
    asked.register(descriptor, 0)
    return any(events & select.POLLERR for _, events in asked.poll(0))


def _drop() -> None:
    """Send what is still to be written nowhere: the interpreter tries again when it ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
