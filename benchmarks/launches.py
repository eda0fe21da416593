"""What the host does for a call of a compiled graph on a GPU: guards, memory, and the launches.

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
from graphwright.report.measure import in_turns

GROUP = "launches"
KERNELS = (1, 10, 50)
CALL_LIMIT, KERNEL_LIMIT = 0.5, 0.05
"""Microseconds of a call, and of each kernel in it."""


def chain(count: int) -> Callable[[Any], Any]:
    """A function of so many kernels, as no two of its reductions fit into one."""
    def run(x: Any) -> Any:
        for place in range(count):
            x = gw.softmax(x, place % 2)
        return x
    return run


def compiled_chain(count: int, x: Any) -> Callable[[], Any]:
    """A call of the compiled function; raises Wrong for a wrong result."""
    function = chain(count)
    compiled = gw.compile(function)
    if not gw.allclose(compiled(x).cpu(), function(x.cpu()), 1e-5, 1e-6):
        raise Wrong(f"{count} softmax in turn")
    if gw.compiler.stats(compiled).kernels != count:
        raise Wrong(f"{count} softmax in turn are {gw.compiler.stats(compiled).kernels} kernels")
    return partial(compiled, x)


def measured(driver: Any, seconds: float = 1.0) -> list[Result]:
    """The rows, for a process whose driver is the simulated one."""
    x = gw.rand(8, 8).cuda()
    calls = {str(count): compiled_chain(count, x) for count in KERNELS}
    gw.cuda.synchronize()
    driver.set("null", 1)
    timings = in_turns(calls, seconds=seconds)
    gw.cuda.synchronize()
    driver.set("null", 0)
    return [Result(GROUP, f"host time of a graph of {count} kernel{'s' * (count > 1)}", "us",
                   CALL_LIMIT + KERNEL_LIMIT * count, timings[str(count)].median * 1e6,
                   note=f"{timings[str(count)].ratio[1]:.2f} times the first row",
                   spread=timings[str(count)].spread)
            for count in KERNELS]


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
