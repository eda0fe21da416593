"""How fast a fresh process is up: the import, and the first compiled call, cold and warm."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks import peers
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

TORCH_FIRST_CALL = """
import time
import torch
from torch import nn
model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                      nn.Linear(512, 10))
x = torch.randn(128, 784)
with torch.no_grad():
    start = time.perf_counter()
    torch.compile(model)(x)
    print(time.perf_counter() - start)
"""

JAX_FIRST_CALL = """
import time
import numpy as np
import jax
rng = np.random.default_rng(0)
layers = [(jax.numpy.asarray(rng.standard_normal((n, m), dtype=np.float32)),
           jax.numpy.zeros(m)) for n, m in ((784, 512), (512, 512), (512, 10))]
def model(layers, x):
    for i, (w, b) in enumerate(layers):
        x = (jax.nn.relu(x) if i else x) @ w + b
    return x
x = jax.numpy.asarray(rng.standard_normal((128, 784), dtype=np.float32))
start = time.perf_counter()
jax.jit(model)(layers, x).block_until_ready()
print(time.perf_counter() - start)
"""

ROUNDS = 7
PEER_ROUNDS = 3


def printed(code: str, cache: str) -> str:
    """What `code` prints in a fresh process with its kernel cache in `cache`.

    Python's own bytecode files may be written and read, as those of an installed package are.
    """
    environment = {**os.environ, "GRAPHWRIGHT_CACHE_DIR": cache, "TORCHINDUCTOR_CACHE_DIR": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, check=True)
    return done.stdout


def fresh(code: str, cache: str) -> float:
    """The figure that `code` prints last in a fresh process, as `printed`."""
    return float(printed(code, cache).split()[-1])


def first_calls(code: str = FIRST_CALL, rounds: int = ROUNDS) -> tuple[float, float]:
    """Median seconds of the first call with an empty and with a warm cache."""
    cold, warm = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(fresh(code, cache))
            warm.append(fresh(code, cache))
    return median(cold), median(warm)


def peer_first_calls() -> dict[str, float]:
    """Median seconds of the same first call by the peers, with empty caches."""
    codes = {"torch.compile": TORCH_FIRST_CALL} if peers.torch_compiles() else {}
    if peers.jax() is not None:
        codes["JAX jit"] = JAX_FIRST_CALL
    found = {}
    for name, code in codes.items():
        times = []
        for _ in range(PEER_ROUNDS):
            with tempfile.TemporaryDirectory() as cache:
                times.append(fresh(code, cache))
        found[name] = median(times)
    return found


def run() -> list[Result]:
    """Import and first call."""
    cold, warm = first_calls()
    with tempfile.TemporaryDirectory() as cache:
        fresh(IMPORT, cache)
        imports = median(fresh(IMPORT, cache) for _ in range(ROUNDS))
    name = "first call of the MLP 784-512-512-10, LLVM"
    return [
        Result("startup", f"{name}, empty cache", "s", 0.6, cold, peer_first_calls()),
        Result("startup", f"{name}, warm cache", "s", 0.1, warm),
        Result("startup", "import graphwright, over import numpy", "s", 0.1, imports),
    ]
