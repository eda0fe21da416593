"""What the host does to run a compiled graph on a GPU.

For each number of kernels two rows: the native call that allocates the outputs and launches the
kernels, and the call of the compiled function, which adds the guards. The limit is that of the
native call.

The driver is the one of tests/gpu_sim, in a process of its own. Results are checked on the
simulated GPU first; then the driver counts launches and runs none, so that the rows are
graphwright's own time. The driver's work, which on hardware is about 2 us a kernel, is not in it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from typing import Any

import graphwright as gw
from benchmarks.result import Result, Wrong
from graphwright.face.api import compilation_of
from graphwright.face.stage_dumps import artifacts_of
from graphwright.report.measure import in_turns

GROUP = "launches"
KERNELS = (1, 10, 50)
CALL_LIMIT, KERNEL_LIMIT = 0.5, 0.05
"""Microseconds of a native call, and of each kernel in it."""


def chain(count: int) -> Callable[[Any], Any]:
    """A function of so many kernels, as no two of its reductions fit into one."""
    def run(x: Any) -> Any:
        for place in range(count):
            x = gw.softmax(x, place % 2)
        return x
    return run


def compiled_chain(count: int, x: Any) -> Callable[[Any], Any]:
    """The compiled function; raises Wrong for a wrong result."""
    function = chain(count)
    compiled = gw.compile(function)
    if not gw.allclose(compiled(x).cpu(), function(x.cpu()), 1e-5, 1e-6):
        raise Wrong(f"{count} softmax in turn")
    if gw.compiler.stats(compiled).kernels != count:
        raise Wrong(f"{count} softmax in turn are {gw.compiler.stats(compiled).kernels} kernels")
    return compiled


def native_call(compiled: Any) -> Callable[[Any], Any]:
    """What runs the one graph of a compiled function, without its guards."""
    (graph,) = compilation_of(compiled).record.graphs
    artifacts = artifacts_of(graph.graph)
    if artifacts is None:
        raise Wrong("the graph was not compiled")
    launch: Callable[[Any], Any] = artifacts.programs["forward"].launch
    return launch


def measured(driver: Any, seconds: float = 1.0) -> list[Result]:
    """The rows, for a process whose driver is the simulated one."""
    x = gw.rand(8, 8).cuda()
    compiled = {count: compiled_chain(count, x) for count in KERNELS}
    calls: dict[tuple[str, int], Callable[[], Any]] = {
        ("native call", count): partial(native_call(one), x) for count, one in compiled.items()}
    calls |= {("call of the compiled function", count): partial(one, x)
              for count, one in compiled.items()}
    gw.cuda.synchronize()
    driver.set("null", 1)
    timings = in_turns({f"{what}, {count} kernel{'s' * (count > 1)}": call
                        for (what, count), call in calls.items()}, seconds=seconds)
    gw.cuda.synchronize()
    driver.set("null", 0)
    return [Result(GROUP, title, "us", CALL_LIMIT + KERNEL_LIMIT * count, timing.median * 1e6,
                   spread=timing.spread)
            for (_, count), (title, timing) in zip(calls, timings.items(), strict=True)]


def run() -> list[Result]:
    """All rows; one that says what is missing where there is no compiler or no Triton."""
    if shutil.which(os.environ.get("CC", "cc")) is None or find_spec("triton") is None:
        return [Result(GROUP, "compiled graphs on a simulated GPU", "", None, None,
                       note="needs a C compiler and Triton")]
    from tests.gpu_sim import fake_driver

    environment = {**os.environ, "GRAPHWRIGHT_LIBCUDA": str(fake_driver.build()),
                   "GPU_SIM_LEGACY": "0"}
    done = subprocess.run([sys.executable, "-m", "benchmarks.launches"], env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"the process that measures ended with {done.returncode}: "
                    f"{done.stderr[-300:]}")
    return [Result(**row) for row in json.loads(done.stdout)]


if __name__ == "__main__":
    from tests.gpu_sim.fake_driver import FakeDriver

    print(json.dumps([asdict(row) for row in measured(FakeDriver.shared())]))
