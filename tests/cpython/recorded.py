"""What docs/cpython_tests.md says: facts of earlier runs, by version of Python and by module."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cpython_tests.md"
MARK = "<!-- facts: "
PROCESS = "the process"
"""Stands in a list of differing tests for a run that did not end."""


def facts() -> dict[str, dict[str, Any]]:
    """The page's facts; none if there is no page."""
    if not PAGE.exists():
        return {}
    text = PAGE.read_text()
    start = text.rindex(MARK) + len(MARK)
    return json.loads(text[start : text.index(" -->", start)])  # type: ignore[no-any-return]


def differing(name: str) -> frozenset[str]:
    """The tests of a module that end otherwise on this minor version of Python."""
    minor = platform.python_version().rpartition(".")[0] + "."
    found = [rows[name] for version, rows in facts().items() if version.startswith(minor)
             and name in rows]
    return frozenset(found[0]["differing"]) if found else frozenset()
