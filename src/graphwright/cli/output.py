"""What the commands print and write; where that fails, they report it in one line."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import select
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graphwright.cli.errors import UserError
from graphwright.cli.options import STDOUT

PLAIN = {"├─": "|-", "└─": "`-", "│": "|"}
"""The marks of a tree where the encoding of standard output has only ASCII."""
STYLES = {
    r"^[^\s├└│|`].*\(.*:\d+\)$": "bold",
    r"\bGB\d{4} (?:graph break|runs as plain Python|recompile)\b": "bold red",
    r"runs as plain Python: .*": "yellow",
    r"guards: .*": "dim",
    r"^[│├└─ |`-]+": "dim",
    r"^==== .* ====$": "bold",
}
"""How lines look on a terminal, by what they match."""


def say(text: str) -> None:
    """Print to standard output. What its encoding does not have is escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for mark, plain in PLAIN.items():
            text = text.replace(mark, plain)
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    with _told_of_standard_output():
        print(text, flush=True)


def is_decorated() -> bool:
    """Whether standard output is a terminal that has colours, which nobody has switched off."""
    return (sys.stdout is not None and sys.stdout.isatty()
            and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
            and importlib.util.find_spec("rich") is not None)


def say_tree(text: str) -> None:
    """Print lines, in colour on a terminal."""
    if not is_decorated():
        say(text)
        return
    from rich.console import Console
    from rich.text import Text

    styled = Text(text)
    for pattern, style in STYLES.items():
        styled.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    with io.StringIO() as drawn:
        console = Console(file=drawn, force_terminal=True, width=10_000)
        console.print(styled, soft_wrap=True, end="")
        say(drawn.getvalue())


def say_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: columns as wide as their cells, with rules on a terminal."""
    if is_decorated():
        from rich import box
        from rich.console import Console
        from rich.table import Table

        table = Table(*headers, box=box.SIMPLE_HEAD if _has_lines() else box.ASCII2)
        for row in rows:
            table.add_row(*row)
        with io.StringIO() as drawn:
            width = shutil.get_terminal_size().columns
            Console(file=drawn, force_terminal=True, width=width).print(table)
            say(drawn.getvalue().rstrip("\n"))
        return
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    for cells in (headers, *rows):
        padded = [f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)]
        say("  ".join(padded).rstrip())


def _has_lines() -> bool:
    try:
        "─".encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


@contextlib.contextmanager
def json_alone(out: str | None) -> Iterator[Callable[[Any], None]]:
    """What writes the JSON document that `--json` asks for.

    If that goes to standard output, whatever else is printed within goes to standard error.
    """
    stdout = sys.stdout

    def emit(document: Any) -> None:
        text = json.dumps(document, indent=1, default=str)
        if out == STDOUT:
            with contextlib.redirect_stdout(stdout):
                say(text)
        else:
            assert out is not None
            with writing(Path(out), "--json") as path:
                path.write_text(text + "\n", encoding="utf-8")

    with contextlib.redirect_stdout(sys.stderr) if out == STDOUT else contextlib.nullcontext():
        yield emit


def write_html(out: Path, explanation: Any) -> None:
    """Write the page that shows an explanation, and print its path."""
    try:
        with writing(out, "--html"):
            explanation.save(out)
    except ValueError as error:
        raise UserError(str(error), "name a smaller function") from None
    say(str(out))


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
        if not is_unread():
            raise
        _drop()
        raise SystemExit(0) from None


@contextlib.contextmanager
def folder_for_output(path: Path) -> Iterator[Path]:
    """Make a folder, within `writing`."""
    with writing(path, "--out"):
        path.mkdir(parents=True, exist_ok=True)
        yield path


def check_folder(path: str | Path | None, option: str) -> None:
    """Before a long run: whether the folder of what `option` names is there. None: no such path.

    Raises: UserError if it is not.
    """
    if path is not None and path != STDOUT:
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise UserError(f"cannot write to {path}: there is no folder {folder}",
                            f"make it first, or give another place with {option}")


@contextlib.contextmanager
def writing(path: Path, option: str) -> Iterator[Path]:
    """Around what writes to `path`, which `option` named; where it fails the user can mend it."""
    try:
        yield path
    except OSError as error:
        raise UserError(f"cannot write to {path}: {error.strerror}",
                        f"give a place that can be written to with {option}") from None


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


def is_unread() -> bool:
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
