"""The chart of README.md: how many times longer named peers take, in ten rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.sax.saxutils import escape

from benchmarks.measured import Measured
from benchmarks.result import Result

ROWS = {
    "first call of the MLP 784-512-512-10, LLVM, empty cache": "first call of an MLP",
    "compiled relu(x + 1) * 2, 1,000 elements": "relu(x + 1) * 2, 1,000 elements",
    "8 pointwise ops with exp, tanh, sigmoid; 4 M float32": "8 pointwise ops, 4 M elements",
    "softmax 4096x1024": "softmax 4096x1024",
    "layer norm 4096x1024": "layer norm 4096x1024",
    "training step of the MLP, batch 128, Adam": "training step of an MLP, Adam",
    "conv2d 8x64x56x56, 3x3, with gradients": "conv2d 3x3 with gradients",
    "gradients of each of 64 samples, MLP 32-64-10": "gradients of each of 64 samples",
    "backward of 12 ops, 100 elements": "backward of 12 small ops",
    "attention 4x8x256x64, 0.5 M float32": "attention 4x8x256x64",
}
"""The rows by their names in the suite, with shorter ones."""
PEERS = {"torch eager": "#e07a3f", "torch.compile": "#3f9e6e", "JAX jit": "#9a5fc4"}
WIDTH, LEFT, RIGHT, TOP, STEP = 820, 250, 56, 62, 38
LEAST, MOST = 0.25, 1000.0
"""The ends of the axis, which is logarithmic."""


def chosen(measured: Measured) -> list[Result]:
    """The results of the rows. Raises ValueError where one was not measured."""
    by_name = {result.name: result for result in measured.results}
    missing = [name for name in ROWS if name not in by_name]
    if missing:
        raise ValueError(f"README.md shows rows that were not measured: {', '.join(missing)}")
    return [by_name[name] for name in ROWS]


def ratios(result: Result) -> dict[str, float]:
    """Each named peer's figure over graphwright's."""
    return {name: result.peers[name] / result.value for name in PEERS
            if result.value and name in result.peers}


def across(ratio: float) -> float:
    """Where a ratio is on the axis."""
    part = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LEFT + part * (WIDTH - LEFT - RIGHT)


def shown(ratio: float) -> str:
    """A ratio as a label: two significant digits below ten."""
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def svg(measured: Measured) -> str:
    """The chart, readable on light and dark pages."""
    results = chosen(measured)
    height = TOP + STEP * len(results) + 44
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="system-ui, sans-serif" font-size="13" role="img">',
        "<title>Time of named peers over graphwright's</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
        '<text x="20" y="28" font-size="15" font-weight="600" fill="#1c2026">'
        "How many times as long others take</text>",
        *legend(), *axis(height), *(line for row, result in enumerate(results)
                                    for line in drawn(row, result)),
        f'<text x="20" y="{height - 14}" font-size="11" fill="#6a7280">'
        f"Right of the line graphwright is faster. {escape(short(measured))}</text>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def short(measured: Measured) -> str:
    """The conditions in a few words."""
    found = measured.conditions
    peers = [f"{name} {found.versions[name]}" for name in ("PyTorch", "JAX")
             if name in found.versions]
    return f"{found.date}, {found.machine}, {found.threads} threads, {', '.join(peers)}."


def legend() -> Iterator[str]:
    """The peers and their colours."""
    x = WIDTH - RIGHT - 340
    for name, colour in PEERS.items():
        yield f'<circle cx="{x}" cy="24" r="5.5" fill="{colour}"/>'
        yield f'<text x="{x + 10}" y="28" fill="#30343b">{name}</text>'
        x += 125


def axis(height: int) -> Iterator[str]:
    """Lines at round ratios; that of 1 is darker."""
    bottom = height - 38
    for ratio in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        x, one = across(ratio), ratio == 1
        yield (f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" '
               f'stroke="{"#30343b" if one else "#e3e6eb"}" stroke-width="{1.5 if one else 1}"/>')
        yield (f'<text x="{x:.1f}" y="{TOP - 13}" font-size="11" text-anchor="middle" '
               f'fill="#6a7280">{ratio:g}x</text>')


def drawn(row: int, result: Result) -> Iterator[str]:
    """One row: its name, and a labelled dot for each peer."""
    y = TOP + STEP * row + STEP / 2
    yield (f'<text x="{LEFT - 14}" y="{y + 4:.1f}" text-anchor="end" fill="#1c2026">'
           f"{escape(ROWS[result.name])}</text>")
    end = -math.inf
    for number, (name, ratio) in enumerate(
            sorted(ratios(result).items(), key=lambda item: item[1])):
        x = across(ratio)
        above = x - end < 36 and number % 2 == 1    # close labels take turns above and below
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" fill="{PEERS[name]}"/>'
        yield (f'<text x="{x:.1f}" y="{y - 9 if above else y + 17:.1f}" font-size="10.5" '
               f'text-anchor="middle" fill="#30343b">{shown(ratio)}</text>')
        end = x
