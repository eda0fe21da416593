"""The suite's results as JSON, Markdown and one HTML page, and the tables in the docs."""

from __future__ import annotations

import importlib.util
import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np

import graphwright as gw
from benchmarks.result import Result
from graphwright.report.charts import bars
from graphwright.report.page import Page

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
HEADERS = ["what", "unit", "target", "graphwright"]
PEERS = ["eager", "torch eager", "torch.compile", "JAX jit"]
FIRST_SCREEN = (
    "first call of the MLP 784-512-512-10, LLVM, empty cache",
    "compiled relu(x + 1) * 2, 1,000 elements",
    "8 pointwise ops with exp, tanh, sigmoid; 4 M float32",
    "softmax 4096x1024",
    "layer norm 4096x1024",
    "training step of the MLP, batch 128, Adam",
    "conv2d 8x64x56x56, 3x3, with gradients",
    "gradients of each of 64 samples, MLP 32-64-10",
    "backward of 12 ops, 100 elements",
    "attention 4x8x256x64, 0.5 M float32",
)
"""The rows that README.md shows; docs/benchmarks.md has all."""


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
    """The processor, and the versions of all that was measured."""
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    versions += [f"{name} {version(library)}" for name, library in (("PyTorch", "torch"),
                                                                    ("JAX", "jax"))
                 if importlib.util.find_spec(library) is not None]
    return f"{platform.machine()}, {gw.get_num_threads()} threads, {', '.join(versions)}"


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


def update_docs(results: list[Result], root: Path) -> None:
    """Replace the tables between the markers in README.md and docs/benchmarks.md.

    Raises:
        ValueError: a row that README.md shows was not measured.
    """
    by_name = {result.name: result for result in results}
    missing = [name for name in FIRST_SCREEN if name not in by_name]
    if missing:
        raise ValueError(f"README.md shows rows that were not measured: {', '.join(missing)}")
    replace_table(root / "README.md", [by_name[name] for name in FIRST_SCREEN])
    replace_table(root / "docs" / "benchmarks.md", results)


def replace_table(page: Path, results: list[Result]) -> None:
    """Put a table of results between the two markers of a page."""
    head, rest = page.read_text().split(BEGIN)
    _, tail = rest.split(END)
    page.write_text(f"{head}{BEGIN}\n{markdown(results)}\n{END}{tail}")
