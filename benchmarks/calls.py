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


def compiled_call() -> Result:
    """Compiled relu(x + 1) * 2 on 1,000 elements."""
    array = np.random.default_rng(0).standard_normal(1000, dtype=np.float32)
    x = gw.from_numpy(array)

    @gw.compile
    def f(x: gw.Tensor) -> gw.Tensor:
        return gw.relu(x + 1) * 2

    if not np.array_equal(f(x).numpy(), np.maximum(array + 1, 0) * 2):
        raise Wrong("relu(x + 1) * 2")
    cases: dict[str, Callable[[], object]] = {"graphwright": lambda: f(x),
                                              "eager": lambda: small(gw, x)}
    torch = peers.torch()
    if torch is not None:
        t = torch.from_numpy(array)
        cases["torch eager"] = lambda: small(torch, t)
        if peers.torch_compiles():
            c = torch.compile(lambda x: small(torch, x))
            c(t)
            cases["torch.compile"] = lambda: c(t)
    jax = peers.jax()
    if jax is not None:
        j = jax.numpy.asarray(array)
        jitted = jax.jit(lambda x: jax.nn.relu(x + 1) * 2)
        cases["JAX jit"] = lambda: jitted(j).block_until_ready()
    microseconds = {k: t.median * 1e6 for k, t in in_turns(cases, seconds=0.5).items()}
    return Result("calls", "compiled relu(x + 1) * 2, 1,000 elements", "us", 2.5,
                  microseconds.pop("graphwright"), microseconds)


def eager_op() -> Result:
    """One small eager op without gradient, over NumPy's own time."""
    array = np.random.default_rng(0).standard_normal(1000, dtype=np.float32)
    x = gw.from_numpy(array)
    cases: dict[str, Callable[[], object]] = {"graphwright": lambda: x + x,
                                              "NumPy": lambda: array + array}
    torch = peers.torch()
    if torch is not None:
        t = torch.from_numpy(array)
        cases["torch eager"] = lambda: t + t
    timings = {k: t.median * 1e6 for k, t in in_turns(cases, seconds=0.5).items()}
    numpy_time = timings.pop("NumPy")
    over = {k: t - numpy_time for k, t in timings.items()}
    return Result("calls", "eager x + x, 1,000 elements, over NumPy's time", "us", 3.0,
                  over.pop("graphwright"), over, f"NumPy took {numpy_time:.2f} us")


def run() -> list[Result]:
    """All call costs."""
    return [compiled_call(), eager_op()]
