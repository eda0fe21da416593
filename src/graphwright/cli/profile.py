"""`graphwright profile`: run a program, and report where its time goes."""

from __future__ import annotations

import argparse
import linecache
import os
import sysconfig
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from graphwright.cli import run as program
from graphwright.cli.errors import UserError
from graphwright.cli.output import finished, say
from graphwright.profiler import profile, record_function
from graphwright.profiler.events import FunctionEvent
from graphwright.profiler.memory_timeline import form_of
from graphwright.profiler.units import format_time

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = tuple(sysconfig.get_paths()[name] + os.sep
                   for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_PROGRAM = "program"


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "profile", help="run a program and report where its time goes",
        usage="graphwright profile [options] (SCRIPT | -m MODULE) [ARGUMENT ...]",
        description="Run a program as `graphwright run` does, with `import torch` meaning "
                    "graphwright, and print the ops by the time spent in them, and the lines of "
                    "the program that spent it. The exit status is the program's.")
    parser.add_argument("--trace", metavar="OUT.json",
                        help="write a trace for chrome://tracing or ui.perfetto.dev (.json, "
                             ".json.gz)")
    parser.add_argument("--memory", metavar="OUT",
                        help="write the memory of tensors over time (.html, .json, .raw.json; "
                             "with .gz, too, but for .html)")
    parser.add_argument("--rows", type=int, default=20, metavar="N",
                        help="lines of each table (default: 20)")
    parser.add_argument("--no-stack", action="store_true",
                        help="record no Python stacks: less overhead and memory, and no table of "
                             "lines")
    program.add_program(parser)
    parser.set_defaults(run=run, is_program=True, report=False)


def run(arguments: argparse.Namespace) -> None:
    """Run and report.

    Raises:
        UserError: there is no such program, or a file cannot be written.
    """
    if arguments.rows < 1:
        raise UserError(f"--rows {arguments.rows} is less than 1", "give the number of lines")
    program.words_of(arguments)
    _check_files(arguments)
    recorded = profile(record_shapes=arguments.trace is not None,
                       profile_memory=True, with_stack=not arguments.no_stack)
    recorded.start()
    label = record_function(_PROGRAM)
    label.__enter__()
    try:
        program.run(arguments)
    except UserError:
        recorded.stop()
        raise
    except BaseException:
        _finish(recorded, label, arguments)
        raise
    _finish(recorded, label, arguments)


def _check_files(arguments: argparse.Namespace) -> None:
    """Before the program runs: what a file is called, and whether its folder is there."""
    if arguments.trace is not None and not arguments.trace.endswith((".json", ".json.gz")):
        raise UserError(f"--trace {arguments.trace}: the name must end with .json or .json.gz",
                        "for example: --trace trace.json")
    if arguments.memory is not None:
        try:
            form_of(arguments.memory)
        except ValueError as error:
            raise UserError(str(error), "for example: --memory memory.html") from None
    for path in filter(None, (arguments.trace, arguments.memory)):
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise UserError(f"cannot write {path}: there is no folder {folder}", "make it first")


def _finish(recorded: profile, label: record_function, arguments: argparse.Namespace) -> None:
    """Stop, print the tables, write the files."""
    label.__exit__(None, None, None)
    recorded.stop()
    with finished():
        say(recorded.key_averages().table("self_cpu_time_total", row_limit=arguments.rows))
        if not arguments.no_stack:
            say(lines_table(recorded.events(), arguments.rows))
    _write(arguments.trace, recorded.export_chrome_trace)
    _write(arguments.memory, recorded.export_memory_timeline)


def _write(path: str | None, write: Callable[[str], None]) -> None:
    if path is not None:
        try:
            write(path)
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}", "name another file"
                            ) from None


# -- the lines of the program

def lines_table(events: list[FunctionEvent], rows: int) -> str:
    """The self time of events by the innermost line of the program that they ran under."""
    times: defaultdict[str, float] = defaultdict(float)
    counts: defaultdict[str, int] = defaultdict(int)
    for event in events:
        line = "" if event.name == _PROGRAM else _line_of(event)
        times[line] += event.self_cpu_time_total
        counts[line] += 1
    total = sum(times.values()) or 1.0
    out = ["Time by the lines of the program (ops and their parts; Python between them is the "
           "last line):", f"{'Time %':>8}  {'Time':>11}  {'Spans':>7}  Line"]
    python = times.pop("", 0.0)
    ordered = sorted(times, key=lambda line: -times[line])[:rows]
    for line in ordered:
        out.append(f"{100 * times[line] / total:7.2f}%  {format_time(times[line]):>11}  "
                   f"{counts[line]:>7}  {line}")
    out.append(f"{100 * python / total:7.2f}%  {format_time(python):>11}  {'':>7}  (Python)")
    return "\n".join(out)


def _line_of(event: FunctionEvent) -> str:
    """"file:line  source" of the innermost frame of the program itself; "" if there is none."""
    for place in event.stack:
        path, _, rest = place.partition("(")
        if path.startswith((_PACKAGE, "<")) or path.startswith(_LIBRARIES):
            continue
        number = int(rest.partition(")")[0])
        shown = os.path.relpath(path)
        shown = path if shown.startswith(os.pardir) else shown
        return f"{shown}:{number}  {linecache.getline(path, number).strip()}"
    return ""
