"""Run the test suite on the environment's Python, or a part of it, also on the other Pythons.

    python tools/run_tests.py .venv [--others | --part export | --part gpu] [--slow]

The suite is all tests but those of its parts: what leaves the process, and what GPUs would run.

Other interpreters get an environment of their own beside the first (`.venv-3.12`, ...). They run
the tests of capture and of the core, which know bytecode and the C API, and a sample of the
others, drawn by a seed that is printed. One that is not on this machine is skipped with a line
that says so.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUPPORTED = ("3.11", "3.12", "3.13")
PARTS = {
    "export": ("tests/export", "tests/loader", "tests/onnx"),
    "gpu": ("tests/codegen/gpu", "tests/face/gpu", "tests/gpu_sim", "tests/runtime/cuda"),
}


def works(python: str, version: str) -> bool:
    """Whether `python` runs and is of `version` (a pyenv shim exists without its version)."""
    probe = "import sys; print(*sys.version_info[:2], sep='.')"
    done = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version


def find(version: str) -> str | None:
    """An interpreter of `version`: on PATH, or among pyenv's."""
    candidates = [shutil.which(f"python{version}")]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates += sorted(str(path) for path in pyenv.glob(f"{version}.*/bin/python"))
    for candidate in candidates:
        if candidate and works(candidate, version):
            return candidate
    return None


def pytest(python: Path, title: str, *options: str) -> int:
    """Run the suite with `python` on all cores; the exit status."""
    print(f"== tests on {title}", *options, flush=True)
    workers = str(len(os.sched_getaffinity(0)))
    command = [str(python), "-m", "pytest", "-q", "-n", workers, "--dist", "worksteal", *options]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def test_others(environment: Path, own: str) -> list[str]:
    """Run capture's and the core's tests, and a sample of the rest; the versions that failed."""
    failed = []
    sample = ["--share", "0.05", "--share-seed", str(random.randrange(10**6)),
              *[f"--ignore={folder}" for folder in PARTS["gpu"]]]
    for version in SUPPORTED:
        if version == own:
            continue
        interpreter = find(version)
        if interpreter is None:
            print(f"== Python {version} is not on this machine: skipped")
            continue
        folder = f"{environment}-{version}"
        create = [interpreter, "tools/environment.py", folder, "--extras", "dev,bench"]
        created = subprocess.run(create, cwd=ROOT, check=False).returncode == 0
        if not created or pytest(Path(folder, "bin", "python"), f"Python {version}", *sample):
            failed.append(version)
    return failed


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--others", action="store_true", help="the other Pythons, in part")
    parser.add_argument("--part", choices=PARTS, help="the tests that the suite leaves out")
    parser.add_argument("--slow", action="store_true", help="also the tests marked slow")
    arguments = parser.parse_args()
    own = ".".join(map(str, sys.version_info[:2]))
    environment = ROOT / arguments.folder
    if arguments.others:
        failed = test_others(environment, own)
    else:
        outside = [f"--ignore={folder}" for part in PARTS.values() for folder in part]
        chosen = [*(PARTS[arguments.part] if arguments.part else outside),
                  *(["-m", "slow or not slow"] if arguments.slow else [])]
        failed = [own] if pytest(environment / "bin" / "python", f"Python {own}", *chosen) else []
    if failed:
        raise SystemExit(f"tests failed on Python {', '.join(failed)}")


if __name__ == "__main__":
    main()
