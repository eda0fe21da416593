"""Packages as their callers see them: models that Python loads, calls of C, and programs in C."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from graphwright_loader import Model, load

from graphwright.export.packaging import Package

cffi = pytest.importorskip("cffi")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "package"
CC = shutil.which("cc")


def model(made: Package, threads: int = 1, weights: Path | None = None) -> Model:
    """A model whose random numbers begin with the seed 7."""
    return load(made.library, weights=weights, threads=threads, seed=7)


def library_of(made: Package) -> tuple[Any, Callable[..., Any]]:
    """For callers that pass what the loader never does: cffi, and a call of a function by the
    part of its name behind the package's."""
    text = re.sub(r'^#.*$|^extern "C" \{$|^\}$', "", made.header.read_text(), flags=re.M)
    ffi = cffi.FFI()
    ffi.cdef(text)
    library, name = ffi.dlopen(str(made.library)), made.library.stem
    return ffi, lambda part, *args: getattr(library, f"{name}_{part}")(*args)


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
