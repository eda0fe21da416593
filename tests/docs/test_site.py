"""The site builds without a warning, its links lead somewhere, and nothing public is left out."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.docs.blocks import ROOT

import graphwright as gw
from graphwright.capture.breaks import BREAKS

needs_sphinx = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sphinx", "myst_parser", "furo")),
    reason="needs the extra docs")


class Links(HTMLParser):
    """The targets of a page's links, pictures and scripts, and its own anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name == "id":
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.targets.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with warnings as errors."""
    out = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run([sys.executable, "tools/build_site.py", "--out", str(out)], cwd=ROOT,
                          capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return out


def broken_links(site: Path) -> Iterator[str]:
    """Internal links without a file or an anchor at their end."""
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html")}
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
            if not file.exists():
                yield f"{page.relative_to(site)}: {target}"
            elif parts.fragment and file in pages \
                    and unquote(parts.fragment) not in pages[file].anchors:
                yield f"{page.relative_to(site)}: {target}, no such anchor"


@needs_sphinx
def test_links_lead_somewhere(site: Path) -> None:
    assert list(broken_links(site)) == []


@needs_sphinx
def test_every_code_of_a_break_has_a_page(site: Path) -> None:
    pages = {path.stem for path in (site / "graph_breaks").glob("GB*.html")}
    assert pages == set(BREAKS)
    text = (site / "graph_breaks" / "GB0001.html").read_text()
    assert "the truth value of tensor" in text and "Remedy" in text


@needs_sphinx
def test_the_search_works_without_a_server(site: Path) -> None:
    assert "Search.setIndex" in (site / "searchindex.js").read_text()[:50]
    outside = [target for target in Links((site / "index.html").read_text()).targets
               if urlsplit(target).netloc]
    assert [target for target in outside if target.endswith((".js", ".css"))] == []


@needs_sphinx
@pytest.mark.parametrize(("page", "names"), [
    ("gw_reductions", ["gw.sum", "gw.mean"]), ("gw", ["gw.compile", "gw.float32"]),
    ("nn", ["gw.nn.Linear"]), ("tensor", ["gw.Tensor.backward", "gw.Tensor.shape"]),
    ("optim", ["gw.optim.AdamW"]), ("compiler", ["gw.compiler.mark_dynamic"]),
])
def test_the_reference_has_names_under_their_anchors(
    site: Path, page: str, names: list[str]
) -> None:
    anchors = Links((site / "api" / f"{page}.html").read_text()).anchors
    assert [name for name in names if name not in anchors] == []


def test_every_public_package_has_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import document_api

    assert document_api.undocumented_modules() == set()
    listed = {name for page in document_api.top_level().values() for name, _ in page.members}
    missing = [name for name in dir(gw) if name[0] != "_" and callable(getattr(gw, name))
               and document_api.is_ours(getattr(gw, name)) and name not in listed]
    assert missing == []


def test_docstrings_become_text_lists_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from docstring_rst import to_rst

    doc = ("Sum of `x`, *not* markup.\n\nArgs:\n    input: a tensor,\n        any.\n"
           "    *sizes: ints.\n\nReturns: a tensor\nof one element.\n\nRaises:\n"
           "    IndexError: no such dim.\n\nExample:\n    >>> 1 + 1\n    2\n")
    assert "\n".join(to_rst(doc)) == (
        "Sum of \\ ``x``\\ , \\*not\\* markup.\n\n**Arguments**\n\n- ``input``: a tensor, any.\n"
        "- ``*sizes``: ints.\n\n**Returns**\n\na tensor of one element.\n\n**Raises**\n\n"
        "- ``IndexError``: no such dim.\n\n**Example**\n\n.. code-block:: pycon\n\n"
        "   >>> 1 + 1\n   2\n")
