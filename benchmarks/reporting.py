"""The suite's results as JSON, Markdown and one HTML page, and the figures in the docs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks import ratios
from benchmarks.measured import Measured, conditions
from benchmarks.result import Result
from graphwright.report.charts import bars, number_text
from graphwright.report.page import Page

HEADERS = ["what", "unit", "target", "graphwright"]
PEERS = ["eager", "torch eager", "torch.compile", "JAX jit", "BLAS", "ONNX Runtime",
         "OpenVINO"]
CHART = Path("docs", "images", "ratios.svg")

MOST_RATIO = 5.0
"""Where bars of ratios are cut off."""


def cell(value: float | None) -> str:
    return "" if value is None else number_text(value)


def peers_in(results: list[Result]) -> list[str]:
    """The peers that any of the results has."""
    return [name for name in PEERS if any(name in result.peers for result in results)]


def row(result: Result, peers: list[str]) -> list[str]:
    own = "wrong" if result.value is None else number_text(result.value)
    if result.met is False and result.value is not None:
        own += " (missed)"
    target = "" if result.target is None else f"at most {result.target:g}"
    spread = "" if result.spread is None else f"{result.spread:.0%}"
    return [result.name, result.unit, target, own,
            *(cell(result.peers.get(name)) for name in peers), spread]


def markdown(measured: Measured) -> str:
    """The table, and below it the conditions. Columns in which nothing stands are left out."""
    results = measured.results
    peers = peers_in(results)
    rows = [[*HEADERS, *peers, "spread"], *(row(result, peers) for result in results)]
    used = [number for number in range(len(rows[0])) if any(cells[number] for cells in rows[1:])]
    lines = ["| " + " | ".join(cells[number] for number in used) + " |" for cells in rows]
    lines.insert(1, "|" + " --- |" * len(used))
    wrong = [f"{result.name}: {result.note}" for result in results if result.value is None]
    if wrong:
        lines += ["", "Left out because the result was wrong: " + "; ".join(wrong) + "."]
    if all(result.spread is None for result in results):
        lines += ["", f"{measured.conditions.sentences()} The spread was not recorded."]
    else:
        lines += ["", measured.conditions.sentences()]
    return "\n".join(lines)


def html(measured: Measured) -> Page:
    results = measured.results
    page = Page("graphwright benchmarks")
    page.paragraph("Medians of cases measured in turns, after a check of the results. "
                   + measured.conditions.sentences())
    peers = peers_in(results)
    page.table([*HEADERS, *peers, "spread", "note"],
               [[*row(result, peers), result.note] for result in results])
    compared = [result for result in results if result.value and result.peers]
    for group in dict.fromkeys(result.group for result in compared):
        chosen = [result for result in compared if result.group == group]
        page.chart(bars(
            [result.name for result in chosen],
            {name: [ratio(result, name) for result in chosen] for name in peers_in(chosen)},
            title=f"{group}: others divided by graphwright; above 1 is better for graphwright",
            unit="x graphwright", most=MOST_RATIO))
    return page


def ratio(result: Result, peer: str) -> float | None:
    """The figure of a peer divided by graphwright's; None where it has none."""
    figure = result.peers.get(peer)
    return None if figure is None or not result.value else figure / result.value


def write(measured: Measured, folder: Path) -> list[Path]:
    """Write results.json, results.md and report.html; the paths written."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(measured.text())
    (folder / "results.md").write_text(markdown(measured) + "\n")
    html(measured).write(folder / "report.html")
    return [folder / name for name in ("results.json", "results.md", "report.html")]


def documents(root: Path) -> dict[Path, str]:
    """The pages and charts that show committed figures, as these say they are to be."""
    suite, ecosystem = Measured.read("suite"), Measured.read("ecosystem")
    packages = root / "docs" / "package.md"
    page = root / "docs" / "benchmarks.md"
    text = between(page.read_text(), "suite", markdown(suite))
    text = between(text, "models", markdown(Measured.read("models")))
    readme = root / "README.md"
    return {
        page: between(text, "ecosystem", markdown(ecosystem)),
        packages: between(packages.read_text(), "out_of_process",
                          markdown(Measured.read("out_of_process"))),
        readme: between(readme.read_text(), "chart",
                        f"![Times of PyTorch and JAX over graphwright's]({CHART})\n\n"
                        f"{suite.conditions.sentences()}"),
        root / CHART: ratios.svg(suite),
    }


def between(text: str, name: str, content: str) -> str:
    """A page with `content` between its two markers of that name."""
    begin, end = f"<!-- figures: {name} -->\n", "<!-- end -->"
    head, rest = text.split(begin)
    _, tail = rest.split(end, 1)
    return f"{head}{begin}{content}\n{end}{tail}"


def publish(measured: Measured, name: str, root: Path) -> None:
    """Make a run's figures those that the pages show.

    Raises:
        ValueError: a row that README.md shows was not measured; nothing is written then.
    """
    if name == "suite":
        ratios.chosen(measured)
    measured.write(name)
    update_docs(root)


def update_docs(root: Path) -> None:
    """Write what `documents` says."""
    for path, text in documents(root).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def main_of_cases(
    group: str, names: Iterable[str], run: Callable[[Iterable[str]], list[Result]]
) -> None:
    """The command line of a group that measures some of its cases: the table, and all notes."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{group}")
    parser.add_argument("cases", nargs="*", choices=[*names, []], default=[])
    cases = parser.parse_args().cases
    load = os.getloadavg()[0]
    results = run(cases or names)
    print(markdown(Measured(conditions(load), results)))
    for result in results:
        if result.note:
            print(f"{result.name}: {result.note}")
