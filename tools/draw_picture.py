"""Draws docs/images/function_to_kernel.svg: a function, its graph, and the kernel of it.

Usage: python tools/draw_picture.py [--check]

Graph and kernel are what the compiler dumps of the function; nothing is drawn by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import graphwright as gw
from graphwright.face.api import compilation_of

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "function_to_kernel.svg"
SOURCE = '''@gw.compile
def score(x, w):
    hidden = gw.relu(x @ w)
    return (hidden * hidden).mean()
'''
WIDTH, HEIGHT = 960, 338
INK, PALE, LINE = "#1c2026", "#6a7280", "#9aa3b0"
FILLS = {"input": ("#eef1f5", "#b9c1cc"), "gemm": ("#fdeadd", "#e07a3f"),
         "kernel": ("#e3edfd", "#2f6fde")}
BOX, GAP, MIDDLE, TOP = 34, 18, 400, 74


class Node(NamedTuple):
    """A node of the graph: its name, what it computes, its type, the nodes it reads."""

    name: str
    text: str
    type: str
    reads: tuple[str, ...]
    part: str


def main(arguments: list[str]) -> int:
    """Write the picture, or with --check say whether it is up to date."""
    text = picture()
    if PICTURE.exists() and PICTURE.read_text() == text:
        print("up to date")
        return 0
    if "--check" in arguments:
        print(f"{PICTURE} is out of date: run make docs")
        return 1
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(text)
    return 0


def compiled() -> tuple[Any, str]:
    """The captured graph of the function, and the text of its loops."""
    space: dict[str, Any] = {"__name__": "picture", "gw": gw}
    exec(compile(SOURCE, "score.py", "exec"), space)
    threads = gw.get_num_threads()
    gw.set_num_threads(2)
    try:
        space["score"](gw.ones(64, 32), gw.ones(32, 16))
    finally:
        gw.set_num_threads(threads)
    (record,) = compilation_of(space["score"]).record.graphs
    return record.graph, gw.compiler.dump(space["score"], ["loops"])["loops"]


def nodes(graph: Any) -> list[Node]:
    """The inputs and operations, from the graph's text."""
    found: list[Node] = []
    for line in graph.readable().splitlines():
        signature = re.match(r"def forward\(self, (.*)\):", line)
        if signature:
            found += [Node(name, name, "", (), "input") for name in signature[1].split(", ")]
        operation = re.match(r"\s+(\w+) = (.*?)  # (.*)", line)
        if operation:
            name, text, kind = operation.groups()
            reads = tuple(one.name for one in found if re.search(rf"\b{one.name}\b", text))
            part = "gemm" if "@" in text else "kernel"
            found.append(Node(name, text.replace("graphwright.", "gw."), kind, reads, part))
    return found


def picture() -> str:
    """The whole picture, readable on light and dark pages."""
    graph, loops = compiled()
    found = nodes(graph)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12.5" role="img">',
        "<title>A function, the graph that was captured of it, and its fused kernel</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{LINE}"/>'
        "</marker></defs>",
        *column(20, "your function", SOURCE.splitlines()),
        heading(MIDDLE - 100, "its graph"),
        *drawn(found),
        *kernels(596, loops),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def heading(x: float, text: str) -> str:
    """The title of a column."""
    return (f'<text x="{x}" y="38" font-family="system-ui, sans-serif" font-size="15" '
            f'font-weight="600" fill="{INK}">{text}</text>')


def code(x: float, y: float, line: str) -> str:
    """A line of code."""
    return f'<text x="{x}" y="{y:.0f}" fill="{INK}" xml:space="preserve">{escape(line)}</text>'


def column(x: float, title: str, lines: list[str]) -> Iterator[str]:
    """A title, and lines of code under it."""
    yield heading(x, title)
    for number, line in enumerate(lines):
        yield code(x, TOP + 20 + number * 21, line)


def places(found: list[Node]) -> dict[str, tuple[float, float, float]]:
    """The middle, top and width of each node's box: inputs side by side, the rest below."""
    inputs = [node for node in found if node.part == "input"]
    rest = [node for node in found if node.part != "input"]
    at = {node.name: (MIDDLE + (number - (len(inputs) - 1) / 2) * 90, TOP, 60.0)
          for number, node in enumerate(inputs)}
    at |= {node.name: (MIDDLE, TOP + (number + 1) * (BOX + GAP), 200.0)
           for number, node in enumerate(rest)}
    return at


def drawn(found: list[Node]) -> Iterator[str]:
    """The graph: boxes coloured by what they become, arrows from each node to its readers."""
    at = places(found)
    for node in found:
        x, y, _ = at[node.name]
        for number, read in enumerate(dict.fromkeys(node.reads)):
            from_x, from_y, _ = at[read]
            to_x = x + (number - (len(set(node.reads)) - 1) / 2) * 40
            yield (f'<line x1="{from_x:.0f}" y1="{from_y + BOX:.0f}" x2="{to_x:.0f}" '
                   f'y2="{y - 2:.0f}" stroke="{LINE}" stroke-width="1.4" marker-end="url(#tip)"/>')
    for node in found:
        x, y, width = at[node.name]
        fill, edge = FILLS[node.part]
        yield (f'<rect x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX}" '
               f'rx="6" fill="{fill}" stroke="{edge}"/>')
        yield (f'<text x="{x:.0f}" y="{y + (21 if not node.type else 15):.0f}" '
               f'text-anchor="middle" fill="{INK}">{escape(node.text)}</text>')
        if node.type:
            yield (f'<text x="{x:.0f}" y="{y + 28:.0f}" text-anchor="middle" font-size="10" '
                   f'fill="{PALE}">{escape(node.type)}</text>')


def kernels(x: float, loops: str) -> Iterator[str]:
    """What runs: products and kernels of the dump, each in the colour of its nodes."""
    yield heading(x, "what runs")
    y = float(TOP)
    for part in re.findall(r"^\w+ = gemm\(.*$|^kernel .*(?:\n .*)*", loops, re.M):
        lines, (fill, edge) = part.splitlines(), FILLS["gemm" if "= gemm(" in part else "kernel"]
        height = len(lines) * 20 + 14
        yield (f'<rect x="{x}" y="{y:.0f}" width="{WIDTH - x - 20:.0f}" height="{height}" rx="6" '
               f'fill="{fill}" stroke="{edge}"/>')
        for number, line in enumerate(lines):
            yield code(x + 12, y + 22 + number * 20, line)
        y += height + GAP


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
