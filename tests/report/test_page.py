"""The HTML page: everything is escaped, nothing is fetched from elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from graphwright.report.page import Page


class Collector(HTMLParser):
    """Tags, attributes and text of a page, and whether tags are balanced."""

    VOID = frozenset({"meta", "br", "path", "use", "image", "rect", "circle", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parse(html: str) -> Collector:
    collector = Collector()
    collector.feed(html)
    assert collector.open == []
    return collector


def test_texts_are_escaped_wherever_they_stand(tmp_path: Path) -> None:
    nasty = "<script>alert('&')</script>"
    page = Page(nasty)
    page.heading(nasty)
    page.paragraph(nasty)
    page.table([nasty], [[nasty]])
    page.dump(nasty, nasty)
    parsed = parse(page.write(tmp_path / "new folder" / "page.html").read_text())
    assert "script" not in parsed.tags
    assert "".join(parsed.text).count(nasty) == 8


def test_page_with_charts_is_self_contained() -> None:
    pytest.importorskip("matplotlib")
    from graphwright.report.charts import bars, lines

    page = Page("charts")
    page.chart(bars(["a", "b"], {"eager": [1.0, 2.0], "compiled": [0.5, None]},
                    title="times", unit="ms"))
    page.chart(lines({"eager": [3.0, 2.0], "compiled": [3.0, 2.0]}, title="loss", x="step",
                     y="loss", log=True))
    html = page.html()
    parsed = parse(html)
    assert parsed.tags.count("svg") == 2
    assert "script" not in parsed.tags and "link" not in parsed.tags
    references = [value for name, value in parsed.attributes
                  if name in ("src", "href", "xlink:href") and value]
    assert all(value.startswith("#") for value in references)
    assert "compiled" in "".join(parsed.text)


def test_charts_are_the_same_from_run_to_run() -> None:
    pytest.importorskip("matplotlib")
    from graphwright.report.charts import bars

    first, second = (bars(["a"], {"x": [1.0]}, title="t", unit="s") for _ in range(2))
    assert first == second
