"""vmap, eager and compiled: gradients of each sample of an MLP, and all pairs of two sets.

The results are compared with a loop over the examples first, whose time is in the note.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphwright as gw
from benchmarks import peers
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns

SAMPLES, FEATURES, HIDDEN, CLASSES = 64, 32, 64, 10
Run = Callable[[], Any]


def _gradients(lib: Any, state: Any, x: Any, y: Any) -> tuple[Callable[..., Any], Any]:
    """The gradients of one sample by the state of an MLP, and all arguments."""
    model = lib.nn.Sequential(
        lib.nn.Linear(FEATURES, HIDDEN), lib.nn.Tanh(), lib.nn.Linear(HIDDEN, CLASSES)
    )

    def loss(state: Any, x: Any, y: Any) -> Any:
        out = lib.func.functional_call(model, state, (x.unsqueeze(0),))
        return lib.nn.functional.cross_entropy(out, y.unsqueeze(0))

    gradient = lib.func.grad(loss)
    return lambda *args: tuple(gradient(*args).values()), (state, x, y)


def _distance(a: Any, b: Any) -> Any:
    return ((a - b) ** 2).sum().sqrt()


def _samples(lib: Any, arrays: dict[str, Any], tensor: Callable[..., Any]) -> dict[str, Run]:
    """What is measured of one library: by vmap, and by a loop."""
    names = ("0.weight", "0.bias", "2.weight", "2.bias")
    state = {name: tensor(arrays[name]) for name in names}
    one, args = _gradients(lib, state, tensor(arrays["x"]), tensor(arrays["y"]))
    mapped = lib.func.vmap(one, (None, 0, 0))
    rows = range(SAMPLES)

    def loop() -> Any:
        found = [one(state, args[1][i], args[2][i]) for i in rows]
        return tuple(lib.stack(column) for column in zip(*found, strict=True))

    return {"vmap": lambda: mapped(*args), "loop": loop,
            **_compiled(lib, lambda *given: mapped(*given), args)}


def _pairs(lib: Any, arrays: dict[str, Any], tensor: Callable[..., Any]) -> dict[str, Run]:
    a, b = tensor(arrays["a"]), tensor(arrays["b"])
    rows = lib.func.vmap(_distance, (None, 0))
    mapped = lib.func.vmap(rows, (0, None))

    def loop() -> Any:
        return (lib.stack([lib.stack([_distance(x, y) for y in b]) for x in a]),)

    return {"vmap": lambda: (mapped(a, b),), "loop": loop,
            **_compiled(lib, lambda a, b: (mapped(a, b),), (a, b))}


def _compiled(lib: Any, function: Callable[..., Any], args: Any) -> dict[str, Run]:
    if lib is not gw:
        return {}
    compiled = gw.compile(function, fullgraph=True)
    return {"compiled": lambda: compiled(*args)}


def _check(cases: dict[str, Run]) -> None:
    wanted = cases["loop"]()
    for name in ("vmap", "compiled"):
        for got, want in zip(cases[name](), wanted, strict=True):
            if not np.allclose(got.numpy(), want.numpy(), rtol=1e-3, atol=1e-5):
                raise Wrong(f"{name} differs from the loop")


def _measured(name: str, make: Callable[..., dict[str, Run]], arrays: Any) -> Result:
    cases = make(gw, arrays, gw.from_numpy)
    _check(cases)
    loop = in_turns({"loop": cases.pop("loop")}, seconds=0.5)["loop"].median
    timings = in_turns(cases, seconds=1.0)
    torch = peers.torch()
    others = {"eager": timings["vmap"].median * 1e6}
    if torch is not None:
        theirs = make(torch, arrays, torch.from_numpy)["vmap"]
        others["torch eager"] = peers.in_turns({"torch eager": theirs})["torch eager"].median * 1e6
    return Result("mapping", name, "us", None, timings["compiled"].median * 1e6, others,
                  f"a loop takes {loop * 1e6:.0f} us", timings["compiled"].spread)


def run() -> list[Result]:
    """All cases."""
    rng = np.random.default_rng(0)
    shapes = {
        "0.weight": (HIDDEN, FEATURES), "0.bias": (HIDDEN,), "2.weight": (CLASSES, HIDDEN),
        "2.bias": (CLASSES,), "x": (SAMPLES, FEATURES), "a": (100, 16), "b": (120, 16),
    }  # fmt: skip
    arrays: dict[str, Any] = {
        name: 0.3 * rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()
    }
    arrays["y"] = rng.integers(0, CLASSES, SAMPLES)
    return [
        _measured("gradients of each of 64 samples, MLP 32-64-10", _samples, arrays),
        _measured("distances of 100 and 120 vectors by vmap of vmap", _pairs, arrays),
    ]
