"""Check graphwright on a machine with a GPU that has neither a network nor a compiler.

    python3.12 tools/gpu_check.py pack build/gpu [--target sm_90]      on any machine
    python3.12 tools/gpu_check.py run build/gpu [--seconds 480]        on the one with the GPU

`pack` makes a folder with wheels for the Python that runs it, and a cache of the kernels that the
tests of ops launch, compiled for the target: they run on a simulated driver whose launches do
nothing. `run` installs the wheels into that folder, compares each op with the CPU, has
compute-sanitizer watch a sample of them where it is installed, measures the benchmark of GPUs, and
writes benchmarks/results/gpu.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_NEEDED = ("llvmlite",)
"""What code for CPUs needs alone, and is large."""
TESTED = ("pytest>=8", "scipy>=1.11", "hypothesis>=6.100")
OPS = "tests/face/gpu/test_single_ops.py"
FILL = """
import sys
sys.path.insert(0, {root!r})
from tests.face.gpu import filled_cache
filled_cache.fill()
"""


def packed(folder: Path, target: str) -> None:
    """Fill the folder with wheels and kernels."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs = [need for need in (*project["dependencies"], *TESTED)
             if not need.startswith(NOT_NEEDED)]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder), str(ROOT)], check=True)
    subprocess.run([*pip, "download", "--only-binary=:all:", "-d", str(folder), *needs],
                   check=True)
    installed(folder)
    environment = surroundings(folder) | {
        "GPU_SIM_NULL": "1", "GPU_SIM_ARCH": target.removeprefix("sm_")}
    subprocess.run([sys.executable, "-c", FILL.format(root=str(ROOT))], env=environment,
                   cwd=ROOT, check=True)


def installed(folder: Path) -> None:
    """Unpack the wheels into the folder's `site`."""
    shutil.rmtree(folder / "site", ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile",
         "--target", str(folder / "site"), *map(str, sorted(folder.glob("*.whl")))], check=True)


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of what runs: the wheels, and the cache."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT)]),
                         "GRAPHWRIGHT_CACHE_DIR": str(folder / "cache")}


class Checks:
    """The steps of a run, which share its time."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.end = time.monotonic() + seconds
        self.rows: list[dict[str, object]] = []

    def step(self, command: Sequence[str], most: float) -> bool:
        """Run a command for so many seconds at most; whether it ended well."""
        left = min(most, self.end - time.monotonic())
        print("$", " ".join(command), f"(at most {left:.0f} s)", flush=True)
        try:
            done = subprocess.run(command, env=surroundings(self.folder), cwd=ROOT,
                                  timeout=max(left, 1), check=False)
        except subprocess.TimeoutExpired:
            print(f"not done within {left:.0f} s", flush=True)
            return False
        return done.returncode == 0

    def row(self, name: str, value: float | None, target: float | None, note: str) -> None:
        """Note a result, as a row of the benchmark's has it."""
        self.rows.append({"group": "gpu", "name": name, "unit": "", "target": target,
                          "value": value, "peers": {}, "note": note, "spread": None})

    def ops(self) -> None:
        """Each op's samples beside the CPU."""
        report = self.folder / "ops.xml"
        report.unlink(missing_ok=True)
        whole = self.step([sys.executable, "-m", "pytest", OPS, "-q", "--hardware", "-p",
                           "no:cacheprovider", "-m", "slow or not slow", f"--junitxml={report}"],
                          240)
        if not report.exists():
            self.row("samples of ops that differ from the CPU", None, 0, "the tests did not end")
            return
        suite = next(ElementTree.parse(report).getroot().iter("testsuite"))
        count, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        wrong = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        self.row("samples of ops that differ from the CPU", wrong, 0,
                 f"of {count - skipped}{'' if whole or wrong else ', not all of them'}")

    def sanitizer(self) -> None:
        """A sample of the ops under compute-sanitizer."""
        name = "kernels with an error that compute-sanitizer finds"
        found = shutil.which("compute-sanitizer")
        if found is None:
            self.row(name, None, 0, "compute-sanitizer is not installed")
            return
        clean = self.step([found, "--error-exitcode", "1", sys.executable, "-m", "pytest", OPS,
                           "-q", "--hardware", "-p", "no:cacheprovider", "-k",
                           "test_ops_are_as_on_the_cpu"], 80)
        self.row(name, 0 if clean else None, 0, "" if clean else "see what it printed")

    def benchmark(self) -> None:
        """The rows of the benchmark, to which those of the other steps are added."""
        out = self.folder / "benchmark"
        self.step([sys.executable, "-m", "benchmarks", "gpu", "--out", str(out)], 200)
        results = out / "results.json"
        if not results.exists():
            print("no benchmark: nothing is written", flush=True)
            return
        data = json.loads(results.read_text())
        data["results"] = [*self.rows, *data["results"]]
        target = ROOT / "benchmarks" / "results" / "gpu.json"
        target.write_text(json.dumps(data, indent=1) + "\n")
        print(f"written: {target}", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.
                                     RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["pack", "run"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--seconds", type=float, default=480)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    if arguments.action == "pack":
        packed(folder, arguments.target)
        return
    installed(folder)
    checks = Checks(folder, arguments.seconds)
    for step in (checks.ops, checks.sanitizer, checks.benchmark):
        step()


if __name__ == "__main__":
    main()
