"""What was measured and how: the figures that are published are those of `results/*.json`.

A file has the conditions of one run (date, commit, processor, threads, versions, load) and its
results. What is not known of an older run is null, and shown as "not recorded".
"""

from __future__ import annotations

import datetime
import importlib.util
import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.result import Result

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
LIBRARIES = {"NumPy": "numpy", "PyTorch": "torch", "JAX": "jax", "transformers": "transformers",
             "timm": "timm"}
"""What figures depend on besides this source, by the name that is shown."""


@dataclass
class Conditions:
    """How a run was made.

    Attributes:
        date: the day, as year-month-day.
        commit: of the source; with "+" where files differed from it.
        cpu: the processor's name; machine: its architecture.
        threads: of graphwright and of peers.
        versions: of Python and of each library, by name.
        load: the load averages of one minute, before and after.
        remark: what else a reader has to know.
    """

    date: str
    commit: str | None
    cpu: str | None
    machine: str
    threads: int
    versions: dict[str, str]
    load: list[float] | None
    remark: str = ""

    def sentences(self) -> str:
        """The line below a table or chart."""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        load = None if self.load is None else " to ".join(f"{value:.2f}" for value in self.load)
        known = {"processor": self.cpu, "commit": self.commit, "load": load}
        missing = [name for name, value in known.items() if value is None]
        facts = [f"{name} {value}" for name, value in known.items() if value is not None]
        text = f"Measured on {self.date}: " + ", ".join(
            [self.machine, f"{self.threads} threads", versions, *facts]) + "."
        if missing:
            text += f" Not recorded: {', '.join(missing)}."
        return f"{text} {self.remark}".rstrip()


@dataclass
class Measured:
    """One run: its conditions and its results."""

    conditions: Conditions
    results: list[Result] = field(default_factory=list)

    @classmethod
    def read(cls, name: str) -> Measured:
        """The committed figures of `results/NAME.json`."""
        data = json.loads((RESULTS / f"{name}.json").read_text())
        return cls(Conditions(**data["conditions"]),
                   [Result(**result) for result in data["results"]])

    def text(self) -> str:
        """The JSON, one result a line."""
        rows = ",\n".join(f"  {json.dumps(asdict(result))}" for result in self.results)
        conditions = json.dumps(asdict(self.conditions), indent=1)
        return f'{{\n"conditions": {conditions},\n"results": [\n{rows}\n]\n}}\n'

    def write(self, name: str) -> None:
        """Make them the published figures."""
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(self.text())


def conditions(load_before: float) -> Conditions:
    """Those of a run that ends now."""
    import graphwright as gw
    from graphwright.utils.collect_env import processor

    versions = {"Python": platform.python_version()} | {
        name: version(library) for name, library in LIBRARIES.items()
        if importlib.util.find_spec(library) is not None}
    return Conditions(
        date=datetime.date.today().isoformat(), commit=commit(), cpu=processor(),
        machine=platform.machine(), threads=gw.get_num_threads(), versions=versions,
        load=[load_before, os.getloadavg()[0]])


def commit() -> str | None:
    """The commit of the source; None outside of a clone."""
    def git(*words: str) -> Any:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True,
                              check=False)

    head = git("rev-parse", "--short", "HEAD")
    if head.returncode:
        return None
    return head.stdout.strip() + ("+" if git("status", "--porcelain", "-uno").stdout else "")
