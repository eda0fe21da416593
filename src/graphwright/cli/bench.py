"""`graphwright bench`: a function eagerly and compiled, results compared first."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graphwright as gw
from graphwright.cli.comparison import compare
from graphwright.cli.doctor import lines as environment
from graphwright.cli.loading import load_target, make_inputs
from graphwright.cli.options import add_backend, add_target
from graphwright.cli.output import folder_for_output, say
from graphwright.report.charts import bars
from graphwright.report.measure import Timing, format_seconds, in_turns
from graphwright.report.page import Page


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "bench", help="time a function eagerly and compiled",
        description="Call a function eagerly and compiled, compare all results, then time both in "
                    "turns. With --out also write JSON, Markdown and an HTML page.")
    add_target(parser)
    add_backend(parser)
    parser.add_argument("--seconds", type=some_seconds, default=1.0,
                        help="time spent on each (1.0)")
    parser.add_argument("--out", type=Path, help="a folder for results.json, .md and report.html")
    parser.set_defaults(run=run)


def some_seconds(text: str) -> float:
    """A time that passes. Raises: ArgumentTypeError of any other text."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of seconds")
    return seconds


def seeded(call: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    """The result of one call from a fixed seed."""
    gw.manual_seed(0)
    return call(*inputs)


def measure(arguments: argparse.Namespace) -> tuple[float, dict[str, Timing], str]:
    """Seconds of the first compiled call, the timings in turns, and what was compared and
    compiled."""
    module, function = load_target(arguments.target)
    inputs = make_inputs(module, function, arguments.inputs)
    compiled = gw.compile(function, backend=arguments.backend)
    expected = seeded(function, inputs)
    start = time.perf_counter()
    got = seeded(compiled, inputs)
    first = time.perf_counter() - start
    agreement = compare(expected, got)
    timings = in_turns({"eager": lambda: function(*inputs), "compiled": lambda: compiled(*inputs)},
                       seconds=arguments.seconds)
    stats = gw.compiler.stats(compiled)
    return first, timings, (f"{stats.graphs} graphs, {stats.breaks} breaks, "
                            f"{stats.kernels} kernels; {agreement}")


def rows_of(timings: dict[str, Timing]) -> list[list[str]]:
    """A row for each case: median, quartiles, and how many times faster than eager."""
    eager = timings["eager"].median
    return [
        [name, format_seconds(timing.median),
         f"{format_seconds(timing.low)} to {format_seconds(timing.high)}",
         f"{eager / timing.median:.2f}"]
        for name, timing in timings.items()
    ]


HEADERS = ["case", "median", "quartiles", "times eager's speed"]


def write(folder: Path, name: str, timings: dict[str, Timing], summary: str,
          data: dict[str, Any]) -> None:
    """Write the three reports into `folder`."""
    rows = rows_of(timings)
    table = ["| " + " | ".join(cells) + " |" for cells in (HEADERS, ["---"] * 4, *rows)]
    texts = {"results.json": json.dumps(data, indent=1) + "\n",
             "results.md": "\n".join([f"# {name}", "", *table, "", summary, ""])}
    page = Page(f"graphwright bench: {name}")
    page.paragraph(summary)
    page.table(HEADERS, rows)
    page.chart(bars(["time per call"], {case: [t.ratio] for case, t in timings.items()},
                    title="Time per call divided by eager's, lower is better; quartiles",
                    unit="x eager"))
    page.heading("Environment")
    page.table(["what", "found"], environment(), texts=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8", errors="backslashreplace")
    page.write(folder / "report.html")


def run(arguments: argparse.Namespace) -> None:
    """Measure and report."""
    first, timings, compiled = measure(arguments)
    rows = rows_of(timings)
    summary = f"first compiled call {format_seconds(first)}; {compiled}"
    for cells in (HEADERS, *rows):
        say("  ".join(f"{cell:<24}" for cell in cells).rstrip())
    say(summary)
    if arguments.out:
        data = {"target": arguments.target, "first_call_s": first,
                "median_s": {name: t.median for name, t in timings.items()}}
        with folder_for_output(arguments.out) as folder:
            write(folder, arguments.target, timings, summary, data)
        say(f"written to {arguments.out}")
