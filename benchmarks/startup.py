"""How fast a fresh process is up: the import, and the first compiled call, cold and warm."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.result import Result

FIRST_CALL = """
import time
import numpy as np
import graphwright as gw
from graphwright import nn
gw.manual_seed(0)
model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                      nn.Linear(512, 10))
x = gw.randn(128, 784)
with gw.no_grad():
    expected = model(x).numpy()
    start = time.perf_counter()
    compiled = gw.compile(model, backend="llvm")
    y = compiled(x)
    elapsed = time.perf_counter() - start
assert np.allclose(y.numpy(), expected, rtol=1e-4, atol=1e-5)
print(elapsed)
"""

IMPORT = """
import time, sys
import numpy
start = time.perf_counter()
import graphwright
print(time.perf_counter() - start)
"""

ROUNDS = 7


def fresh(code: str, cache: str) -> float:
    """The figure that `code` prints in a fresh process with its kernel cache in `cache`.

    Python's own bytecode files may be written and read, as those of an installed package are.
    """
    environment = {**os.environ, "GRAPHWRIGHT_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, check=True)
    return float(done.stdout.split()[-1])


def first_calls(code: str = FIRST_CALL, rounds: int = ROUNDS) -> tuple[float, float]:
    """Median seconds of the first call with an empty and with a warm cache."""
    cold, warm = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(fresh(code, cache))
            warm.append(fresh(code, cache))
    return median(cold), median(warm)


def run() -> list[Result]:
    """Import and first call."""
    cold, warm = first_calls()
    with tempfile.TemporaryDirectory() as cache:
        fresh(IMPORT, cache)
        imports = median(fresh(IMPORT, cache) for _ in range(ROUNDS))
    name = "first call of the MLP 784-512-512-10, LLVM"
    return [
        Result("startup", f"{name}, empty cache", "s", 0.6, cold),
        Result("startup", f"{name}, warm cache", "s", 0.1, warm),
        Result("startup", "import graphwright, over import numpy", "s", 0.1, imports),
    ]
