"""What `importlib.metadata` says of the distribution "torch", which graphwright stands in for."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

import graphwright


class StandIn(importlib.metadata.Distribution):
    """A distribution without files of its own: its module is graphwright."""

    def __init__(self, version: str) -> None:
        self._texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n"
                        "Summary: graphwright, which stands in for PyTorch\n",
            "top_level.txt": "torch\n",
        }

    def read_text(self, filename: str | os.PathLike[str]) -> str | None:
        """METADATA and top_level.txt; None for other files."""
        return self._texts.get(str(filename))

    def locate_file(self, path: str | os.PathLike[str]) -> Path:
        """Where a file of the package lies."""
        return Path(graphwright.__file__).parent / path
