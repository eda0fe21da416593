"""`Compare`: measurements as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphwright.utils.benchmark.measurement import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

_GREEN, _RED, _PLAIN = "\033[92m", "\033[31m", "\033[0m"
_CLOSE, _FAR = 1.05, 1.5


class Compare:
    """A table for each label: a row for each sub_label, a column for each description.

    Rows are grouped by numbers of threads; several measurements of a cell are merged. `env` stands
    in front of a row's name.

    >>> from graphwright.utils.benchmark import Measurement, TaskSpec
    >>> task = TaskSpec("f(x)", "", label="sum", sub_label="small", description="eager")
    >>> print(gw.utils.benchmark.Compare([Measurement(1, [2e-6], task)]))
    [------- sum -------]
                 |  eager
    1 threads: ----------
          small  |    2
    <BLANKLINE>
    Times are in microseconds (us).
    <BLANKLINE>
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = self._color = self._rowwise = self._warn = False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements. ValueError for anything else."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError("Expected an instance of `Measurement`, but got "
                                 f"{type(result).__name__} instead.")
            self._results.append(result)

    def trim_significant_figures(self) -> None:
        """Show as many figures as mean something."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour fast and slow cells, within columns or, `rowwise`, within rows."""
        self._color, self._rowwise = True, rowwise

    def highlight_warnings(self) -> None:
        """Mark cells with the interquartile range, where that is more than a tenth."""
        self._warn = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(result.task_spec.label for result in merged)
        return "\n".join(self._table([r for r in merged if r.task_spec.label == label])
                         for label in labels)

    def _table(self, results: list[Measurement]) -> str:
        columns = ordered_unique(r.task_spec.description for r in results)
        rows = ordered_unique((r.task_spec.num_threads, r.task_spec.env, r.as_row_name)
                              for r in results)
        cells = {((r.task_spec.num_threads, r.task_spec.env, r.as_row_name),
                  r.task_spec.description): r for r in results}
        unit, scale = select_unit(min(r.median for r in results))
        texts = {place: self._text(result, scale) for place, result in cells.items()}
        widths = [max(len(column or ""), *(len(texts.get((row, column), "")) for row in rows))
                  for column in columns]
        names = {row: f"{f'({row[1]}) ' if row[1] else ''}{row[2]}" for row in rows}
        left = 6 + max(len(name) for name in names.values())
        head = " " * left + "".join(
            f"  |  {(column or '').center(width)}" for column, width in zip(columns, widths,
                                                                          strict=True))
        title = f" {results[0].task_spec.label or results[0].task_spec.stmt} "
        lines = [f"[{title.center(max(len(head) - 2, len(title)), '-')}]", head.rstrip()]
        threads = None
        for row in sorted(rows, key=lambda row: row[0]):
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(len(head), "-"))
            lines.append(names[row].rjust(left) + "".join(
                f"  |  {self._painted(cells, texts, row, column, width)}"
                for column, width in zip(columns, widths, strict=True)).rstrip())
        lines += ["", f"Times are in {unit_to_english(unit)}s ({unit}).", ""]
        return "\n".join(lines)

    def _text(self, result: Measurement, scale: float) -> str:
        value = result.median / scale
        if self._trim:
            value = trim_sigfig(value, result.significant_figures)
        text = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
        if self._warn and result.has_warnings:
            text += f" (! {100 * result.iqr / result.median:.0f}%)"
        return text

    def _painted(self, cells: dict[Any, Measurement], texts: dict[Any, str], row: Any,
                 column: Any, width: int) -> str:
        text = texts.get((row, column), "").center(width)
        if not self._color or (row, column) not in cells:
            return text
        peers = [r.median for (other_row, other_column), r in cells.items()
                 if (other_row == row if self._rowwise else other_column == column)]
        ratio = cells[row, column].median / min(peers)
        color = _GREEN if ratio <= _CLOSE else _RED if ratio >= _FAR else ""
        return f"{color}{text}{_PLAIN}" if color else text
