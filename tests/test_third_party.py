"""THIRD_PARTY.md names every dependency, and the extras that need it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def name_of(requirement: str) -> str:
    found = re.match(r"[\w-]+", requirement)
    assert found is not None
    return found.group()


def rows() -> dict[str, list[str]]:
    """The cells of each table's rows, by their first."""
    lines = (ROOT / "THIRD_PARTY.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in lines if line.startswith("|")]
    return {first: rest for first, *rest in cells if first not in ("name", "---")}


def test_every_dependency_has_a_row_with_a_purpose_and_a_licence() -> None:
    needed = {name_of(text) for text in PROJECT["dependencies"]}
    extras = PROJECT["optional-dependencies"]
    for extra, requirements in extras.items():
        for text in requirements:
            assert extra in rows()[name_of(text)][0].split(", ")
            needed.add(name_of(text))
    assert needed == set(rows())
    assert all(all(cells) for cells in rows().values())
