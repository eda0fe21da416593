"""What docs/onnx.md shows runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.blocks import ROOT, Reader

pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="models are run by onnxruntime")


def test_the_page_runs(tmp_path: Path) -> None:
    Reader("docs/onnx.md", tmp_path).follow((ROOT / "docs/onnx.md").read_text())
