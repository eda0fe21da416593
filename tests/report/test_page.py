"""The HTML page: everything is escaped, nothing is fetched from elsewhere."""

from __future__ import annotations

from pathlib import Path

from tests.report.pages import Parsed

from graphwright.report.charts import bars, lines
from graphwright.report.page import Page


def test_texts_are_escaped_wherever_they_stand(tmp_path: Path) -> None:
    nasty = "<script>alert('&')</script>"
    page = Page(nasty)
    page.heading(nasty)
    page.paragraph(nasty)
    page.table([nasty], [[nasty]])
    page.dump(nasty, nasty)
    page.links({nasty: "page.html"})
    page.images([([[0.0, 1.0]], nasty)])
    page.chart(bars([nasty], {nasty: [1.0]}, title=nasty, unit=nasty))
    page.chart(lines({nasty: [1.0, 2.0]}, title=nasty, x=nasty, y="y"))
    parsed = Parsed(page.write(tmp_path / "new folder" / "page.html").read_text())
    assert "script" not in parsed.tags
    assert "".join(parsed.text).count(nasty) == 23


def test_page_with_charts_is_self_contained() -> None:
    page = Page("charts")
    page.chart(bars(["a", "b"], {"eager": [1.0, 2.0], "compiled": [0.5, None]},
                    title="times", unit="ms"))
    page.chart(lines({"eager": [3.0, 2.0], "compiled": [3.0, 2.0]}, title="loss", x="step",
                     y="loss", log=True))
    parsed = Parsed(page.html())
    assert parsed.tags.count("svg") == parsed.tags.count("table") == 2
    assert "script" not in parsed.tags and "link" not in parsed.tags
    assert not parsed.all("src") and not parsed.all("href")
    assert "compiled" in "".join(parsed.text)
