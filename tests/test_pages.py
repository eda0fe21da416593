"""The pages of docs/contributing, followed to the letter on a copy of the repository.

The blocks of a page say where they go. Applied, what the page runs passes; without what they
change in the package, its test fails.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "contributing"
WAYS = (("op", "gradient"), ("pass",), ("backend",), ("tracker",))
"""The pages that are followed on one copy, in this order: a page may go on from the one before."""
NAMES = tuple(name for way in WAYS for name in way)
MOST_LINES = 60
PLACES = {
    "new": re.compile(r"`(?P<file>[^`]+)`, a new file:$"),
    "end": re.compile(r"[Aa]t the end of `(?P<file>[^`]+)`:$"),
    "after": re.compile(r"[Ii]n `(?P<file>[^`]+)`, after `(?P<line>[^`]+)`:$"),
    "instead": re.compile(r"[Ii]n `(?P<file>[^`]+)`, in place of `(?P<line>[^`]+)`:$"),
}
"""The ends of the paragraphs before a block of Python: where it goes."""


class Block(NamedTuple):
    """A fenced block. `place`: a key of `PLACES`, or "run" for commands."""

    place: str
    file: str
    line: str
    code: str


def read(name: str) -> str:
    return (PAGES / f"{name}.md").read_text()


def blocks(text: str) -> list[Block]:
    """The blocks of a page in order, each with its place."""
    found: list[Block] = []
    for before, language, code in re.findall(r"(.*?)^```(\w+)\n(.*?)^```\n", text, re.M | re.S):
        if language == "sh":
            found.append(Block("run", "", "", code))
            continue
        paragraph = before.rstrip().rpartition("\n\n")[2].replace("\n", " ")
        places = [(place, match) for place, pattern in PLACES.items()
                  if (match := pattern.search(paragraph))]
        assert len(places) == 1, f"{paragraph!r} does not say where its block goes"
        place, match = places[0]
        found.append(Block(place, match["file"], match.groupdict().get("line", ""), code))
    return found


def apply(block: Block, root: Path) -> None:
    """Do in the repository at `root` what the page says."""
    path = root / block.file
    if block.place == "new":
        assert path.parent.is_dir() and not path.exists(), f"{block.file} is there already"
        path.write_text(block.code)
        return
    text = path.read_text()
    if block.place == "end":
        path.write_text(text + block.code)
        return
    lines = text.splitlines(keepends=True)
    (at,) = (n for n, line in enumerate(lines) if line.strip() == block.line)
    lines[at:at + 1] = [*([lines[at]] if block.place == "after" else []), block.code]
    path.write_text("".join(lines))


def run(block: Block, root: Path) -> list[subprocess.CompletedProcess[str]]:
    """The commands of a block, up to one that fails, by this Python, on the package at `root`."""
    environment = {**os.environ, "PYTHONPATH": str(root / "src"),
                   "GRAPHWRIGHT_CACHE_DIR": str(root / "kernels")}
    done: list[subprocess.CompletedProcess[str]] = []
    for line in block.code.splitlines():
        program, *arguments = shlex.split(line)
        command = {"python": [sys.executable], "make": ["make", f"RUN={sys.executable}"]}[program]
        done.append(subprocess.run([*command, *arguments], cwd=root, env=environment,
                                   capture_output=True, text=True, timeout=120))
        if done[-1].returncode:
            break
    return done


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of what pages change and run, the built extensions included."""
    unneeded = shutil.ignore_patterns("cpython", "ecosystem", "libraries", "idioms", "_core")
    for folder in ("src", "tests", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=unneeded)
    for file in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def changes_tests(block: Block) -> bool:
    return block.file.startswith("tests/")


def follow(steps: list[Block], root: Path) -> None:
    """Apply and run the blocks in order."""
    for block in steps:
        if block.place != "run":
            apply(block, root)
            continue
        last = run(block, root)[-1]
        assert last.returncode == 0, last.stdout + last.stderr


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_followed(way: tuple[str, ...], repository: Path) -> None:
    """A page's test fails before the change; all that the page runs passes after it."""
    for name in way:
        steps = blocks(read(name))
        for block in filter(changes_tests, steps):
            apply(block, repository)
        before = run(steps[-1], repository)[-1]
        assert before.returncode == 1 and " failed" in before.stdout, before.stdout + before.stderr
        follow([block for block in steps if not changes_tests(block)], repository)


@pytest.mark.parametrize("name", NAMES)
def test_short(name: str) -> None:
    code = [line for block in blocks(read(name)) for line in block.code.splitlines() if line]
    assert len(code) <= MOST_LINES


@pytest.mark.parametrize("name", NAMES)
def test_ends_with_its_test(name: str) -> None:
    *_, test, command = blocks(read(name))
    assert changes_tests(test) and command.place == "run" and test.file in command.code


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_names_files_that_exist(way: tuple[str, ...]) -> None:
    made: set[str] = set()
    for text in map(read, way):
        made |= {block.file for block in blocks(text)}
        named = set(re.findall(r"`((?:src|tests|tools|docs)/[^`]+)`", text))
        assert [file for file in sorted(named - made) if not (ROOT / file).exists()] == []


def test_contributing_links_every_page() -> None:
    links = re.findall(r"\(docs/contributing/(\w+)\.md\)", (ROOT / "CONTRIBUTING.md").read_text())
    assert sorted(links) == sorted(NAMES) == sorted(page.stem for page in PAGES.glob("*.md"))
