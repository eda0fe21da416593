"""Packages as C programs see them: models that Python calls through cffi, and programs in C."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphwright.export.packaging import Package

cffi = pytest.importorskip("cffi")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "package"
CC = shutil.which("cc")


class Model:
    """A packaged model, called from Python as C calls it."""

    def __init__(self, made: Package, threads: int = 1, weights: str | None = None) -> None:
        """weights: a file with other ones; where the library has them, NULL is passed."""
        text = re.sub(r'^#.*$|^extern "C" \{$|^\}$', "", made.header.read_text(), flags=re.M)
        self.name, self.ffi = made.library.stem, cffi.FFI()
        self.ffi.cdef(text)
        self.library = self.ffi.dlopen(str(made.library))
        self.model = self.ffi.new(f"{self.name} **")
        path = made.weights if weights is None else weights
        self.failed = self("create", self.model,
                           self.ffi.NULL if path is None else str(path).encode(), threads, 7)

    def __call__(self, part: str, *args: Any) -> Any:
        return getattr(self.library, f"{self.name}_{part}")(*args)

    def error(self) -> str:
        return str(self.ffi.string(self("error", self.model[0])).decode())

    def run(self, *inputs: np.ndarray, results: int = 1) -> list[np.ndarray]:
        """The results, which are float32, with memory of the model's."""
        given, kept = self.ffi.new("gw_tensor[]", len(inputs) or 1), []
        for place, array in enumerate(inputs):
            kept.append(self.ffi.new("int64_t[]", list(array.shape) or [0]))
            given[place].data = self.ffi.cast("void *", array.ctypes.data)
            given[place].sizes, given[place].rank = kept[-1], array.ndim
        found = self.ffi.new("gw_tensor[]", results)
        sizes = [self.ffi.new("int64_t[8]") for _ in range(results)]
        for place, one in enumerate(sizes):
            found[place].sizes = one
        if self("run", self.model[0], given, found):
            raise RuntimeError(self.error())
        made = []
        for place in range(results):
            shape = [sizes[place][dim] for dim in range(found[place].rank)]
            count = int(np.prod(shape, dtype=np.int64))
            buffer = self.ffi.buffer(found[place].data, 4 * count)
            made.append(np.frombuffer(buffer, np.float32).reshape(shape).copy())
        return made

    def close(self) -> None:
        self("free", self.model[0])


def written(folder: Path, *target: str) -> Path:
    """The folder that examples/package/digits.py writes."""
    pytest.importorskip("sklearn")
    spec = importlib.util.spec_from_file_location("digits_package", EXAMPLES / "digits.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(folder, *target)
    return folder


def built(folder: Path, source: str, library: str, *flags: str) -> Path:
    """A C program of the examples, without warnings."""
    made = folder / f"{source}{len(flags)}"
    assert CC is not None
    subprocess.run([CC, "-std=c11", "-Wall", "-Wextra", "-Werror", "-g", *flags, f"-I{folder}",
                    str(EXAMPLES / f"{source}.c"), str(folder / f"{library}.so"),
                    f"-Wl,-rpath,{folder}", "-o", str(made)], check=True)
    return made


def done(command: list[Any], check: Callable[[int], bool] = lambda status: status == 0) -> str:
    ran = subprocess.run([str(one) for one in command], capture_output=True, text=True,
                         check=False)
    assert check(ran.returncode), ran.stderr
    return ran.stdout
