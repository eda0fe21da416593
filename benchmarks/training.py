"""A training step of the MLP 784-512-512-10, batch 128, Adam: compiled against eager."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import graphwright as gw
from benchmarks import peers
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns

WIDTHS = (784, 512, 512, 10)


def build(lib: Any) -> Any:
    """The MLP in `lib`'s nn."""
    layers: list[Any] = []
    for i, (fan_in, fan_out) in enumerate(pairwise(WIDTHS)):
        layers += [lib.nn.ReLU()] * (i > 0) + [lib.nn.Linear(fan_in, fan_out)]
    return lib.nn.Sequential(*layers)


def stepper(lib: Any, model: Any, x: Any, y: Any, compiler: Callable[..., Any] | None
            ) -> Callable[[], Any]:
    """A training step; the loss function goes through `compiler`."""
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-4)

    def loss_of(x: Any, y: Any) -> Any:
        return lib.nn.functional.cross_entropy(model(x), y)

    forward = compiler(loss_of) if compiler else loss_of

    def step() -> Any:
        optimizer.zero_grad()
        loss = forward(x, y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def run() -> list[Result]:
    """The training step."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((128, WIDTHS[0]), dtype=np.float32)
    labels = rng.integers(0, 10, 128)
    x, y = gw.from_numpy(images), gw.from_numpy(labels)
    gw.manual_seed(0)
    first, second = build(gw), build(gw)
    second.load_state_dict(first.state_dict())
    eager = stepper(gw, first, x, y, None)
    compiled = stepper(gw, second, x, y, gw.compile)
    for _ in range(20):
        a, b = eager().item(), compiled().item()
        if abs(a - b) > 1e-4 * abs(a):
            raise Wrong(f"losses {a} and {b}")
    timings = in_turns({"graphwright": compiled, "eager": eager}, seconds=1.5)
    torch = peers.torch()
    if torch is not None:
        tx, ty = torch.from_numpy(images), torch.from_numpy(labels)
        cases = {"torch eager": stepper(torch, build(torch), tx, ty, None)}
        if peers.torch_compiles():
            cases["torch.compile"] = stepper(torch, build(torch), tx, ty, torch.compile)
            cases["torch.compile"]()
        timings |= peers.in_turns(cases)
    base = timings["eager"].median
    ratios = {k: t.median / base for k, t in timings.items()}
    return [Result("training", "training step of the MLP, batch 128, Adam", "x eager", 1.0,
                   ratios.pop("graphwright"), ratios, f"eager took {base * 1e3:.2f} ms",
                   timings["graphwright"].spread)]
