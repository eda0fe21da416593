"""`graphwright bench`: a function eagerly, compiled and under other libraries, compared."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import graphwright as gw
from graphwright.cli.bench_process import OWN
from graphwright.cli.comparison import compare
from graphwright.cli.doctor import lines as environment
from graphwright.cli.errors import users_code
from graphwright.cli.loading import load_call
from graphwright.cli.options import add_backend, add_json, add_target
from graphwright.cli.output import check_folder, folder_for_output, json_alone, say, say_table
from graphwright.cli.peers import (
    PEERS,
    Start,
    disagreement,
    hand_over,
    installed_in,
    progress,
)
from graphwright.cli.verdicts import compare_runs, format_bytes, read_results
from graphwright.face.stage_dumps import count
from graphwright.report.charts import Value, bars
from graphwright.report.measure import Timing, format_seconds, in_turns, summary
from graphwright.report.page import Page
from graphwright.runtime.stderr_notices import erase_progress
from graphwright.version import __version__


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "bench", help="time a function eagerly, compiled and under other libraries",
        description="Call a function eagerly and compiled, compare all results, then time both in "
                    "turns, their first calls in fresh processes, and the same file under PyTorch "
                    "and JAX where they are installed.")
    add_target(parser)
    add_backend(parser)
    parser.add_argument("--seconds", type=some_seconds, default=1.0,
                        help="time spent on calls of each case (1.0)")
    parser.add_argument("--starts", type=some_starts, default=5,
                        help="fresh processes with an empty cache, and as many with a filled one, "
                             "for first calls and memory (5)")
    parser.add_argument("--peers", type=some_peers, default=tuple(PEERS), metavar="NAMES",
                        help=f"other libraries, of {','.join(PEERS)}, or none (all installed)")
    parser.add_argument("--peer-python", default=sys.executable, metavar="PATH",
                        help="the Python interpreter that has them (this one)")
    parser.add_argument("--out", type=Path, metavar="OUT",
                        help="a folder for results.json, .md and report.html")
    parser.add_argument("--compare", type=Path, metavar="OLD.json",
                        help="an earlier result; say what became better or worse beyond the "
                             "spread, and exit with 1 if something became worse")
    add_json(parser)
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


def some_starts(text: str) -> int:
    """A number of processes. Raises: ArgumentTypeError of any other text."""
    if not (text.isascii() and text.isdigit() and 0 <= int(text) <= 1000):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to 1000")
    return int(text)


def some_peers(text: str) -> tuple[str, ...]:
    """Names of `PEERS`. Raises: ArgumentTypeError of any other text."""
    names = () if text == "none" else tuple(text.split(","))
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"there is no '{unknown[0]}'; give names of {','.join(PEERS)}, or none")
    return names


def seeded(call: Callable[..., Any], inputs: tuple[Any, ...]) -> Any:
    """The result of one call from a fixed seed."""
    gw.manual_seed(0)
    return call(*inputs)


def measure(arguments: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """The document that `--json` gives; docs/cli.md lists its keys."""
    installed = installed_in(arguments.peer_python) if arguments.peers else {}
    module, function, inputs = load_call(arguments.target, arguments.inputs)
    compiled = gw.compile(function, backend=arguments.backend)
    file, _, name = arguments.target.rpartition(":")
    start = Start(folder, file, name, tuple(arguments.inputs), arguments.backend)
    problem = hand_over(folder, module, function, inputs) if arguments.peers else None
    progress(f"calls of {arguments.target}")
    with users_code(arguments.target), open(os.devnull, "w") as nowhere, \
            contextlib.redirect_stdout(nowhere):
        expected = seeded(function, inputs)
        got = seeded(compiled, inputs)
        agreement = compare(expected, got)
        timings = in_turns(
            {"eager": lambda: function(*inputs), "compiled": lambda: compiled(*inputs)},
            seconds=arguments.seconds)
    cases = {case: own_case(start, case, timings[case], arguments) for case in OWN}
    cases |= peer_cases(start, expected, installed, problem, arguments)
    stats = gw.compiler.stats(compiled)
    return {
        "format": 1,
        "target": arguments.target,
        "versions": {"graphwright": __version__, "python": platform.python_version()},
        "machine": {"processor": platform.machine(), "threads": gw.get_num_threads()},
        "compiled": {"graphs": stats.graphs, "breaks": stats.breaks, "kernels": stats.kernels},
        "agreement": agreement,
        "cases": cases,
    }


def own_case(start: Start, case: str, timing: Timing, arguments: argparse.Namespace
             ) -> dict[str, Any]:
    """The keys of a case of our own: calls timed here, first calls in fresh processes."""
    found, problem = starts(start, case, sys.executable, arguments.starts, arguments.seconds / 4)
    medians = [summary(run["samples"]).median for runs in found.values() for run in runs]
    return {
        "problem": None,
        "version": __version__,
        "call_s": numbers_of(timing, medians),
        **first_calls(found),
        "starts_problem": problem,
    }


def starts(start: Start, case: str, python: str, number: int, seconds: float
           ) -> tuple[dict[str, list[dict[str, Any]]], str | None]:
    """What fresh processes found, with an empty cache and then with the one that it filled; and
    the problem that ended it.

    What runs eagerly has no cache, and is started once for each empty one.
    """
    found: dict[str, list[dict[str, Any]]] = {"cold": [], "warm": []}
    for _ in range(number):
        with tempfile.TemporaryDirectory(dir=start.folder) as cache:
            for kind in found if case not in ("eager", "torch") else ("cold",):
                run = start.run(case, python, seconds, Path(cache))
                if "problem" in run:
                    return found, run["problem"]
                found[kind].append(run)
    return found, None


def first_calls(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The keys of first calls and of memory; None of what was not measured."""
    runs = found["cold"] + found["warm"]
    return {
        "first_cold_s": over(found["cold"], "first_s"),
        "first_warm_s": over(found["warm"], "first_s"),
        "peak_bytes": over(runs, "peak_bytes"),
        "call_bytes": over(runs, "call_bytes"),
    }


def over(runs: list[dict[str, Any]], key: str) -> dict[str, Any] | None:
    """The spread of a number over processes."""
    return numbers_of(summary([run[key] for run in runs]), []) if runs else None


def numbers_of(timing: Timing, medians: list[float]) -> dict[str, Any]:
    """A timing's keys; `between` is the range of it and of the medians of other processes."""
    return {"median": timing.median, "low": timing.low, "high": timing.high,
            "samples": timing.samples,
            "between": [min([timing.low, *medians]), max([timing.high, *medians])]}


def peer_cases(start: Start, expected: Any, installed: dict[str, bool], problem: str | None,
               arguments: argparse.Namespace) -> dict[str, Any]:
    """The keys of the cases of other libraries; of one that cannot run, why."""
    python = arguments.peer_python
    cases: dict[str, Any] = {}
    for case in arguments.peers:
        library = PEERS[case]
        if not installed[library]:
            cases[case] = {"problem": f"{library} is not installed in {python}"}
        elif problem is not None:
            cases[case] = {"problem": problem}
        else:
            cases[case] = peer_case(start, case, python, expected, arguments.seconds)
    return cases


def peer_case(start: Start, case: str, python: str, expected: Any, seconds: float
              ) -> dict[str, Any]:
    """The keys of a case that another library runs."""
    found, problem = starts(start, case, python, 1, seconds)
    if problem is not None:
        return {"problem": problem}
    (run,) = found["cold"]
    timing = summary(run["samples"])
    medians = [summary(other["samples"]).median for other in found["warm"]]
    return {"problem": None, "version": run["version"], "call_s": numbers_of(timing, medians),
            **first_calls(found), "differs": disagreement(expected, run)}


HEADERS = ["case", "median", "quartiles", "speed-up", "first, cold", "first, warm", "peak memory"]


def rows_of(cases: dict[str, Any]) -> list[list[str]]:
    """A row for each case that ran."""
    eager = cases["eager"]["call_s"]["median"]
    return [
        [name, format_seconds(case["call_s"]["median"]),
         f"{format_seconds(case['call_s']['low'])} to {format_seconds(case['call_s']['high'])}",
         f"{eager / case['call_s']['median']:.2f}",
         seconds_of(case["first_cold_s"]), seconds_of(case["first_warm_s"]), memory_of(case)]
        for name, case in cases.items() if case["problem"] is None
    ]


def seconds_of(found: dict[str, Any] | None) -> str:
    """The median of first calls."""
    return "-" if found is None else format_seconds(found["median"])


def memory_of(case: dict[str, Any]) -> str:
    """The most that a process had in memory, and how much of it its calls added."""
    if case["peak_bytes"] is None:
        return "-"
    peak, calls = (format_bytes(case[key]["median"]) for key in ("peak_bytes", "call_bytes"))
    return f"{peak}, +{calls}"


def notes_of(document: dict[str, Any]) -> list[str]:
    """What is to be known besides the table, a line each."""
    counts = document["compiled"]
    notes = [f"compiled: {count(counts['graphs'], 'graph')}, "
             f"{count(counts['breaks'], 'graph break')}, {count(counts['kernels'], 'kernel')}; "
             f"{document['agreement']}"]
    if not counts["graphs"]:
        notes.append(f"nothing was compiled: graphwright explain {document['target']} says why")
    for name, case in document["cases"].items():
        if case["problem"] is not None:
            notes.append(f"{name}: not run: {case['problem']}")
        elif case.get("starts_problem") is not None:
            notes.append(f"{name}: first calls were not measured: {case['starts_problem']}")
        elif name in PEERS:
            notes.append(f"{name} {case['version']}: " + (
                "results agree" if case["differs"] is None else
                f"results differ: {case['differs']}"))
    return notes


def write(folder: Path, document: dict[str, Any], machine: list[tuple[str, str]]) -> None:
    """Write the three reports into `folder`. machine: what `graphwright doctor` says of it."""
    rows, notes, name = rows_of(document["cases"]), notes_of(document), document["target"]
    table = ["| " + " | ".join(cells) + " |" for cells in (HEADERS, ["---"] * len(HEADERS), *rows)]
    listed = [f"- {note}" for note in notes]
    texts = {"results.json": json.dumps(document, indent=1) + "\n",
             "results.md": "\n".join([f"# {name}", "", *table, "", *listed, ""])}
    page = Page(f"graphwright bench: {name}")
    page.table(HEADERS, rows)
    page.chart(bars(["time per call"], ratios(document["cases"]),
                    title="Time per call divided by eager's median, lower is better; quartiles",
                    unit="x eager"))
    for note in notes:
        page.paragraph(note)
    page.heading("Environment")
    page.table(["what", "found"], machine, texts=True)
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8", errors="backslashreplace")
    page.write(folder / "report.html")


def ratios(cases: dict[str, Any]) -> dict[str, list[Value]]:
    """Lower quartile, median and upper quartile of each case that ran, over eager's median."""
    eager = cases["eager"]["call_s"]["median"]
    return {name: [tuple(case["call_s"][key] / eager for key in ("low", "median", "high"))]
            for name, case in cases.items() if case["problem"] is None}


def run(arguments: argparse.Namespace) -> None:
    """Measure and report."""
    old = read_results(arguments.compare) if arguments.compare else None
    check_folder(arguments.json, "--json")
    machine = list(environment())   # before a file for PyTorch makes torch mean graphwright
    with json_alone(arguments.json) as emit:
        try:
            with tempfile.TemporaryDirectory() as folder:
                document = measure(arguments, Path(folder))
        finally:
            erase_progress()
        say_table(HEADERS, rows_of(document["cases"]))
        for note in notes_of(document):
            say(note)
        if arguments.json:
            emit(document)
        if arguments.out:
            with folder_for_output(arguments.out) as path:
                write(path, document, machine)
            say(f"written to {arguments.out}")
        if old is not None:
            compare_runs(old, document)
