"""Bar, line and time charts as SVG text, each with its table. Styled by `template/style.css`.

Axes of bars and times are linear and begin at zero. Series differ in colour (Okabe and Ito's
palette), dash and marker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from graphwright.report.drawing import shortened
from graphwright.runtime.record import Record

WIDTH = 720
LETTER = 6.6
COLOURS = 7
"""How many series get colours, dashes and markers of their own."""
MARKS = 14
"""About how many markers a line has."""

Value = float | tuple[float, float, float] | None
"""A figure, or the lower end, the figure and the upper end of its spread; None: there is none."""


class Chart(Record):
    """An <svg> element, and what it shows as a table."""

    svg: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Bar(Record):
    """A bar of a time chart: a row's label, its first and last moment, what it says.

    `depth` indents the label; `series` picks the colour; `attributes` of the element are
    escaped; a chart with any is a group of elements for those who cannot see it, not an image.
    """

    label: str
    start: float
    end: float
    text: str
    depth: int = 0
    series: int = 0
    attributes: str = ""


def number_text(value: float) -> str:
    """Three significant digits, without an exponent for large numbers."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ticks(top: float, count: int = 5, whole: bool = False) -> list[float]:
    """About `count` round numbers, or integers, from 0 to the first that is not below `top`."""
    rough = max((top or 1.0) / count, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in ((1, 2, 5, 10) if whole else (1, 2, 2.5, 5, 10))
                if power * factor >= rough * 0.999)
    return [step * number for number in range(math.ceil((top or 1.0) / step - 1e-9) + 1)]


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">'
            f"{escape(text)}</text>")


def _svg(height: float, title: str, parts: Sequence[str], role: str = "img") -> str:
    return (f'<svg class="gw-chart" role="{role}" aria-label="{escape(title)}" '
            f'viewBox="0 0 {WIDTH} {height:.0f}">{"".join(parts)}</svg>')


def _legend(names: Sequence[str], y: float, mark: Callable[[int, float, float], str]
            ) -> tuple[str, float]:
    """The names of the series with their marks, in lines; and where the next thing begins."""
    parts, x = [], 0.0
    for number, name in enumerate(names):
        width = 30 + LETTER * len(name) + 18
        if x and x + width > WIDTH:
            x, y = 0.0, y + 18
        parts += [mark(number, x, y), _text(x + 30, y, name)]
        x += width
    return "".join(parts), y + 14


def _square(series: int, x: float, y: float) -> str:
    return (f'<rect class="gw-bar s{series % COLOURS}" x="{x}" y="{y - 10}" width="22" '
            'height="11"/>')


def _grid(values: Sequence[float], left: float, scale: float, top: float, bottom: float,
          unit: str) -> Iterator[str]:
    """Vertical lines at round numbers, with these below them."""
    for value in values:
        x = left + value * scale
        yield f'<path class="gw-grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/>'
        yield _text(x, bottom + 14, number_text(value), "gw-tick", "middle")
    yield _text(left, bottom + 30, unit, "gw-axis")


def _spread(value: Value) -> tuple[float, float, float] | None:
    if value is None or isinstance(value, tuple):
        return value
    return value, value, value


def bars(
    groups: Sequence[str], series: Mapping[str, Sequence[Value]], *, title: str, unit: str,
    most: float = math.inf,
) -> Chart:
    """Grouped horizontal bars with their values beside them and whiskers for their spread.

    Args:
        groups: one label a group, top to bottom.
        series: name to one value a group.
        title: what the chart shows.
        unit: the label of the axis.
        most: bars of more are cut off there, and marked by a double arrow.
    """
    spreads = {name: [_spread(value) for value in values] for name, values in series.items()}
    present = [value for values in spreads.values() for value in values if value is not None]
    marks = ticks(min(max((high for _, _, high in present), default=1.0), most))
    letters = min(max(map(len, groups), default=0), 34)
    left = LETTER * letters + 12
    scale = (WIDTH - left - 70) / marks[-1]
    parts = [_text(0, 14, title, "gw-title")]
    legend, y = _legend(list(series), 36, _square)
    top = y
    drawn: list[str] = []
    for number, group in enumerate(groups):
        middle = y + 7 + 8 * len(series) + 4
        drawn.append(_text(left - 8, middle, shortened(group, letters), "", "end"))
        y += 7
        for place, values in enumerate(spreads.values()):
            drawn += _bar(values[number], left, y, scale, place, marks[-1])
            y += 16
        y += 7
    grid = _grid(marks, left, scale, top, y, unit)
    rows = tuple(
        (group, *(_value_text(values[number]) for values in spreads.values()))
        for number, group in enumerate(groups))
    return Chart(_svg(y + 36, title, [*parts, legend, *grid, *drawn]),
                 (f"{title} ({unit})", *series), rows)


def _bar(value: tuple[float, float, float] | None, left: float, y: float, scale: float,
         series: int, end: float) -> Iterator[str]:
    if value is None:
        return
    low, middle, high = (min(bound, end) * scale for bound in value)
    yield (f'<rect class="gw-bar s{series % COLOURS}" x="{left:.1f}" y="{y:.1f}" '
           f'width="{max(middle, 1):.1f}" height="13"/>')
    if high > low:
        yield (f'<path class="gw-whisker" d="M{left + low:.1f} {y + 6.5:.1f}H{left + high:.1f}'
               f'M{left + low:.1f} {y + 3:.1f}v7M{left + high:.1f} {y + 3:.1f}v7"/>')
    text = "» " * (value[1] > end) + number_text(value[1])
    yield _text(left + max(middle, high) + 5, y + 11, text, "gw-value")


def _value_text(value: tuple[float, float, float] | None) -> str:
    if value is None:
        return ""
    low, middle, high = map(number_text, value)
    return middle if low == high else f"{middle} ({low} to {high})"


MARKERS = (
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0", "M-3.2-3.2h6.4v6.4h-6.4z", "M0-4L4 3H-4z",
    "M0-4.4L4.4 0 0 4.4-4.4 0z", "M0 4L4-3H-4z", "M-4-1.3h2.7V-4h2.6v2.7H4v2.6H1.3V4h-2.6V1.3H-4z",
    "M-3.6-2.4l1.2-1.2L0-1.2l2.4-2.4 1.2 1.2L1.2 0l2.4 2.4-1.2 1.2L0 1.2l-2.4 2.4-1.2-1.2L-1.2 0z",
)
"""Circle, square, triangle, diamond, triangle down, plus, cross."""


def lines(
    series: Mapping[str, Sequence[float]], *, title: str, x: str, y: str, log: bool = False
) -> Chart:
    """Lines over the position 0, 1, 2, ...; `log` makes the scale of their values logarithmic."""
    height, left, right = 250.0, 58.0, 12.0
    everything = [value for values in series.values() for value in values if math.isfinite(value)]
    everything = [value for value in everything if value > 0] if log else everything
    scale = (math.log10 if log else float)
    low = min(everything, default=1.0)
    high = max(everything, default=1.0)
    marks = _decades(low, high) if log else ticks(max(high, 0.0))
    if low < 0:
        marks = [*(-value for value in reversed(ticks(-low)[1:])), *marks]
    bottom, top = scale(marks[0]), scale(marks[-1])
    parts = [_text(0, 14, title, "gw-title")]
    legend, begin = _legend(list(series), 36, lambda n, at, line: (
        f'<path class="gw-line s{n % COLOURS}" d="M{at} {line - 4}h24"/>'
        + _marker(n, at + 12, line - 4)))
    length = max(map(len, series.values()), default=1)
    across = (WIDTH - left - right) / max(length - 1, 1)

    def place(number: int, value: float) -> tuple[float, float]:
        share = (scale(value) - bottom) / ((top - bottom) or 1.0)
        return left + number * across, begin + height - share * height

    for value in marks:
        at = place(0, value)[1]
        parts.append(f'<path class="gw-grid" d="M{left} {at:.1f}H{WIDTH - right}"/>')
        parts.append(_text(left - 6, at + 4, number_text(value), "gw-tick", "end"))
    for value in ticks(float(max(length - 1, 0)), whole=True):
        if value <= length - 1:
            parts.append(_text(left + value * across, begin + height + 16, number_text(value),
                               "gw-tick", "middle"))
    parts += [_text(left, begin + height + 32, f"{x}; vertical: {y}", "gw-axis"), legend]
    for number, values in enumerate(series.values()):
        points = [place(n, v) for n, v in enumerate(values)
                  if math.isfinite(v) and (v > 0 or not log)]
        parts += _line(points, number)
    every = max(1, length // MARKS)
    rows = tuple(
        (str(n), *(number_text(v[n]) if n < len(v) else "" for v in series.values()))
        for n in range(0, length, every))
    return Chart(_svg(begin + height + 40, title, parts), (x, *series), rows)


def _decades(low: float, high: float) -> list[float]:
    """The 1, 2 and 5 of powers of ten around the values, at most a dozen of them."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high) + 1e-9)
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    found = [f * 10.0**p for p in range(first, last + 1) for f in factors]
    start = max((n for n, value in enumerate(found) if value <= low), default=0)
    end = min((n for n, value in enumerate(found) if value >= high), default=len(found) - 1)
    return found[start:max(end, start + 1) + 1]


def _line(points: Sequence[tuple[float, float]], series: int) -> Iterator[str]:
    if not points:
        return
    joined = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    yield f'<path class="gw-line s{series % COLOURS}" d="M{joined}"/>'
    every = max(1, len(points) // MARKS)
    for x, y in points[(series * every // 3) % every::every]:   # not all at the same places
        yield _marker(series, x, y)


def _marker(series: int, x: float, y: float) -> str:
    number = series % COLOURS
    return (f'<path class="gw-marker s{number}" transform="translate({x:.1f} {y:.1f})" '
            f'd="{MARKERS[number]}"/>')


def spans(
    drawn: Sequence[Bar], *, title: str, unit: str, headers: tuple[str, str, str, str],
    legend: Sequence[str] = (), whole: bool = False,
) -> Chart:
    """A row for each bar, from its start to its end on an axis that begins at 0.

    Args:
        drawn: the rows, top to bottom.
        title, unit: what it shows, and the label of the axis.
        headers: of the table: what labels, starts, ends and texts are.
        legend: the names of the series.
        whole: whether only integers stand at the axis.
    """
    letters = min(max((len(bar.label) + 2 * bar.depth for bar in drawn), default=0), 36)
    left = LETTER * letters + 14
    marks = ticks(max((bar.end for bar in drawn), default=1.0), 6, whole)
    scale = (WIDTH - left - 16) / marks[-1]
    parts = [_text(0, 14, title, "gw-title")]
    names, y = "", 26.0
    if legend:
        names, y = _legend(legend, 36, _square)
    top, rows = y, []
    for bar in drawn:
        x, width = left + bar.start * scale, max((bar.end - bar.start) * scale, 1.5)
        label = shortened(bar.label, letters - 2 * bar.depth)
        rows.append(
            f'<g {bar.attributes}><title>{escape(f"{bar.label}: {bar.text}")}</title>'
            + _text(LETTER * 2 * bar.depth, y + 14, label)
            + f'<rect class="gw-bar s{bar.series % COLOURS}" x="{x:.1f}" y="{y + 3:.1f}" '
            f'width="{width:.1f}" height="14"/>' + _inside(bar.text, x, width, y + 14) + "</g>")
        y += 20
    grid = list(_grid(marks, left, scale, top, y, unit))
    table = tuple(("  " * bar.depth + bar.label, number_text(bar.start), number_text(bar.end),
                   bar.text) for bar in drawn)
    role = "group" if any(bar.attributes for bar in drawn) else "img"
    return Chart(_svg(y + 36, title, [*parts, names, *grid, *rows], role), headers, table)


def _inside(text: str, x: float, width: float, y: float) -> str:
    """The text behind its bar if there is room, else in it, else nowhere."""
    size = LETTER * len(text) + 8
    if x + width + size < WIDTH:
        return _text(x + width + 5, y, text, "gw-value")
    return _text(x + width - 5, y, text, "gw-inner", "end") if size < width else ""
