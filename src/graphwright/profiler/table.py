"""Tables of events, with PyTorch's columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from graphwright.profiler.units import format_memory, format_time

_WIDTH, _GAP = 12, "  "
_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "0.00%"


class _Column:
    """A column: its title, its width, whether its texts begin at the left."""

    def __init__(self, title: str, width: int, left: bool = False) -> None:
        self.title, self.width, self.left = title, width, left

    def text(self, value: str) -> str:
        return value.ljust(self.width) if self.left else value.rjust(self.width)


def _fit(longest: int, most: int | None) -> int:
    return longest + 4 if most is None else min(longest + 4, most)


def _cut_end(text: str, width: int) -> str:
    return text if len(text) <= width - 3 else f"{text[:width - 3]}..."


def _cut_start(text: str, width: int) -> str:
    return text if len(text) <= width else f"...{text[len(text) - width + 3:]}"


def build_table(
    events: Sequence[Any], row_limit: int, widths: tuple[int, int, int], header: str | None,
    top_level_only: bool, unit: str | None, with_memory: bool, with_flops: bool,
) -> str:
    """The text of `EventList.table`; `widths` are the most for names, shapes and sources."""
    if not events:
        return ""
    total = sum(event.self_cpu_time_total for event in events)
    shown = [event for event in events if not top_level_only or event.cpu_parent is None]
    shown = shown if row_limit < 0 else shown[:row_limit]
    shapes = max((len(str(event.input_shapes)) for event in events if event.input_shapes),
                 default=0)
    sources = max((len(place) for event in events for place in event.stack), default=0)
    least = min((event.flops for event in events if event.flops > 0), default=0)
    scale = min(int(math.log10(least) / 3), len(_UNITS) - 1) if least else 0

    columns = [_Column("Name", _fit(max(len(event.key) for event in events), widths[0]))]
    titles = ["Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    titles += ["CPU Mem", "Self CPU Mem"] if with_memory else []
    columns += [_Column(title, _WIDTH) for title in (*titles, "# of Calls")]
    if shapes:
        columns.append(_Column("Input Shapes", max(_fit(shapes, widths[1]), _WIDTH)))
    if sources:
        columns.append(_Column("Source Location", _fit(sources, widths[2]), left=True))
    if with_flops and least:
        columns.append(_Column(f"Total {_UNITS[scale]}", _WIDTH))

    rule = "".join("-" * column.width + _GAP for column in columns)
    lines = [] if header is None else ["=" * (len(rule) - len(_GAP)), header]
    if top_level_only:
        lines += ["=" * (len(rule) - len(_GAP)),
                  "This report only display top-level ops statistics"]
    lines += [rule, _line(columns, [column.title for column in columns]), rule]
    for event in shown:
        lines += _rows(event, columns, total, unit, 1000.0**scale)
    return "\n".join([*lines, rule, f"Self CPU time total: {format_time(total, unit)}", ""])


def _line(columns: Sequence[_Column], texts: Sequence[str]) -> str:
    return "".join(column.text(text) + _GAP
                   for column, text in zip(columns, texts, strict=True))


def _rows(event: Any, columns: Sequence[_Column], total: float, unit: str | None, scale: float
          ) -> list[str]:
    """A line of figures, and one for each further place of the stack."""
    known = {
        "Name": _cut_end(event.key, columns[0].width),
        "Self CPU %": _share(event.self_cpu_time_total, total),
        "Self CPU": format_time(event.self_cpu_time_total, unit),
        "CPU total %": _share(event.cpu_time_total, total),
        "CPU total": format_time(event.cpu_time_total, unit),
        "CPU time avg": format_time(event.cpu_time, unit),
        "CPU Mem": format_memory(event.cpu_memory_usage),
        "Self CPU Mem": format_memory(event.self_cpu_memory_usage),
        "# of Calls": str(event.count),
    }
    flops = f"{event.flops / scale:.3f}" if event.flops else "--"
    texts = []
    for column in columns:
        if column.title == "Input Shapes":
            texts.append(str(event.input_shapes)[:column.width])
        elif column.title == "Source Location":
            texts.append(_cut_start(event.stack[0], column.width) if event.stack else "")
        else:
            texts.append(known.get(column.title, flops))
    lines = [_line(columns, texts)]
    for place in event.stack[1:]:
        rest = ["" if c.title != "Source Location" else _cut_start(place, c.width)
                for c in columns]
        lines.append(_line(columns, rest))
    return lines
