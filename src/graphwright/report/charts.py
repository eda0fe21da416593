"""Bar and line charts as SVG text, drawn by matplotlib (extra `bench`), imported when called."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK = "#30343b"
WIDE_RANGE = 50
COLOURS = ("#8c96a5", "#2f6fde", "#e07a3f", "#3f9e6e", "#9a5fc4")


def new_figure(width: float, height: float) -> Figure:
    """An empty figure in inches whose text stays text in the SVG."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "graphwright", "font.size": 10,
        "axes.spines.top": False, "axes.spines.right": False,
        "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    })
    return Figure(figsize=(width, height), layout="constrained")


def to_svg(figure: Figure) -> str:
    """The figure as an <svg> element, without the XML prologue and without a date."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
    svg = text.getvalue()
    return svg[svg.index("<svg"):]


def number_text(value: float) -> str:
    """Three significant digits, without an exponent for large numbers."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def bars(
    groups: Sequence[str], series: Mapping[str, Sequence[float | None]], *, title: str, unit: str
) -> str:
    """Grouped horizontal bars with their values written beside them; None leaves a gap.

    The axis is logarithmic where the values differ by more than `WIDE_RANGE` times.

    Args:
        groups: one label a group, top to bottom.
        series: name to one value a group.
        title: what the chart shows.
        unit: the axis label.
    """
    height = 0.9 + len(groups) * (0.25 + 0.22 * len(series))
    figure = new_figure(7.2, height)
    axes = figure.subplots()
    thickness = 0.8 / len(series)
    for number, (name, values) in enumerate(series.items()):
        rows = [i + (number - (len(series) - 1) / 2) * thickness for i in range(len(groups))]
        drawn = [(row, value) for row, value in zip(rows, values, strict=True)
                 if value is not None]
        container = axes.barh([row for row, _ in drawn], [value for _, value in drawn],
                              thickness * 0.92, label=name, color=COLOURS[number % len(COLOURS)])
        axes.bar_label(container, [number_text(value) for _, value in drawn], padding=3,
                       fontsize=8)
    present = [value for values in series.values() for value in values if value]
    if present and max(present) > WIDE_RANGE * min(present):
        axes.set_xscale("log")
    axes.set_yticks(range(len(groups)), groups)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(unit)
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    return to_svg(figure)


def lines(
    series: Mapping[str, Sequence[float]], *, title: str, x: str, y: str, log: bool = False
) -> str:
    """Lines over the position 0, 1, 2, ...; later series are drawn dashed over earlier ones."""
    figure = new_figure(7.2, 3.2)
    axes = figure.subplots()
    for number, (name, values) in enumerate(series.items()):
        axes.plot(values, label=name, color=COLOURS[number % len(COLOURS)],
                  linewidth=2.4 if number % 2 == 0 else 1.2,
                  linestyle="-" if number % 2 == 0 else (0, (4, 2)))
    if log:
        axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=9)
    return to_svg(figure)
