"""One static, self-contained HTML page: text, tables, charts, images and dumps; no scripts.

`document`, `table` and `figure` also make the pages of `viewer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from graphwright.report.charts import Chart


@cache
def template(name: str) -> str:
    """A file of the folder `template`: "page.html", "style.css" or "page.js"."""
    return (files("graphwright.report") / "template" / name).read_text(encoding="utf-8")


def document(title: str, body: str, kind: str, script: str = "") -> str:
    """The text of a page. Of `title` the markup is escaped; `body` is markup.

    Args:
        kind: the class of the body in style.css, "report" or "viewer".
        script: a name in the folder `template`; "" for none.
    """
    code = f"<script>\n{template(script)}</script>" if script else ""
    return Template(template("page.html")).substitute(
        title=escape(title), style=template("style.css"), kind=kind, body=body, script=code)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], style: str = "") -> str:
    """A table whose cells are escaped; it scrolls where it is wider than the page."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in headers)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows)
    return (f'<div class="wide" tabindex="0"><table class="{style}"><thead><tr>{head}</tr></thead>'
            f"<tbody>\n{body}\n</tbody></table></div>")


def figure(chart: Chart) -> str:
    """A chart with its table folded up behind it."""
    return (f'<figure><div class="figure">{chart.svg}</div><details><summary>As a table</summary>'
            f"{table(chart.headers, chart.rows)}</details></figure>")


def image(pixels: Sequence[Sequence[float]]) -> str:
    """A small grey image: rows of values from 0 (white) to 1 (black), as squares of an SVG."""
    height, width = len(pixels), len(pixels[0])
    squares = "".join(
        f'<rect x="{x}" y="{y}" width="1" height="1" fill="#000" '
        f'fill-opacity="{value:.2f}"/>'
        for y, row in enumerate(pixels) for x, value in enumerate(row) if value > 0)
    return (f'<svg viewBox="0 0 {width} {height}" shape-rendering="crispEdges" '
            f'aria-hidden="true"><rect width="{width}" height="{height}" fill="#fff"/>'
            f"{squares}</svg>")


class Page:
    """Collects the parts of a page in order; `write` puts it on disk.

    Every text is escaped.
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

    def table(
        self, headers: Sequence[str], rows: Iterable[Sequence[object]], *, texts: bool = False
    ) -> None:
        """A table; the first column is aligned left, the others right unless they are texts."""
        self.parts.append(table(headers, rows, "texts" if texts else ""))

    def chart(self, chart: Chart) -> None:
        """A chart as made by `graphwright.report.charts`, and its table."""
        self.parts.append(figure(chart))

    def images(self, samples: Iterable[tuple[Sequence[Sequence[float]], str]]) -> None:
        """Small grey images, as rows of values from 0 to 1, with a caption each."""
        shown = "".join(f"<figure>{image(pixels)}<figcaption>{escape(caption)}</figcaption>"
                        "</figure>" for pixels, caption in samples)
        self.parts.append(f'<figure class="samples">{shown}</figure>')

    def links(self, targets: Mapping[str, str]) -> None:
        """A list of links: a text to where it leads, relative to the page."""
        items = "".join(f'<li><a href="{escape(target)}">{escape(text)}</a></li>'
                        for text, target in targets.items())
        self.parts.append(f"<ul>{items}</ul>")

    def dump(self, title: str, text: str) -> None:
        """A long text, folded up under its title."""
        self.parts.append(
            f"<details><summary>{escape(title)}</summary>"
            f'<pre tabindex="0">{escape(text)}</pre></details>')

    def html(self) -> str:
        """The whole page as text."""
        return document(self.title, "<main>\n" + "\n".join(self.parts) + "\n</main>", "report")

    def write(self, path: Path) -> Path:
        """Write the page, making its folder where needed; the path written."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.html(), encoding="utf-8", errors="backslashreplace")
        return path
