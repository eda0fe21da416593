"""What a call costs: compiled with guards, dispatch and output allocation; and one eager op."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import graphwright as gw
from benchmarks import peers
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns


def small(lib, x):  # type: ignore[no-untyped-def]
    """The function of the call benchmark."""
    return lib.relu(x + 1) * 2


def peer_calls(array: np.ndarray) -> dict[str, Callable[[], object]]:
    """The same call by the peers that are installed."""
    cases: dict[str, Callable[[], object]] = {}
    torch = peers.torch()
    if torch is not None:
        t = torch.from_numpy(array)
        cases["torch eager"] = lambda: small(torch, t)
        if peers.torch_compiles():
            c = torch.compile(lambda x: small(torch, x))
            c(t)
            cases["torch.compile"] = lambda: c(t)
    jax, functions = peers.jax(), peers.jax_functions()
    if jax is not None:
        j = jax.numpy.asarray(array)
        jitted = jax.jit(lambda x: small(functions, x))
        cases["JAX jit"] = lambda: jitted(j).block_until_ready()
    return cases


def compiled_call() -> Result:
    """Compiled relu(x + 1) * 2 on 1,000 elements."""
    array = np.random.default_rng(0).standard_normal(1000, dtype=np.float32)
    x = gw.from_numpy(array)

    @gw.compile
    def f(x: gw.Tensor) -> gw.Tensor:
        return gw.relu(x + 1) * 2

    if not np.array_equal(f(x).numpy(), np.maximum(array + 1, 0) * 2):
        raise Wrong("relu(x + 1) * 2")
    timings = in_turns({"graphwright": lambda: f(x), "eager": lambda: small(gw, x)}, seconds=0.5)
    timings |= peers.in_turns(peer_calls(array))
    microseconds = {name: timing.median * 1e6 for name, timing in timings.items()}
    return Result("calls", "compiled relu(x + 1) * 2, 1,000 elements", "us", 2.5,
                  microseconds.pop("graphwright"), microseconds,
                  spread=timings["graphwright"].spread)


def eager_op() -> Result:
    """One small eager op without gradient, over NumPy's own time."""
    array = np.random.default_rng(0).standard_normal(1000, dtype=np.float32)
    x = gw.from_numpy(array)
    timings = in_turns({"graphwright": lambda: x + x, "NumPy": lambda: array + array}, seconds=0.5)
    torch = peers.torch()
    if torch is not None:
        t = torch.from_numpy(array)
        timings |= peers.in_turns({"torch eager": lambda: t + t})
    numpy_time = timings.pop("NumPy").median * 1e6
    over = {name: timing.median * 1e6 - numpy_time for name, timing in timings.items()}
    return Result("calls", "eager x + x, 1,000 elements, over NumPy's time", "us", 3.0,
                  over.pop("graphwright"), over, f"NumPy took {numpy_time:.2f} us",
                  timings["graphwright"].spread)


def run() -> list[Result]:
    """All call costs."""
    return [compiled_call(), eager_op()]
