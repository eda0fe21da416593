"""Run the C extensions' tests under AddressSanitizer and UndefinedBehaviorSanitizer.

    .venv/bin/python tools/sanitize.py

Builds both extensions with the sanitizers into a temporary copy of the sources, and runs on it
tests/runtime/core and tests/runtime/cuda, the tests of op functions, those of the hook and of
guards, of routines and packed weights, and the profiler's. Needs gcc on Linux.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-g", "-O1", "-std=gnu11", "-fPIC", "-shared", "-fwrapv", "-fno-omit-frame-pointer",
         "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
EXTENSIONS = {"runtime": "_core", "capture": "_eval_frame"}
TESTS = ["tests/runtime/core", "tests/runtime/cuda", "tests/runtime/ops/test_op_functions.py",
         "tests/runtime/ops/test_function_names.py", "tests/runtime/ops/test_out.py",
         "tests/capture/frame/test_dispatcher.py", "tests/capture/guards/test_guards.py",
         "tests/capture/guards/test_guard_sources.py",
         "tests/capture/guards/test_guard_tree.py", "tests/libraries/test_profiler.py",
         "tests/codegen/test_routines.py", "tests/codegen/test_channels_last.py",
         "tests/face/test_packed_weights.py", "tests/nn/test_recurrence.py",
         "tests/nn/test_attention.py"]


def build(package: Path, layer: str, name: str) -> None:
    """Compile one extension into the copied package."""
    folder = package / layer / name
    target = package / layer / f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
    headers = {path.parent for path in package.rglob("*.h")}
    includes = [sysconfig.get_path("include"), numpy.get_include(), *sorted(headers)]
    sources = sorted(map(str, folder.rglob("*.c")))
    subprocess.run(
        ["gcc", *FLAGS, *(f"-I{path}" for path in includes), *sources, "-lpthread", "-ldl", "-lm",
         "-o", str(target)], check=True)


def library(name: str) -> str:
    """Where gcc keeps a sanitizer's runtime library."""
    return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True,
                          check=True).stdout.strip()


def main() -> None:
    """Build, then run the tests; the exit status is pytest's."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "graphwright"
        shutil.copytree(ROOT / "src" / "graphwright", package,
                        ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        for layer, name in EXTENSIONS.items():
            build(package, layer, name)
        environment = {
            **os.environ, "PYTHONPATH": folder, "PYTHONMALLOC": "malloc",
            "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
