"""`graphwright profile`: run a program, and report where its time goes."""

from __future__ import annotations

import argparse
import linecache
import os
import re
from collections import defaultdict
from typing import Any

from graphwright.capture.frame.record import Location
from graphwright.cli import run as program
from graphwright.cli.errors import UserError
from graphwright.cli.output import check_folder, finished, say, writing
from graphwright.face.explain_text import library_of
from graphwright.profiler import profile, record_function
from graphwright.profiler.events import FunctionEvent
from graphwright.profiler.memory_timeline import form_of
from graphwright.profiler.units import format_time

_PLACE = re.compile(r"(.*)\((\d+)\): ", re.DOTALL)
"""A place of a stack: "file(line): function"."""
_PROGRAM = "program"


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "profile", help="run a program and report where its time goes",
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
    parser.set_defaults(run=run)


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
    check_folder(arguments.trace, "--trace")
    check_folder(arguments.memory, "--memory")


def _finish(recorded: profile, label: record_function, arguments: argparse.Namespace) -> None:
    """Stop, print the tables, write the files."""
    label.__exit__(None, None, None)
    recorded.stop()
    with finished():
        say(recorded.key_averages().table("self_cpu_time_total", row_limit=arguments.rows))
        if not arguments.no_stack:
            say(lines_table(recorded.events(), arguments.rows))
    if arguments.trace is not None:
        with writing(arguments.trace, "--trace"):
            recorded.export_chrome_trace(arguments.trace)
    if arguments.memory is not None:
        with writing(arguments.memory, "--memory"):
            recorded.export_memory_timeline(arguments.memory)


# -- the lines of the program

def lines_table(events: list[FunctionEvent], rows: int) -> str:
    """The self time of events by the innermost line of the program that they ran under."""
    times: defaultdict[str, float] = defaultdict(float)
    counts: defaultdict[str, int] = defaultdict(int)
    for event in events:
        is_program = event.cpu_parent is None and event.name == _PROGRAM
        line = "" if is_program else _line_of(event) or "(libraries)"
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
        found = _PLACE.match(place)
        if found is None:
            continue
        path, number = found[1], int(found[2])
        if path.startswith(program.RUNNER):
            break               # what is further out has started the program
        if path.startswith("<") or library_of(Location(path, number, "")) is not None:
            continue
        shown = os.path.relpath(path)
        shown = path if shown.startswith(os.pardir) else shown
        return f"{shown}:{number}  {linecache.getline(path, number).strip()}"
    return ""
