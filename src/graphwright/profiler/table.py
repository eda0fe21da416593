"""Tables of events, with PyTorch's columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graphwright.profiler.units import format_memory, format_time

_WIDTH, _GAP = 12, "  "
_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "0.00%"


class _Column(NamedTuple):
    """A column: its title, its width, what it says of an event, and whether that begins at the
    left."""

    title: str
    width: int
    text: Callable[[Any], str]
    left: bool = False


def _fit(longest: int, most: int | None) -> int:
    return longest + 4 if most is None else min(longest + 4, most)


def _cut_end(text: str, width: int) -> str:
    return text if len(text) <= width - 3 else f"{text[:width - 3]}..."


def _cut_start(text: str, width: int) -> str:
    return text if len(text) <= width else f"...{text[len(text) - width + 3:]}"


def _columns(
    events: Sequence[Any], total: float, widths: tuple[int, int, int], unit: str | None,
    with_memory: bool, with_flops: bool,
) -> list[_Column]:
    shapes = max((len(str(event.input_shapes)) for event in events if event.input_shapes),
                 default=0)
    sources = max((len(place) for event in events for place in event.stack), default=0)
    least = min((event.flops for event in events if event.flops > 0), default=0)
    scale = min(int(math.log10(least) / 3), len(_UNITS) - 1) if least else 0
    name_width = _fit(max(len(event.key) for event in events), widths[0])
    columns = [
        _Column("Name", name_width, lambda e: _cut_end(e.key, name_width)),
        _Column("Self CPU %", _WIDTH, lambda e: _share(e.self_cpu_time_total, total)),
        _Column("Self CPU", _WIDTH, lambda e: format_time(e.self_cpu_time_total, unit)),
        _Column("CPU total %", _WIDTH, lambda e: _share(e.cpu_time_total, total)),
        _Column("CPU total", _WIDTH, lambda e: format_time(e.cpu_time_total, unit)),
        _Column("CPU time avg", _WIDTH, lambda e: format_time(e.cpu_time, unit)),
    ]
    if with_memory:
        columns += [
            _Column("CPU Mem", _WIDTH, lambda e: format_memory(e.cpu_memory_usage)),
            _Column("Self CPU Mem", _WIDTH, lambda e: format_memory(e.self_cpu_memory_usage)),
        ]
    columns.append(_Column("# of Calls", _WIDTH, lambda e: str(e.count)))
    if shapes:
        width = max(_fit(shapes, widths[1]), _WIDTH)
        columns.append(_Column("Input Shapes", width, lambda e: str(e.input_shapes)[:width]))
    if sources:
        columns.append(_Column("Source Location", _fit(sources, widths[2]),
                               lambda e: next(iter(e.stack), ""), left=True))
    if with_flops and least:
        columns.append(_Column(f"Total {_UNITS[scale]}", _WIDTH, lambda e: (
            f"{e.flops / 1000.0**scale:.3f}" if e.flops else "--")))
    return columns


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
    columns = _columns(events, total, widths, unit, with_memory, with_flops)
    rule = "".join("-" * column.width + _GAP for column in columns)
    lines = [] if header is None else ["=" * (len(rule) - len(_GAP)), header]
    if top_level_only:
        lines += ["=" * (len(rule) - len(_GAP)),
                  "This report only display top-level ops statistics"]
    lines += [rule, _line(columns, [column.title for column in columns]), rule]
    for event in shown:
        lines.append(_line(columns, [column.text(event) for column in columns]))
        lines += [_line(columns, [place if column.left else "" for column in columns])
                  for place in event.stack[1:]]
    return "\n".join([*lines, rule, f"Self CPU time total: {format_time(total, unit)}", ""])


def _line(columns: Sequence[_Column], texts: Sequence[str]) -> str:
    return "".join(
        (_cut_start(text, column.width).ljust(column.width) if column.left
         else text.rjust(column.width)) + _GAP
        for column, text in zip(columns, texts, strict=True))
