"""One of the models under some libraries, in a process of its own: see `models`.

    python -m benchmarks.model_process FOLDER CASE LIBRARY...

prints one line of JSON: by library the seconds of the first call and how far the results are from
those in float64. Of one library alone also the most memory that the process had, after a few
calls; of several the times of calls, in turns. graphwright is imported only where it is named, or
there are turns, so that the memory of others is theirs.

All use two CPUs, whichever number of threads they would choose, and wait for work as they do by
default. Threads of most libraries spin after a call, those of ONNX Runtime for 31 ms, and after a
sleep the kernel may leave threads on one CPU for 15 ms; so each takes its turn after a pause, and
after as long of calls that are not timed.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.architectures.cases import CASES, Case

THREADS = 2
CALLS = 3
"""Calls after the first one that the peak of memory is taken over."""
SECONDS, ROUNDS, PAUSE = 1.5, 9, 0.05
"""How long each library is timed, its least number of turns, and before each of them how long it
sleeps, and then is called."""

Call = Callable[[], Any]
Start = Callable[[], Call]
"""Compiles or loads the model: a call on its inputs."""


def graphwright(case: Case, folder: Path, compiled: bool = True) -> Start:
    """Ours, compiled or eagerly."""
    import graphwright as gw

    gw.set_grad_enabled(False)
    model, inputs = case.model(gw, weights(folder)), tensors(gw, case)

    def start() -> Call:
        function = gw.compile(model) if compiled else model
        return lambda: function(*inputs)

    return start


def torch(case: Case, folder: Path, compiled: bool = True) -> Start:
    """PyTorch, compiled with its weights as constants, or eagerly."""
    library: Any = importlib.import_module("torch")
    library.set_num_threads(THREADS)
    library.set_grad_enabled(False)
    model, inputs = case.model(library, weights(folder)), tensors(library, case)

    def start() -> Call:
        if not compiled:
            return lambda: model(*inputs)
        config: Any = importlib.import_module("torch._inductor.config")
        config.freezing = True
        function = library.compile(model)
        return lambda: function(*inputs)

    return start


def onnx_runtime(case: Case, folder: Path) -> Start:
    """ONNX Runtime on the exported file."""
    library: Any = importlib.import_module("onnxruntime")
    inputs = case.arguments()

    def start() -> Call:
        options = library.SessionOptions()
        options.intra_op_num_threads = THREADS
        session = library.InferenceSession(str(folder / "model.onnx"), options,
                                           providers=["CPUExecutionProvider"])
        given = {one.name: array
                 for one, array in zip(session.get_inputs(), inputs, strict=True)}
        return lambda: session.run(None, given)

    return start


def openvino(case: Case, folder: Path) -> Start:
    """OpenVINO on the exported file, for latency, in float32."""
    library: Any = importlib.import_module("openvino")
    inputs = list(case.arguments())
    options = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
               "INFERENCE_NUM_THREADS": THREADS}

    def start() -> Call:
        model = library.Core().compile_model(str(folder / "model.onnx"), "CPU", options)
        request = model.create_infer_request()

        def call() -> list[np.ndarray]:
            request.infer(inputs, share_inputs=True, share_outputs=True)
            return [openvino_array(request.get_output_tensor(number))
                    for number in range(len(model.outputs))]

        return call

    return start


def jax(case: Case, folder: Path) -> Start:
    """JAX, of models that are written for it."""
    library: Any = importlib.import_module("jax")
    assert case.jax_form is not None
    function = case.jax_form(library, **case.sizes)
    parameters = {name: library.numpy.asarray(array) for name, array in weights(folder).items()}
    parameters = {name: array.astype(case.dtype) if array.dtype == "float32" else array
                  for name, array in parameters.items()}
    inputs = [library.numpy.asarray(array) for array in case.arguments()]

    def start() -> Call:
        jitted = library.jit(function)
        return lambda: jitted(parameters, *inputs).block_until_ready()

    return start


def openvino_array(tensor: Any) -> np.ndarray:
    """The numbers of a tensor; NumPy shows bfloat16 as bits."""
    if tensor.get_element_type().get_type_name() != "bf16":
        return np.asarray(tensor.data)
    bits = np.asarray(tensor.data).view(np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32)


LIBRARIES: dict[str, Callable[[Case, Path], Start]] = {
    "graphwright": graphwright,
    "eager": lambda case, folder: graphwright(case, folder, compiled=False),
    "torch eager": lambda case, folder: torch(case, folder, compiled=False),
    "torch.compile": torch,
    "ONNX Runtime": onnx_runtime,
    "OpenVINO": openvino,
    "JAX jit": jax,
}


def weights(folder: Path) -> dict[str, np.ndarray]:
    """The arrays that all libraries start from."""
    with np.load(folder / "weights.npz") as arrays:
        return dict(arrays)


def tensors(lib: Any, case: Case) -> list[Any]:
    """The inputs as tensors of graphwright or torch."""
    return [lib.from_numpy(array) for array in case.arguments()]


def doubles(result: Any) -> list[np.ndarray]:
    """The arrays of a result of any library, in float64."""
    parts = result if isinstance(result, tuple | list) else [result]
    return [np.asarray(part.double() if hasattr(part, "double") else part, dtype=np.float64)
            for part in parts]


def distance(result: Any, exact: list[np.ndarray]) -> float:
    """The root of the mean squared difference, of all outputs together."""
    found = doubles(result)
    gaps = [(one - other).ravel() for one, other in zip(found, exact, strict=True)]
    return float(np.sqrt(np.mean(np.concatenate(gaps) ** 2)))


def started(name: str, case: Case, folder: Path) -> tuple[Call, dict[str, float]]:
    """A library's call after its first, which is timed and compared."""
    start = LIBRARIES[name](case, folder)
    begin = time.perf_counter()
    call = start()
    result = call()
    first = time.perf_counter() - begin
    with np.load(folder / "exact.npz") as exact:
        error = distance(result, list(exact.values()))
    return call, {"first_s": first, "rmse": error}


def alone(name: str, case: Case, folder: Path) -> dict[str, dict[str, float]]:
    """One library: also the process's peak of memory, in bytes."""
    spec = importlib.util.find_spec("graphwright")
    assert spec is not None and spec.origin is not None
    reading = runpy.run_path(str(Path(spec.origin).parent / "cli" / "bench_process.py"))
    call, found = started(name, case, folder)
    for _ in range(CALLS):
        call()
    return {name: {**found, "peak_bytes": reading["resident"]()[1]}}


def together(names: list[str], case: Case, folder: Path) -> dict[str, dict[str, float]]:
    """Several libraries: also the times of calls in turns."""
    from graphwright.report.clock import samples_in_turns
    from graphwright.report.measure import summary

    calls, found = {}, {}
    for name in names:
        calls[name], found[name] = started(name, case, folder)
    times = samples_in_turns(calls, seconds=SECONDS, least_rounds=ROUNDS, pause=PAUSE)
    for name, samples in times.items():
        timing = summary(samples)
        found[name] |= {"median_s": timing.median, "spread": timing.spread,
                        "least_s": min(samples)}
    return found


def main() -> None:
    """The command line."""
    folder, name, *libraries = sys.argv[1:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    case = CASES[name]
    found = (together(libraries, case, Path(folder)) if len(libraries) > 1
             else alone(libraries[0], case, Path(folder)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
