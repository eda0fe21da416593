"""A page that shows a compilation: one HTML file, which loads nothing and needs no server.

For each captured graph: the program's lines, the graph and its kernels, linked with each other;
the graph before and after each pass; the generated code; the memory plan. Of the whole: frames,
breaks, guards and recompiles as a tree, and the times of the stages. What a call did not leave
behind is made when the page is: passes run once more, and a backward graph that no call has needed
is compiled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from graphwright.face.explain_text import Branch, Tree, counts
from graphwright.face.stage_dumps import artifacts_of, bytecode
from graphwright.report.charts import Bar, spans
from graphwright.report.page import document, figure
from graphwright.report.viewer_graph import DETAILS, GraphView
from graphwright.runtime.spans import Span

if TYPE_CHECKING:
    from graphwright.face.explain import Explanation

LARGEST = 5_000_000
"""Bytes of a page. It leaves out `DETAILS`, one after the other, until it fits."""


def page(explanation: Explanation) -> str:
    """The page as text, at most `LARGEST` bytes as UTF-8.

    A page that would be larger leaves out details, and then graphs, and says so.

    Raises:
        ValueError: even the smallest page of one graph would be larger.

    Example:
        >>> from graphwright.report import viewer
        >>> report = gw.explain(lambda x: x.sin() + 1)(gw.ones(2))
        >>> viewer.page(report).startswith("<!doctype html>")
        True
    """
    views = [GraphView(number, record) for number, record in enumerate(explanation.graphs)]
    for count in range(len(DETAILS) + 1):
        text, size = _sized(explanation, views, DETAILS[:count])
        if size <= LARGEST:
            return text
    while len(views) > 1:
        views = views[:len(views) // 2]
        text, size = _sized(explanation, views, DETAILS)
        if size <= LARGEST:
            return text
    raise ValueError(f"a page of the compilation would have {size:,} bytes, more than "
                     f"{LARGEST:,}; explain a part of the program")


def _sized(
    explanation: Explanation, views: Sequence[GraphView], left_out: Sequence[str]
) -> tuple[str, int]:
    """A page, and how many bytes it has."""
    text = _page(explanation, views, left_out)
    return text, len(text.encode("utf-8", errors="backslashreplace"))


def write(path: str | os.PathLike[str], explanation: Explanation) -> None:
    """Write `page(explanation)` to a file.

    Raises:
        ValueError: see `page`.
        OSError: the file cannot be written.
    """
    Path(path).write_text(page(explanation), encoding="utf-8", errors="backslashreplace")


def _page(
    explanation: Explanation, views: Sequence[GraphView], left_out: Sequence[str]
) -> str:
    first = explanation.frames[0].location if explanation.frames else None
    if first is None and explanation.breaks:
        first = explanation.breaks[0].frame or explanation.breaks[0].location
    subject = explanation.subject or first
    name = subject.function if subject is not None else ""
    title = f"{name}, compiled" if name else "A compilation"
    parts = [*left_out]
    if len(views) < len(explanation.graphs):
        parts.append(f"all graphs but the first {len(views)}")
    listed = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
    note = (f" To stay below {LARGEST // 1_000_000} MB the page leaves out {listed}; "
            "`graphwright dump` prints all." if parts else "")
    where = f"{first.file}:{first.line}." if first is not None else ""
    tabs = {view.title: _tabs(f"graph{view.number}", "inner", view.tabs(left_out))
            for view in views}
    tabs["Breaks and guards"] = _overview(explanation)
    tabs["Time"] = _times(explanation)
    body = (
        '<a class="skip" href="#main">Skip to the content</a>'
        f'<header class="top"><h1>{escape(title)}</h1>'
        '<div class="search" role="search"><input type="search" id="q" role="combobox" '
        'aria-label="Search lines, nodes, kernels and buffers" aria-expanded="false" '
        'aria-controls="hits" aria-autocomplete="list" autocomplete="off" placeholder="Search  /">'
        '<ul id="hits" role="listbox" aria-label="Found" hidden></ul></div>'
        '<button id="theme" aria-pressed="false" aria-label="Light or dark colours">◐</button>'
        f"<p>{escape(counts(explanation.stats))}. {escape(where + note)}</p></header>"
        f'<main id="main">{_tabs("all", "outer", tabs)}</main>'
        f"<noscript><p>Links, search and zoom need JavaScript.</p></noscript>")
    return document(title, body, "viewer", "page.js")


def _tabs(name: str, style: str, panels: Mapping[str, str]) -> str:
    """Panels of which one is shown, and the tabs that choose it."""
    tabs, contents = [], []
    for number, (title, markup) in enumerate(panels.items()):
        own, first = f"{name}_{number}", number == 0
        tabs.append(
            f'<button role="tab" id="{own}_tab" aria-controls="{own}" '
            f'aria-selected="{str(first).lower()}" tabindex="{0 if first else -1}">'
            f"{escape(title)}</button>")
        contents.append(
            f'<div role="tabpanel" id="{own}" aria-labelledby="{own}_tab" '
            f'data-title="{escape(title)}" {"" if first else "hidden"}>{markup}</div>')
    return (f'<div role="tablist" class="{style}" aria-label="Views">{"".join(tabs)}</div>'
            f'{"".join(contents)}')


def _overview(explanation: Explanation) -> str:
    stats = explanation.stats
    tiles = "".join(
        f"<li><b>{number}</b><span>{escape(name)}</span></li>" for name, number in (
            ("graphs", stats.graphs), ("graph breaks", stats.breaks),
            ("frames as plain Python", stats.fallbacks), ("recompiles", stats.recompiles),
            ("kernels", stats.kernels)))
    tree = Tree(guards=True)
    functions = "".join(
        f"<li><code>{escape(place.function)}</code> <span class='muted'>"
        f"{escape(place.file)}:{place.line}</span><ul>{_branches(tree.branches(entries))}</ul></li>"
        for place, entries in tree.functions(explanation).items())
    code = bytecode(explanation.frames)
    return (
        f'<ul class="tiles">{tiles}</ul><h2>Frames, breaks, guards and recompiles</h2>'
        f'<ul class="tree">{functions or "<li>No function was captured.</li>"}</ul>'
        + (f'<details><summary>Bytecode, before and after</summary><pre class="text" '
           f'tabindex="0">{escape(code)}</pre></details>' if code else ""))


def _branches(branches: Sequence[Branch]) -> str:
    """A tree as nested lists; guards are folded up."""
    parts = []
    for text, below in branches:
        style = "break" if text.startswith("GB") else ""
        if below:
            folded = "" if text.startswith("guards") else "open"
            parts.append(f'<li class="{style}"><details {folded}><summary>{escape(text)}'
                         f"</summary><ul>{_branches(below)}</ul></details></li>")
        else:
            parts.append(f'<li class="{style}"><span class="leaf">{escape(text)}</span></li>')
    return "".join(parts)


STAGES = ("capture", "passes", "code generation")


def _times(explanation: Explanation) -> str:
    """When the stages ran, as bars; a stage within another one is indented."""
    found = sorted(_spans(explanation), key=lambda item: (item[1].start, -item[1].end))
    if not found:
        return "<p>No times were recorded.</p>"
    origin = found[0][1].start
    bars, around = list[Bar](), list[Span]()
    for series, span in found:
        while around and around[-1].end < span.end:
            around.pop()
        start, end = (span.start - origin) * 1e3, (span.end - origin) * 1e3
        name = span.name.removeprefix("compile::")
        bars.append(Bar(name, start, end, f"{end - start:.2f} ms", len(around), series))
        around.append(span)
    chart = spans(bars, title="When the stages of the compilation ran", unit="milliseconds",
                  legend=STAGES, headers=("stage", "begin, ms", "end, ms", "lasted"))
    return ("<p class='muted'>A stage is indented below the one that it is part of. Guards are "
            f"made of what a capture has read.</p>{figure(chart)}")


def _spans(explanation: Explanation) -> Iterator[tuple[int, Span]]:
    """Each span with the number of its stage."""
    yield from ((0, span) for span in explanation.spans)
    for record in explanation.graphs:
        found = artifacts_of(record.graph)
        for span in found.spans if found is not None else ():
            yield 1 if span.name.startswith("compile::pass") else 2, span
