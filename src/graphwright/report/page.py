"""One static, self-contained HTML page: text, tables, charts and folded-up dumps; no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

STYLE = """
:root { color-scheme: light; --ink: #30343b; --line: #dfe3e8; --soft: #f5f7f9; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: #fff;
       max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: 0.2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%;
        font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right; }
th:first-child, td:first-child { text-align: left; } th { background: var(--soft); }
pre { background: var(--soft); padding: 0.8rem; overflow: auto; font-size: 12px; line-height: 1.4;
      max-height: 34rem; }
details { margin: 0.5rem 0; border: 1px solid var(--line); border-radius: 6px; padding: 0 0.8rem; }
summary { cursor: pointer; padding: 0.5rem 0; font-weight: 600; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
""".strip()


class Page:
    """Collects the parts of a page in order; `write` puts it on disk.

    Every text is escaped; only `chart` takes markup (an <svg> element).
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.parts: list[str] = [f"<h1>{escape(title)}</h1>"]

    def heading(self, text: str) -> None:
        """A section's heading."""
        self.parts.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """A paragraph of plain text."""
        self.parts.append(f"<p>{escape(text)}</p>")

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table; the first column is aligned left, the others right."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in headers)
        body = "\n".join(
            "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        self.parts.append(f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}\n</table></div>')

    def chart(self, svg: str) -> None:
        """A chart as made by `graphwright.report.charts`."""
        self.parts.append(f"<figure>{svg}</figure>")

    def dump(self, title: str, text: str) -> None:
        """A long text, folded up under its title."""
        self.parts.append(
            f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
        )

    def html(self) -> str:
        """The whole page as text."""
        body = "\n".join(self.parts)
        return (
            "<!doctype html>\n"
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>\n{STYLE}\n</style></head>\n<body>\n{body}\n</body></html>\n"
        )

    def write(self, path: Path) -> Path:
        """Write the page, making its folder where needed; the path written."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.html(), encoding="utf-8")
        return path
