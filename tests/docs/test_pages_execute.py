"""What the pages show runs as it stands, and prints what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, Reader, blocks, matches

import graphwright as gw

PAGES = (
    "README.md", "docs/index.md", "docs/quick_start.md", "docs/tutorial.md",
    "docs/coming_from_pytorch.md", "docs/capture.md", "docs/runtime.md", "docs/performance.md",
    "docs/debugging.md", "docs/export.md", "docs/package.md", "docs/onnx.md",
    "docs/environment.md", "docs/reliability.md", "docs/numerics.md",
    "docs/ecosystem.md", "docs/benchmarks.md", "docs/architecture.md", "SECURITY.md",
)
OTHERWISE = {
    "docs/graph_breaks.md": "tests/capture runs each example of the registry",
    "docs/cli.md": "tests/cli/test_documentation.py runs it",
    "docs/gpu.md": "tests/runtime/cuda/test_page.py runs it on simulated GPUs",
    "docs/profiling.md": "tests/libraries/test_profiler.py runs its program",
    "docs/onnx.md": "tests/onnx/test_page.py runs it, where onnx and onnxruntime are installed",
    "docs/ops.md": "a table", "docs/cpython_tests.md": "a table",
    "CHANGELOG.md": "prose", "THIRD_PARTY.md": "a table", "CONTRIBUTING.md": "prose",
}
"""Pages that are checked elsewhere, or have no code."""


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path) -> None:
    gw.compiler.reset()
    Reader(page, tmp_path).follow((ROOT / page).read_text())


def test_every_page_is_run_or_has_a_reason() -> None:
    there = {str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))}
    unknown = sorted(
        page for page in there - set(PAGES) - set(OTHERWISE)
        if any(block.language == "python" for block in blocks((ROOT / page).read_text())))
    assert unknown == []
    assert set(PAGES) | set(OTHERWISE) <= there


def test_a_wrong_output_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="shows"):
        Reader("page.md", tmp_path).follow("```python\nprint(1)\n```\n\n```\n2\n```\n")
    with pytest.raises(AssertionError):
        Reader("page.md", tmp_path).follow("```python\n>>> 1 + 1\n3\n```\n")
    assert matches("a ... c\n", "a b c") and not matches("a\n", "b")


def test_a_block_is_left_out_with_a_reason_only(tmp_path: Path) -> None:
    skipped = "<!-- not run: it takes an hour -->\n```python\nraise ValueError\n```\n"
    assert Reader("page.md", tmp_path).follow(skipped) == 0
    with pytest.raises(ValueError):
        Reader("page.md", tmp_path).follow("<!-- not run -->\n```python\nraise ValueError\n```\n")
