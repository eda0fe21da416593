"""Linear layers of few to many rows, compiled, whose weights no near cache holds, against PyTorch,
ONNX Runtime and OpenVINO on as many threads."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import graphwright as gw
from benchmarks import peers
from benchmarks.out_of_process import onnx_file, onnx_run
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns

ROWS = (1, 4, 8, 16, 64, 1024)
WEIGHTS = ((3072, 768), (4096, 4096))
TARGET = 1 / 0.95
"""Times the best peer's time."""


def torch_run(layer: gw.nn.Linear, x: np.ndarray) -> Callable[[], Any] | None:
    """A call of PyTorch's layer with the same weights; None where it is not installed."""
    torch = peers.torch()
    if torch is None:
        return None
    given = [torch.from_numpy(a.detach().clone().numpy()) for a in (layer.weight, layer.bias)]
    data = torch.from_numpy(x)

    def call() -> Any:
        with torch.inference_mode():
            return torch.nn.functional.linear(data, *given)
    return call


def openvino_run(path: Path, x: np.ndarray) -> Callable[[], Any] | None:
    """A call of OpenVINO on the file; None where it is not installed."""
    if importlib.util.find_spec("openvino") is None:
        return None
    library = importlib.import_module("openvino")
    request = library.Core().compile_model(str(path), "CPU", {
        "INFERENCE_NUM_THREADS": gw.get_num_threads(), "INFERENCE_PRECISION_HINT": "f32",
    }).create_infer_request()
    request.infer({0: x})

    def call() -> Any:
        request.infer()
        return request.get_output_tensor(0).data
    return call


def calls_of_peers(
    layer: gw.nn.Linear, x: np.ndarray, folder: Path,
) -> dict[str, Callable[[], Any]]:
    """The same layer in each library that is installed."""
    found = {"torch eager": torch_run(layer, x)}
    path = folder / "layer.onnx"
    with gw.no_grad():
        program = gw.export.export(layer, (gw.from_numpy(x),))
    if onnx_file(program, gw.from_numpy(x), path):
        found |= {"ONNX Runtime": onnx_run(path, x), "OpenVINO": openvino_run(path, x)}
    return {name: call for name, call in found.items() if call is not None}


def check(name: str, found: Any, expected: np.ndarray) -> None:
    """Raises Wrong for another result."""
    if not np.allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-3):
        raise Wrong(f"{name} differs from float64")


def run_shape(rows: int, n: int, k: int) -> Result:
    """One product with its bias, in times of the best peer's."""
    rng = np.random.default_rng(0)
    layer = gw.nn.Linear(k, n).requires_grad_(False)
    x = rng.standard_normal((rows, k), dtype=np.float32)
    expected = (x.astype("d") @ layer.weight.double().numpy().T
                + layer.bias.double().numpy())
    compiled, given = gw.compile(layer), gw.from_numpy(x)
    check("graphwright", compiled(given).numpy(), expected)
    with TemporaryDirectory() as folder:
        theirs = calls_of_peers(layer, x, Path(folder))
        for name, call in theirs.items():
            check(name, call(), expected)
        own = in_turns({"graphwright": lambda: compiled(given)}, seconds=0.5)["graphwright"]
        times = {name: t.median for name, t in peers.in_turns(theirs).items()}
    best = min(times.values(), default=own.median)
    speed = 2e-9 * rows * n * k / own.median
    return Result("products", f"linear {rows} x {k} -> {n}", "x best peer",
                  TARGET if times else None, own.median / best,
                  {name: time / best for name, time in times.items()},
                  f"{speed:.0f} Gflop/s", own.spread)


def run() -> list[Result]:
    """All shapes."""
    results = []
    for n, k in WEIGHTS:
        for rows in ROWS:
            try:
                results.append(run_shape(rows, n, k))
            except Wrong as wrong:
                results.append(Result("products", f"linear {rows} x {k} -> {n}", "x best peer",
                                      TARGET, None, note=str(wrong)))
    return results
