"""The page about GPUs runs as it stands, on simulated ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.docs.blocks import ROOT, Reader


def test_the_page(gpu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_LIBCUDA", str(gpu.path))    # for its commands
    assert Reader("docs/gpu.md", tmp_path).follow((ROOT / "docs/gpu.md").read_text()) >= 10
