"""Packages: how large they are, how soon a process has its first result, and the steady state.

A package's results are compared first with those of compiled code that runs the same kernels, bit
by bit, and with those of compiled code that has BLAS. ONNX Runtime runs the same programs where it
is installed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import graphwright as gw
from benchmarks.packaged_models import programs
from benchmarks.result import Result, Wrong
from graphwright import nn
from graphwright.codegen.target import CompilerMissing, find_compiler
from graphwright.export import ExportedProgram, export
from graphwright.export.packaging import Package, package
from graphwright.report.measure import in_turns

GROUP = "out_of_process"
ROUNDS = 15
KERNELS_LIMIT, RUNTIME_LIMIT = 300.0, 60.0
"""KB of a stripped library: of a model, and of a program that does next to nothing."""
FIRST_LIMIT = 20.0
"""Milliseconds from the start of the process, where a later run takes less than half as long."""
STEADY_LIMIT = 1.1
SOURCE = Path(__file__).with_name("first_result.c")
LOADER = Path(__file__).parent.parent / "loader" / "src"
ONNX_FIRST = """
import time, sys
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = {threads}
session = onnxruntime.InferenceSession({path!r}, options)
one = session.get_inputs()[0]
session.run(None, {{one.name: numpy.zeros({shape}, {dtype!r})}})
print(time.monotonic())
"""


def stripped_size(made: Package) -> float:
    """KB of the library without its symbols."""
    other = made.library.with_suffix(".stripped")
    subprocess.run(["strip", "-o", str(other), str(made.library)], check=True)
    return other.stat().st_size / 1000


def built(made: Package, x: gw.Tensor) -> Path:
    """The C program that runs a package once on zeros like `x`."""
    name, program = made.library.stem, made.library.with_suffix(".first")
    size = x.numel() * x.element_size()
    subprocess.run(
        [*find_compiler().command, "-O1", f"-DNAME={name}", f'-DHEADER="{name}.h"',
         f"-DSIZES={','.join(map(str, x.shape))}", f"-DBYTES={size}",
         f"-DTHREADS={gw.get_num_threads()}", f"-I{made.header.parent}", str(SOURCE),
         str(made.library), f"-Wl,-rpath,{made.library.parent}", "-o", str(program)], check=True)
    return program


def first_results(program: Path, made: Package, wanted: float) -> tuple[float, float]:
    """Milliseconds to create the model, and from the start of the process to its first result."""
    loads, firsts = [], []
    for _ in range(ROUNDS):
        start = time.monotonic_ns()
        said = subprocess.run([str(program), str(made.weights)], capture_output=True, text=True,
                              check=True).stdout.split()
        loads.append(float(said[0]) / 1e6)
        firsts.append((int(said[1]) - start) / 1e6)
        if not np.isclose(float(said[2]), wanted, rtol=1e-4, atol=1e-6):
            raise Wrong(f"{made.library.stem}: {said[2]} instead of {wanted}")
    return median(loads), median(firsts)


def onnx_file(program: ExportedProgram, x: gw.Tensor, path: Path) -> bool:
    """Write the program for ONNX Runtime; False where that is not installed."""
    if any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")):
        return False
    gw.onnx.export(program, (x,), path)
    return True


def onnx_run(path: Path, x: np.ndarray) -> Callable[[], Any]:
    """A call of ONNX Runtime on as many threads."""
    runtime = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = gw.get_num_threads()
    session = runtime.InferenceSession(str(path), options)
    given = {session.get_inputs()[0].name: x}
    return lambda: session.run(None, given)[0]


def onnx_first(path: Path, x: np.ndarray) -> float:
    """As the second of `first_results`, of a process of Python with ONNX Runtime."""
    code = ONNX_FIRST.format(path=str(path), threads=gw.get_num_threads(), shape=x.shape,
                             dtype=x.dtype.name)
    firsts = []
    for _ in range(ROUNDS // 3):
        start = time.monotonic()
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              check=True).stdout
        firsts.append(1000 * (float(said) - start))
    return median(firsts)


def loaded(made: Package, x: np.ndarray) -> tuple[Any, Callable[[], Any]]:
    """The package as Python's loader runs it, and a call on `x` as a C program makes it."""
    if str(LOADER) not in sys.path:
        sys.path.insert(0, str(LOADER))
    model = importlib.import_module("graphwright_loader").load(
        made.library, threads=gw.get_num_threads())
    model(x)
    arguments = model._model, model._given, model._results
    return model, lambda: model._run_function(*arguments)


def rows_of(title: str, program: ExportedProgram, x: gw.Tensor, made: Package) -> list[Result]:
    """The rows of one model."""
    array = x.numpy()
    model, again = loaded(made, array)
    own = gw.compile(program.module(), backend="c", options={"blas": False})
    blas = gw.compile(program.module(), backend="c")
    file = made.library.with_suffix(".onnx")
    with gw.no_grad():
        found = model(array)
        if not np.array_equal(found, own(x).numpy()):
            raise Wrong(f"{title}: other bits than compiled code with the same kernels")
        gw.testing.assert_close(gw.from_numpy(found), blas(x), rtol=1e-3, atol=1e-4)
        cases = {"own": lambda: own(x), "package": again, "BLAS": lambda: blas(x)}
        if onnx_file(program, x, file):
            cases["ONNX Runtime"] = onnx_run(file, array)
            np.testing.assert_allclose(cases["ONNX Runtime"](), found, rtol=1e-3, atol=1e-4)
        times = in_turns(cases, seconds=2.0)
    load, first = first_results(built(made, x), made, float(model(np.zeros_like(array)).flat[0]))
    steady = times["package"]
    soon = steady.median * 1e3 < FIRST_LIMIT / 2
    first_of_onnx = {"ONNX Runtime": onnx_first(file, array)} if file.exists() else {}
    return [
        Result(GROUP, f"{title}: code", "KB", KERNELS_LIMIT, stripped_size(made)),
        Result(GROUP, f"{title}: load", "ms", None, load),
        Result(GROUP, f"{title}: first result of a process", "ms",
               FIRST_LIMIT if soon else None, first, first_of_onnx,
               note="of ONNX Runtime: a process of Python"),
        Result(GROUP, f"{title}: a later run", "ms", None, 1e3 * steady.median,
               {name: 1e3 * times[name].median
                for name in ("BLAS", "ONNX Runtime") if name in times}, spread=steady.spread),
        Result(GROUP, f"{title}: over compiled code with the same kernels", "x", STEADY_LIMIT,
               steady.ratio[1]),
    ]


def run() -> list[Result]:
    """All rows; none where there is no C compiler."""
    try:
        find_compiler()
    except CompilerMissing as missing:
        print(f"out_of_process: left out: {missing}")
        return []
    gw.manual_seed(0)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        nothing = package(export(nn.Linear(1, 1), (gw.zeros(1, 1),)),
                          os.path.join(folder, "nothing"))
        results.append(Result(GROUP, "runtime of a package", "KB", RUNTIME_LIMIT,
                              stripped_size(nothing)))
        for name, (title, program, x) in programs().items():
            made = package(program, os.path.join(folder, name))
            results += rows_of(title, program, x, made)
    return results
