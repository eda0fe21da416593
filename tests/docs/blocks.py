"""The code of a page: what runs, in order, and whether it does what the page shows.

    ```python     statements, in one namespace for the page. One whose first line is `# name.py` is
                  saved under that name first. Lines with >>> are an example with its output.
    ```console    lines `$ command`, each followed by its output; `...` stands for any text. No
                  output shown: it is not compared.
    ```           after statements that print: what they printed

`<!-- not run: REASON -->` before a block leaves it out.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
_FENCE = re.compile(r"^```([\w{}-]*)\n(.*?)^```$", re.M | re.S)
_SKIP = re.compile(r"<!-- not run: (?P<reason>[^\n]+) -->\s*$")
_FILE = re.compile(r"# ([\w/]+\.py)\n")
_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A fenced block: its language, its text, the line where it starts, and why it is left out."""

    language: str
    text: str
    line: int
    skipped: str | None


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found = []
    for match in _FENCE.finditer(page):
        before = page[:match.start()]
        skip = _SKIP.search(before)
        found.append(Block(match[1], match[2], before.count("\n") + 2,
                           skip["reason"] if skip else None))
    return found


class Reader:
    """Someone who follows a page: types its code and its commands, and compares what comes out."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.space: dict[str, Any] = {"__name__": f"page_{Path(name).stem}"}
        self.printed = ""

    def follow(self, page: str) -> int:
        """Do what the page says; how many blocks were run or compared."""
        done = 0
        for block in blocks(page):
            if block.skipped is not None:
                continue
            if block.language == "python":
                self.python(block)
            elif block.language == "console":
                self.console(block)
            elif block.language == "" and self.printed:
                self.compare(block, block.text, self.printed)
            else:
                continue
            done += 1
            if block.language != "python":
                self.printed = ""
        return done

    def python(self, block: Block) -> None:
        named = _FILE.match(block.text)
        if named:
            (self.folder / named[1]).write_text(block.text)
        if ">>>" in block.text:
            self.example(block)
            return
        if named and "import torch\n" in block.text:
            return    # a program for another interpreter: a command runs it
        file = f"{self.name}:{block.line}"
        linecache.cache[file] = (len(block.text), None, block.text.splitlines(True), file)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.chdir(self.folder):
            exec(compile(block.text, file, "exec"), self.space)
        self.printed = out.getvalue()

    def example(self, block: Block) -> None:
        wrong: list[str] = []
        test = doctest.DocTestParser().get_doctest(
            block.text, self.space, self.name, self.name, block.line)
        test.globs = self.space
        with contextlib.chdir(self.folder):
            doctest.DocTestRunner(optionflags=_OPTIONS).run(test, out=wrong.append,
                                                            clear_globs=False)
        assert not wrong, "".join(wrong)

    def console(self, block: Block) -> None:
        for command, expected in commands(block.text):
            done = run(command, self.folder)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            if expected:
                self.compare(block, expected, done.stdout)

    def compare(self, block: Block, expected: str, found: str) -> None:
        place = f"{self.name}:{block.line}"
        assert matches(expected, found), f"{place} shows\n{expected}\nand it is\n{found}"


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown."""
    parts = re.split(r"^\$ ", text, flags=re.M)
    assert parts[0] == "", "a console block begins with a command"
    return [(command, expected) for command, _, expected in (p.partition("\n") for p in parts[1:])]


def matches(expected: str, found: str) -> bool:
    """Whether an output is the one shown: `...` is any text, white space does not count."""
    parts = [re.escape(" ".join(part.split())) for part in expected.split("...")]
    return re.fullmatch(".*".join(parts), " ".join(found.split()), re.S) is not None


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as it is typed, by this Python, on this source."""
    program, *arguments = shlex.split(command)
    words = {"python": [sys.executable], "graphwright": [sys.executable, "-m", "graphwright"]}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run([*words[program], *arguments], cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=120, check=False)
