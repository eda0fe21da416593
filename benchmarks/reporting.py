"""The suite's results as JSON, Markdown and one HTML page, and the table in README.md."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict
from pathlib import Path

import numpy as np

import graphwright as gw
from benchmarks.result import Result
from graphwright.report.charts import bars
from graphwright.report.page import Page

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
HEADERS = ["what", "unit", "target", "graphwright"]
PEERS = ["eager", "torch eager", "torch.compile", "JAX jit"]


def cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def peers_in(results: list[Result]) -> list[str]:
    """The peers that any of the results has."""
    return [name for name in PEERS if any(name in result.peers for result in results)]


def row(result: Result, peers: list[str]) -> list[str]:
    own = "wrong" if result.value is None else f"{result.value:.3g}"
    if result.met is False and result.value is not None:
        own += " (missed)"
    target = "" if result.target is None else f"at most {result.target:g}"
    return [result.name, result.unit, target, own,
            *(cell(result.peers.get(name)) for name in peers)]


def machine() -> str:
    return (f"{platform.machine()}, {gw.get_num_threads()} threads, "
            f"Python {platform.python_version()}, NumPy {np.__version__}")


def markdown(results: list[Result]) -> str:
    peers = peers_in(results)
    headers = [*HEADERS, *peers]
    lines = ["| " + " | ".join(headers) + " |", "|" + " --- |" * len(headers)]
    lines += ["| " + " | ".join(row(result, peers)) + " |" for result in results]
    wrong = [f"{result.name}: {result.note}" for result in results if result.value is None]
    if wrong:
        lines += ["", "Left out because the result was wrong: " + "; ".join(wrong) + "."]
    return "\n".join([*lines, "", f"Measured on {machine()}."])


def html(results: list[Result]) -> Page:
    page = Page("graphwright benchmarks")
    page.paragraph(f"Medians of cases measured in turns, after a check of the results, on "
                   f"{machine()}.")
    peers = peers_in(results)
    page.table([*HEADERS, *peers, "note"],
               [[*row(result, peers), result.note] for result in results])
    for unit in dict.fromkeys(result.unit for result in results):
        chosen = [result for result in results if result.unit == unit]
        names = ["graphwright", *peers_in(chosen)]
        series = {name: [r.value if name == "graphwright" else r.peers.get(name) for r in chosen]
                  for name in names}
        page.chart(bars([r.name for r in chosen], series, title="lower is better", unit=unit))
    return page


def write(results: list[Result], folder: Path) -> list[Path]:
    """Write results.json, results.md and report.html; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {"machine": machine(), "results": [asdict(result) for result in results]}
    (folder / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    (folder / "results.md").write_text(markdown(results) + "\n")
    html(results).write(folder / "report.html")
    return [folder / name for name in ("results.json", "results.md", "report.html")]


def update_readme(results: list[Result], readme: Path) -> None:
    """Replace the table between the two markers in README.md."""
    text = readme.read_text()
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    readme.write_text(f"{head}{BEGIN}\n{markdown(results)}\n{END}{tail}")
