"""The rows of the table, which a process where `import torch` means graphwright answers."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .outcome import Outcome, differences

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 240
"""Seconds for one answer."""


@dataclass
class Row:
    """What one model or use did: eagerly and compiled against what PyTorch had recorded.

    eager, compiled: differences, a sentence each; None where it did not run. exported: the results
    of the exported model that are not bit-equal, or why it is refused. error: a traceback.
    """

    name: str
    kind: str
    eager: list[str] | None = None
    compiled: list[str] | None = None
    exported: list[str] = field(default_factory=list)
    error: str = ""
    gradients: int = 0
    graphs: int = 0
    nodes: int = 0
    breaks: list[str] = field(default_factory=list)
    tokens: bool = False
    decoding: dict[str, Any] = field(default_factory=dict)


class Rows:
    """Rows by name. One worker process answers for all, and is started again where it died."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self._worker: subprocess.Popen[str] | None = None

    def row(self, name: str, kind: str, expected: Outcome) -> Row:
        """The row of a model or use, whose outcome under PyTorch was `expected`."""
        if name not in self.rows:
            self.rows[name] = _compared(Row(name, kind), self._ask(name), expected)
        return self.rows[name]

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.communicate()
            self._worker = None

    def _ask(self, name: str) -> dict[str, Any]:
        worker = self._started()
        assert worker.stdin is not None and worker.stdout is not None
        worker.stdin.write(f"{name}\n")
        worker.stdin.flush()
        ready, _, _ = select.select([worker.stdout], [], [], PATIENCE)
        line = worker.stdout.readline() if ready else ""
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._worker = None
        if not ready:
            worker.kill()
        worker.stdin.close()
        status = worker.wait()
        return {"error": f"no answer within {PATIENCE} s" if not ready else
                f"the process ended with status {status}"}

    def _started(self) -> subprocess.Popen[str]:
        if self._worker is None:
            paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths),
                           "HF_HUB_OFFLINE": "1", "GRAPHWRIGHT_NOTICES": "0"}
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "tests.ecosystem.worker"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT,
            )
        return self._worker


def _compared(row: Row, answer: dict[str, Any], expected: Outcome) -> Row:
    """Fill a row from an answer of the worker and from PyTorch's outcome."""
    row.error = answer.get("error", "")
    row.exported = answer.get("exported", [])
    eager, compiled = answer.get("eager"), answer.get("compiled")
    if eager is not None:
        row.eager = differences(eager, expected)
        row.gradients = len(eager.get("gradients", ()))
    if compiled is not None:
        row.compiled = list(dict.fromkeys((*differences(compiled, expected),
                                           *differences(compiled, eager))))
    counts = answer.get("counts", {})
    row.graphs, row.nodes = counts.get("graphs", 0), counts.get("nodes", 0)
    row.breaks = counts.get("breaks", [])
    row.tokens = "tokens" in expected
    row.decoding = counts.get("decoding", {})
    return row
