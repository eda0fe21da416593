"""Whole models, inference: compiled, against eager and what else would run them.

PyTorch eagerly and by `torch.compile` with frozen weights, ONNX Runtime and OpenVINO on the file
that `gw.onnx.export` writes, where they are installed, all from the same weights and inputs. For
each model, the first call of each library in a process of its own, with an empty cache, and that
process's peak of memory; then in one process, with the caches filled, first calls again, and the
times of calls in turns: see `model_process`. A result has to be as near to that in float64 as
twice eager's distance.

    python -m benchmarks.models [CASE...]

measures the cases named, all if none is.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import graphwright as gw
from benchmarks import peers, reporting
from benchmarks.architectures.cases import CASES, Arrays, Case, drawn_weights
from benchmarks.measured import ROOT
from benchmarks.model_process import distance, doubles
from benchmarks.result import Result, Wrong

GROUP = "models"
MEAN_LIMIT, WORST_LIMIT = 1 / 1.15, 1 / 0.9
"""Most of graphwright's time over the best peer's: the geometric mean of all cases, and any."""
ERROR_LIMIT = 2.0
"""Most of the distance from float64, over eager's."""
NEEDS = {"graphwright": (), "torch eager": ("torch",), "torch.compile": ("torch",),
         "ONNX Runtime": ("onnxruntime", "onnx"), "OpenVINO": ("openvino", "onnx"),
         "JAX jit": ("jax",)}
"""The libraries of `model_process` that have processes of their own, and what they need."""
OWN = ("graphwright", "eager")


class Found(NamedTuple):
    """What is known of a case: for each library what its processes said, and notes."""

    case: Case
    eager_error: float
    alone: dict[str, dict[str, float]]
    turns: dict[str, dict[str, float]]
    notes: list[str]

    def over_best(self, key: str = "median_s") -> float | None:
        """Graphwright's time over that of the fastest peer; None without one."""
        times = [found[key] for name, found in self.turns.items() if name not in OWN]
        return self.turns["graphwright"][key] / min(times) if times else None

    def error(self) -> float:
        """The compiled result's distance from float64, over eager's."""
        return self.turns["graphwright"]["rmse"] / self.eager_error


def installed() -> list[str]:
    """The libraries that can be compared here."""
    return [name for name, needed in NEEDS.items()
            if all(importlib.util.find_spec(one) is not None for one in needed)
            and (name != "torch.compile" or peers.torch_compiles())]


def weights_of(case: Case, notes: list[str]) -> Arrays:
    """The weights of a case: published, where they are here, or drawn."""
    drawn = drawn_weights(case.build(gw, **case.sizes))
    if case.published is None:
        return drawn
    if not case.published.exists():
        notes.append("random weights: `make minilm` fetches the published ones")
        return drawn
    published = gw.load_file(case.published)
    return {name: np.array(published[name].numpy()) for name in drawn}


def prepare(case: Case, folder: Path, notes: list[str]) -> float:
    """Write a case's weights, results in float64 and ONNX file; eager's distance from the former.

    Adds to `notes` which weights they are, and where the model is no single graph.
    """
    weights = weights_of(case, notes)
    np.savez(folder / "weights.npz", **weights)     # type: ignore[arg-type]
    model, inputs = case.model(gw, weights), tuple(map(gw.from_numpy, case.arguments()))
    with gw.no_grad():
        stats = gw.explain(model)(*inputs).stats
        eager = doubles(model(*inputs))
        if importlib.util.find_spec("onnx") is not None:
            gw.onnx.export(model, inputs, folder / "model.onnx", verify=False)
        exact = doubles(model.double()(*(one.double() if one.is_floating_point() else one
                                         for one in inputs)))
    np.savez(folder / "exact.npz", *exact)
    if stats.graphs != 1 or stats.breaks:
        notes.append(f"{stats.graphs} graphs, {stats.breaks} graph breaks")
    return distance(eager, exact)


def spoken(folder: Path, case: str, *libraries: str) -> dict[str, dict[str, float]]:
    """What a process says of some libraries; its kernel caches are in `folder`, and Python's own
    bytecode files may be written and read, as those of an installed package are.

    Raises Wrong with the last line of its errors.
    """
    environment = {**os.environ, "GRAPHWRIGHT_CACHE_DIR": str(folder / "cache"),
                   "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache" / "inductor")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.model_process", str(folder), case, *libraries],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong((done.stderr.strip().splitlines() or ["it was ended"])[-1])
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(name: str, libraries: Iterable[str]) -> Found:
    """Measure a case. Raises Wrong where graphwright's own process fails."""
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        error = prepare(CASES[name], folder, notes)
        alone: dict[str, dict[str, float]] = {}
        for library in libraries:
            if library == "JAX jit" and CASES[name].jax_form is None:
                continue
            try:
                alone |= spoken(folder, name, library)
            except Wrong as wrong:
                if library == "graphwright":
                    raise
                notes.append(f"{library}: {wrong}")
        accurate = [library for library, found in alone.items() if near(found["rmse"], error)]
        notes += [f"{library} is left out: RMSE {alone[library]['rmse']:.1e}, eager {error:.1e}"
                  for library in alone if library not in accurate and library not in OWN]
        turns = spoken(folder, name, *dict.fromkeys([*OWN, *accurate]))
    return Found(CASES[name], error, alone, turns, notes)


def near(error: float, eager: float) -> bool:
    """Whether a library's result is one of the same computation: ten times eager's distance."""
    return error <= 10 * eager


def rows_of(found: Found) -> Iterator[Result]:
    """The rows of a case; those of peers are times of the same."""
    title, own, best = found.case.title, found.turns["graphwright"], found.over_best()
    notes = [f"RMSE {found.error():.2f}x eager's", *found.notes]
    if best is not None:
        least = 1 / (found.over_best("least_s") or math.nan)
        notes.insert(0, f"{1 / best:.2f}x the best peer, {least:.2f}x by the least times")
    wrong = found.error() > ERROR_LIMIT
    yield Result(
        GROUP, title, "ms", best and WORST_LIMIT / best * own["median_s"] * 1e3,
        None if wrong else own["median_s"] * 1e3,
        {name: said["median_s"] * 1e3 for name, said in found.turns.items()
         if name != "graphwright"}, "; ".join(notes), own["spread"])
    for what, unit, said, key, scale in (
            ("first call, empty cache", "s", found.alone, "first_s", 1.0),
            ("first call, filled cache", "s", found.turns, "first_s", 1.0),
            ("peak memory of the process", "MB", found.alone, "peak_bytes", 1e-6)):
        figures = {name: values[key] * scale for name, values in said.items() if name != "eager"}
        yield Result(GROUP, f"{title}: {what}", unit, None, figures.pop("graphwright"), figures)


def summary_of(found: list[Found]) -> Iterator[Result]:
    """The rows over all cases."""
    ratios = [(ratio, one.case.title) for one in found if (ratio := one.over_best()) is not None]
    if ratios:
        mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
        worst, title = max(ratios)
        yield Result(GROUP, "all models: over the best peer, geometric mean", "x", MEAN_LIMIT,
                     mean, note=f"{1 / mean:.2f}x the best peer, {len(ratios)} models")
        yield Result(GROUP, "all models: over the best peer, worst", "x", WORST_LIMIT, worst,
                     note=title)
    worst_error = max(found, key=Found.error)
    yield Result(GROUP, "all models: distance from float64, worst", "x eager", ERROR_LIMIT,
                 worst_error.error(), note=worst_error.case.title)


def run(names: Iterable[str] = CASES) -> list[Result]:
    """The rows of the cases, and those over all of them."""
    libraries, found, results = installed(), list[Found](), list[Result]()
    for name in names:
        print(f"  {name} ...", flush=True)
        try:
            one = measured(name, libraries)
        except Wrong as wrong:
            results.append(Result(GROUP, CASES[name].title, "ms", None, None, note=str(wrong)))
            continue
        found.append(one)
        rows = list(rows_of(one))
        print(f"    {rows[0].note}", flush=True)
        results += rows
    return [*results, *summary_of(found)] if found else results


if __name__ == "__main__":
    reporting.main_of_cases(GROUP, CASES, run)
