"""Runs modules of CPython's test suite in processes of their own, and compares."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from .modules import DIFFERENT

CHILD = Path(__file__).with_name("child.py")
SECONDS = 900


class Outcome:
    """What one run of a module gave: outcomes by test, frames, and how the process ended."""

    def __init__(self, lines: list[list[Any]], status: int, errors: str) -> None:
        self.tests = {line[1]: line[2] for line in lines if line[0] == "end"}
        self.frames: dict[str, Any] = next((x[1] for x in lines if x[0] == "frames"), {})
        self.status = status
        self.errors = errors
        begun = [line[1] for line in lines if line[0] == "begin"]
        self.unfinished = [test for test in begun if test not in self.tests]

    @property
    def rate(self) -> float:
        """The part of the eligible frames that ran translated code."""
        return self.frames["translated"] / max(self.frames["eligible"], 1)


def run(name: str, captured: bool, python: str = sys.executable) -> Outcome:
    """Run a module in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        command = [python, str(CHILD), name, str(report)] + ["--captured"] * captured
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True,
                timeout=SECONDS, check=False,
            )
            status, errors = done.returncode, done.stderr
        except subprocess.TimeoutExpired as late:
            status, errors = -1, f"more than {SECONDS} s: {str(late.stderr)[-2000:]}"
        text = report.read_text() if report.exists() else ""
    return Outcome([json.loads(line) for line in text.splitlines()], status, errors)


def differences(plain: Outcome, captured: Outcome) -> dict[str, tuple[str, str]]:
    """The tests that end otherwise when captured, but for those that may."""
    names = sorted({*plain.tests, *captured.tests})
    found = {
        name: (plain.tests.get(name, "not run"), captured.tests.get(name, "not run"))
        for name in names
    }
    return {
        name: pair
        for name, pair in found.items()
        if pair[0] != pair[1] and not any(part in name for part in DIFFERENT)
    }


def reasons(skipped: list[dict[str, int]]) -> Counter[str]:
    """Why code ran plainly, in all of some runs."""
    total: Counter[str] = Counter()
    for counts in skipped:
        total.update(counts)
    return total
